// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace rlx {

/// Where threads wait for a condition that another thread makes true: they spin for a short time,
/// then sleep. Costs the waking thread one load while nobody sleeps.
class WaitGate {
 public:
  /// `spin_us` 0 sleeps at once: right when there are more threads than cores.
  explicit WaitGate(int spin_us) : spin_us_(spin_us) {}
  /// Returns once `is_true(ctx)`; it may be called any number of times.
  void wait(bool (*is_true)(const void* ctx) noexcept, const void* ctx) noexcept;
  /// To be called after every change that may make a waited-for condition true. The change must be
  /// a sequentially consistent atomic store or read-modify-write.
  void wake() noexcept;

 private:
  const int spin_us_;
  alignas(64) std::atomic<int32_t> sleepers_{0};
  std::atomic<int32_t> epoch_{0};
};

/// A point that all workers of a team must reach before any of them goes on; reusable at once.
class TeamBarrier {
 public:
  TeamBarrier(int workers, int spin_us) : workers_(workers), gate_(spin_us) {}
  void arrive_and_wait() noexcept;

 private:
  const int workers_;
  WaitGate gate_;
  alignas(64) std::atomic<int32_t> arrived_{0};
  std::atomic<uint32_t> round_{0};
};

/// One step of a walk: `items` independent pieces of work. A step with `barrier` starts after all
/// items of earlier steps are done; one without it may run beside the steps since the last barrier.
struct WalkStep {
  int64_t items = 0;
  bool barrier = true;
};

/// A fixed number of threads, the caller of `run` and `walk` included, that sleep between calls.
/// One call at a time. Neither call allocates.
class ThreadTeam {
 public:
  /// `threads` >= 1; throws an Error when the system refuses a thread.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const;

  /// Calls `body` once on every worker, 0 being the caller, and returns when all are done.
  using RunBody = void (*)(void* ctx, int worker, TeamBarrier& barrier) noexcept;
  void run(RunBody body, void* ctx) noexcept;

  /// Computes items [begin, end) of step `step`.
  using WalkBody = void (*)(void* ctx, int64_t step, int64_t begin, int64_t end,
                            int worker) noexcept;
  /// Walks through all steps in order; workers take ranges of items as they come free. A step ends
  /// when its items are done, whoever did them: a worker that the system does not schedule holds up
  /// nobody unless it is inside an item. At most 2^24 steps of 2^38 items between two barriers.
  void walk(std::span<const WalkStep> steps, WalkBody body, void* ctx) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Cores that this process may run on; at least 1.
int available_cores();

}  // namespace rlx

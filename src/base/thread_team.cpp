// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace rlx {
namespace {

// Long enough for the gaps between steps of a plan, short enough not to burn a shared core.
constexpr int default_spin_us = 30;

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int spin_us_for(int threads) { return threads > available_cores() ? 0 : default_spin_us; }

}  // namespace

int available_cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
  const unsigned count = std::thread::hardware_concurrency();
  return count == 0 ? 1 : static_cast<int>(count);
}

void WaitGate::wait(bool (*is_true)(const void* ctx) noexcept, const void* ctx) noexcept {
  if (is_true(ctx)) return;
  if (spin_us_ > 0) {
    using clock = std::chrono::steady_clock;
    const auto deadline = clock::now() + std::chrono::microseconds(spin_us_);
    do {
      for (int i = 0; i < 32; ++i) {
        pause_briefly();
        if (is_true(ctx)) return;
      }
    } while (clock::now() < deadline);
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    // The condition is read after the epoch: a change that is missed here moves the epoch.
    const int32_t epoch = epoch_.load(std::memory_order_seq_cst);
    if (is_true(ctx)) break;
    epoch_.wait(epoch, std::memory_order_seq_cst);
  }
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

void WaitGate::wake() noexcept {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  epoch_.notify_all();
}

void TeamBarrier::arrive_and_wait() noexcept {
  const uint32_t round = round_.load(std::memory_order_seq_cst);
  if (arrived_.fetch_add(1, std::memory_order_seq_cst) + 1 == workers_) {
    arrived_.store(0, std::memory_order_seq_cst);
    round_.store(round + 1, std::memory_order_seq_cst);
    gate_.wake();
    return;
  }
  struct Target {
    const std::atomic<uint32_t>* round;
    uint32_t seen;
  } target{&round_, round};
  gate_.wait(
      [](const void* ctx) noexcept {
        const auto* t = static_cast<const Target*>(ctx);
        return t->round->load(std::memory_order_seq_cst) != t->seen;
      },
      &target);
}

struct ThreadTeam::Impl {
  explicit Impl(int count)
      : threads(count),
        job_gate(spin_us_for(count)),
        step_gate(spin_us_for(count)),
        end_gate(spin_us_for(count)),
        barrier(count, spin_us_for(count)) {}

  // `door` holds the number of workers inside the job, the bit `closed`, and above it the number of
  // the job. The job's fields change only while the door is closed and nobody is inside.
  static constexpr uint64_t closed = uint64_t{1} << 32;
  static constexpr int number_shift = 33;
  static constexpr uint64_t next_number = uint64_t{1} << number_shift;
  static constexpr int step_shift = 40;
  static constexpr uint64_t item_mask = (uint64_t{1} << step_shift) - 1;

  void work(int worker) noexcept;
  void stop() noexcept;
  void open() noexcept;
  void close() noexcept;
  void walk_steps(int worker) noexcept;
  bool claim(uint64_t seen, int64_t& step, int64_t& begin, int64_t& end) noexcept;
  void finish_items(int64_t phase, int64_t count) noexcept;
  int64_t phase_items(int64_t phase) const;
  void enter_phase(int64_t step) noexcept;
  int64_t step_count() const { return static_cast<int64_t>(steps.size()); }

  const int threads;
  std::vector<std::thread> pool;
  WaitGate job_gate, step_gate, end_gate;
  TeamBarrier barrier;

  // The job.
  RunBody run_body = nullptr;  ///< null: a walk
  WalkBody walk_body = nullptr;
  void* ctx = nullptr;
  std::span<const WalkStep> steps;

  alignas(64) std::atomic<uint64_t> door{closed};
  std::atomic<int32_t> returned{0};  ///< workers that are done with a run
  std::atomic<bool> stopping{false};
  /// First step of the current phase (steps up to the next barrier) and the next item in it.
  alignas(64) std::atomic<uint64_t> cursor{0};
  alignas(64) std::atomic<int64_t> done{0};  ///< finished items of the phase
};

void ThreadTeam::Impl::open() noexcept {
  // One operation: a worker that sees the new number must also find the door open.
  door.fetch_add(next_number - closed, std::memory_order_seq_cst);
  job_gate.wake();
}

/// Lets no further worker in and waits for those inside.
void ThreadTeam::Impl::close() noexcept {
  door.fetch_or(closed, std::memory_order_seq_cst);
  end_gate.wait(
      [](const void* self) noexcept {
        const uint64_t now = static_cast<const Impl*>(self)->door.load(std::memory_order_seq_cst);
        return (now & (next_number - 1)) == closed;
      },
      this);
}

void ThreadTeam::Impl::stop() noexcept {
  stopping.store(true, std::memory_order_seq_cst);
  door.fetch_add(next_number, std::memory_order_seq_cst);
  job_gate.wake();
  for (std::thread& thread : pool) thread.join();
  pool.clear();
}

void ThreadTeam::Impl::work(int worker) noexcept {
  struct Seen {
    const Impl* team;
    uint64_t number;
  } seen{this, 0};
  for (;;) {
    job_gate.wait(
        [](const void* at) noexcept {
          const auto* s = static_cast<const Seen*>(at);
          return s->team->door.load(std::memory_order_seq_cst) >> number_shift != s->number;
        },
        &seen);
    if (stopping.load(std::memory_order_seq_cst)) return;
    const uint64_t before = door.fetch_add(1, std::memory_order_seq_cst);
    seen.number = before >> number_shift;
    if ((before & closed) == 0) {
      if (run_body != nullptr) {
        run_body(ctx, worker, barrier);
        returned.fetch_add(1, std::memory_order_seq_cst);
      } else {
        walk_steps(worker);
      }
    }
    door.fetch_sub(1, std::memory_order_seq_cst);
    end_gate.wake();
  }
}

int64_t ThreadTeam::Impl::phase_items(int64_t phase) const {
  int64_t total = steps[phase].items;
  for (int64_t s = phase + 1; s < step_count() && !steps[s].barrier; ++s) total += steps[s].items;
  return total;
}

/// Publishes the first phase from `step` on that has items.
void ThreadTeam::Impl::enter_phase(int64_t step) noexcept {
  while (step < step_count() && phase_items(step) == 0) {
    ++step;
    while (step < step_count() && !steps[step].barrier) ++step;
  }
  done.store(0, std::memory_order_seq_cst);
  cursor.store(static_cast<uint64_t>(step) << step_shift, std::memory_order_seq_cst);
  step_gate.wake();
}

/// Tries to take the next items behind `seen`; false when the phase has none left or another worker
/// was faster (the cursor has then changed).
bool ThreadTeam::Impl::claim(uint64_t seen, int64_t& step, int64_t& begin, int64_t& end) noexcept {
  step = static_cast<int64_t>(seen >> step_shift);
  begin = static_cast<int64_t>(seen & item_mask);
  const int64_t next = begin;
  while (begin >= steps[step].items) {
    begin -= steps[step].items;
    ++step;
    if (step == step_count() || steps[step].barrier) return false;
  }
  // Shrinking shares: few claims at first, small ones at the end so that workers finish together.
  const int64_t left = steps[step].items - begin;
  const int64_t share = left / (4 * threads);
  const int64_t count = share > 0 ? share : 1;
  end = begin + count;
  const uint64_t taken = (seen & ~item_mask) | static_cast<uint64_t>(next + count);
  return cursor.compare_exchange_strong(seen, taken, std::memory_order_seq_cst);
}

void ThreadTeam::Impl::finish_items(int64_t phase, int64_t count) noexcept {
  if (done.fetch_add(count, std::memory_order_seq_cst) + count != phase_items(phase)) return;
  int64_t next = phase + 1;
  while (next < step_count() && !steps[next].barrier) ++next;
  enter_phase(next);
}

void ThreadTeam::Impl::walk_steps(int worker) noexcept {
  struct Seen {
    const Impl* team;
    uint64_t cursor;
  } seen{this, 0};
  for (;;) {
    seen.cursor = cursor.load(std::memory_order_seq_cst);
    const auto phase = static_cast<int64_t>(seen.cursor >> step_shift);
    if (phase >= step_count()) return;
    int64_t step, begin, end;
    if (claim(seen.cursor, step, begin, end)) {
      walk_body(ctx, step, begin, end, worker);
      finish_items(phase, end - begin);
      continue;
    }
    step_gate.wait(
        [](const void* at) noexcept {
          const auto* s = static_cast<const Seen*>(at);
          return s->team->cursor.load(std::memory_order_seq_cst) != s->cursor;
        },
        &seen);
  }
}

namespace {

/// Threads started while it lives take no signals: a Ctrl-C must reach the caller's thread, which
/// may sit in a read that it ends.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

ThreadTeam::ThreadTeam(int threads) {
  if (threads < 1)
    fail(ErrorCode::InvalidArgument, "threads: {} given, at least 1 is needed", threads);
  impl_ = std::make_unique<Impl>(threads);
  impl_->pool.reserve(static_cast<size_t>(threads - 1));
  try {
    const NoSignals block;
    for (int worker = 1; worker < threads; ++worker) {
      impl_->pool.emplace_back([impl = impl_.get(), worker] { impl->work(worker); });
    }
  } catch (const std::system_error& e) {
    const size_t started = impl_->pool.size();
    impl_->stop();
    fail(ErrorCode::LimitExceeded, "threads: {} asked for, the system gave {} ({})", threads,
         started + 1, e.what());
  }
}

ThreadTeam::~ThreadTeam() { impl_->stop(); }

int ThreadTeam::size() const { return impl_->threads; }

void ThreadTeam::run(RunBody body, void* ctx) noexcept {
  Impl& team = *impl_;
  team.run_body = body;
  team.ctx = ctx;
  team.returned.store(0, std::memory_order_seq_cst);
  if (team.threads > 1) team.open();
  body(ctx, 0, team.barrier);
  if (team.threads == 1) return;
  team.end_gate.wait(
      [](const void* self) noexcept {
        const auto* t = static_cast<const Impl*>(self);
        return t->returned.load(std::memory_order_seq_cst) == t->threads - 1;
      },
      &team);
  team.close();
}

void ThreadTeam::walk(std::span<const WalkStep> steps, WalkBody body, void* ctx) noexcept {
  Impl& team = *impl_;
  team.run_body = nullptr;
  team.walk_body = body;
  team.ctx = ctx;
  team.steps = steps;
  team.enter_phase(0);
  if (team.threads > 1) team.open();
  team.walk_steps(0);
  if (team.threads > 1) team.close();
}

}  // namespace rlx

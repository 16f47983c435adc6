// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"

using namespace rlx;

namespace {

std::vector<int> team_sizes() { return {1, 2, 3, 2 * available_cores() + 3}; }

struct WalkLog {
  std::span<const WalkStep> steps;
  std::vector<std::vector<std::atomic<int>>> times;  ///< [step][item]
  std::atomic<int> order_errors{0};
  std::atomic<int> worker_errors{0};
  int workers;

  WalkLog(std::span<const WalkStep> s, int w) : steps(s), workers(w) {
    for (const WalkStep& step : s) times.emplace_back(static_cast<size_t>(step.items));
  }
  bool is_done(int64_t step) const {
    for (const auto& t : times[static_cast<size_t>(step)])
      if (t.load(std::memory_order_relaxed) != 1) return false;
    return true;
  }
};

void log_items(void* ctx, int64_t step, int64_t begin, int64_t end, int worker) noexcept {
  auto& log = *static_cast<WalkLog*>(ctx);
  if (worker < 0 || worker >= log.workers) ++log.worker_errors;
  // All steps before the last barrier must be complete.
  int64_t phase = step;
  while (phase > 0 && !log.steps[static_cast<size_t>(phase)].barrier) --phase;
  if (phase > 0 && !log.is_done(phase - 1)) ++log.order_errors;
  for (int64_t i = begin; i < end; ++i) ++log.times[static_cast<size_t>(step)][size_t(i)];
}

}  // namespace

TEST_CASE("thread team: every worker runs the body once and barriers separate its rounds") {
  for (const int threads : team_sizes()) {
    CAPTURE(threads);
    ThreadTeam team(threads);
    CHECK(team.size() == threads);
    struct Ctx {
      int threads;
      std::vector<int> calls;
      std::vector<int> rounds;
      std::atomic<int> errors{0};
    } ctx{threads, std::vector<int>(size_t(threads)), std::vector<int>(size_t(threads))};
    for (int repeat = 0; repeat < 20; ++repeat) {
      team.run(
          [](void* at, int worker, TeamBarrier& barrier) noexcept {
            auto& c = *static_cast<Ctx*>(at);
            ++c.calls[size_t(worker)];
            for (int round = 0; round < 20; ++round) {
              ++c.rounds[size_t(worker)];
              barrier.arrive_and_wait();
              // Plain reads of what others wrote: right only if the barrier orders them.
              for (const int r : c.rounds)
                if (r != c.rounds[size_t(worker)]) ++c.errors;
              barrier.arrive_and_wait();
            }
          },
          &ctx);
    }
    for (const int c : ctx.calls) CHECK(c == 20);
    CHECK(ctx.errors == 0);
  }
}

TEST_CASE("thread team: a walk does every item once, in order of the barriers") {
  const std::vector<WalkStep> steps = {{0, true},  {1, true},   {1000, true}, {0, true},
                                       {7, false}, {64, false}, {1, true},    {0, true},
                                       {3, true},  {0, false},  {5, true},    {0, true}};
  for (const int threads : team_sizes()) {
    CAPTURE(threads);
    ThreadTeam team(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      WalkLog log(steps, threads);
      team.walk(steps, log_items, &log);
      bool complete = true;
      for (size_t s = 0; s < steps.size(); ++s) complete &= log.is_done(static_cast<int64_t>(s));
      CHECK(complete);
      CHECK(log.order_errors == 0);
      CHECK(log.worker_errors == 0);
    }
    WalkLog none({}, threads);
    team.walk({}, log_items, &none);
    const std::vector<WalkStep> empty = {{0, true}, {0, false}};
    WalkLog nothing(empty, threads);
    team.walk(empty, log_items, &nothing);
    CHECK(nothing.worker_errors == 0);
  }
}

TEST_CASE("thread team: plain writes of one step are seen by the next") {
  ThreadTeam team(4);
  struct Ctx {
    std::vector<int64_t> values;
    int64_t errors = 0;
  } ctx{std::vector<int64_t>(256)};
  const std::vector<WalkStep> steps(101, {256, true});
  team.walk(
      steps,
      [](void* at, int64_t step, int64_t begin, int64_t end, int) noexcept {
        auto& v = static_cast<Ctx*>(at)->values;
        // Odd steps reverse the order of the items, so most values change hands.
        for (int64_t i = begin; i < end; ++i) v[size_t(step % 2 ? 255 - i : i)] += step;
      },
      &ctx);
  for (const int64_t v : ctx.values) CHECK(v == 100 * 101 / 2);
}

TEST_CASE("thread team: a worker that sleeps outside items holds up nobody") {
  // Worker 1 blocks inside its first item; the others finish all other items of that step.
  ThreadTeam team(3);
  struct Ctx {
    std::atomic<int> finished{0};
    std::atomic<bool> blocked{false};
    int before_release = -1;
  } ctx;
  const std::vector<WalkStep> steps = {{100, true}, {1, true}};
  team.walk(
      steps,
      [](void* at, int64_t step, int64_t begin, int64_t end, int) noexcept {
        auto& c = *static_cast<Ctx*>(at);
        if (step == 1) {
          c.before_release = c.finished;
          return;
        }
        if (begin == 0) {
          c.blocked = true;
          // Waits for the items that are not its own: they must be taken by others meanwhile.
          const int others = 100 - static_cast<int>(end - begin);
          while (c.finished < others) std::this_thread::yield();
        }
        c.finished += static_cast<int>(end - begin);
      },
      &ctx);
  CHECK(ctx.blocked);
  CHECK(ctx.before_release == 100);
}

TEST_CASE("thread team: wakes from sleep, and a count below one is an error") {
  ThreadTeam team(2);
  std::atomic<int> calls{0};
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    team.run([](void* at, int, TeamBarrier&) noexcept { ++*static_cast<std::atomic<int>*>(at); },
             &calls);
  }
  CHECK(calls == 10);
  CHECK_THROWS_WITH_AS(ThreadTeam(0), "threads: 0 given, at least 1 is needed", Error);
}

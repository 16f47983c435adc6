// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "../support/oracle_target.h"
#include "base/error.h"
#include "ops/builder.h"
#include "ops/parse.h"
#include "plan/plan.h"

using namespace rlx;

namespace {

Graph diamond_chain(int depth) {
  Graph g("diamond");
  Builder b(g);
  Value x = g.add_input("x", {DType::F32, {Dim(4096)}});
  for (int i = 0; i < depth; ++i) {
    x = b.add(b.op(OpKind::Tanh, {x}), b.op(OpKind::Abs, {x}));
  }
  g.set_outputs({x});
  return g;
}

/// A random graph of elementwise ops and reshapes whose values have one of three sizes.
Graph random_graph(uint32_t seed) {
  std::mt19937 rng(seed);
  Graph g("random");
  Builder b(g);
  std::vector<Value> pool[3];
  for (int s = 0; s < 3; ++s) {
    pool[s].push_back(g.add_input("x" + std::to_string(s), {DType::F32, {Dim(16 << s)}}));
  }
  std::vector<Value> outputs;
  for (int i = 0; i < 40; ++i) {
    auto& values = pool[rng() % 3];
    const Value a = values[rng() % values.size()], c = values[rng() % values.size()];
    Value r;
    switch (rng() % 4) {
      case 0: r = b.op(OpKind::Abs, {a}); break;
      case 1: r = b.add(a, c); break;
      case 2: r = b.mul(a, c); break;
      default: r = b.reshape(b.reshape(a, {Dim(2), b.dim(a, 0).divided_by(2, "r")}), b.shape(a));
    }
    values.push_back(r);
    if (rng() % 10 == 0) outputs.push_back(r);
  }
  outputs.push_back(pool[0].back());
  g.set_outputs(outputs);
  return g;
}

/// Whether a later step or an output reads the value itself.
bool is_read(const Plan& p, Value v) {
  for (const PlannedValue& o : p.outputs) {
    if (o.value == v) return true;
  }
  for (const Step& s : p.steps) {
    for (const PlannedValue& o : s.operands) {
      if (o.value == v) return true;
    }
  }
  return false;
}

bool is_rejected(const Graph& g, const Target& t, const Plan& p) {
  try {
    check_plan(g, t, p);
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("plan: in-place results make a diamond chain need half of what it needs without") {
  // The reference system needs 65664 bytes for this graph; plan-observed.md's bound A is 49152.
  const Graph g = diamond_chain(16);
  const Target t = oracle_target();
  const Plan p = make_plan(g, t);
  CHECK(p.arena_bytes <= 2 * 4096 * 4);
  CHECK(p.arena_bytes == p.arena_lower_bound);
  CHECK(make_plan(g, t, false).arena_bytes == p.steps.size() * 4096 * 4 - 4096 * 4);
}

// Every result takes over its operand's bytes; the work per step must not grow with their number.
TEST_CASE("plan: a chain of 30000 steps is planned in seconds") {
  Graph g("chain");
  Builder b(g);
  Value x = g.add_input("x", {DType::F32, {Dim(16)}});
  for (int i = 0; i < 30000; ++i) x = b.op(OpKind::Abs, {x});
  g.set_outputs({x});
  const Target t = oracle_target();
  const auto start = std::chrono::steady_clock::now();
  const Plan p = make_plan(g, t);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  CHECK(p.arena_bytes == 0);  // all of it happens in the output's bytes
  CHECK_NOTHROW(check_plan(g, t, p));
}

TEST_CASE("plan: in-place is taken only for a last use (llm-bugs/121)") {
  const Graph g = parse_graph(
      "graph g { input %a : f32[64] input %b : f32[64] %s = abs %a %y = add %s, %b %z = mul %y, %s "
      "output %z, %s }");
  const Plan p = make_plan(g, oracle_target());
  const auto& add = p.steps[1];
  CHECK_FALSE(add.results[0].at.overlaps(add.operands[0].at));
  CHECK(add.results[0].at.region != Region::Inputs);
  const auto& mul = p.steps[2];
  CHECK_FALSE(mul.results[0].at.overlaps(mul.operands[1].at));
}

TEST_CASE("plan: random graphs pass the checker and stay within the sum of sizes") {
  const Target t = oracle_target();
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Graph g = random_graph(seed);
    const Plan p = make_plan(g, t);
    CHECK(p.arena_bytes >= p.arena_lower_bound);
    CHECK(p.arena_bytes <= p.arena_sum);
  }
}

TEST_CASE("plan: corrupted plans are caught (V6)") {
  const Target t = oracle_target();
  int tried = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Graph g = random_graph(seed);
    const Plan good = make_plan(g, t);
    for (size_t s = 0; s < good.steps.size(); ++s) {
      if (good.steps[s].results[0].at.region != Region::Arena) continue;
      if (!is_read(good, good.steps[s].results[0].value)) continue;
      Plan moved = good;
      moved.steps[s].results[0].at.offset += t.alignment;  // written where nobody reads it
      CHECK(is_rejected(g, t, moved));
      Plan shifted = good;
      shifted.steps[s].results[0].at.offset = -t.alignment;
      CHECK(is_rejected(g, t, shifted));
      Plan shortened = good;
      shortened.steps[s].results[0].at.bytes -= 1;
      CHECK(is_rejected(g, t, shortened));
      ++tried;
    }
    // Steps that share bytes must be told apart by a barrier.
    for (size_t s = 1; s < good.steps.size(); ++s) {
      const Value previous = good.steps[s - 1].results[0].value;
      const auto& operands = g.node(good.steps[s].node).operands;
      if (std::find(operands.begin(), operands.end(), previous) == operands.end()) continue;
      Plan loose = good;
      loose.steps[s].barrier = false;
      CHECK(is_rejected(g, t, loose));
    }
  }
  CHECK(tried > 500);
}

TEST_CASE("plan: a limit that cannot be met names the largest buffers (U13)") {
  Target t = oracle_target();
  t.max_buffer_bytes = 10000;
  const Graph g = diamond_chain(2);
  try {
    make_plan(g, t);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::LimitExceeded);
    CHECK(e.message().find("target oracle allows 10000 per buffer") != std::string::npos);
    CHECK(e.message().find("16384") != std::string::npos);
  }
}

TEST_CASE("plan: independent steps share a barrier interval") {
  const Graph g = parse_graph(
      "graph g { input %x : f32[64] %a = abs %x %b = tanh %x %c = add %a, %b output %c }");
  Target t = oracle_target();
  for (KernelRow& row : t.kernels) {
    row.by_reference = false;  // never run here; only reference steps demand their own interval
  }
  const Plan p = make_plan(g, t);
  CHECK_FALSE(p.steps[1].barrier);
  CHECK(p.steps[2].barrier);
}

TEST_CASE("pack: random intervals never overlap in time and space") {
  std::mt19937 rng(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<Interval> intervals;
    for (int i = 0; i < 60; ++i) {
      const uint32_t first = rng() % 50;
      intervals.push_back({int64_t(rng() % 1000 + 1), first, first + uint32_t(rng() % 12)});
    }
    const Packing p = pack_intervals(intervals, 64);
    CHECK(p.peak >= p.lower_bound);
    CHECK(p.peak <= p.lower_bound * 3 / 2);
    for (size_t a = 0; a < intervals.size(); ++a) {
      CHECK(intervals[a].offset % 64 == 0);
      CHECK(intervals[a].offset + intervals[a].bytes <= p.peak);
      for (size_t b = 0; b < a; ++b) {
        const Interval &x = intervals[a], &y = intervals[b];
        const bool meet = x.first <= y.last && y.first <= x.last;
        const bool overlap = x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
        CHECK_FALSE((meet && overlap));
      }
    }
  }
}

TEST_CASE("plan: values larger than any memory are refused before offsets are summed") {
  const Graph g = parse_graph(
      "graph g { input %x : f32[2305843009213693951] %y = neg %x %z = abs %y output %z }");
  CHECK_THROWS_WITH_AS(make_plan(g, oracle_target()),
                       "%x : f32[2305843009213693951] takes 9223372036854775804 bytes, a value may "
                       "take 70368744177664",
                       Error);
}

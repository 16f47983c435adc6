// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "device/target.h"
#include "ir/graph.h"

namespace rlx {

/// Kinds of memory, each with its own owner and lifetime.
enum class Region : uint8_t {
  Weights,    ///< index = n-th weight; bytes stay where the file is mapped
  Constants,  ///< index = n-th constant; bytes owned by the graph
  State,      ///< index = n-th state; lives as long as a session
  Inputs,     ///< index = n-th input; the caller's bytes
  Outputs,    ///< index 0; never reused within a run
  Arena,      ///< index 0; activations, shared by lifetime
};

std::string_view region_name(Region region);

/// Where a value lies: `offset` and `bytes` (at the bounds of the symbols) within a region.
struct BufferRef {
  Region region = Region::Arena;
  uint32_t index = 0;
  int64_t offset = 0;
  int64_t bytes = 0;

  bool overlaps(const BufferRef& other) const {
    return region == other.region && index == other.index && offset < other.offset + other.bytes &&
           other.offset < offset + bytes;
  }
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

struct PlannedValue {
  Value value;
  BufferRef at;
};

/// One kernel call of the plan.
struct Step {
  NodeId node = kNoNode;
  const KernelRow* row = nullptr;
  alignas(16) std::byte params[KernelRow::kMaxParams] = {};
  std::vector<PlannedValue> operands;
  std::vector<PlannedValue> results;
  Workspace workspace;
  /// All workers must have finished every earlier step first. Steps without it share no bytes with
  /// the ones since the last barrier.
  bool barrier = true;
};

/// Steps in executed order and an offset for every value. Made for one graph and target, which must
/// outlive it; valid for all symbol values up to their bounds.
struct Plan {
  std::vector<Step> steps;
  std::vector<PlannedValue> outputs;
  int64_t arena_bytes = 0;
  /// Peak of the bytes live at once: no plan of this order is smaller.
  int64_t arena_lower_bound = 0;
  int64_t arena_sum = 0;  ///< what the arena would take without any reuse
  int64_t output_bytes = 0;
  int64_t workspace_shared = 0;
  int64_t workspace_per_worker = 0;
  std::string strategy;  ///< which packing order won
};

/// Chooses kernels, views, in-place results and offsets. Throws an Error naming the largest buffers
/// when the target's limits cannot be met. `reuse = false` gives every value its own bytes.
Plan make_plan(const Graph& graph, const Target& target, bool reuse = true);

/// Re-derives from steps alone what every byte holds at every step and throws an Error when a step
/// would read anything else, write over an operand it may not, or leave its region.
void check_plan(const Graph& graph, const Target& target, const Plan& plan);

// Parts of make_plan.

/// The next multiple of `alignment` from n on.
inline int64_t round_up(int64_t n, int64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

/// A rectangle of the packing problem: bytes alive from step `first` to step `last`, both
/// inclusive.
struct Interval {
  int64_t bytes;
  uint32_t first, last;
  int64_t offset = -1;
};

struct Packing {
  int64_t peak = 0;
  int64_t lower_bound = 0;
  std::string strategy;
};

/// Gives every interval an offset that is a multiple of `alignment`; intervals whose lifetimes meet
/// do not overlap. Tries several greedy orders and keeps the lowest peak; deterministic.
Packing pack_intervals(std::vector<Interval>& intervals, int64_t alignment);

}  // namespace rlx

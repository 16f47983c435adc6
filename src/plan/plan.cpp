// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ir/print.h"

namespace rlx {
namespace {

/// Of one value, bytes: more than any machine addresses, and sums of offsets stay within 64 bits.
constexpr int64_t most_value_bytes = int64_t{1} << 46;

/// Bytes that one or more values share: a root value, its views and its in-place successors.
struct Buffer {
  Value root;
  Region region = Region::Arena;
  uint32_t index = 0;
  int64_t bytes = 0;
  uint32_t merged_into = 0;  ///< itself, or the buffer whose bytes it shares in place
  uint32_t first = 0, last = 0;
  int64_t offset = 0;
};

class Planner {
 public:
  Planner(const Graph& graph, const Target& target, bool reuse)
      : graph_(graph), target_(target), reuse_(reuse), buffer_of_(graph.id_bound()) {}

  Plan run() {
    place_leaves();
    choose_steps();
    mark_outputs();
    share_in_place();
    measure_lifetimes();
    assign_offsets();
    fill_references();
    place_barriers();
    check_limits();
    return std::move(plan_);
  }

 private:
  uint32_t& slot(Value v) {
    auto& row = buffer_of_[v.node];
    if (row.empty()) row.assign(graph_.node(v.node).types.size(), UINT32_MAX);
    return row[v.result];
  }

  /// The buffer of a value, in place of those it was merged from.
  uint32_t buffer(Value v) {
    uint32_t& b = slot(v);
    while (buffers_[b].merged_into != b) {
      buffers_[b].merged_into = buffers_[buffers_[b].merged_into].merged_into;
      b = buffers_[b].merged_into;
    }
    return b;
  }

  int64_t bytes_of(Value v) const { return bytes_at_bounds(graph_.type(v), graph_.symbols()); }

  uint32_t new_buffer(Value root, Region region, uint32_t index) {
    const auto id = static_cast<uint32_t>(buffers_.size());
    const int64_t bytes = bytes_of(root);
    if (bytes > most_value_bytes) {
      fail(ErrorCode::LimitExceeded, "%{} : {} takes {} bytes, a value may take {}",
           graph_.value_name(root), to_string(graph_.type(root), graph_.symbols()), bytes,
           most_value_bytes);
    }
    buffers_.push_back({root, region, index, bytes, id});
    return id;
  }

  void place_leaves() {
    const std::pair<OpKind, Region> kinds[] = {{OpKind::Input, Region::Inputs},
                                               {OpKind::Weight, Region::Weights},
                                               {OpKind::Constant, Region::Constants},
                                               {OpKind::State, Region::State}};
    for (const auto& [op, region] : kinds) {
      uint32_t index = 0;
      for (const NodeId id : graph_.leaves(op)) {
        slot({id, 0}) = new_buffer({id, 0}, region, index++);
      }
    }
  }

  /// One step per node that needs a kernel; reshapes and append results are views of what they
  /// read.
  void choose_steps() {
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (is_leaf(n.op)) continue;
      if (n.op == OpKind::Reshape) {
        slot({id, 0}) = buffer(n.operands[0]);
        continue;
      }
      Step step;
      step.node = id;
      std::vector<TensorType> types;
      for (const Value& v : n.operands) {
        types.push_back(graph_.type(v));
        step.operands.push_back({v, {}});
      }
      const KernelQuery query{n, types, graph_.symbols()};
      std::vector<std::string> refusals;
      step.row = select_kernel(target_, query, &refusals);
      if (step.row == nullptr) {
        fail(ErrorCode::Unsupported, "target {} has no kernel for {}: {}", target_.name,
             print_node(graph_, id), fmt::format("{}", fmt::join(refusals, "; ")));
      }
      if (step.row->prepare != nullptr) step.row->prepare(query, step.params);
      if (step.row->workspace != nullptr) step.workspace = step.row->workspace(query);
      for (uint32_t r = 0; r < n.types.size(); ++r) {
        step.results.push_back({{id, r}, {}});
        const bool view = n.op == OpKind::Append;
        slot({id, r}) = view ? buffer(n.operands[0]) : new_buffer({id, r}, Region::Arena, 0);
      }
      plan_.workspace_shared =
          std::max(plan_.workspace_shared, round_up(step.workspace.shared, 64));
      plan_.workspace_per_worker =
          std::max(plan_.workspace_per_worker, round_up(step.workspace.per_worker, 64));
      plan_.steps.push_back(std::move(step));
    }
  }

  void mark_outputs() {
    for (const Value& v : graph_.outputs()) {
      Buffer& b = buffers_[buffer(v)];
      if (b.region == Region::Arena) b.region = Region::Outputs;
    }
  }

  void measure_lifetimes() {
    for (Buffer& b : buffers_) {
      b.first = UINT32_MAX;
      b.last = 0;
    }
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      for (const auto* list : {&step.operands, &step.results}) {
        for (const PlannedValue& p : *list) {
          Buffer& b = buffers_[buffer(p.value)];
          b.first = std::min(b.first, s);
          b.last = std::max(b.last, s);
        }
      }
    }
  }

  /// Lets a result take over the bytes of an operand that dies in the same step.
  void share_in_place() {
    if (!reuse_) return;
    measure_lifetimes();
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      Step& step = plan_.steps[s];
      if (step.row->in_place == 0) continue;
      const Value result = step.results[0].value;
      for (size_t i = 0; i < step.operands.size(); ++i) {
        if ((step.row->in_place >> i & 1u) == 0) continue;
        const Value operand = step.operands[i].value;
        const uint32_t from = buffer(operand), to = buffer(result);
        if (buffers_[from].region != Region::Arena || buffers_[from].last != s) continue;
        if (bytes_of(operand) != bytes_of(result) || bytes_of(result) != buffers_[from].bytes)
          continue;
        if (reads_elsewhere(step, i, from)) continue;
        // The merged buffer is an output's when the result is.
        if (buffers_[to].region == Region::Outputs) buffers_[from].region = Region::Outputs;
        buffers_[from].first = std::min(buffers_[from].first, buffers_[to].first);
        buffers_[from].last = std::max(buffers_[from].last, buffers_[to].last);
        buffers_[to].merged_into = from;
        break;
      }
    }
  }

  /// Another operand of the step reads the same bytes (in another place, perhaps): not safe to
  /// write.
  bool reads_elsewhere(const Step& step, size_t operand, uint32_t buf) {
    for (size_t k = 0; k < step.operands.size(); ++k) {
      if (k != operand && buffer(step.operands[k].value) == buf) return true;
    }
    return false;
  }

  void assign_offsets() {
    std::vector<Interval> intervals;
    std::vector<uint32_t> owners;
    for (uint32_t i = 0; i < buffers_.size(); ++i) {
      Buffer& b = buffers_[i];
      if (b.first == UINT32_MAX) continue;  // merged into another buffer, or a leaf no step reads
      if (b.region == Region::Outputs) {
        b.offset = plan_.output_bytes;
        plan_.output_bytes += round_up(b.bytes, target_.alignment);
      } else if (b.region == Region::Arena) {
        const uint32_t end = static_cast<uint32_t>(plan_.steps.size());
        intervals.push_back({b.bytes, reuse_ ? b.first : 0, reuse_ ? b.last : end});
        owners.push_back(i);
        plan_.arena_sum += round_up(b.bytes, target_.alignment);
      }
    }
    const Packing packing = pack_intervals(intervals, target_.alignment);
    for (size_t i = 0; i < intervals.size(); ++i) buffers_[owners[i]].offset = intervals[i].offset;
    plan_.arena_bytes = packing.peak;
    plan_.arena_lower_bound = packing.lower_bound;
    plan_.strategy = packing.strategy;
  }

  BufferRef reference(Value v) {
    const Buffer& b = buffers_[buffer(v)];
    return {b.region, b.index, b.offset, bytes_of(v)};
  }

  void fill_references() {
    for (Step& step : plan_.steps) {
      for (PlannedValue& p : step.operands) p.at = reference(p.value);
      for (PlannedValue& p : step.results) p.at = reference(p.value);
    }
    for (const Value& v : graph_.outputs()) plan_.outputs.push_back({v, reference(v)});
  }

  static bool conflicts(const Step& earlier, const Step& later) {
    if (earlier.workspace.shared > 0 && later.workspace.shared > 0) return true;
    const auto meets = [](const std::vector<PlannedValue>& a, const std::vector<PlannedValue>& b) {
      for (const PlannedValue& x : a) {
        for (const PlannedValue& y : b) {
          if (x.at.overlaps(y.at)) return true;
        }
      }
      return false;
    };
    return meets(earlier.results, later.operands) || meets(earlier.results, later.results) ||
           meets(earlier.operands, later.results);
  }

  void place_barriers() {
    size_t since = 0;
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      bool needed =
          plan_.steps[s].row->by_reference || (s > 0 && plan_.steps[s - 1].row->by_reference);
      for (size_t k = since; k < s && !needed; ++k)
        needed = conflicts(plan_.steps[k], plan_.steps[s]);
      plan_.steps[s].barrier = needed;
      if (needed) since = s;
    }
  }

  void check_limits() {
    const int64_t limit = target_.max_buffer_bytes;
    if (plan_.arena_bytes <= limit && plan_.output_bytes <= limit) return;
    std::vector<const Buffer*> largest;
    for (const Buffer& b : buffers_) {
      if (b.region == Region::Arena || b.region == Region::Outputs) largest.push_back(&b);
    }
    std::sort(largest.begin(), largest.end(),
              [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(5, largest.size()); ++i) {
      list += fmt::format("{}%{} {}", i == 0 ? "" : ", ", graph_.value_name(largest[i]->root),
                          largest[i]->bytes);
    }
    fail(ErrorCode::LimitExceeded,
         "activations need {} bytes and outputs {}; target {} allows {} per buffer; largest: {}",
         plan_.arena_bytes, plan_.output_bytes, target_.name, limit, list);
  }

  const Graph& graph_;
  const Target& target_;
  const bool reuse_;
  std::vector<std::vector<uint32_t>> buffer_of_;
  std::vector<Buffer> buffers_;
  Plan plan_;
};

}  // namespace

std::string_view region_name(Region region) {
  constexpr std::array<std::string_view, 6> kNames = {"weights", "constants", "state",
                                                      "inputs",  "outputs",   "arena"};
  return kNames[static_cast<size_t>(region)];
}

Plan make_plan(const Graph& graph, const Target& target, bool reuse) {
  Plan plan = Planner(graph, target, reuse).run();
  check_plan(graph, target, plan);
  return plan;
}

}  // namespace rlx

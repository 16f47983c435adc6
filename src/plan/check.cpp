// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "ir/print.h"
#include "plan/plan.h"

namespace rlx {
namespace {

/// The value whose bytes a view shows, by the graph alone.
Value content_of(const Graph& graph, Value v) {
  for (;;) {
    const Node& n = graph.node(v.node);
    if (n.op != OpKind::Reshape) return v;
    v = n.operands[0];
  }
}

/// What the bytes of one writable region hold, as non-overlapping ranges.
class Memory {
 public:
  void write(int64_t offset, int64_t bytes, Value content) {
    if (bytes == 0) return;
    clear(offset, offset + bytes);
    ranges_[offset] = {offset + bytes, content};
  }

  bool holds(int64_t offset, int64_t bytes, Value content) const {
    if (bytes == 0) return true;
    const auto it = ranges_.find(offset);
    return it != ranges_.end() && it->second.end >= offset + bytes && it->second.content == content;
  }

 private:
  struct Range {
    int64_t end;
    Value content;
  };

  /// Forgets whatever touches [begin, end): a value partly written over is lost as a whole.
  void clear(int64_t begin, int64_t end) {
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second.end > begin) --it;
    while (it != ranges_.end() && it->first < end) it = ranges_.erase(it);
  }

  std::map<int64_t, Range> ranges_;
};

class Checker {
 public:
  Checker(const Graph& graph, const Target& target, const Plan& plan)
      : graph_(graph), target_(target), plan_(plan) {}

  void run() {
    for (size_t s = 0; s < plan_.steps.size(); ++s) check_step(s);
    for (const PlannedValue& p : plan_.outputs) check_read(p, plan_.steps.size(), "output");
    check_barriers();
  }

 private:
  [[noreturn]] void reject(size_t step, const PlannedValue& p, const std::string& why) const {
    fail(ErrorCode::InvalidArgument, "plan, step {}: %{} at {}+{} ({} bytes): {}", step,
         graph_.value_name(p.value), region_name(p.at.region), p.at.offset, p.at.bytes, why);
  }

  static bool is_writable(Region r) { return r == Region::Arena || r == Region::Outputs; }

  void check_range(const PlannedValue& p, size_t step) const {
    const int64_t needed = bytes_at_bounds(graph_.type(p.value), graph_.symbols());
    if (p.at.bytes != needed) reject(step, p, fmt::format("needs {} bytes", needed));
    if (!is_writable(p.at.region)) return;
    const int64_t size = p.at.region == Region::Arena ? plan_.arena_bytes : plan_.output_bytes;
    if (p.at.offset < 0 || p.at.offset + p.at.bytes > size) {
      reject(step, p, fmt::format("is outside the region of {} bytes", size));
    }
    if (p.at.offset % target_.alignment != 0) {
      reject(step, p, fmt::format("is not aligned to {} bytes", target_.alignment));
    }
  }

  void check_leaf(const PlannedValue& p, size_t step) const {
    Value v = content_of(graph_, p.value);
    while (graph_.node(v.node).op == OpKind::Append) {
      v = content_of(graph_, graph_.node(v.node).operands[0]);
    }
    const OpKind op = graph_.node(v.node).op;
    const OpKind wanted = p.at.region == Region::Weights     ? OpKind::Weight
                          : p.at.region == Region::Constants ? OpKind::Constant
                          : p.at.region == Region::State     ? OpKind::State
                                                             : OpKind::Input;
    const auto leaves = graph_.leaves(wanted);
    if (op != wanted || p.at.index >= leaves.size() || leaves[p.at.index] != v.node ||
        p.at.offset != 0) {
      reject(step, p, "is not the bytes of that leaf");
    }
  }

  void check_read(const PlannedValue& p, size_t step, const char* role) {
    check_range(p, step);
    if (!is_writable(p.at.region)) return check_leaf(p, step);
    const Memory& memory = p.at.region == Region::Arena ? arena_ : outputs_;
    if (!memory.holds(p.at.offset, p.at.bytes, content_of(graph_, p.value))) {
      reject(step, p, fmt::format("this {} is not what these bytes hold", role));
    }
  }

  void check_step(size_t s) {
    const Step& step = plan_.steps[s];
    const Node& n = graph_.node(step.node);
    if (step.operands.size() != n.operands.size() || step.results.size() != n.types.size()) {
      fail(ErrorCode::InvalidArgument, "plan, step {}: operands or results are missing", s);
    }
    for (const PlannedValue& p : step.operands) check_read(p, s, "operand");
    for (size_t r = 0; r < step.results.size(); ++r) {
      const PlannedValue& p = step.results[r];
      check_range(p, s);
      if (!is_writable(p.at.region)) {
        if (n.op != OpKind::Append) reject(s, p, "a result may not be written there");
        check_leaf(p, s);
        continue;
      }
      for (size_t i = 0; i < step.operands.size(); ++i) {
        if (!p.at.overlaps(step.operands[i].at)) continue;
        const bool allowed =
            r == 0 && i < 32 && (step.row->in_place >> i & 1u) != 0 && p.at == step.operands[i].at;
        if (!allowed) reject(s, p, fmt::format("is written over operand {}", i));
      }
      for (size_t k = 0; k < r; ++k) {
        if (p.at.overlaps(step.results[k].at)) reject(s, p, "overlaps another result");
      }
      (p.at.region == Region::Arena ? arena_ : outputs_).write(p.at.offset, p.at.bytes, p.value);
    }
  }

  /// Between barriers no step may touch bytes another one writes.
  void check_barriers() const {
    size_t since = 0;
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      if (plan_.steps[s].barrier) since = s;
      for (const PlannedValue& w : plan_.steps[s].results) {
        for (size_t k = since; k < s; ++k) {
          for (const auto* list : {&plan_.steps[k].operands, &plan_.steps[k].results}) {
            for (const PlannedValue& other : *list) {
              if (w.at.overlaps(other.at)) reject(s, w, "is written while another step uses it");
            }
          }
        }
      }
      for (const PlannedValue& read : plan_.steps[s].operands) {
        for (size_t k = since; k < s; ++k) {
          for (const PlannedValue& w : plan_.steps[k].results) {
            if (w.at.overlaps(read.at)) reject(s, read, "is read while another step writes it");
          }
        }
      }
    }
  }

  const Graph& graph_;
  const Target& target_;
  const Plan& plan_;
  Memory arena_, outputs_;
};

}  // namespace

void check_plan(const Graph& graph, const Target& target, const Plan& plan) {
  Checker(graph, target, plan).run();
}

}  // namespace rlx

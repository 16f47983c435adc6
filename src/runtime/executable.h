// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/target.h"
#include "ir/graph.h"
#include "passes/pass.h"
#include "plan/plan.h"

namespace rlx {

struct CompileOptions {
  /// False gives every value its own bytes: the reference that reuse is tested against.
  bool reuse_memory = true;
};

/// A compiled graph: the legalized graph, its plan, and what happened on the way. Immutable, so
/// shareable between sessions and threads; keeps the weights' mapping alive.
class Executable {
 public:
  /// Runs the pass pipeline for `target` and plans memory. Throws an Error for what the target
  /// cannot run or hold, with the reason of every kernel that refused.
  static std::shared_ptr<const Executable> compile(Graph graph, Target target,
                                                   const CompileOptions& options = {});

  const Graph& graph() const { return graph_; }
  const Target& target() const { return target_; }
  const Plan& plan() const { return plan_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  Executable(Graph graph, Target target) : graph_(std::move(graph)), target_(std::move(target)) {}
  Graph graph_;
  Target target_;
  Plan plan_;
  std::vector<Event> events_;
};

}  // namespace rlx

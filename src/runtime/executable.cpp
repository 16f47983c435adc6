// SPDX-License-Identifier: Apache-2.0
#include "runtime/executable.h"

#include <fmt/format.h>

namespace rlx {

std::shared_ptr<const Executable> Executable::compile(Graph graph, Target target,
                                                      const CompileOptions& options) {
  auto exe = std::shared_ptr<Executable>(new Executable(std::move(graph), std::move(target)));
  PassContext context{exe->target_, exe->events_};
  run_pipeline(exe->graph_, context);
  exe->plan_ = make_plan(exe->graph_, exe->target_, options.reuse_memory);
  const Plan& plan = exe->plan_;
  exe->events_.push_back({"plan",
                          {{"steps", fmt::format("{}", plan.steps.size())},
                           {"arena_bytes", fmt::format("{}", plan.arena_bytes)},
                           {"arena_lower_bound", fmt::format("{}", plan.arena_lower_bound)},
                           {"arena_without_reuse", fmt::format("{}", plan.arena_sum)},
                           {"output_bytes", fmt::format("{}", plan.output_bytes)},
                           {"strategy", plan.strategy}}});
  return exe;
}

}  // namespace rlx

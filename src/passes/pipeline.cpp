// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "ops/verify.h"
#include "passes/pass.h"

namespace rlx {
namespace {

constexpr std::array kPasses = {
    Pass{"canonicalize", "no foldable constant, repeated, identity or unused node is left",
         canonicalize},
    Pass{"legalize", "every node has a kernel of the target or is a view", legalize},
};

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }

void run_pipeline(Graph& graph, PassContext& context, std::string_view stop_after) {
  bool known = stop_after.empty();
  std::string names;
  for (const Pass& pass : kPasses) {
    known = known || pass.name == stop_after;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", pass.name);
  }
  if (!known) {
    fail(ErrorCode::InvalidArgument, "there is no pass '{}'; the passes are {}", stop_after, names);
  }
  const Signature before = signature_of(graph);
  for (const Pass& pass : kPasses) {
    const size_t nodes = graph.order().size();
    try {
      pass.run(graph, context);
      verify(graph);
    } catch (Error& e) {
      e.add_note(fmt::format("running pass {}", pass.name));
      throw;
    }
    RLX_CHECK(signature_of(graph) == before);
    context.events.push_back({"pass",
                              {{"name", std::string(pass.name)},
                               {"nodes_before", std::to_string(nodes)},
                               {"nodes_after", std::to_string(graph.order().size())}}});
    if (pass.name == stop_after) return;
  }
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/target.h"
#include "ir/graph.h"

namespace rlx {

/// One fact a pass or the planner reports: a name and its key/value pairs, in the order they
/// happened. The same list feeds `--json`, tests and the text report.
struct Event {
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;
};

struct PassContext {
  const Target& target;
  std::vector<Event>& events;
};

/// A named Graph → Graph step of the pipeline.
struct Pass {
  std::string_view name;
  std::string_view doc;  ///< what holds afterwards, one sentence
  void (*run)(Graph&, PassContext&);
};

/// The passes in the order they run: the table of contents of compilation.
std::span<const Pass> pipeline();

/// Runs the pipeline, verifying structure, types and the unchanged signature after every pass.
/// Stops behind the pass named `stop_after` if it is not empty (Error for an unknown name).
void run_pipeline(Graph& graph, PassContext& context, std::string_view stop_after = {});

// The passes.

/// Folds small constant subgraphs, merges equal nodes, drops identities and whatever no output
/// needs.
void canonicalize(Graph& graph, PassContext& context);
/// Every remaining node has a kernel of the target, is a view, or was expanded until that held.
void legalize(Graph& graph, PassContext& context);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/graph.h"

namespace rlx {

/// The graph in the text form, one line per leaf and node in order; ops/parse.h reads it back to
/// the same graph: weights without their bytes, locations are comments. Attributes equal to an op's
/// default are left out.
std::string print(const Graph& graph);

/// One node's line, as print() writes it, without indentation or newline.
std::string print_node(const Graph& graph, NodeId node);

/// One attribute's value as the text form spells it.
std::string print_attr(const AttrValue& value, std::span<const Symbol> symbols);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "ops/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "ir/op_def.h"
#include "ir/print.h"
#include "ops/builder.h"

namespace rlx {
namespace {

[[noreturn]] void reject(const Graph& graph, const Node& n, const std::string& why) {
  fail(ErrorCode::InvalidArgument, "graph {}: {}: {}", graph.name(), print_node(graph, n.id), why);
}

void verify_operands(const Graph& graph, const Node& n, const std::vector<uint32_t>& position) {
  for (size_t i = 0; i < n.operands.size(); ++i) {
    const Value v = n.operands[i];
    if (!graph.contains(v.node) || v.result >= graph.node(v.node).types.size()) {
      reject(graph, n, fmt::format("operand {} does not exist", i));
    }
    if (position[v.node] >= position[n.id]) {
      reject(graph, n,
             fmt::format("operand %{} is used before it is defined", graph.value_name(v)));
    }
    const auto uses = graph.uses(v);
    const Use wanted{n.id, static_cast<uint32_t>(i)};
    if (std::count(uses.begin(), uses.end(), wanted) != 1) {
      reject(graph, n, fmt::format("the uses of %{} do not list this node", graph.value_name(v)));
    }
  }
}

void verify_types(const Graph& graph, const Node& n) {
  const OpDef& def = op_def(n.op);
  if (!(complete_attrs(def, n.attrs) == n.attrs)) reject(graph, n, "attributes are incomplete");
  std::vector<TensorType> operands;
  for (const Value& v : n.operands) operands.push_back(graph.type(v));
  const auto inferred = infer_types(n.op, operands, n.attrs, graph.symbols());
  if (inferred.size() != n.types.size()) {
    reject(graph, n, fmt::format("has {} results, the op has {}", n.types.size(), inferred.size()));
  }
  for (size_t r = 0; r < inferred.size(); ++r) {
    if (inferred[r] == n.types[r]) continue;
    reject(graph, n,
           fmt::format("result {} must be {}", r, to_string(inferred[r], graph.symbols())));
  }
}

}  // namespace

void verify(const Graph& graph) {
  std::vector<uint32_t> position(graph.id_bound(), UINT32_MAX);
  for (size_t i = 0; i < graph.order().size(); ++i) {
    position[graph.order()[i]] = static_cast<uint32_t>(i);
  }
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    for (const TensorType& t : n.types) check_type(t, graph.symbols());
    if (is_leaf(n.op)) continue;
    verify_operands(graph, n, position);
    verify_types(graph, n);
    for (const auto& body : n.bodies) verify(*body);
  }
  if (graph.outputs().empty()) {
    fail(ErrorCode::InvalidArgument, "graph {}: has no output", graph.name());
  }
}

Signature signature_of(const Graph& graph) {
  Signature s;
  for (const OpKind kind : {OpKind::Input, OpKind::Weight, OpKind::State}) {
    for (const NodeId id : graph.leaves(kind)) {
      const Node& n = graph.node(id);
      s.entries.push_back({kind, n.names[0], n.types[0]});
    }
  }
  for (const Value& v : graph.outputs()) {
    s.entries.push_back({graph.node(v.node).op, {}, graph.type(v)});
    s.entries.back().kind = OpKind::Constant;  // outputs are positional: only order and type count
  }
  return s;
}

}  // namespace rlx

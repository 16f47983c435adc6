// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "base/error.h"
#include "ir/op_def.h"
#include "ops/oracle.h"
#include "passes/pass.h"

namespace rlx {
namespace {

/// Largest constant folding makes, bytes: more would cost memory to save little time.
constexpr int64_t kFoldLimit = 64 << 10;

/// Reads or writes state: executing it fewer times, or at another place, is not the same.
bool touches_state(const Graph& graph, const Node& n) {
  if (n.op == OpKind::Append) return true;
  for (const Value& v : n.operands) {
    if (graph.node(v.node).op == OpKind::State) return true;
  }
  return false;
}

bool all_constant(const Graph& graph, const Node& n) {
  for (const Value& v : n.operands) {
    if (graph.node(v.node).op != OpKind::Constant) return false;
  }
  return !is_leaf(n.op) && !touches_state(graph, n);
}

bool small_and_static(const Node& n) {
  for (const TensorType& t : n.types) {
    for (const Dim& d : t.shape) {
      if (!d.is_static()) return false;
    }
    if (byte_count(t).constant() > kFoldLimit) return false;
    const auto cls = dtype_info(t.dtype).type_class;
    if (cls == DTypeClass::Packed || cls == DTypeClass::Complex) return false;
  }
  for (const AttrKey key : {AttrKey::At, AttrKey::Starts}) {
    const AttrValue* a = n.attrs.find(key);
    if (a == nullptr) continue;
    for (const Dim& d : a->dims) {
      if (!d.is_static()) return false;
    }
  }
  return true;
}

std::vector<int64_t> static_shape(const TensorType& t) {
  std::vector<int64_t> shape;
  for (const Dim& d : t.shape) shape.push_back(d.constant());
  return shape;
}

/// Replaces a node over constants by constants with the oracle's numbers.
bool fold(Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  if (!all_constant(graph, n) || !small_and_static(n)) return false;
  std::vector<OracleTensor> operands;
  for (const Value& v : n.operands) {
    const TensorType& t = graph.type(v);
    if (!small_and_static(graph.node(v.node))) return false;
    operands.push_back(oracle_from_bytes(t.dtype, static_shape(t), graph.node(v.node).data.bytes));
  }
  std::vector<OracleTensor*> pointers;
  for (OracleTensor& t : operands) pointers.push_back(&t);
  const std::vector<int64_t> symbols(graph.symbols().size(), 0);
  const auto results = evaluate_node(graph, n, pointers, symbols);
  for (size_t r = 0; r < results.size(); ++r) {
    auto bytes = std::make_shared<std::vector<std::byte>>(oracle_to_bytes(results[r]));
    const std::span<const std::byte> view = *bytes;
    const TensorType type = graph.node(id).types[r];
    const NodeId c = graph.add_node(OpKind::Constant, {}, {}, {type}, {}, id);
    graph.set_data(c, {view, std::move(bytes)});
    graph.replace_uses({id, static_cast<uint32_t>(r)}, {c, 0});
  }
  return true;
}

/// The operand a node passes through unchanged, or an invalid value.
Value identity_of(const Graph& graph, const Node& n) {
  switch (n.op) {
    case OpKind::Reshape:
    case OpKind::Broadcast:
    case OpKind::Cast:
    case OpKind::Slice:
      if (graph.type(n.operands[0]) == n.types[0]) return n.operands[0];
      return {};
    case OpKind::Transpose: {
      const auto& perm = n.attrs.get_ints(AttrKey::Perm);
      for (size_t i = 0; i < perm.size(); ++i) {
        if (perm[i] != static_cast<int64_t>(i)) return {};
      }
      return n.operands[0];
    }
    case OpKind::Concat: return n.operands.size() == 1 ? n.operands[0] : Value{};
    default: return {};
  }
}

/// A reshape of a reshape reads the first operand directly.
void skip_reshape_chain(Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  if (n.op != OpKind::Reshape) return;
  const Node& source = graph.node(n.operands[0].node);
  if (source.op == OpKind::Reshape) graph.set_operand(id, 0, source.operands[0]);
}

bool same_node(const Node& a, const Node& b) {
  return a.op == b.op && a.operands == b.operands && a.attrs == b.attrs && a.types == b.types &&
         a.bodies.empty() && b.bodies.empty();
}

/// Looks for an earlier node equal to `id` among those with the same op and first operand.
class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph) {}
  bool merge(NodeId id) {
    const Node& n = graph_.node(id);
    if (is_leaf(n.op) || touches_state(graph_, n)) return false;
    const uint64_t first = n.operands.empty() ? UINT32_MAX : n.operands[0].node;
    auto& bucket = seen_[first << 8 | static_cast<uint64_t>(n.op)];
    for (const NodeId other : bucket) {
      if (!same_node(graph_.node(other), n)) continue;
      for (uint32_t r = 0; r < n.types.size(); ++r) graph_.replace_uses({id, r}, {other, r});
      return true;
    }
    bucket.push_back(id);
    return false;
  }

 private:
  Graph& graph_;
  std::map<uint64_t, std::vector<NodeId>> seen_;
};

void drop_unused(Graph& graph) {
  const std::vector<NodeId> order = graph.order();
  for (size_t i = order.size(); i-- > 0;) {
    const Node& n = graph.node(order[i]);
    if (is_leaf(n.op) && n.op != OpKind::Constant) continue;
    if (n.op == OpKind::Append) continue;
    bool used = false;
    for (uint32_t r = 0; r < n.types.size(); ++r) used = used || !graph.uses({n.id, r}).empty();
    if (!used) graph.erase(n.id);
  }
}

}  // namespace

void canonicalize(Graph& graph, PassContext&) {
  Merger merger(graph);
  const std::vector<NodeId> order = graph.order();
  for (const NodeId id : order) {
    skip_reshape_chain(graph, id);
    const Value same = identity_of(graph, graph.node(id));
    if (same.valid()) {
      graph.replace_uses({id, 0}, same);
      continue;
    }
    if (!fold(graph, id)) merger.merge(id);
  }
  drop_unused(graph);
}

}  // namespace rlx

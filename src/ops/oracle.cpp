// SPDX-License-Identifier: Apache-2.0
#include "ops/oracle.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "ops/builder.h"

namespace rlx {
namespace {

std::vector<int64_t> extents_of(const Shape& shape, std::span<const int64_t> symbols) {
  std::vector<int64_t> extents;
  extents.reserve(shape.size());
  for (const Dim& d : shape) extents.push_back(d.value(symbols));
  return extents;
}

/// A tensor of zeros of `type` at these symbols.
OracleTensor make_tensor(const TensorType& type, std::span<const int64_t> symbols) {
  OracleTensor t;
  t.dtype = type.dtype;
  t.shape = extents_of(type.shape, symbols);
  for (const int64_t d : t.shape) {
    if (d < 0) {
      fail(ErrorCode::InvalidArgument, "an extent of {}[{}] is negative", dtype_name(t.dtype),
           fmt::join(t.shape, ", "));
    }
  }
  if (is_packed(t.dtype)) {
    const DTypeInfo& info = dtype_info(t.dtype);
    t.packed.resize(static_cast<size_t>(t.count() / info.block_elements * info.block_bytes));
  } else {
    t.data.resize(static_cast<size_t>(t.count()));
  }
  return t;
}

TensorType static_type(const OracleTensor& t) {
  return {t.dtype, Shape(t.shape.begin(), t.shape.end())};
}

/// Attributes with every extent as a number.
Attrs static_attrs(const Attrs& attrs, std::span<const int64_t> symbols) {
  Attrs out;
  for (Attrs::Entry e : attrs.entries()) {
    for (Dim& d : e.value.dims) d = Dim(d.value(symbols));
    out.set(e.key, std::move(e.value));
  }
  return out;
}

/// Runs a graph's nodes in order; values are freed after their last use.
class Evaluator {
 public:
  Evaluator(const Graph& graph, std::span<const int64_t> symbols)
      : graph_(graph), symbols_(symbols), slots_(graph.id_bound()), uses_left_(graph.id_bound()) {}

  /// Gives a leaf its tensor; it must outlive the run.
  void bind(NodeId leaf, OracleTensor* tensor) { slots_[leaf].tensors = {tensor}; }

  std::vector<OracleTensor> run() {
    for (const NodeId id : graph_.order()) {
      for (uint32_t r = 0; r < graph_.node(id).types.size(); ++r) {
        uses_left_[id] += graph_.uses({id, r}).size();
      }
    }
    for (const NodeId id : graph_.order()) step(graph_.node(id));
    std::vector<OracleTensor> outputs;
    for (const Value& v : graph_.outputs()) {
      outputs.push_back(*slots_[v.node].tensors[v.result]);
    }
    return outputs;
  }

 private:
  struct Slot {
    std::vector<OracleTensor> owned;
    std::vector<OracleTensor*> tensors;
  };

  void own(NodeId id, std::vector<OracleTensor> results) {
    Slot& slot = slots_[id];
    slot.owned = std::move(results);
    for (OracleTensor& t : slot.owned) slot.tensors.push_back(&t);
  }

  void step(const Node& n) {
    if (!slots_[n.id].tensors.empty()) return;
    if (n.op == OpKind::Constant) {
      std::vector<OracleTensor> literal;
      literal.push_back(
          oracle_from_bytes(n.types[0].dtype, extents_of(n.types[0].shape, {}), n.data.bytes));
      return own(n.id, std::move(literal));
    }
    RLX_CHECK(!is_leaf(n.op));
    std::vector<OracleTensor*> operands;
    for (const Value& v : n.operands) operands.push_back(slots_[v.node].tensors[v.result]);
    own(n.id, evaluate_node(graph_, n, operands, symbols_));
    for (const Value& v : n.operands) release(v.node);
    if (uses_left_[n.id] == 0) slots_[n.id] = {};
  }

  void release(NodeId id) {
    if (--uses_left_[id] == 0) slots_[id].owned = {};
  }

  const Graph& graph_;
  std::span<const int64_t> symbols_;
  std::vector<Slot> slots_;
  std::vector<size_t> uses_left_;
};

/// The results of a composite: its lowering at these extents, run as a graph of its own.
std::vector<OracleTensor> evaluate_lowered(const Node& node,
                                           std::span<OracleTensor* const> operands,
                                           std::span<const int64_t> symbols) {
  Graph body("lowered");
  Node twin;
  twin.op = node.op;
  twin.attrs = static_attrs(node.attrs, symbols);
  for (size_t i = 0; i < operands.size(); ++i) {
    twin.operands.push_back(
        body.add_input(fmt::format("operand_{}", i), static_type(*operands[i])));
  }
  std::vector<TensorType> types;
  for (const OracleTensor* t : operands) types.push_back(static_type(*t));
  twin.types = infer_types(node.op, types, twin.attrs, {});
  Builder builder(body);
  const std::vector<Value> results = op_def(node.op).lower(builder, twin);
  RLX_CHECK(results.size() == twin.types.size());
  for (size_t r = 0; r < results.size(); ++r) RLX_CHECK(body.type(results[r]) == twin.types[r]);
  body.set_outputs(results);
  Evaluator run(body, {});
  for (size_t i = 0; i < operands.size(); ++i) run.bind(twin.operands[i].node, operands[i]);
  return run.run();
}

std::string type_text(const OracleTensor& t) {
  return fmt::format("{}[{}]", dtype_name(t.dtype), fmt::join(t.shape, ", "));
}

/// Error unless a tensor bound by name has the leaf's type and as much data as that says.
void check_bound(const Graph& graph, const Node& n, const OracleTensor& t,
                 std::span<const int64_t> symbols) {
  const OracleTensor wanted = make_tensor({n.types[0].dtype, {}}, {});
  const std::vector<int64_t> shape = extents_of(n.types[0].shape, symbols);
  if (t.dtype != wanted.dtype || t.shape != shape) {
    fail(ErrorCode::InvalidArgument, "{} %{}: found {}, must be {}[{}] (declared {})",
         op_name(n.op), n.names[0], type_text(t), dtype_name(wanted.dtype), fmt::join(shape, ", "),
         to_string(n.types[0], graph.symbols()));
  }
  const DTypeInfo& info = dtype_info(t.dtype);
  const bool packed = is_packed(t.dtype);
  const auto count = static_cast<size_t>(t.count());
  const size_t need = packed ? count / info.block_elements * info.block_bytes : count;
  const size_t found = packed ? t.packed.size() : t.data.size();
  if (found != need) {
    fail(ErrorCode::InvalidArgument, "{} %{}: found {} entries, must be {}", op_name(n.op),
         n.names[0], found, need);
  }
}

void check_symbols(const Graph& graph, std::span<const int64_t> symbols) {
  const auto declared = graph.symbols();
  if (symbols.size() != declared.size()) {
    fail(ErrorCode::InvalidArgument, "graph {} has {} symbols, {} values are given", graph.name(),
         declared.size(), symbols.size());
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i] < 0 || symbols[i] > declared[i].bound) {
      fail(ErrorCode::InvalidArgument, "symbol {}: {} is outside 0 to {}", declared[i].name,
           symbols[i], declared[i].bound);
    }
  }
}

/// The tensor of a leaf, put into `run` where it is not there yet.
OracleTensor& leaf_tensor(const Node& n, OracleRun& run) {
  auto& table = n.op == OpKind::Input    ? run.inputs
                : n.op == OpKind::Weight ? run.weights
                                         : run.states;
  const auto found = table.find(n.names[0]);
  if (found != table.end()) return found->second;
  if (n.op == OpKind::State) {
    return table.emplace(n.names[0], make_tensor(n.types[0], run.symbols)).first->second;
  }
  if (n.op == OpKind::Weight && !n.data.bytes.empty()) {
    OracleTensor t = oracle_from_bytes(n.types[0].dtype, extents_of(n.types[0].shape, run.symbols),
                                       n.data.bytes);
    return table.emplace(n.names[0], std::move(t)).first->second;
  }
  fail(ErrorCode::NotFound, "{} %{} has no tensor", op_name(n.op), n.names[0]);
}

}  // namespace

std::vector<OracleTensor> evaluate_node(const Graph&, const Node& node,
                                        std::span<OracleTensor* const> operands,
                                        std::span<const int64_t> symbols) {
  const OpDef& def = op_def(node.op);
  if (def.lower != nullptr) return evaluate_lowered(node, operands, symbols);
  RLX_CHECK(def.reference != nullptr);
  std::vector<OracleTensor> results;
  for (const TensorType& type : node.types) results.push_back(make_tensor(type, symbols));
  def.reference(OracleArgs{node.op, operands, node.attrs, symbols}, results);
  for (OracleTensor& t : results) {
    for (double& x : t.data) x = storable(t.dtype, x);
  }
  return results;
}

std::vector<OracleTensor> evaluate(const Graph& graph, OracleRun& run) {
  check_symbols(graph, run.symbols);
  Evaluator evaluator(graph, run.symbols);
  for (const OpKind kind : {OpKind::Input, OpKind::Weight, OpKind::State}) {
    for (const NodeId id : graph.leaves(kind)) {
      OracleTensor& tensor = leaf_tensor(graph.node(id), run);
      check_bound(graph, graph.node(id), tensor, run.symbols);
      evaluator.bind(id, &tensor);
    }
  }
  return evaluator.run();
}

}  // namespace rlx

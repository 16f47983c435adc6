// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "ir/op_def.h"
#include "ir/print.h"
#include "ops/builder.h"
#include "passes/pass.h"

namespace rlx {
namespace {

/// Expansions may nest this deep: more means two lowerings that expand into each other.
constexpr int kMaxExpansion = 16;

class Legalizer {
 public:
  Legalizer(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  void run() {
    const std::vector<NodeId> order = graph_.order();
    for (const NodeId id : order) legalize_node(id, 0);
  }

 private:
  const KernelRow* kernel(const Node& n, std::vector<std::string>* refusals) const {
    std::vector<TensorType> operands;
    for (const Value& v : n.operands) operands.push_back(graph_.type(v));
    return select_kernel(context_.target, {n, operands, graph_.symbols()}, refusals);
  }

  void legalize_node(NodeId id, int depth) {
    const Node& n = graph_.node(id);
    if (is_leaf(n.op) || n.op == OpKind::Reshape) return;
    convert_activation(id);
    std::vector<std::string> refusals;
    const KernelRow* row = kernel(n, &refusals);
    if (row != nullptr && !row->by_reference) return;
    if (op_def(n.op).lower != nullptr && depth < kMaxExpansion) return expand(id, depth, refusals);
    if (row != nullptr) {
      context_.events.push_back({"fallback",
                                 {{"node", print_node(graph_, id)},
                                  {"kernel", row->name},
                                  {"refused", fmt::format("{}", fmt::join(refusals, "; "))}}});
      return;
    }
    fail(ErrorCode::Unsupported, "target {} has no kernel for {}: {}", context_.target.name,
         print_node(graph_, id),
         refusals.empty() ? "no row for this op" : fmt::format("{}", fmt::join(refusals, "; ")));
  }

  /// On targets that want it, the f32 operand of a product is brought to the precision that the
  /// weight's kernels multiply in, once per value however many products read it.
  void convert_activation(NodeId id) {
    const Node& n = graph_.node(id);
    if (n.op != OpKind::Linear && n.op != OpKind::ExpertLinear) return;
    const Value x = n.operands[0];
    const DType weight = graph_.type(n.operands[1]).dtype;
    if (graph_.type(x).dtype != DType::F32) return;
    if (context_.target.quantize_activations && is_packed(weight)) {
      graph_.set_operand(
          id, 0, converted(quantized_, id, x, [&](Builder& b) {
            return b.op(OpKind::Quantize, {x}, {{AttrKey::To, AttrValue::of_dtype(DType::Q15)}});
          }));
      const KernelRow* row = kernel(n, nullptr);
      if (row == nullptr || row->by_reference) graph_.set_operand(id, 0, x);
    } else if (context_.target.bf16_activations && weight == DType::BF16 && !is_rounded(x)) {
      graph_.set_operand(id, 0, converted(rounded_, id, x, [&](Builder& b) {
                           return b.cast(b.cast(x, DType::BF16), DType::F32);
                         }));
    }
  }

  /// Whether x holds numbers of bf16 already.
  bool is_rounded(Value x) const {
    const Node& n = graph_.node(x.node);
    return n.op == OpKind::Cast && graph_.type(n.operands[0]).dtype == DType::BF16;
  }

  using ValueMap = std::map<uint64_t, Value>;

  /// What `make` builds of `x` in front of node `id`, or what it built for an earlier node.
  template <typename Make>
  Value converted(ValueMap& made, NodeId id, Value x, Make make) {
    Value& v = made[(static_cast<uint64_t>(x.node) << 32) | x.result];
    if (!v.valid()) {
      Builder b(graph_, id);
      b.set_location(graph_.node(id).location);
      v = make(b);
    }
    return v;
  }

  void expand(NodeId id, int depth, const std::vector<std::string>& refusals) {
    const Node& n = graph_.node(id);
    context_.events.push_back({"expand",
                               {{"node", print_node(graph_, id)},
                                {"refused", fmt::format("{}", fmt::join(refusals, "; "))}}});
    const size_t first_new = graph_.id_bound();
    Builder b(graph_, id);
    b.set_location(n.location);
    const std::vector<Value> results = op_def(n.op).lower(b, n);
    for (uint32_t r = 0; r < results.size(); ++r) graph_.replace_uses({id, r}, results[r]);
    const size_t last_new = graph_.id_bound();
    graph_.erase(id);
    for (size_t i = first_new; i < last_new; ++i) {
      if (graph_.contains(static_cast<NodeId>(i))) legalize_node(static_cast<NodeId>(i), depth + 1);
    }
  }

  Graph& graph_;
  PassContext& context_;
  ValueMap quantized_, rounded_;
};

}  // namespace

void legalize(Graph& graph, PassContext& context) {
  Legalizer(graph, context).run();
  // Expansions leave repeated constants and unused values behind.
  canonicalize(graph, context);
}

}  // namespace rlx

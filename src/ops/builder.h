// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace rlx {

/// Appends checked nodes to a graph: fills in attribute defaults, infers result types, and throws
/// an Error naming the op for what its record does not allow. The graph must outlive the builder.
class Builder {
 public:
  explicit Builder(Graph& graph, NodeId insert_before = kNoNode)
      : graph_(&graph), before_(insert_before) {}

  Graph& graph() { return *graph_; }
  const TensorType& type(Value v) const { return graph_->type(v); }
  const Shape& shape(Value v) const { return graph_->type(v).shape; }
  const Dim& dim(Value v, size_t axis) const { return graph_->type(v).shape[axis]; }
  /// Where following nodes come from (their `location`).
  void set_location(std::string location) { location_ = std::move(location); }

  /// One-result op.
  Value op(OpKind kind, std::vector<Value> operands, Attrs attrs = {}, std::string name = {});
  /// Any op; all results.
  std::vector<Value> ops(OpKind kind, std::vector<Value> operands, Attrs attrs = {},
                         std::vector<std::string> names = {});

  /// A constant of `dtype` (a Float, Int or Bool) with the shape and numbers given.
  Value constant(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values,
                 std::string name = {});
  Value scalar(DType dtype, double value) { return constant(dtype, {}, {value}); }

  // Short forms used by lower functions and models; binary ops broadcast as NumPy does.
  Value add(Value a, Value b) { return op(OpKind::Add, {a, b}); }
  Value sub(Value a, Value b) { return op(OpKind::Sub, {a, b}); }
  Value mul(Value a, Value b) { return op(OpKind::Mul, {a, b}); }
  Value div(Value a, Value b) { return op(OpKind::Div, {a, b}); }
  Value cast(Value x, DType to);
  Value reshape(Value x, Shape shape);
  Value transpose(Value x, std::vector<int64_t> perm);
  Value broadcast(Value x, Shape shape);

 private:
  Graph* graph_;
  NodeId before_;
  std::string location_;
};

/// Attributes with an op's defaults filled in; Error for a missing or unknown one.
Attrs complete_attrs(const OpDef& def, const Attrs& given);
/// Attributes in their one stored form: axes counted from the front and sorted, no axes meaning
/// all of them, strides of all ones left empty, the -1 of a reshape resolved.
Attrs normalize_attrs(OpKind op, std::span<const TensorType> operands, Attrs attrs,
                      std::span<const Symbol> symbols);
/// Checks operand count and infers result types (attributes must be complete).
std::vector<TensorType> infer_types(OpKind op, std::span<const TensorType> operands,
                                    const Attrs& attrs, std::span<const Symbol> symbols);

}  // namespace rlx

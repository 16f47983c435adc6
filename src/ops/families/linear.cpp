// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"
#include "ops/records.h"
#include "ops/rules.h"

namespace rlx {
namespace {

void require_activation(const InferArgs& a) {
  if (is_float(a.operands[0].dtype) || a.operands[0].dtype == DType::Q15) return;
  fail_infer(a, "{} must be Float or q15", operand_text(a, 0));
}

/// x's own type, or f32 for packed activations.
DType result_dtype(const InferArgs& a) {
  return is_packed(a.operands[0].dtype) ? DType::F32 : a.operands[0].dtype;
}

std::vector<TensorType> infer_linear(const InferArgs& a) {
  require_activation(a);
  require_class(a, 1, kFloats | kPackeds);
  require_min_rank(a, 0, 1);
  require_rank(a, 1, 2);
  const Shape& w = a.operands[1].shape;
  require_equal(a, w[1], a.operands[0].shape.back(), "columns of w against the last axis of x");
  if (a.operands.size() > 2) {
    require_class(a, 2, kFloats);
    require_rank(a, 2, 1);
    require_equal(a, a.operands[2].shape[0], w[0], "extent of bias against rows of w");
  }
  Shape out = a.operands[0].shape;
  out.back() = w[0];
  return one(result_dtype(a), std::move(out));
}

std::vector<Value> lower_linear(Builder& b, const Node& n) {
  const Value x = widened(b, n.operands[0]);
  const DType wide = b.type(x).dtype;
  const Value w = b.transpose(b.cast(widened(b, n.operands[1]), wide), {1, 0});
  const Shape& shape = b.shape(x);
  Value y;
  if (shape.size() == 1) {
    y = b.op(OpKind::Matmul, {b.reshape(x, {Dim(1), shape[0]}), w});
    y = b.reshape(y, {b.dim(w, 1)});
  } else {
    y = b.op(OpKind::Matmul, {x, w});
  }
  if (n.operands.size() > 2) y = b.add(y, b.cast(widened(b, n.operands[2]), wide));
  const DType given = b.type(n.operands[0]).dtype;
  return {is_packed(given) ? y : b.cast(y, given)};
}

std::vector<TensorType> infer_embedding(const InferArgs& a) {
  require_class(a, 0, kFloats | kPackeds);
  require_class(a, 1, kInts);
  require_rank(a, 0, 2);
  require_rank(a, 1, 1);
  return one(DType::F32, {a.operands[1].shape[0], a.operands[0].shape[1]});
}

std::vector<Value> lower_embedding(Builder& b, const Node& n) {
  const Value rows =
      b.op(OpKind::Gather, {n.operands[0], n.operands[1]}, {{AttrKey::Axis, AttrValue::of_int(0)}});
  return {b.cast(widened(b, rows), DType::F32)};
}

std::vector<TensorType> infer_expert_linear(const InferArgs& a) {
  require_activation(a);
  require_class(a, 1, kFloats | kPackeds);
  require_class(a, 2, kInts);
  require_rank(a, 1, 3);
  require_rank(a, 2, 2);
  const Shape& x = a.operands[0].shape;
  const Shape& w = a.operands[1].shape;
  const Shape& ids = a.operands[2].shape;
  if (x.size() != 2 && x.size() != 3) {
    fail_infer(a, "{} has rank {}, must have 2 or 3", operand_text(a, 0), x.size());
  }
  require_equal(a, ids[0], x[0], "rows of ids against rows of x");
  if (x.size() == 3) require_equal(a, ids[1], x[1], "columns of ids against axis 1 of x");
  require_equal(a, w[2], x.back(), "last axis of w against the last axis of x");
  return one(result_dtype(a), {ids[0], ids[1], w[1]});
}

std::vector<Value> lower_expert_linear(Builder& b, const Node& n) {
  const Value x = widened(b, n.operands[0]);
  const DType wide = b.type(x).dtype;
  const Value chosen =
      b.op(OpKind::Gather, {n.operands[1], n.operands[2]}, {{AttrKey::Axis, AttrValue::of_int(0)}});
  const Value w = b.cast(widened(b, chosen), wide);
  const Shape& shape = b.shape(x);
  const Value column =
      b.reshape(x, {shape[0], shape.size() == 3 ? shape[1] : Dim(1), shape.back(), Dim(1)});
  const Value y =
      b.reshape(b.op(OpKind::Matmul, {w, column}), {b.dim(w, 0), b.dim(w, 1), b.dim(w, 2)});
  const DType given = b.type(n.operands[0]).dtype;
  return {is_packed(given) ? y : b.cast(y, given)};
}

}  // namespace

template <>
OpDef make_op<OpKind::Linear>() {
  OpDef d;
  d.op = OpKind::Linear;
  d.doc =
      "y[.., n] = sum over k of x[.., k] * w[n, k] + bias[n]: rows of w are outputs, w of any "
      "Float "
      "or packed storage stands for its f32 numbers, and so does q15 x (y is then f32).";
  d.operands = {{"x"}, {"w"}, {"bias", OperandSpec::Optional}};
  d.precision = PrecisionClass::Compute;
  d.infer = infer_linear;
  d.lower = lower_linear;
  d.samples = {{"const %x : f32[2, 2] = [1.0, 2.0, 3.0, 4.0] "
                "const %w : f16[3, 2] = [1.0, 0.0, 0.5, 1.0, -1.0, 2.0] "
                "const %b : f32[3] = [0.25, 0.0, 1.0] "
                "%y = linear %x, %w, %b : f32[2, 3] output %y",
                {1.25, 2.5, 4, 3.25, 5.5, 6}},
               {"const %x : f32[32] = splat 127.0 const %f : f32[1, 32] = splat -254.0 "
                "%q = quantize %f {to = q8_0} %y = linear %x, %q : f32[1] output %y",
                {-1032256}}};
  return d;
}

template <>
OpDef make_op<OpKind::Embedding>() {
  OpDef d;
  d.op = OpKind::Embedding;
  d.doc =
      "y[t] = the f32 numbers of row ids[t] of the table (any Float or packed storage); an id "
      "outside the table is an error.";
  d.operands = {{"table"}, {"ids"}};
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_embedding;
  d.lower = lower_embedding;
  d.samples = {
      {"const %t : bf16[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] const %i : i32[2] = [2, 0] "
       "%y = embedding %t, %i : f32[2, 2] output %y",
       {5, 6, 1, 2}}};
  return d;
}

template <>
OpDef make_op<OpKind::ExpertLinear>() {
  OpDef d;
  d.op = OpKind::ExpertLinear;
  d.doc =
      "y[t, j, n] = sum over k of x[t, k] (or x[t, j, k]) * w[ids[t, j], n, k]: the chosen "
      "experts' "
      "matrices applied to each token; storage of w and x as for linear.";
  d.operands = {{"x"}, {"w"}, {"ids"}};
  d.precision = PrecisionClass::Compute;
  d.infer = infer_expert_linear;
  d.lower = lower_expert_linear;
  d.samples = {{"const %x : f32[2, 2] = [1.0, 2.0, 3.0, 4.0] "
                "const %w : f32[2, 1, 2] = [1.0, 0.0, 0.5, 1.0] "
                "const %i : i64[2, 2] = [0, 1, 1, 1] "
                "%y = expert_linear %x, %w, %i : f32[2, 2, 1] output %y",
                {1, 2.5, 5.5, 5.5}},
               {"const %x : f32[1, 2, 2] = [1.0, 2.0, 3.0, 4.0] "
                "const %w : f32[2, 1, 2] = [1.0, 0.0, 0.5, 1.0] const %i : i64[1, 2] = [1, 0] "
                "%y = expert_linear %x, %w, %i output %y",
                {2.5, 3}}};
  return d;
}

}  // namespace rlx

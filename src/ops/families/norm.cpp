// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"
#include "ops/records.h"
#include "ops/rules.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_norm(const InferArgs& a) {
  require_class(a, 0, kFloats);
  require_min_rank(a, 0, 1);
  const double eps = a.attrs.get_float(AttrKey::Eps);
  if (!(eps >= 0)) fail_infer(a, "eps {} must not be below 0", eps);
  for (size_t i = 1; i < a.operands.size(); ++i) {
    require_class(a, i, kFloats);
    require_rank(a, i, 1);
    require_equal(a, a.operands[i].shape[0], a.operands[0].shape.back(),
                  fmt::format("extent of {}", operand_text(a, i)));
  }
  return {a.operands[0]};
}

Value mean(Builder& b, Value x) {
  return b.op(OpKind::ReduceMean, {x}, along(static_cast<int64_t>(b.shape(x).size()) - 1));
}

/// x / sqrt(mean(x * x) + eps) * gamma + beta, in x's type, gamma and beta where given.
std::vector<Value> scaled(Builder& b, const Node& n, Value x) {
  const DType wide = b.type(x).dtype;
  const Value power =
      b.add(mean(b, b.mul(x, x)), exact_scalar(b, wide, n.attrs.get_float(AttrKey::Eps)));
  Value y = b.div(x, b.op(OpKind::Sqrt, {power}));
  if (n.operands.size() > 1) y = b.mul(y, b.cast(n.operands[1], wide));
  if (n.operands.size() > 2) y = b.add(y, b.cast(n.operands[2], wide));
  return {b.cast(y, b.type(n.operands[0]).dtype)};
}

std::vector<Value> lower_rms_norm(Builder& b, const Node& n) {
  return scaled(b, n, widened(b, n.operands[0]));
}

std::vector<Value> lower_layer_norm(Builder& b, const Node& n) {
  const Value x = widened(b, n.operands[0]);
  return scaled(b, n, b.sub(x, mean(b, x)));
}

OpDef norm(OpKind op, std::string_view doc) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"x"}, {"gamma", OperandSpec::Optional}};
  d.attrs = {{AttrKey::Eps}};
  d.precision = PrecisionClass::Reduction;
  d.infer = infer_norm;
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::RmsNorm>() {
  OpDef d = norm(OpKind::RmsNorm,
                 "y = x / sqrt(mean(x^2) + eps) * gamma over the last axis (Zhang and Sennrich "
                 "2019); gamma is 1 where absent.");
  d.lower = lower_rms_norm;
  d.samples = {
      {"const %x : f32[2, 2] = [3.0, 4.0, 1.0, -1.0] const %g : f32[2] = [2.0, 1.0] "
       "%y = rms_norm %x, %g {eps = 0.0} output %y",
       {1.697056274847714, 1.131370849898476, 2, -1}},
      {"const %x : f32[2] = [1.0, 1.0] %y = rms_norm %x {eps = 3.0} output %y", {0.5, 0.5}}};
  return d;
}

template <>
OpDef make_op<OpKind::LayerNorm>() {
  OpDef d = norm(OpKind::LayerNorm,
                 "y = (x - mean(x)) / sqrt(var(x) + eps) * gamma + beta over the last axis, "
                 "variance divided by n (Ba et al. 2016); gamma is 1 and beta 0 where absent.");
  d.operands.push_back({"beta", OperandSpec::Optional});
  d.lower = lower_layer_norm;
  d.samples = {
      {"const %x : f32[2, 2] = [3.0, 5.0, 1.0, -1.0] const %g : f32[2] = [2.0, 1.0] "
       "const %b : f32[2] = [0.5, 0.25] %y = layer_norm %x, %g, %b {eps = 0.0} output %y",
       {-1.5, 1.25, 2.5, -0.75}},
      {"const %x : f32[2] = [0.0, 2.0] %y = layer_norm %x {eps = 3.0} output %y", {-0.5, 0.5}}};
  return d;
}

}  // namespace rlx

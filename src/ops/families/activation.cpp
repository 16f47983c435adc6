// SPDX-License-Identifier: Apache-2.0
#include "ops/families/elementwise.h"
#include "ops/lowering.h"
#include "ops/records.h"

namespace rlx {
namespace {

Value scale_by(Builder& b, Value x, double factor) {
  return b.mul(x, exact_scalar(b, b.type(x).dtype, factor));
}

Value sigmoid(Builder& b, Value x) {
  const Value one_value = b.scalar(b.type(x).dtype, 1);
  const Value e = b.op(OpKind::Exp, {b.op(OpKind::Neg, {x})});
  return b.div(one_value, b.add(one_value, e));
}

Value silu(Builder& b, Value x) { return b.mul(x, sigmoid(b, x)); }

/// 0.5 x (1 + t).
Value half_gate(Builder& b, Value x, Value t) {
  return b.mul(scale_by(b, x, 0.5), b.add(t, b.scalar(b.type(x).dtype, 1)));
}

Value gelu_erf(Builder& b, Value x) {
  return half_gate(b, x, b.op(OpKind::Erf, {scale_by(b, x, 0.7071067811865476)}));
}

Value gelu_tanh(Builder& b, Value x) {
  const Value cube = b.mul(x, b.mul(x, x));
  const Value inner = scale_by(b, b.add(x, scale_by(b, cube, 0.044715)), 0.7978845608028654);
  return half_gate(b, x, b.op(OpKind::Tanh, {inner}));
}

/// Lowers y = f(x): computed in at least f32, given back in x's type.
template <Value (*function)(Builder&, Value)>
std::vector<Value> lower_unary(Builder& b, const Node& n) {
  const Value x = n.operands[0];
  return {b.cast(function(b, widened(b, x)), b.type(x).dtype)};
}

Value rsqrt(Builder& b, Value x) {
  return b.div(b.scalar(b.type(x).dtype, 1), b.op(OpKind::Sqrt, {x}));
}

Value relu(Builder& b, Value x) { return b.op(OpKind::Max, {x, b.scalar(b.type(x).dtype, 0)}); }

std::vector<TensorType> infer_gelu(const InferArgs& a) {
  const std::string& approximate = a.attrs.get_string(AttrKey::Approximate);
  if (approximate != "none" && approximate != "tanh") {
    fail_infer(a, "approximate \"{}\" must be \"none\" or \"tanh\"", approximate);
  }
  return infer_unary<kFloats>(a);
}

std::vector<Value> lower_gelu(Builder& b, const Node& n) {
  const bool exact = n.attrs.get_string(AttrKey::Approximate) == "none";
  return exact ? lower_unary<gelu_erf>(b, n) : lower_unary<gelu_tanh>(b, n);
}

std::vector<TensorType> infer_glu(const InferArgs& a) {
  const std::string& f = a.attrs.get_string(AttrKey::Activation);
  if (f != "silu" && f != "gelu" && f != "gelu_tanh") {
    fail_infer(a, "activation \"{}\" must be \"silu\", \"gelu\" or \"gelu_tanh\"", f);
  }
  require_class(a, 0, kFloats);
  require_same_dtype(a, 0, 1);
  if (a.operands[0].shape != a.operands[1].shape) {
    fail_infer(a, "{} and {} must have one shape", operand_text(a, 0), operand_text(a, 1));
  }
  return {a.operands[0]};
}

std::vector<Value> lower_glu(Builder& b, const Node& n) {
  const std::string& f = n.attrs.get_string(AttrKey::Activation);
  const Value gate = widened(b, n.operands[0]);
  const Value open = f == "silu"   ? silu(b, gate)
                     : f == "gelu" ? gelu_erf(b, gate)
                                   : gelu_tanh(b, gate);
  return {b.cast(b.mul(open, widened(b, n.operands[1])), b.type(n.operands[0]).dtype)};
}

std::vector<TensorType> infer_softcap(const InferArgs& a) {
  const double c = a.attrs.get_float(AttrKey::Softcap);
  if (!(c > 0)) fail_infer(a, "softcap {} must be above 0", c);
  return infer_unary<kFloats>(a);
}

std::vector<Value> lower_softcap(Builder& b, const Node& n) {
  const double c = n.attrs.get_float(AttrKey::Softcap);
  const Value x = widened(b, n.operands[0]);
  const Value cap = exact_scalar(b, b.type(x).dtype, c);
  const Value y = b.mul(b.op(OpKind::Tanh, {b.div(x, cap)}), cap);
  return {b.cast(y, b.type(n.operands[0]).dtype)};
}

OpDef activation(OpKind op, std::string_view doc,
                 std::vector<Value> (*lower)(Builder&, const Node&), std::vector<Sample> samples) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"x"}};
  d.precision = PrecisionClass::Elementwise;
  d.infer = infer_unary<kFloats>;
  d.lower = lower;
  d.samples = std::move(samples);
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::Rsqrt>() {
  return activation(OpKind::Rsqrt, "y = 1 / sqrt(x); inf at zero, NaN below.", lower_unary<rsqrt>,
                    {{"const %x : f32[3] = [4.0, 2.0, 0.0] %y = rsqrt %x output %y",
                      {0.5, 0.7071067811865475, __builtin_inf()}}});
}

template <>
OpDef make_op<OpKind::Sigmoid>() {
  return activation(OpKind::Sigmoid, "y = 1 / (1 + e^-x).", lower_unary<sigmoid>,
                    {{"const %x : f32[4] = [0.0, 1.0, -2.0, -inf] %y = sigmoid %x output %y",
                      {0.5, 0.7310585786300049, 0.11920292202211755, 0}}});
}

template <>
OpDef make_op<OpKind::Relu>() {
  return activation(OpKind::Relu, "y = max(x, 0); NaN stays NaN.", lower_unary<relu>,
                    {{"const %x : f32[3] = [1.5, -2.0, nan] %y = relu %x output %y",
                      {1.5, 0, __builtin_nan("")}}});
}

template <>
OpDef make_op<OpKind::Silu>() {
  return activation(OpKind::Silu, "y = x / (1 + e^-x).", lower_unary<silu>,
                    {{"const %x : f32[3] = [0.0, 1.0, -2.0] %y = silu %x output %y",
                      {0, 0.7310585786300049, -0.2384058440442351}}});
}

template <>
OpDef make_op<OpKind::Gelu>() {
  OpDef d = activation(
      OpKind::Gelu,
      "y = x/2 * (1 + erf(x/sqrt 2)), or with approximate \"tanh\" x/2 * (1 + tanh(sqrt(2/pi) * (x "
      "+ 0.044715 x^3))).",
      lower_gelu,
      {{"const %x : f32[3] = [0.0, 1.0, -2.0] %y = gelu %x output %y",
        {0, 0.8413447460685429, -0.04550026389635842}},
       {"const %x : f32[3] = [0.0, 1.0, -2.0] %y = gelu %x {approximate = \"tanh\"} output %y",
        {0, 0.8411919906082768, -0.045402305912155275}}});
  d.attrs = {{AttrKey::Approximate, true, AttrValue::of_string("none")}};
  d.infer = infer_gelu;
  return d;
}

template <>
OpDef make_op<OpKind::Glu>() {
  OpDef d = activation(
      OpKind::Glu,
      "y = act(gate) * up with `activation` \"silu\", \"gelu\" (erf) or \"gelu_tanh\" (Shazeer "
      "2020); gate and up are two operands, so their order in a packed weight is the model's word.",
      lower_glu,
      {{"const %g : f32[2] = [1.0, -2.0] const %u : f32[2] = [2.0, 0.5] %y = glu %g, %u output %y",
        {1.4621171572600098, -0.11920292202211755}},
       {"const %g : f32[1] = [1.0] const %u : f32[1] = [2.0] "
        "%y = glu %g, %u {activation = \"gelu\"} output %y",
        {1.6826894921370859}},
       {"const %g : f32[1] = [1.0] const %u : f32[1] = [2.0] "
        "%y = glu %g, %u {activation = \"gelu_tanh\"} output %y",
        {1.6823839812165536}}});
  d.operands = {{"gate"}, {"up"}};
  d.attrs = {{AttrKey::Activation, true, AttrValue::of_string("silu")}};
  d.infer = infer_glu;
  return d;
}

template <>
OpDef make_op<OpKind::Softcap>() {
  OpDef d =
      activation(OpKind::Softcap, "y = c * tanh(x / c), c the attribute `softcap`.", lower_softcap,
                 {{"const %x : f32[3] = [1.0, -40.0, 0.0] %y = softcap %x {softcap = 2.0} "
                   "output %y",
                   {0.9242343145200195, -2, 0}}});
  d.attrs = {{AttrKey::Softcap}};
  d.infer = infer_softcap;
  return d;
}

}  // namespace rlx

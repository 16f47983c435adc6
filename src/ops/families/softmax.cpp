// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"
#include "ops/records.h"
#include "ops/rules.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_softmax(const InferArgs& a) {
  require_class(a, 0, kFloats);
  require_axis(a, a.attrs.get_int(AttrKey::Axis), a.operands[0].rank());
  return {a.operands[0]};
}

/// x minus its largest along the axis, so that no exponential overflows.
Value below_largest(Builder& b, Value x, int64_t axis) {
  return b.sub(x, b.op(OpKind::ReduceMax, {x}, along(axis)));
}

std::vector<Value> lower_softmax(Builder& b, const Node& n) {
  const int64_t axis = n.attrs.get_int(AttrKey::Axis);
  const Value x = n.operands[0];
  const Value e = b.op(OpKind::Exp, {below_largest(b, widened(b, x), axis)});
  const Value y = b.div(e, b.op(OpKind::ReduceSum, {e}, along(axis)));
  return {b.cast(y, b.type(x).dtype)};
}

std::vector<Value> lower_log_softmax(Builder& b, const Node& n) {
  const int64_t axis = n.attrs.get_int(AttrKey::Axis);
  const Value x = n.operands[0];
  const Value low = below_largest(b, widened(b, x), axis);
  const Value sum = b.op(OpKind::ReduceSum, {b.op(OpKind::Exp, {low})}, along(axis));
  return {b.cast(b.sub(low, b.op(OpKind::Log, {sum})), b.type(x).dtype)};
}

OpDef softmax_like(OpKind op, std::string_view doc) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::Axis}};
  d.precision = PrecisionClass::Reduction;
  d.infer = infer_softmax;
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::Softmax>() {
  OpDef d =
      softmax_like(OpKind::Softmax,
                   "y = e^(x - m) / the sum of e^(x - m) along `axis`, m the largest x there; "
                   "NaN where all are -inf.");
  d.lower = lower_softmax;
  d.samples = {{"const %x : f32[2, 3] = [0.0, 0.0, 0.0, 1.0, 2.0, -inf] "
                "%y = softmax %x {axis = 1} output %y",
                {1.0 / 3, 1.0 / 3, 1.0 / 3, 0.2689414213699951, 0.7310585786300049, 0}},
               {"const %x : f32[2, 2] = [1000.0, 0.0, 1000.0, 1.0] "
                "%y = softmax %x {axis = 0} output %y",
                {0.5, 0.2689414213699951, 0.5, 0.7310585786300049}}};
  return d;
}

template <>
OpDef make_op<OpKind::LogSoftmax>() {
  OpDef d = softmax_like(OpKind::LogSoftmax,
                         "y = (x - m) - ln(the sum of e^(x - m)) along `axis`, m the largest x "
                         "there.");
  d.lower = lower_log_softmax;
  d.samples = {
      {"const %x : f32[2] = [1.0, 2.0] %y = log_softmax %x {axis = 0} output %y",
       {-1.3132616875182228, -0.31326168751822286}},
      {"const %x : f32[2] = [0.0, -1000.0] %y = log_softmax %x {axis = -1} output %y", {0, -1000}}};
  return d;
}

}  // namespace rlx

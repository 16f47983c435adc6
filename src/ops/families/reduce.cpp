// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/builder.h"
#include "ops/lowering.h"
#include "ops/records.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_reduce(const InferArgs& a) {
  require_class(a, 0, a.op == OpKind::ReduceMean ? kFloats : kNumbers);
  const TensorType& x = a.operands[0];
  const auto& axes = a.attrs.get_ints(AttrKey::Axes);
  std::vector<bool> reduced(x.rank(), false);
  for (const int64_t axis : axes) {
    const size_t i = require_axis(a, axis, x.rank());
    if (reduced[i]) fail_infer(a, "axis {} is given twice", axis);
    reduced[i] = true;
  }
  Shape out;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) {
      out.push_back(x.shape[i]);
    } else if (a.attrs.get_bool(AttrKey::KeepDims)) {
      out.push_back(Dim(1));
    }
  }
  return one(x.dtype, std::move(out));
}

double sum_of(double a, double b) { return a + b; }
double product_of(double a, double b) { return a * b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// The number no other is below (above, for `largest`).
double extreme(DType dtype, bool largest) {
  if (is_float(dtype)) return largest ? HUGE_VAL : -HUGE_VAL;
  const bool is_unsigned = dtype_name(dtype)[0] == 'u';
  const int bits = static_cast<int>(dtype_info(dtype).block_bytes) * 8;
  if (is_unsigned) return largest ? std::ldexp(1, bits) - 1 : 0;
  return largest ? std::ldexp(1, bits - 1) - 1 : -std::ldexp(1, bits - 1);
}

double start_of(OpKind op, DType dtype) {
  if (op == OpKind::ReduceProd) return 1;
  if (op == OpKind::ReduceMax) return extreme(dtype, false);
  if (op == OpKind::ReduceMin) return extreme(dtype, true);
  return 0;
}

template <double (*combine)(double, double)>
void reduce_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  OracleTensor& y = results[0];
  std::fill(y.data.begin(), y.data.end(), start_of(a.op, x.dtype));
  Extents kept = x.shape;
  for (const int64_t axis : a.attrs.get_ints(AttrKey::Axes)) kept[static_cast<size_t>(axis)] = 1;
  size_t i = 0;
  walk<1>(x.shape, {broadcast_strides(kept, x.shape)}, [&](const std::array<int64_t, 1>& at) {
    double& slot = y.data[static_cast<size_t>(at[0])];
    slot = combine(slot, x.data[i++]);
  });
}

std::vector<Value> lower_mean(Builder& b, const Node& n) {
  const Value x = n.operands[0];
  const Value wide = widened(b, x);
  const auto& axes = n.attrs.get_ints(AttrKey::Axes);
  const Value sum = b.op(OpKind::ReduceSum, {wide}, n.attrs);
  Shape reduced;
  for (const int64_t axis : axes) reduced.push_back(b.dim(x, static_cast<size_t>(axis)));
  const Value mean = b.div(sum, count_value(b, b.type(wide).dtype, reduced));
  return {b.cast(mean, b.type(x).dtype)};
}

OpDef reduction(OpKind op, std::string_view doc) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::Axes, true, AttrValue::of_ints({})},
             {AttrKey::KeepDims, true, AttrValue::of_bool(true)}};
  d.precision = PrecisionClass::Reduction;
  d.infer = infer_reduce;
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::ReduceSum>() {
  OpDef d =
      reduction(OpKind::ReduceSum,
                "y = the sum of x over `axes` (all when none are given); 0 over no elements.");
  d.reference = reduce_reference<sum_of>;
  d.samples = {{"const %x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
                "%y = reduce_sum %x {axes = [1]} : f32[2, 1] output %y",
                {6, 15}},
               {"const %x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
                "%y = reduce_sum %x {keep_dims = false} : f32[] output %y",
                {21}}};
  return d;
}

template <>
OpDef make_op<OpKind::ReduceMax>() {
  OpDef d = reduction(OpKind::ReduceMax,
                      "y = the largest x over `axes` (all when none are given), NaN if there is "
                      "one; the type's lowest number over no elements.");
  d.reference = reduce_reference<larger>;
  d.samples = {{"const %x : f32[2, 3] = [1.0, 9.0, 3.0, -4.0, -5.0, nan] "
                "%y = reduce_max %x {axes = [-1], keep_dims = false} : f32[2] output %y",
                {9, __builtin_nan("")}},
               {"const %x : i8[0] = [] %y = reduce_max %x output %y", {-128}}};
  return d;
}

template <>
OpDef make_op<OpKind::ReduceMin>() {
  OpDef d = reduction(OpKind::ReduceMin,
                      "y = the smallest x over `axes` (all when none are given), NaN if there is "
                      "one; the type's highest number over no elements.");
  d.reference = reduce_reference<smaller>;
  d.samples = {
      {"const %x : f32[2, 3] = [1.0, 9.0, 3.0, -4.0, -5.0, 6.0] "
       "%y = reduce_min %x {axes = [0], keep_dims = false} : f32[3] output %y",
       {-4, -5, 3}}};
  return d;
}

template <>
OpDef make_op<OpKind::ReduceProd>() {
  OpDef d = reduction(OpKind::ReduceProd,
                      "y = the product of x over `axes` (all when none are given); 1 over no "
                      "elements.");
  d.reference = reduce_reference<product_of>;
  d.samples = {
      {"const %x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, -0.5, 6.0] "
       "%y = reduce_prod %x {axes = [1]} output %y",
       {6, -12}}};
  return d;
}

template <>
OpDef make_op<OpKind::ReduceMean>() {
  OpDef d = reduction(OpKind::ReduceMean,
                      "y = the sum of x over `axes` (all when none are given) / their number of "
                      "elements; NaN over no elements.");
  d.lower = lower_mean;
  d.samples = {
      {"const %x : f32[2, 4] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0] "
       "%y = reduce_mean %x {axes = [1]} : f32[2, 1] output %y",
       {2.5, 6.75}}};
  return d;
}

}  // namespace rlx

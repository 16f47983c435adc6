// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/records.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace rlx {
namespace {

/// The order of top_k and arg_max: larger first, NaN before every number.
bool comes_first(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

std::vector<TensorType> infer_arg_max(const InferArgs& a) {
  require_class(a, 0, kNumbers);
  const TensorType& x = a.operands[0];
  const size_t axis = require_axis(a, a.attrs.get_int(AttrKey::Axis), x.rank());
  if (x.shape[axis] == Dim(0)) fail_infer(a, "axis {} of {} is empty", axis, operand_text(a, 0));
  Shape out = x.shape;
  out.erase(out.begin() + static_cast<int64_t>(axis));
  return one(DType::I64, std::move(out));
}

void arg_max_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  const AxisView v(x.shape, static_cast<size_t>(a.attrs.get_int(AttrKey::Axis)));
  if (v.n == 0 && v.outer * v.inner != 0) {
    fail(ErrorCode::InvalidArgument, "arg_max: the axis is empty");
  }
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t in = 0; in < v.inner; ++in) {
      int64_t best = 0;
      for (int64_t i = 1; i < v.n; ++i) {
        if (comes_first(x.data[static_cast<size_t>(v.at(o, i, in))],
                        x.data[static_cast<size_t>(v.at(o, best, in))])) {
          best = i;
        }
      }
      results[0].data[static_cast<size_t>(o * v.inner + in)] = static_cast<double>(best);
    }
  }
}

std::vector<TensorType> infer_cumsum(const InferArgs& a) {
  require_class(a, 0, kNumbers);
  require_axis(a, a.attrs.get_int(AttrKey::Axis), a.operands[0].rank());
  return {a.operands[0]};
}

void cumsum_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  const AxisView v(x.shape, static_cast<size_t>(a.attrs.get_int(AttrKey::Axis)));
  const bool exclusive = a.attrs.get_bool(AttrKey::Exclusive);
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t in = 0; in < v.inner; ++in) {
      double sum = 0;
      for (int64_t i = 0; i < v.n; ++i) {
        const auto at = static_cast<size_t>(v.at(o, i, in));
        if (exclusive) results[0].data[at] = sum;
        sum += x.data[at];
        if (!exclusive) results[0].data[at] = sum;
      }
    }
  }
}

std::vector<TensorType> infer_top_k(const InferArgs& a) {
  require_class(a, 0, kNumbers);
  const TensorType& x = a.operands[0];
  const size_t axis = require_axis(a, a.attrs.get_int(AttrKey::Axis), x.rank());
  const int64_t k = a.attrs.get_int(AttrKey::K);
  if (k < 0 || is_never_allowed(a, x.shape[axis] - Dim(k))) {
    fail_infer(a, "k {} is outside 0 to {}", k, text_of(a, x.shape[axis]));
  }
  Shape out = x.shape;
  out[axis] = Dim(k);
  return {{x.dtype, out}, {DType::I64, out}};
}

void top_k_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  const auto axis = static_cast<size_t>(a.attrs.get_int(AttrKey::Axis));
  const AxisView v(x.shape, axis);
  const AxisView out(results[0].shape, axis);
  if (out.n > v.n) {
    fail(ErrorCode::InvalidArgument, "top_k: k {} is outside 0 to {}", out.n, v.n);
  }
  std::vector<int64_t> order(static_cast<size_t>(v.n));
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t in = 0; in < v.inner; ++in) {
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](int64_t i) { return x.data[static_cast<size_t>(v.at(o, i, in))]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t p, int64_t q) { return comes_first(value(p), value(q)); });
      for (int64_t i = 0; i < out.n; ++i) {
        const auto at = static_cast<size_t>(out.at(o, i, in));
        results[0].data[at] = value(order[static_cast<size_t>(i)]);
        results[1].data[at] = static_cast<double>(order[static_cast<size_t>(i)]);
      }
    }
  }
}

}  // namespace

template <>
OpDef make_op<OpKind::ArgMax>() {
  OpDef d;
  d.op = OpKind::ArgMax;
  d.doc =
      "y = the i64 index of the largest x along `axis`, the lowest one on ties; NaN counts as "
      "largest; the axis is dropped.";
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::Axis}};
  d.precision = PrecisionClass::Reduction;
  d.infer = infer_arg_max;
  d.reference = arg_max_reference;
  d.samples = {
      {"const %x : f32[2, 3] = [1.0, 3.0, 3.0, -1.0, -2.0, -1.0] "
       "%y = arg_max %x {axis = 1} : i64[2] output %y",
       {1, 0}}};
  return d;
}

template <>
OpDef make_op<OpKind::CumSum>() {
  OpDef d;
  d.op = OpKind::CumSum;
  d.doc = "y[i] = x[0] + ... + x[i] along `axis`; `exclusive` leaves x[i] out, so the first is 0.";
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::Axis}, {AttrKey::Exclusive, true, AttrValue::of_bool(false)}};
  d.precision = PrecisionClass::Reduction;
  d.needs_f32 = true;
  d.infer = infer_cumsum;
  d.reference = cumsum_reference;
  d.samples = {{"const %x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
                "%y = cumsum %x {axis = 1} output %y",
                {1, 3, 6, 4, 9, 15}},
               {"const %x : f32[3] = [1.0, 2.0, 3.0] "
                "%y = cumsum %x {axis = 0, exclusive = true} output %y",
                {0, 1, 3}}};
  return d;
}

template <>
OpDef make_op<OpKind::TopK>() {
  OpDef d;
  d.op = OpKind::TopK;
  d.doc =
      "The k largest x along `axis` in descending order, and their i64 indices, the lowest first "
      "on "
      "ties; NaN counts as largest.";
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::K}, {AttrKey::Axis}};
  d.results = 2;
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_top_k;
  d.reference = top_k_reference;
  d.samples = {{"const %x : f32[5] = [1.0, 3.0, 2.0, 3.0, 0.0] "
                "%v, %i = top_k %x {k = 3, axis = 0} : f32[3], i64[3] output %i",
                {1, 3, 2}},
               {"const %x : f32[2, 2] = [1.0, 3.0, 2.0, -3.0] "
                "%v, %i = top_k %x {k = 1, axis = 0} output %v",
                {2, 3}}};
  return d;
}

}  // namespace rlx

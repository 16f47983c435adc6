// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/records.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace rlx {
namespace {

OpDef movement(OpKind op, std::string_view doc) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"x"}};
  d.precision = PrecisionClass::DataMovement;
  return d;
}

std::vector<TensorType> infer_transpose(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools);
  const TensorType& x = a.operands[0];
  const auto& perm = a.attrs.get_ints(AttrKey::Perm);
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool valid = perm.size() == x.rank();
  for (size_t i = 0; valid && i < sorted.size(); ++i) valid = sorted[i] == static_cast<int64_t>(i);
  if (!valid) {
    fail_infer(a, "perm [{}] must name each of the {} axes once", fmt::join(perm, ", "), x.rank());
  }
  Shape out;
  for (const int64_t axis : perm) out.push_back(x.shape[static_cast<size_t>(axis)]);
  return one(x.dtype, std::move(out));
}

void transpose_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const Extents own = strides_of(a.operands[0]->shape);
  Extents strides;
  for (const int64_t axis : a.attrs.get_ints(AttrKey::Perm)) {
    strides.push_back(own[static_cast<size_t>(axis)]);
  }
  copy_strided(*a.operands[0], 0, strides, results[0]);
}

std::vector<TensorType> infer_broadcast(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools);
  const Shape& to = a.attrs.get_dims(AttrKey::Shape);
  if (a.operands[0].rank() > to.size() || broadcast_shapes(a, a.operands[0].shape, to) != to) {
    fail_infer(a, "{} does not broadcast to {}", operand_text(a, 0), text_of(a, to));
  }
  return one(a.operands[0].dtype, to);
}

void broadcast_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  copy_strided(*a.operands[0], 0, broadcast_strides(a.operands[0]->shape, results[0].shape),
               results[0]);
}

/// Elements of axis i from start on: start + (size - 1) * stride + 1, or start when size is 0.
Dim slice_end(const Dim& start, const Dim& size, int64_t stride) {
  return size == Dim(0) ? start : start + (size - Dim(1)) * Dim(stride) + Dim(1);
}

std::vector<TensorType> infer_slice(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools);
  const TensorType& x = a.operands[0];
  const Shape& starts = a.attrs.get_dims(AttrKey::Starts);
  const Shape& sizes = a.attrs.get_dims(AttrKey::Sizes);
  const auto& strides = a.attrs.get_ints(AttrKey::Strides);
  if (starts.size() != x.rank() || sizes.size() != x.rank() ||
      (!strides.empty() && strides.size() != x.rank())) {
    fail_infer(a, "{} starts, {} sizes, {} strides given for rank {}", starts.size(), sizes.size(),
               strides.size(), x.rank());
  }
  for (size_t i = 0; i < x.rank(); ++i) {
    const int64_t stride = strides.empty() ? 1 : strides[i];
    if (stride < 1) fail_infer(a, "stride {} on axis {} must be at least 1", stride, i);
    const Dim end = slice_end(starts[i], sizes[i], stride);
    if (is_never_allowed(a, starts[i]) || is_never_allowed(a, sizes[i]) ||
        is_never_allowed(a, x.shape[i] - end)) {
      fail_infer(a, "axis {} of {} has no {} elements from {} in steps of {}", i,
                 operand_text(a, 0), text_of(a, sizes[i]), text_of(a, starts[i]), stride);
    }
  }
  return one(x.dtype, sizes);
}

void slice_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  const Shape& starts = a.attrs.get_dims(AttrKey::Starts);
  const auto& steps = a.attrs.get_ints(AttrKey::Strides);
  Extents strides = strides_of(x.shape);
  int64_t base = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    const int64_t start = starts[i].value(a.symbols);
    const int64_t step = steps.empty() ? 1 : steps[i];
    const int64_t size = results[0].shape[i];
    if (start < 0 || start > x.shape[i] ||
        (size > 0 && start + (size - 1) * step + 1 > x.shape[i])) {
      fail(ErrorCode::InvalidArgument,
           "slice: axis {} of extent {} has no {} elements from {} in steps of {}", i, x.shape[i],
           size, start, step);
    }
    base += start * strides[i];
    strides[i] *= step;
  }
  copy_strided(x, base, strides, results[0]);
}

std::vector<TensorType> infer_concat(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools);
  const TensorType& first = a.operands[0];
  const size_t axis = require_axis(a, a.attrs.get_int(AttrKey::Axis), first.rank());
  Shape out = first.shape;
  for (size_t k = 1; k < a.operands.size(); ++k) {
    const TensorType& x = a.operands[k];
    require_same_dtype(a, 0, k);
    require_rank(a, k, first.rank());
    for (size_t i = 0; i < out.size(); ++i) {
      if (i == axis) {
        out[i] = out[i] + x.shape[i];
      } else if (x.shape[i] != out[i]) {
        fail_infer(a, "operands 0 and {} differ on axis {}: {} and {}", k, i,
                   text_of(a, first.shape), text_of(a, x.shape));
      }
    }
  }
  return one(first.dtype, std::move(out));
}

void concat_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const auto axis = static_cast<size_t>(a.attrs.get_int(AttrKey::Axis));
  OracleTensor& y = results[0];
  const AxisView out(y.shape, axis);
  int64_t at = 0;
  for (const OracleTensor* x : a.operands) {
    const AxisView in(x->shape, axis);
    const int64_t row = in.n * in.inner;
    for (int64_t o = 0; o < in.outer; ++o) {
      std::copy_n(x->data.begin() + o * row, row, y.data.begin() + out.at(o, at, 0));
    }
    at += in.n;
  }
}

std::vector<TensorType> infer_pad(const InferArgs& a) {
  require_class(a, 0, kNumbers);
  const TensorType& x = a.operands[0];
  const Shape& low = a.attrs.get_dims(AttrKey::Low);
  const Shape& high = a.attrs.get_dims(AttrKey::High);
  if (low.size() != x.rank() || high.size() != x.rank()) {
    fail_infer(a, "{} entries in low and {} in high for rank {}", low.size(), high.size(),
               x.rank());
  }
  Shape out = x.shape;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (is_never_allowed(a, low[i]) || is_never_allowed(a, high[i])) {
      fail_infer(a, "axis {}: pads {} and {} must not be negative", i, text_of(a, low[i]),
                 text_of(a, high[i]));
    }
    out[i] = out[i] + low[i] + high[i];
  }
  return one(x.dtype, std::move(out));
}

void pad_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  OracleTensor& y = results[0];
  const Shape& low = a.attrs.get_dims(AttrKey::Low);
  std::fill(y.data.begin(), y.data.end(), a.attrs.get_float(AttrKey::Value));
  const Extents strides = strides_of(y.shape);
  int64_t base = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    const int64_t before = low[i].value(a.symbols);
    if (before < 0 || before + x.shape[i] > y.shape[i]) {
      fail(ErrorCode::InvalidArgument, "pad: axis {}: pads {} and {} must not be negative", i,
           before, y.shape[i] - x.shape[i] - before);
    }
    base += before * strides[i];
  }
  size_t i = 0;
  walk<1>(x.shape, {strides}, [&](const std::array<int64_t, 1>& at) {
    y.data[static_cast<size_t>(base + at[0])] = x.data[i++];
  });
}

std::vector<TensorType> infer_iota(const InferArgs& a) {
  const DType dtype = a.attrs.get_dtype(AttrKey::Dtype);
  const Shape& shape = a.attrs.get_dims(AttrKey::Shape);
  if (!is_int(dtype) && !is_float(dtype)) {
    fail_infer(a, "dtype {} is not of an allowed class (Float, Int)", dtype_name(dtype));
  }
  const Dim& at = a.attrs.get_dim(AttrKey::At);
  (void)at.lower_bound(a.symbols);
  (void)at.upper_bound(a.symbols);
  if (shape.size() != 1 || is_never_allowed(a, shape[0])) {
    fail_infer(a, "shape {} must have one extent, not negative", text_of(a, shape));
  }
  return one(dtype, shape);
}

void iota_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const auto at = static_cast<double>(a.attrs.get_dim(AttrKey::At).value(a.symbols));
  for (size_t i = 0; i < results[0].data.size(); ++i) {
    results[0].data[i] = at + static_cast<double>(i);
  }
}

}  // namespace

template <>
OpDef make_op<OpKind::Transpose>() {
  OpDef d = movement(OpKind::Transpose, "Axis i of y is axis perm[i] of x.");
  d.attrs = {{AttrKey::Perm}};
  d.infer = infer_transpose;
  d.reference = transpose_reference;
  d.samples = {
      {"const %x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
       "%y = transpose %x {perm = [1, 0]} output %y",
       {1, 4, 2, 5, 3, 6}}};
  return d;
}

template <>
OpDef make_op<OpKind::Broadcast>() {
  OpDef d = movement(OpKind::Broadcast,
                     "y is x repeated to `shape` by NumPy's rule: aligned at the right, extents of "
                     "x are those of `shape` or 1.");
  d.attrs = {{AttrKey::Shape}};
  d.infer = infer_broadcast;
  d.reference = broadcast_reference;
  d.samples = {
      {"const %x : f32[2, 1] = [1.0, 2.0] "
       "%y = broadcast %x {shape = [2, 2, 3]} output %y",
       {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}}};
  return d;
}

template <>
OpDef make_op<OpKind::Slice>() {
  OpDef d = movement(OpKind::Slice,
                     "y[i] = x[starts + i * strides] for i below sizes, per axis; sizes count "
                     "elements taken, strides of none given are 1.");
  d.attrs = {{AttrKey::Starts}, {AttrKey::Sizes}, {AttrKey::Strides, true, AttrValue::of_ints({})}};
  d.infer = infer_slice;
  d.reference = slice_reference;
  d.samples = {
      {"const %x : f32[2, 5] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] "
       "%y = slice %x {starts = [1, 1], sizes = [1, 2], strides = [1, 3]} output %y",
       {6, 9}}};
  return d;
}

template <>
OpDef make_op<OpKind::Concat>() {
  OpDef d =
      movement(OpKind::Concat,
               "y is the operands one after the other along `axis`; all other extents equal.");
  d.operands = {{"x", OperandSpec::Variadic}};
  d.attrs = {{AttrKey::Axis}};
  d.infer = infer_concat;
  d.reference = concat_reference;
  d.samples = {
      {"const %a : f32[2, 1] = [1.0, 2.0] const %b : f32[2, 2] = [3.0, 4.0, 5.0, 6.0] "
       "%y = concat %a, %b {axis = 1} output %y",
       {1, 3, 4, 2, 5, 6}}};
  return d;
}

template <>
OpDef make_op<OpKind::Pad>() {
  OpDef d = movement(OpKind::Pad,
                     "y is x with low[i] entries of `value` before and high[i] behind axis i; pads "
                     "may not be negative.");
  d.attrs = {{AttrKey::Low}, {AttrKey::High}, {AttrKey::Value, true, AttrValue::of_float(0)}};
  d.infer = infer_pad;
  d.reference = pad_reference;
  d.samples = {
      {"const %x : f32[1, 2] = [1.0, 2.0] "
       "%y = pad %x {low = [1, 0], high = [0, 1], value = -1.0} output %y",
       {-1, -1, -1, 1, 2, -1}}};
  return d;
}

template <>
OpDef make_op<OpKind::Iota>() {
  OpDef d = movement(OpKind::Iota, "y[i] = at + i for the one extent of `shape`.");
  d.operands = {};
  d.attrs = {{AttrKey::Shape},
             {AttrKey::At, true, AttrValue::of_dim(Dim(0))},
             {AttrKey::Dtype, true, AttrValue::of_dtype(DType::I32)}};
  d.infer = infer_iota;
  d.reference = iota_reference;
  d.samples = {{"%y = iota {shape = [3], at = 4} : i32[3] output %y", {4, 5, 6}}};
  return d;
}

}  // namespace rlx

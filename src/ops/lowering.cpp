// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"

namespace rlx {

Value widened(Builder& b, Value x) {
  const DType d = b.type(x).dtype;
  if (is_packed(d)) return b.op(OpKind::Dequantize, {x});
  return d == DType::F64 ? x : b.cast(x, DType::F32);
}

Value exact_scalar(Builder& b, DType dtype, double value) {
  if (dtype == DType::F64 || static_cast<double>(static_cast<float>(value)) == value) {
    return b.scalar(dtype, value);
  }
  return b.cast(b.scalar(DType::F64, value), dtype);
}

Value count_value(Builder& b, DType dtype, const Shape& shape) {
  int64_t known = 1;
  Shape symbolic;
  for (const Dim& d : shape) {
    if (d.is_static()) {
      known *= d.constant();
    } else {
      symbolic.push_back(d);
    }
  }
  const Value number = exact_scalar(b, dtype, static_cast<double>(known));
  if (symbolic.empty()) return number;
  return b.op(OpKind::ReduceSum, {b.broadcast(number, symbolic)},
              {{AttrKey::KeepDims, AttrValue::of_bool(false)}});
}

Value slice_axis(Builder& b, Value x, size_t axis, Dim start, Dim size, int64_t stride) {
  Shape starts(b.shape(x).size(), Dim(0));
  Shape sizes = b.shape(x);
  std::vector<int64_t> strides(sizes.size(), 1);
  starts[axis] = start;
  sizes[axis] = size;
  strides[axis] = stride;
  return b.op(OpKind::Slice, {x},
              {{AttrKey::Starts, AttrValue::of_dims(std::move(starts))},
               {AttrKey::Sizes, AttrValue::of_dims(std::move(sizes))},
               {AttrKey::Strides, AttrValue::of_ints(std::move(strides))}});
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/builder.h"

namespace rlx {

// What several `lower` functions share.

/// x as numbers of at least f32: packed types dequantized, narrower floats cast; x itself else.
Value widened(Builder& b, Value x);
/// A scalar of `dtype`; where f32 does not hold it exactly, a cast of the f64 number, so that the
/// oracle and the folding of constants know the number itself.
Value exact_scalar(Builder& b, DType dtype, double value);
/// The number of elements of `shape` as a scalar, also where it is known at run time only.
Value count_value(Builder& b, DType dtype, const Shape& shape);
/// A part of x along one axis, in steps of `stride`.
Value slice_axis(Builder& b, Value x, size_t axis, Dim start, Dim size, int64_t stride = 1);

/// Attributes of a reduction along one axis that keeps it as extent 1.
inline Attrs along(int64_t axis) {
  return {{AttrKey::Axes, AttrValue::of_ints({axis})},
          {AttrKey::KeepDims, AttrValue::of_bool(true)}};
}

}  // namespace rlx

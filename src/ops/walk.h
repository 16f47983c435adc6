// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "ir/op_def.h"

namespace rlx {

// Index arithmetic of the reference functions.

using Extents = std::vector<int64_t>;

/// Steps between neighbours of each axis of a row-major tensor.
Extents strides_of(const Extents& shape);
/// Strides that read a tensor of `shape` as one of `out`, aligned at the right; 0 where repeated.
Extents broadcast_strides(const Extents& shape, const Extents& out);
int64_t product(const Extents& shape, size_t begin, size_t end);

/// result[i] = source[base + i walked by strides], for all elements of the result in row order.
void copy_strided(const OracleTensor& source, int64_t base, const Extents& strides,
                  OracleTensor& result);

/// Calls f(offsets) for every index of `shape` in row order; offsets[k] follows strides[k].
template <size_t N, typename F>
void walk(const Extents& shape, const std::array<Extents, N>& strides, F&& f) {
  const size_t rank = shape.size();
  for (const int64_t d : shape) {
    if (d == 0) return;
  }
  Extents index(rank, 0);
  std::array<int64_t, N> at{};
  for (;;) {
    f(at);
    size_t axis = rank;
    for (;;) {
      if (axis == 0) return;
      --axis;
      for (size_t k = 0; k < N; ++k) at[k] += strides[k][axis];
      if (++index[axis] < shape[axis]) break;
      for (size_t k = 0; k < N; ++k) at[k] -= strides[k][axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// The tensor seen as [outer, n, inner] around `axis`.
struct AxisView {
  AxisView(const Extents& shape, size_t axis)
      : outer(product(shape, 0, axis)),
        n(shape[axis]),
        inner(product(shape, axis + 1, shape.size())) {}
  int64_t at(int64_t o, int64_t i, int64_t in) const { return (o * n + i) * inner + in; }
  int64_t outer, n, inner;
};

}  // namespace rlx

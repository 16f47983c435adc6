// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "device/kernel.h"

// Index arithmetic shared by kernels and their rows. Every ISA level includes it, so functions are
// static: the linker must not merge them.
namespace rlx::cpu {

/// Bytes per element of a type that is not packed; 0 for packed ones.
[[maybe_unused]] static int64_t element_bytes(DType dtype) {
  switch (dtype) {
#define X(name, text, type_class, elements, bytes, id) \
  case DType::name: return elements == 1 ? bytes : 0;
    RLX_DTYPES(X)
#undef X
  }
  return 0;
}

/// Elements of the result per item of elementwise and movement kernels. Fixed: results may not
/// depend on the team.
inline constexpr int64_t chunk_elements = 4096;
/// Neighbouring results per item of reductions and of softmax along another axis than the last.
inline constexpr int64_t column_group = 16;

[[maybe_unused]] static int64_t ceil_div(int64_t n, int64_t d) { return (n + d - 1) / d; }

[[maybe_unused]] static int64_t extent_product(const TensorView& t, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= t.dims[i];
  return n;
}
[[maybe_unused]] static int64_t element_count(const TensorView& t) {
  return extent_product(t, 0, t.rank);
}
/// Extent of the last axis, 1 for a scalar, and the number of such rows.
[[maybe_unused]] static int64_t row_width(const TensorView& t) {
  return t.rank == 0 ? 1 : t.dims[t.rank - 1];
}
[[maybe_unused]] static int64_t row_count(const TensorView& t) {
  return t.rank == 0 ? 1 : extent_product(t, 0, t.rank - 1);
}

/// A tensor seen as [outer, n, inner] around one axis.
struct AxisSplit {
  int64_t outer, n, inner;
};
[[maybe_unused]] static AxisSplit split_at(const TensorView& t, int axis) {
  return {extent_product(t, 0, axis), t.dims[axis], extent_product(t, axis + 1, t.rank)};
}

/// Items of `per_item` units each that cover `units`.
struct Range {
  int64_t begin, end;
};
[[maybe_unused]] static Range chunk_range(int64_t item_begin, int64_t item_end, int64_t per_item,
                                          int64_t units) {
  const int64_t end = item_end * per_item;
  return {item_begin * per_item, end < units ? end : units};
}

/// Up to `max_operands` operands read along one row-major index space, neighbouring axes merged
/// where all strides allow it. Strides count elements; 0 repeats.
struct StridedSpace {
  static constexpr int max_operands = 3;
  int32_t rank;
  int32_t operands;
  int64_t dims[TensorView::kMaxRank];
  int64_t strides[max_operands][TensorView::kMaxRank];
};

/// Drops axes of extent 1 and merges neighbours; rank is at least 1 afterwards.
[[maybe_unused]] static void simplify(StridedSpace& s) {
  int kept = 0;
  for (int i = 0; i < s.rank; ++i) {
    if (s.dims[i] == 1) continue;
    bool merges = kept > 0;
    for (int k = 0; k < s.operands && merges; ++k) {
      merges = s.strides[k][kept - 1] == s.strides[k][i] * s.dims[i];
    }
    const int to = merges ? kept - 1 : kept;
    s.dims[to] = merges ? s.dims[to] * s.dims[i] : s.dims[i];
    for (int k = 0; k < s.operands; ++k) s.strides[k][to] = s.strides[k][i];
    kept = to + 1;
  }
  if (kept == 0) {
    s.dims[0] = 1;
    for (int k = 0; k < s.operands; ++k) s.strides[k][0] = 0;
    kept = 1;
  }
  s.rank = kept;
}

/// The space of `result` with operands read by NumPy's broadcasting rule.
[[maybe_unused]] static StridedSpace broadcast_space(const TensorView& result,
                                                     const TensorView* operands, int count) {
  StridedSpace s;
  s.rank = result.rank;
  s.operands = count;
  for (int i = 0; i < result.rank; ++i) s.dims[i] = result.dims[i];
  for (int k = 0; k < count; ++k) {
    const TensorView& t = operands[k];
    int64_t stride = 1;
    for (int i = result.rank - 1; i >= 0; --i) {
      const int axis = i - (result.rank - t.rank);
      const int64_t extent = axis >= 0 ? t.dims[axis] : 1;
      s.strides[k][i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
  }
  simplify(s);
  return s;
}

/// Calls row(result offset, operand offsets, length) for the pieces of rows (runs of the last axis)
/// that make up elements [begin, end) of the space.
template <typename Row>
static inline void walk_rows(const StridedSpace& s, int64_t begin, int64_t end, const Row& row) {
  if (begin >= end) return;
  const int last = s.rank - 1;
  int64_t index[TensorView::kMaxRank];
  int64_t at[StridedSpace::max_operands] = {};
  int64_t rest = begin;
  for (int i = last; i >= 0; --i) {
    index[i] = rest % s.dims[i];
    rest /= s.dims[i];
    for (int k = 0; k < s.operands; ++k) at[k] += index[i] * s.strides[k][i];
  }
  for (int64_t to = begin; to < end;) {
    int64_t n = s.dims[last] - index[last];
    if (n > end - to) n = end - to;
    row(to, at, n);
    to += n;
    index[last] += n;
    for (int k = 0; k < s.operands; ++k) at[k] += n * s.strides[k][last];
    for (int i = last; i > 0 && index[i] == s.dims[i]; --i) {
      index[i] = 0;
      ++index[i - 1];
      for (int k = 0; k < s.operands; ++k) {
        at[k] += s.strides[k][i - 1] - s.dims[i] * s.strides[k][i];
      }
    }
  }
}

}  // namespace rlx::cpu

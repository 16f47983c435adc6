// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

namespace rlx::cpu::RLX_ISA {
namespace {

/// The operand's axes in two spaces: the kept ones in result order, and the reduced ones.
struct Split {
  StridedSpace kept, reduced;
  int64_t reduced_count;
};

Split split_axes(const TensorView& x, uint32_t mask) {
  Split s{};
  s.kept.operands = s.reduced.operands = 1;
  s.reduced_count = 1;
  for (int i = 0; i < x.rank; ++i) {
    const bool is_reduced = (mask >> i & 1u) != 0;
    StridedSpace& to = is_reduced ? s.reduced : s.kept;
    to.dims[to.rank] = x.dims[i];
    to.strides[0][to.rank] = extent_product(x, i + 1, x.rank);
    ++to.rank;
    if (is_reduced) s.reduced_count *= x.dims[i];
  }
  simplify(s.kept);
  simplify(s.reduced);
  return s;
}

/// One result: the reduced elements lie `stride` apart in rows.
template <typename F>
float reduce_one(const Split& s, const float* x, float start, const F& f) {
  VecF acc = splat(start);
  float rest = start;
  const int64_t stride = s.reduced.strides[0][s.reduced.rank - 1];
  walk_rows(s.reduced, 0, s.reduced_count, [&](int64_t, const int64_t* at, int64_t n) {
    const float* row = x + at[0];
    int64_t i = 0;
    if (stride == 1) {
      for (; i + lanes <= n; i += lanes) acc = f(acc, load(row + i));
    }
    for (; i < n; ++i) rest = f(splat(rest), splat(row[i * stride]))[0];
  });
  for (int k = 0; k < lanes; ++k) rest = f(splat(rest), splat(acc[k]))[0];
  return rest;
}

/// n neighbouring results, at most 16 of them, whose elements are neighbours too.
template <typename F>
void reduce_columns(const Split& s, const float* x, float* y, int64_t n, float start, const F& f) {
  constexpr int vectors = column_group / lanes;
  VecF acc[vectors];
  for (VecF& a : acc) a = splat(start);
  const int64_t stride = s.reduced.strides[0][s.reduced.rank - 1];
  walk_rows(s.reduced, 0, s.reduced_count, [&](int64_t, const int64_t* at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const float* row = x + at[0] + i * stride;
      for (int v = 0; v < vectors; ++v) {
        const int64_t left = n - v * lanes;
        if (left <= 0) break;
        acc[v] =
            f(acc[v], left >= lanes ? load(row + v * lanes) : load_part(row + v * lanes, left));
      }
    }
  });
  for (int v = 0; v < vectors; ++v) {
    const int64_t left = n - v * lanes;
    if (left > 0) store_part(y + v * lanes, acc[v], left < lanes ? left : lanes);
  }
}

template <typename F>
void reduce_range(const KernelCall& call, const Split& s, Range r, float start, const F& f) {
  const float* x = floats(call.operands[0]);
  float* y = floats(call.results[0]);
  const bool columns = s.kept.strides[0][s.kept.rank - 1] == 1;
  walk_rows(s.kept, r.begin, r.end, [&](int64_t to, const int64_t* at, int64_t n) {
    if (!columns) {
      const int64_t stride = s.kept.strides[0][s.kept.rank - 1];
      for (int64_t i = 0; i < n; ++i) y[to + i] = reduce_one(s, x + at[0] + i * stride, start, f);
      return;
    }
    for (int64_t i = 0; i < n; i += column_group) {
      reduce_columns(s, x + at[0] + i, y + to + i, n - i < column_group ? n - i : column_group,
                     start, f);
    }
  });
}

}  // namespace

// Items: 16 results each.
void reduce(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const ReduceParams*>(call.params);
  const Split s = split_axes(call.operands[0], p.reduced);
  const Range r = chunk_range(begin, end, column_group, element_count(call.results[0]));
  const float infinity = __builtin_inff();
  const auto sum = [](VecF a, VecF b) { return a + b; };
  switch (p.op) {
    case OpKind::ReduceSum:
    case OpKind::ReduceMean: reduce_range(call, s, r, 0.0f, sum); break;
    case OpKind::ReduceMax:
      reduce_range(call, s, r, -infinity, [](VecF a, VecF b) { return larger(a, b); });
      break;
    case OpKind::ReduceMin:
      reduce_range(call, s, r, infinity, [](VecF a, VecF b) { return smaller(a, b); });
      break;
    case OpKind::ReduceProd:
      reduce_range(call, s, r, 1.0f, [](VecF a, VecF b) { return a * b; });
      break;
    default: break;
  }
  if (p.op != OpKind::ReduceMean) return;
  const auto count = static_cast<float>(s.reduced_count);
  float* y = floats(call.results[0]);
  for (int64_t i = r.begin; i < r.end; ++i) y[i] /= count;
}

}  // namespace rlx::cpu::RLX_ISA

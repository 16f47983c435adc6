// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

// arg_max, top_k and cumsum: along one axis, items are (outer, inner) pairs.

namespace rlx::cpu::RLX_ISA {
namespace {

/// Larger numbers first, NaN before all of them.
RLX_INLINE bool comes_first(float a, float b) { return a != a ? b == b : a > b; }

int64_t largest_of_neighbours(const float* x, int64_t n) {
  VecF m = splat(-__builtin_inff());
  VecI seen_nan{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VecF v = load(x + i);
    m = vmax(v, m);
    seen_nan |= v != v;
  }
  float largest = reduce_max(m);
  bool nan = any_lane(seen_nan);
  for (; i < n; ++i) {
    largest = x[i] > largest ? x[i] : largest;
    nan = nan || x[i] != x[i];
  }
  for (i = 0; i < n; ++i) {
    if (nan ? x[i] != x[i] : x[i] == largest) return i;
  }
  return 0;
}

struct Entry {
  float value;
  int64_t index;
};
/// Order of the results: by value, then lower index.
RLX_INLINE bool precedes(Entry a, Entry b) {
  if (comes_first(a.value, b.value)) return true;
  return !comes_first(b.value, a.value) && a.index < b.index;
}

/// The k best so far, kept in the result arrays as a heap with the worst at its root.
struct Heap {
  float* values;
  int64_t* indices;
  int64_t stride;

  Entry get(int64_t i) const { return {values[i * stride], indices[i * stride]}; }
  void put(int64_t i, Entry e) const {
    values[i * stride] = e.value;
    indices[i * stride] = e.index;
  }
  /// Places `e` at `i` or below, in a heap of n entries.
  void sift(int64_t i, int64_t n, Entry e) const {
    for (;;) {
      int64_t child = 2 * i + 1;
      if (child >= n) break;
      if (child + 1 < n && precedes(get(child), get(child + 1))) ++child;
      if (precedes(get(child), e)) break;
      put(i, get(child));
      i = child;
    }
    put(i, e);
  }
};

void select_best(const Heap& heap, const float* x, int64_t n, int64_t stride, int64_t k) {
  if (k == 0) return;
  for (int64_t i = 0; i < k; ++i) heap.put(i, {x[i * stride], i});
  for (int64_t i = k / 2 - 1; i >= 0; --i) heap.sift(i, k, heap.get(i));
  Entry worst = heap.get(0);
  for (int64_t i = k; i < n; ++i) {
    // Later elements have higher indices, so they must be better, not equal.
    if (!comes_first(x[i * stride], worst.value)) continue;
    heap.sift(0, k, {x[i * stride], i});
    worst = heap.get(0);
  }
  for (int64_t size = k - 1; size > 0; --size) {
    const Entry last = heap.get(size);
    heap.put(size, heap.get(0));
    heap.sift(0, size, last);
  }
}

}  // namespace

void arg_max(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const AxisSplit s = split_at(call.operands[0], static_cast<const AxisParams*>(call.params)->axis);
  auto* y = reinterpret_cast<int64_t*>(call.results[0].data);
  for (int64_t item = begin; item < end; ++item) {
    const float* x = floats(call.operands[0]) + item / s.inner * s.n * s.inner + item % s.inner;
    if (s.inner == 1) {
      y[item] = largest_of_neighbours(x, s.n);
      continue;
    }
    int64_t best = 0;
    for (int64_t i = 1; i < s.n; ++i) {
      if (comes_first(x[i * s.inner], x[best * s.inner])) best = i;
    }
    y[item] = best;
  }
}

void top_k(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const int axis = static_cast<const AxisParams*>(call.params)->axis;
  const AxisSplit s = split_at(call.operands[0], axis);
  const int64_t k = call.results[0].dims[axis];
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / s.inner, inner = item % s.inner;
    const int64_t to = outer * k * s.inner + inner;
    const Heap heap{floats(call.results[0]) + to,
                    reinterpret_cast<int64_t*>(call.results[1].data) + to, s.inner};
    select_best(heap, floats(call.operands[0]) + outer * s.n * s.inner + inner, s.n, s.inner,
                k < s.n ? k : s.n);
  }
}

void cumsum(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const AxisParams*>(call.params);
  const AxisSplit s = split_at(call.operands[0], p.axis);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t at = item / s.inner * s.n * s.inner + item % s.inner;
    const float* x = floats(call.operands[0]) + at;
    float* y = floats(call.results[0]) + at;
    double sum = 0;
    for (int64_t i = 0; i < s.n; ++i) {
      const double before = sum;
      sum += static_cast<double>(x[i * s.inner]);
      y[i * s.inner] = static_cast<float>(p.flag ? before : sum);
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

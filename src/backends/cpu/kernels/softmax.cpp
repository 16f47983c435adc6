// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

namespace rlx::cpu::RLX_ISA {
namespace {

/// One row of neighbours. A NaN anywhere, and a row of -inf, gives NaN everywhere.
void contiguous(const float* x, float* y, int64_t n, bool logarithm) {
  VecF m = splat(-__builtin_inff());
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) m = larger(m, load(x + i));
  float largest = m[0];
  for (int k = 1; k < lanes; ++k) largest = largest > m[k] || largest != largest ? largest : m[k];
  for (; i < n; ++i) largest = largest > x[i] || largest != largest ? largest : x[i];

  VecF sum{};
  i = 0;
  const auto e_at = [&](int64_t k) __attribute__((always_inline)) {
    return k == lanes ? exp(load(x + i) - largest) : exp(load_part(x + i, k) - largest);
  };
  // In the logarithm's case the exponentials themselves are not needed.
  for (; i + lanes <= n; i += lanes) {
    const VecF e = e_at(lanes);
    if (!logarithm) store(y + i, e);
    sum += e;
  }
  if (i < n) {
    float tail[lanes] = {};
    store_part(tail, e_at(n - i), n - i);
    if (!logarithm) store_part(y + i, load(tail), n - i);
    sum += load(tail);
  }
  const float total = reduce_add(sum);
  if (logarithm) {
    const float shift = log(splat(total))[0];
    map_row(x, y, n, [=](VecF v) { return (v - largest) - shift; });
  } else {
    map_row(y, y, n, [=](VecF v) { return v / total; });
  }
}

/// Up to `lanes` columns at once, their elements `stride` apart.
void columns(const float* x, float* y, int64_t n, int64_t stride, int64_t width, bool logarithm) {
  VecF m = splat(-__builtin_inff());
  for (int64_t i = 0; i < n; ++i) m = larger(m, load_part(x + i * stride, width));
  VecF sum{};
  for (int64_t i = 0; i < n; ++i) sum += exp(load_part(x + i * stride, width) - m);
  const VecF shift = log(sum);
  for (int64_t i = 0; i < n; ++i) {
    const VecF low = load_part(x + i * stride, width) - m;
    store_part(y + i * stride, logarithm ? low - shift : exp(low) / sum, width);
  }
}

}  // namespace

// Items: one per outer index when the axis is the last one, else one per outer index and group of
// 16 columns.
void softmax(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const AxisParams*>(call.params);
  const AxisSplit s = split_at(call.results[0], p.axis);
  const float* x = floats(call.operands[0]);
  float* y = floats(call.results[0]);
  if (s.inner == 1) {
    for (int64_t o = begin; o < end; ++o) contiguous(x + o * s.n, y + o * s.n, s.n, p.flag);
    return;
  }
  const int64_t groups = ceil_div(s.inner, column_group);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item % groups * column_group;
    const int64_t base = item / groups * s.n * s.inner;
    const int64_t beyond = first + column_group < s.inner ? first + column_group : s.inner;
    for (int64_t c = first; c < beyond; c += lanes) {
      const int64_t width = beyond - c < lanes ? beyond - c : lanes;
      columns(x + base + c, y + base + c, s.n, s.inner, width, p.flag);
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

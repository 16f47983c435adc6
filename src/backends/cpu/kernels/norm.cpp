// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

namespace rlx::cpu::RLX_ISA {
namespace {

/// The sum of f over a row, in four chains of a fixed order.
template <typename F>
RLX_INLINE float sum_row(const float* x, int64_t n, const F& f) {
  VecF s0{}, s1{}, s2{}, s3{};
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 += f(load(x + i));
    s1 += f(load(x + i + lanes));
    s2 += f(load(x + i + 2 * lanes));
    s3 += f(load(x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) s0 += f(load(x + i));
  if (i < n) {
    float tail[lanes] = {};
    store_part(tail, f(load_part(x + i, n - i)), n - i);
    s1 += load(tail);
  }
  return reduce_add((s0 + s1) + (s2 + s3));
}

struct Row {
  const float* gamma;  ///< or null
  const float* beta;   ///< or null
  int64_t n;
};

/// y = (x - mean) * scale * gamma + beta.
void scale_row(const Row& row, const float* x, float* y, float mean, float scale) {
  const auto at = [&](int64_t i, int64_t k) __attribute__((always_inline)) {
    VecF v = ((k == lanes ? load(x + i) : load_part(x + i, k)) - mean) * scale;
    if (row.gamma != nullptr) {
      v *= k == lanes ? load(row.gamma + i) : load_part(row.gamma + i, k);
    }
    if (row.beta != nullptr) v += k == lanes ? load(row.beta + i) : load_part(row.beta + i, k);
    return v;
  };
  int64_t i = 0;
  for (; i + lanes <= row.n; i += lanes) store(y + i, at(i, lanes));
  if (i < row.n) store_part(y + i, at(i, row.n - i), row.n - i);
}

const float* optional(const KernelCall& call, int i) {
  return i < call.operand_count ? floats(call.operands[i]) : nullptr;
}

}  // namespace

void rms_norm(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const float eps = static_cast<const NormParams*>(call.params)->eps;
  const int64_t n = row_width(call.results[0]);
  const Row row{optional(call, 1), nullptr, n};
  for (int64_t t = begin; t < end; ++t) {
    const float* x = floats(call.operands[0]) + t * n;
    const float squares = sum_row(x, n, [](VecF v) { return v * v; });
    const float power = squares / static_cast<float>(n) + eps;
    scale_row(row, x, floats(call.results[0]) + t * n, 0.0f, 1.0f / __builtin_sqrtf(power));
  }
}

void layer_norm(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const float eps = static_cast<const NormParams*>(call.params)->eps;
  const int64_t n = row_width(call.results[0]);
  const auto count = static_cast<float>(n);
  const Row row{optional(call, 1), optional(call, 2), n};
  for (int64_t t = begin; t < end; ++t) {
    const float* x = floats(call.operands[0]) + t * n;
    const float mean = sum_row(x, n, [](VecF v) { return v; }) / count;
    const float squares = sum_row(x, n, [mean](VecF v) { return (v - mean) * (v - mean); });
    scale_row(row, x, floats(call.results[0]) + t * n, mean,
              1.0f / __builtin_sqrtf(squares / count + eps));
  }
}

}  // namespace rlx::cpu::RLX_ISA

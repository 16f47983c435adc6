// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/shapes.h"
#include "backends/cpu/kernels/vec_math.h"

// Loops over f32 rows shared by the elementwise kernels.

namespace rlx::cpu::RLX_ISA {

/// y[i] = f(x[i]).
template <typename F>
RLX_INLINE void map_row(const float* x, float* y, int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(y + i, f(load(x + i)));
  if (i < n) store_part(y + i, f(load_part(x + i, n - i)), n - i);
}

/// y[i] = f(a[i], b[i]) where an operand of step 0 repeats its one number.
template <bool repeat_a, bool repeat_b, typename Store, typename F>
RLX_INLINE void zip_steps(const float* a, const float* b, int64_t n, const Store& put, const F& f) {
  const VecF first_a = splat(repeat_a ? *a : 0.0f);
  const VecF first_b = splat(repeat_b ? *b : 0.0f);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    put(i, f(repeat_a ? first_a : load(a + i), repeat_b ? first_b : load(b + i)), lanes);
  }
  if (i < n) {
    const int64_t rest = n - i;
    put(i,
        f(repeat_a ? first_a : load_part(a + i, rest), repeat_b ? first_b : load_part(b + i, rest)),
        rest);
  }
}
template <typename Store, typename F>
RLX_INLINE void zip_row(const float* a, int64_t step_a, const float* b, int64_t step_b, int64_t n,
                        const Store& put, const F& f) {
  if (step_a != 0 && step_b != 0) return zip_steps<false, false>(a, b, n, put, f);
  if (step_a != 0) return zip_steps<false, true>(a, b, n, put, f);
  if (step_b != 0) return zip_steps<true, false>(a, b, n, put, f);
  zip_steps<true, true>(a, b, n, put, f);
}

/// f32 to 16-bit floats.
template <bool bf16>
inline void f32_to_halves(const float* x, std::byte* y, int64_t n) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VecF v = load(x + i);
    store_u16(y + i * 2, bf16 ? f32_to_bf16(v) : f32_to_f16(v));
  }
  const VecF v = load_part(x + i, n - i);
  const VecU16 h = bf16 ? f32_to_bf16(v) : f32_to_f16(v);
  __builtin_memcpy(y + i * 2, &h, static_cast<size_t>(n - i) * 2);
}

RLX_INLINE float* floats(const TensorView& t) { return reinterpret_cast<float*>(t.data); }

}  // namespace rlx::cpu::RLX_ISA

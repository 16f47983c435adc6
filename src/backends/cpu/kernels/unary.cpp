// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"
#include "backends/cpu/kernels/trig.h"

namespace rlx::cpu::RLX_ISA {
namespace {

VecF sign_of(VecF x) {
  const VecF s = select(x > 0.0f, splat(1.0f), select(x < 0.0f, splat(-1.0f), splat(0.0f)));
  return select(x != x, x, s);
}
VecF relu(VecF x) { return select(x <= 0.0f, splat(0.0f), x); }

/// Sine or cosine; the C library takes over where the reduction by three parts ends. x may be y.
template <bool cosine>
void trigonometric_row(const float* x, float* y, int64_t n) {
  constexpr int64_t tile = 64;
  constexpr auto limit = static_cast<float>(max_angle);
  float angles[tile];
  for (int64_t first = 0; first < n; first += tile) {
    const int64_t count = n - first < tile ? n - first : tile;
    __builtin_memcpy(angles, x + first, static_cast<size_t>(count) * sizeof(float));
    float* to = y + first;
    for (int64_t i = 0; i < count; ++i) {
      const SinCos r = sin_cos(static_cast<double>(angles[i]));
      to[i] = static_cast<float>(cosine ? r.cos : r.sin);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (angles[i] <= limit && angles[i] >= -limit) continue;
      to[i] = cosine ? __builtin_cosf(angles[i]) : __builtin_sinf(angles[i]);
    }
  }
}

void apply(const UnaryParams& p, const float* x, float* y, int64_t n) {
  switch (p.op) {
    case OpKind::Neg: return map_row(x, y, n, [](VecF v) { return -v; });
    case OpKind::Abs: return map_row(x, y, n, [](VecF v) { return vabs(v); });
    case OpKind::Sign: return map_row(x, y, n, [](VecF v) { return sign_of(v); });
    case OpKind::Exp: return map_row(x, y, n, [](VecF v) { return exp(v); });
    case OpKind::Log: return map_row(x, y, n, [](VecF v) { return log(v); });
    case OpKind::Sqrt: return map_row(x, y, n, [](VecF v) { return vsqrt(v); });
    case OpKind::Rsqrt: return map_row(x, y, n, [](VecF v) { return 1.0f / vsqrt(v); });
    case OpKind::Sin: return trigonometric_row<false>(x, y, n);
    case OpKind::Cos: return trigonometric_row<true>(x, y, n);
    case OpKind::Tanh: return map_row(x, y, n, [](VecF v) { return tanh(v); });
    case OpKind::Erf: return map_row(x, y, n, [](VecF v) { return erf(v); });
    case OpKind::Floor: return map_row(x, y, n, [](VecF v) { return vfloor(v); });
    case OpKind::Ceil: return map_row(x, y, n, [](VecF v) { return vceil(v); });
    case OpKind::Round: return map_row(x, y, n, [](VecF v) { return round_even(v); });
    case OpKind::Sigmoid: return map_row(x, y, n, [](VecF v) { return sigmoid(v); });
    case OpKind::Relu: return map_row(x, y, n, [](VecF v) { return relu(v); });
    case OpKind::Silu: return map_row(x, y, n, [](VecF v) { return silu(v); });
    case OpKind::Gelu:
      if (p.tanh_form) return map_row(x, y, n, [](VecF v) { return gelu_tanh(v); });
      return map_row(x, y, n, [](VecF v) { return gelu(v); });
    case OpKind::Softcap: {
      const float cap = p.value;
      return map_row(x, y, n, [cap](VecF v) { return tanh(v / cap) * cap; });
    }
    default: return;
  }
}

}  // namespace

void unary(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const UnaryParams*>(call.params);
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  apply(p, floats(call.operands[0]) + r.begin, floats(call.results[0]) + r.begin, r.end - r.begin);
}

void glu(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const Gate gate = *static_cast<const Gate*>(call.params);
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  const float* g = floats(call.operands[0]) + r.begin;
  const float* up = floats(call.operands[1]) + r.begin;
  float* y = floats(call.results[0]) + r.begin;
  const int64_t n = r.end - r.begin;
  const auto put = [y](int64_t i, VecF v, int64_t k) __attribute__((always_inline)) {
    if (k == lanes) return store(y + i, v);
    store_part(y + i, v, k);
  };
  switch (gate) {
    case Gate::Silu:
      return zip_steps<false, false>(g, up, n, put, [](VecF a, VecF b) { return silu(a) * b; });
    case Gate::Gelu:
      return zip_steps<false, false>(g, up, n, put, [](VecF a, VecF b) { return gelu(a) * b; });
    case Gate::GeluTanh:
      return zip_steps<false, false>(g, up, n, put,
                                     [](VecF a, VecF b) { return gelu_tanh(a) * b; });
  }
}

}  // namespace rlx::cpu::RLX_ISA

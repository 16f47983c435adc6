// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"
#include "backends/cpu/kernels/trig.h"

namespace rlx::cpu::RLX_ISA {
namespace {

double position(const TensorView& t, int64_t i) {
  return t.dtype == DType::I64 ? static_cast<double>(reinterpret_cast<const int64_t*>(t.data)[i])
                               : static_cast<double>(reinterpret_cast<const int32_t*>(t.data)[i]);
}

/// Pairs (i, i + half): y1 = x1 c - x2 s, y2 = x2 c + x1 s.
void rotate_halves(const float* x, const float* c, const float* s, float* y, int64_t half) {
  int64_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    const VecF p = load(x + i), q = load(x + half + i), cosine = load(c + i), sine = load(s + i);
    store(y + i, p * cosine - q * sine);
    store(y + half + i, q * cosine + p * sine);
  }
  for (; i < half; ++i) {
    const float p = x[i], q = x[half + i];
    y[i] = p * c[i] - q * s[i];
    y[half + i] = q * c[i] + p * s[i];
  }
}

/// Pairs (2i, 2i + 1).
void rotate_neighbours(const float* x, const float* c, const float* s, float* y, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float p = x[2 * i], q = x[2 * i + 1];
    y[2 * i] = p * c[i] - q * s[i];
    y[2 * i + 1] = q * c[i] + p * s[i];
  }
}

}  // namespace

// Items: positions.
void rope_table(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const double magnitude = static_cast<const RopeTableParams*>(call.params)->magnitude;
  const int64_t half = row_width(call.results[0]);
  const float* frequency = floats(call.operands[1]);
  for (int64_t t = begin; t < end; ++t) {
    const double at = position(call.operands[0], t);
    float* c = floats(call.results[0]) + t * half;
    float* s = floats(call.results[1]) + t * half;
    bool within = true;
    for (int64_t i = 0; i < half; ++i) {
      const double angle = at * static_cast<double>(frequency[i]);
      within = within && angle <= max_angle && angle >= -max_angle;
      const SinCos r = sin_cos(angle);
      c[i] = static_cast<float>(r.cos * magnitude);
      s[i] = static_cast<float>(r.sin * magnitude);
    }
    for (int64_t i = 0; i < half && !within; ++i) {
      const double angle = at * static_cast<double>(frequency[i]);
      c[i] = static_cast<float>(__builtin_cos(angle) * magnitude);
      s[i] = static_cast<float>(__builtin_sin(angle) * magnitude);
    }
  }
}

// Items: rows of x. The result may be x itself: each pair is read before it is written.
void rope(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const RopeParams*>(call.params);
  const int64_t width = row_width(call.results[0]) / p.heads;
  const int64_t half = row_width(call.operands[1]);
  for (int64_t t = begin; t < end; ++t) {
    const float* c = floats(call.operands[1]) + t * half;
    const float* s = floats(call.operands[2]) + t * half;
    for (int64_t h = 0; h < p.heads; ++h) {
      const float* x = floats(call.operands[0]) + (t * p.heads + h) * width;
      float* y = floats(call.results[0]) + (t * p.heads + h) * width;
      if (p.interleaved) {
        rotate_neighbours(x, c, s, y, half);
      } else {
        rotate_halves(x, c, s, y, half);
      }
      if (x == y) continue;
      for (int64_t i = 2 * half; i < width; ++i) y[i] = x[i];
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

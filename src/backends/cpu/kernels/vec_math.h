// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/vec.h"

// Elementary functions over VecF. Polynomials are least-squares fits at Chebyshev nodes, rounded to
// f32. Infinities give the limits, NaN gives NaN.

namespace rlx::cpu::RLX_ISA {

/// What exp and expm1 share: x = n ln 2 + r with |r| <= ln 2 / 2 and `tail` = e^r - 1.
struct ExpParts {
  VecI n;
  VecF tail;
};
RLX_INLINE ExpParts exp_parts(VecF x) {
  // Adding 1.5 * 2^23 leaves the rounded quotient in the low bits.
  const VecF magic = splat(12582912.0f);
  const VecF shifted = x * 1.44269504f + magic;
  const VecF n = shifted - magic;
  // ln 2 in two parts, the first short enough for exact products.
  VecF r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  VecF q = splat(1.9899587e-4f);
  q = q * r + 1.3933884e-3f;
  q = q * r + 8.3332984e-3f;
  q = q * r + 4.1666463e-2f;
  q = q * r + 0.16666667f;
  q = q * r + 0.5f;
  return {as_signed(as_unsigned(shifted) - as_unsigned(magic)), (r * r) * q + r};
}
/// 2^n for -126 <= n <= 127.
RLX_INLINE VecF power_of_two(VecI n) {
  return from_bits(as_signed((reinterpret_cast<VecU>(n) + 127u) << 23));
}

/// e^x within 2 ulp, subnormal results included.
RLX_INLINE VecF exp(VecF x) {
  VecF clamped = x > 89.0f ? splat(89.0f) : x;
  clamped = clamped < -104.0f ? splat(-104.0f) : clamped;
  const ExpParts parts = exp_parts(clamped);
  const VecI half = parts.n >> 1;
  return (parts.tail + 1.0f) * power_of_two(half) * power_of_two(parts.n - half);
}

/// e^x - 1 for -87 < x < 87, accurate near zero.
RLX_INLINE VecF expm1_bounded(VecF x) {
  const ExpParts parts = exp_parts(x);
  const VecF power = power_of_two(parts.n);
  return power * parts.tail + (power - 1.0f);
}

RLX_INLINE VecF tanh(VecF x) {
  const VecF magnitude = vabs(x);
  // Beyond 20 the result is 1 in f32.
  const VecF twice = magnitude > 20.0f ? splat(40.0f) : magnitude + magnitude;
  const VecF e = expm1_bounded(twice);
  return copysign(e / (e + 2.0f), x);
}

RLX_INLINE VecF sigmoid(VecF x) { return 1.0f / (1.0f + exp(-x)); }
RLX_INLINE VecF silu(VecF x) { return x / (1.0f + exp(-x)); }

/// erf(x): x P(x^2) up to 1, 1 - e^P(x) above, and 1 from 4 on.
RLX_INLINE VecF erf(VecF x) {
  const VecF a = vabs(x);
  const VecF s = a * a;
  VecF p = splat(7.8824974e-5f);
  p = p * s - 8.0188555e-4f;
  p = p * s + 5.1893122e-3f;
  p = p * s - 2.6854329e-2f;
  p = p * s + 0.11283597f;
  p = p * s - 0.37612626f;
  p = p * s + 1.1283791f;
  const VecF z = vmin(a, splat(4.0f));
  VecF l = splat(-6.7063631e-8f);
  l = l * z + 3.1132099e-6f;
  l = l * z - 6.0144743e-5f;
  l = l * z + 6.7317614e-4f;
  l = l * z - 5.0183418e-3f;
  l = l * z + 2.6988290e-2f;
  l = l * z - 0.11088315f;
  l = l * z - 0.63111860f;
  l = l * z - 1.1305850f;
  l = l * z + 3.9521710e-4f;
  const VecF large = copysign(1.0f - exp(l), x);
  return select(x != x, x, select(a < 1.0f, x * p, large));
}

RLX_INLINE VecF gelu(VecF x) { return 0.5f * x * (1.0f + erf(x * 0.70710678f)); }
RLX_INLINE VecF gelu_tanh(VecF x) {
  const VecF inner = 0.79788456f * (x + 0.044715f * (x * x * x));
  return 0.5f * x * (1.0f + tanh(inner));
}

/// Natural logarithm within 2 ulp: x = 2^e (1 + f), log(1 + f) by the series of atanh in
/// f / (2 + f). Negative numbers give NaN, zero gives -inf.
RLX_INLINE VecF log(VecF x) {
  const VecI subnormal = x < 0x1p-126f;
  const VecF y = select(subnormal, x * 0x1p23f, x);
  // Mantissas above sqrt(2) count to the next power of two.
  const VecI shifted = as_signed(as_unsigned(y) + (0x3f800000u - 0x3f3504f3u));
  const VecI e = (shifted >> 23) - 127 - (subnormal & 23);
  const VecF f = from_bits((shifted & 0x7fffff) + 0x3f3504f3) - 1.0f;
  const VecF s = f / (2.0f + f);
  const VecF z = s * s;
  VecF r = splat(2.0f / 11);
  r = r * z + (2.0f / 9);
  r = r * z + (2.0f / 7);
  r = r * z + (2.0f / 5);
  r = r * z + (2.0f / 3);
  r = r * z;
  const VecF half_square = 0.5f * f * f;
  const VecF exponent = to_f32(e);
  const VecF small = s * (half_square + r) + exponent * -2.12194440e-4f;
  VecF result = (f - (half_square - small)) + exponent * 0.693359375f;
  result = select(x == __builtin_inff(), x, result);
  result = select(x == 0.0f, splat(-__builtin_inff()), result);
  return select(x < 0.0f, splat(__builtin_nanf("")), select(x != x, x, result));
}

}  // namespace rlx::cpu::RLX_ISA

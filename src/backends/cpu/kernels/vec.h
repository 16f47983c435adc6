// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// Compiled once per ISA level inside rlx::cpu::RLX_ISA, so every function here is a different one
// in each level. Nothing from the C++ standard library may be used: its inline functions would be
// shared between the levels by the linker.

#ifndef RLX_ISA
#define RLX_ISA isa_generic
#endif

namespace rlx::cpu::RLX_ISA {

#if defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

/// f32 and i32 vectors of the level's native width; operators work lane by lane, comparisons give
/// a VecI with all bits of a lane set where true.
typedef float VecF __attribute__((vector_size(4 * lanes)));
typedef int32_t VecI __attribute__((vector_size(4 * lanes)));
typedef uint32_t VecU __attribute__((vector_size(4 * lanes)));
typedef uint16_t VecU16 __attribute__((vector_size(2 * lanes)));
typedef int8_t VecI8 __attribute__((vector_size(lanes)));
typedef float Vec4 __attribute__((vector_size(16)));

#if defined(__AVX512F__)
// GCC 12 warns about the undefined lanes inside the unmasked intrinsics of 512 bits.
inline constexpr __mmask16 all_lanes = 0xffff;
#endif

#define RLX_INLINE inline __attribute__((always_inline))

RLX_INLINE VecF splat(float x) { return x - VecF{}; }
RLX_INLINE VecI splat_i(int32_t x) { return x - VecI{}; }
RLX_INLINE VecI bits_of(VecF x) { return reinterpret_cast<VecI>(x); }
/// For arithmetic that may wrap around.
RLX_INLINE VecU as_unsigned(VecF x) { return reinterpret_cast<VecU>(x); }
RLX_INLINE VecI as_signed(VecU x) { return reinterpret_cast<VecI>(x); }
RLX_INLINE VecF from_bits(VecI x) { return reinterpret_cast<VecF>(x); }
RLX_INLINE VecF to_f32(VecI x) { return __builtin_convertvector(x, VecF); }

RLX_INLINE VecF load(const float* p) {
  VecF v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
RLX_INLINE void store(float* p, VecF v) { __builtin_memcpy(p, &v, sizeof v); }

/// The first n lanes (0 <= n <= lanes) from memory, zeros behind; nothing else is touched.
RLX_INLINE VecF load_part(const float* p, int64_t n) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#else
  VecF v{};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}
RLX_INLINE void store_part(float* p, VecF v, int64_t n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), v);
#else
  for (int i = 0; i < n; ++i) p[i] = v[i];
#endif
}

RLX_INLINE VecF select(VecI mask, VecF a, VecF b) { return mask ? a : b; }
RLX_INLINE VecF fma(VecF a, VecF b, VecF c) { return a * b + c; }
/// Of two numbers; with a NaN the second operand comes back.
RLX_INLINE VecF vmax(VecF a, VecF b) { return a > b ? a : b; }
RLX_INLINE VecF vmin(VecF a, VecF b) { return a < b ? a : b; }
/// As vmax and vmin, but a NaN in either operand gives NaN.
RLX_INLINE VecF larger(VecF a, VecF b) { return select((a > b) | (a != a), a, b); }
RLX_INLINE VecF smaller(VecF a, VecF b) { return select((a < b) | (a != a), a, b); }
RLX_INLINE VecF vabs(VecF x) { return from_bits(bits_of(x) & 0x7fffffff); }
RLX_INLINE VecF copysign(VecF magnitude, VecF sign) {
  return from_bits((bits_of(magnitude) & 0x7fffffff) | (bits_of(sign) & INT32_MIN));
}
RLX_INLINE VecF vsqrt(VecF x) {
#if defined(__AVX512F__)
  return _mm512_maskz_sqrt_ps(all_lanes, x);
#elif defined(__AVX__)
  return _mm256_sqrt_ps(x);
#elif defined(__SSE2__)
  return _mm_sqrt_ps(x);
#else
  for (int i = 0; i < lanes; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

/// Four-lane sums of all quarters, eighths, ... of a vector, always added in the same tree.
RLX_INLINE Vec4 fold4(VecF v) {
#if defined(__AVX512F__)
  typedef float Vec8 __attribute__((vector_size(32)));
  const Vec8 half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif defined(__AVX__)
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
  return v;
#endif
}
RLX_INLINE float reduce_add(VecF v) {
  const Vec4 q = fold4(v);
  return (q[0] + q[2]) + (q[1] + q[3]);
}
/// The sums of four vectors, as four lanes.
RLX_INLINE Vec4 reduce_add4(VecF a, VecF b, VecF c, VecF d) {
  const Vec4 p = fold4(a), q = fold4(b), r = fold4(c), s = fold4(d);
  const Vec4 pq =
      __builtin_shufflevector(p, q, 0, 1, 4, 5) + __builtin_shufflevector(p, q, 2, 3, 6, 7);
  const Vec4 rs =
      __builtin_shufflevector(r, s, 0, 1, 4, 5) + __builtin_shufflevector(r, s, 2, 3, 6, 7);
  return __builtin_shufflevector(pq, rs, 0, 2, 4, 6) + __builtin_shufflevector(pq, rs, 1, 3, 5, 7);
}
/// Largest and smallest lane; a NaN may be lost.
RLX_INLINE float reduce_max(VecF v) {
  float m = v[0];
  for (int i = 1; i < lanes; ++i) m = v[i] > m ? v[i] : m;
  return m;
}
RLX_INLINE float reduce_min(VecF v) {
  float m = v[0];
  for (int i = 1; i < lanes; ++i) m = v[i] < m ? v[i] : m;
  return m;
}

RLX_INLINE bool any_lane(VecI mask) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0;
#elif defined(__AVX__)
  return _mm256_movemask_ps(reinterpret_cast<__m256>(mask)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_ps(reinterpret_cast<__m128>(mask)) != 0;
#else
  int32_t any = 0;
  for (int i = 0; i < lanes; ++i) any |= mask[i];
  return any != 0;
#endif
}

// Rounding to whole numbers. Magnitudes of 2^23 and above, infinities and NaN come back unchanged.
RLX_INLINE VecF round_even(VecF x) {
  const VecF magic = splat(0x1p23f);
  const VecF rounded = (vabs(x) + magic) - magic;
  return select(vabs(x) < magic, copysign(rounded, x), x);
}
RLX_INLINE VecF vfloor(VecF x) {
  const VecF r = round_even(x);
  return copysign(select(r > x, r - 1.0f, r), x);
}
RLX_INLINE VecF vceil(VecF x) {
  const VecF r = round_even(x);
  return copysign(select(r < x, r + 1.0f, r), x);
}

// 16-bit floats.
RLX_INLINE VecU16 load_u16(const void* p) {
  VecU16 v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
RLX_INLINE VecF bf16_to_f32(VecU16 h) {
  return from_bits(reinterpret_cast<VecI>(__builtin_convertvector(h, VecU) << 16));
}
RLX_INLINE VecU16 f32_to_bf16(VecF x) {
  const VecU bits = as_unsigned(x);
  const VecU rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const VecU quiet = (bits >> 16) | 0x40u;
  return __builtin_convertvector(x != x ? quiet : rounded, VecU16);
}
RLX_INLINE VecF f16_to_f32(VecU16 h) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtph_ps(all_lanes, reinterpret_cast<__m256i>(h));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(reinterpret_cast<__m128i>(h));
#else
  // The exponent's bias is corrected by a multiplication, which also makes subnormals normal.
  const VecI wide = reinterpret_cast<VecI>(__builtin_convertvector(h, VecU));
  const VecI magnitude = (wide & 0x7fff) << 13;
  const VecI scaled = bits_of(from_bits(magnitude) * 0x1p112f);
  const VecI special = (wide & 0x7c00) == 0x7c00;
  return from_bits((special ? (magnitude | 0x7f800000) : scaled) | ((wide & 0x8000) << 16));
#endif
}
RLX_INLINE VecU16 f32_to_f16(VecF x) {
#if defined(__AVX512F__)
  return reinterpret_cast<VecU16>(_mm512_maskz_cvtps_ph(all_lanes, x, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  return reinterpret_cast<VecU16>(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#else
  const VecU bits = as_unsigned(x);
  const VecU magnitude = bits & 0x7fffffffu;
  // Below 2^-14: adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded to even.
  const VecU small = as_unsigned(vabs(x) + 0.5f) - 0x3f000000u;
  const VecU normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const VecU infinity = VecU{} + 0x7c00u, nan = VecU{} + 0x7e00u;
  VecU half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x47800000u ? infinity : half;
  half = magnitude > 0x7f800000u ? nan : half;
  const VecU sign = (bits >> 16) & 0x8000u;
  return __builtin_convertvector(half | sign, VecU16);
#endif
}
RLX_INLINE void store_u16(void* p, VecU16 v) { __builtin_memcpy(p, &v, sizeof v); }
/// One binary16 number.
RLX_INLINE float f16_scalar(const void* p) {
  uint16_t h;
  __builtin_memcpy(&h, p, 2);
#if defined(__F16C__)
  return _cvtsh_ss(h);
#else
  VecU16 v{};
  v[0] = h;
  return f16_to_f32(v)[0];
#endif
}
/// Eight-bit integers to f32.
RLX_INLINE VecF i8_to_f32(const void* p) {
#if defined(__AVX512F__)
  return to_f32(reinterpret_cast<VecI>(
      _mm512_maskz_cvtepi8_epi32(all_lanes, _mm_loadu_si128(static_cast<const __m128i*>(p)))));
#elif defined(__AVX2__)
  return to_f32(reinterpret_cast<VecI>(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)))));
#else
  VecI8 v;
  __builtin_memcpy(&v, p, sizeof v);
  return to_f32(__builtin_convertvector(v, VecI));
#endif
}

}  // namespace rlx::cpu::RLX_ISA

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/vec.h"

// Building blocks of the Q15 kernels: a step of a weight row as 64-byte vectors of unsigned codes
// with per-lane scales. Only for levels with VNNI.
#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {

typedef uint8_t Codes __attribute__((vector_size(64)));
typedef uint16_t Codes16 __attribute__((vector_size(64)));
typedef uint64_t Words64 __attribute__((vector_size(64)));

RLX_INLINE Codes as_codes(__m512i v) { return reinterpret_cast<Codes>(v); }
RLX_INLINE Codes load64(const void* p) { return as_codes(_mm512_loadu_si512(p)); }
/// Adds to every i32 lane the products of four unsigned and four signed bytes.
RLX_INLINE VecI dot_bytes(VecI sum, Codes codes, Codes x) {
  return reinterpret_cast<VecI>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                    reinterpret_cast<__m512i>(codes),
                                                    reinterpret_cast<__m512i>(x)));
}
RLX_INLINE Codes shift_right(Codes v, int count) {
  return reinterpret_cast<Codes>(reinterpret_cast<Codes16>(v) >> count);
}
RLX_INLINE Codes shift_left(Codes v, int count) {
  return reinterpret_cast<Codes>(reinterpret_cast<Codes16>(v) << count);
}
/// Every i32 lane rotated left by its own count; bits that cross bytes are for the caller to mask.
RLX_INLINE Codes rotate_lanes(Codes v, VecI counts) {
  return as_codes(_mm512_maskz_rolv_epi32(all_lanes, reinterpret_cast<__m512i>(v),
                                          reinterpret_cast<__m512i>(counts)));
}
RLX_INLINE Codes look_up(const uint8_t (&table)[16], Codes indices) {
  const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  return as_codes(_mm512_shuffle_epi8(_mm512_maskz_broadcast_i32x4(all_lanes, t),
                                      reinterpret_cast<__m512i>(indices)));
}
/// Lane l holds bits * (l / 4): shifts that give quarter g the field g of a broadcast word.
RLX_INLINE VecI quarter_shifts(int bits) {
  const VecI g = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  return g * bits;
}

RLX_INLINE VecF pick_lanes(VecF v, VecI from) { return __builtin_shuffle(v, from); }

RLX_INLINE uint16_t load16(const uint8_t* p) {
  uint16_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
RLX_INLINE uint32_t load32(const uint8_t* p) {
  uint32_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
/// v, computed in a general register: left alone, the compiler gathers such numbers in vectors.
RLX_INLINE uint32_t in_register(uint32_t v) {
  __asm__("" : "+r"(v));
  return v;
}
RLX_INLINE uint64_t in_register(uint64_t v) {
  __asm__("" : "+r"(v));
  return v;
}
RLX_INLINE VecF f16_splat(const uint8_t* p) {
  return _mm512_maskz_cvtph_ps(all_lanes, _mm256_set1_epi16(static_cast<int16_t>(load16(p))));
}

/// 16 bytes each of n <= 4 blocks that lie `stride` bytes apart, zeros for absent blocks.
RLX_INLINE Codes load_quarters(const uint8_t* p, int stride, int n) {
  const auto at = [&](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * stride));
  };
  __m512i v = _mm512_zextsi128_si512(at(0));
  if (n > 1) v = _mm512_inserti32x4(v, at(1), 1);
  if (n > 2) v = _mm512_inserti32x4(v, at(2), 2);
  if (n > 3) v = _mm512_inserti32x4(v, at(3), 3);
  return as_codes(v);
}
/// 32 bytes twice.
RLX_INLINE Codes load_twice(const uint8_t* p) {
  return as_codes(
      _mm512_maskz_broadcast_i64x4(0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}

/// One f16 each of n <= 4 blocks that lie `stride` bytes apart, as f32 in four lanes each.
RLX_INLINE VecF load_quarter_scales(const uint8_t* p, int stride, int n) {
  uint64_t packed = load16(p);
  for (int i = 1; i < n; ++i) {
    packed |= in_register(static_cast<uint64_t>(load16(p + i * stride)) << (16 * i));
  }
  const __m256i spread = _mm256_set_epi64x(0x0706070607060706, 0x0504050405040504,
                                           0x0302030203020302, 0x0100010001000100);
  const __m256i words =
      _mm256_shuffle_epi8(_mm256_set1_epi64x(static_cast<int64_t>(packed)), spread);
  return _mm512_maskz_cvtph_ps(all_lanes, words);
}
/// The f16 in one half of the words as f32.
RLX_INLINE VecF f16_lanes(Codes16 words, int half) {
  const auto eight = reinterpret_cast<Words64>(words);
  const auto part = half == 0 ? __builtin_shufflevector(eight, eight, 0, 1, 2, 3)
                              : __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return _mm512_maskz_cvtph_ps(all_lanes, reinterpret_cast<__m256i>(part));
}

/// load_quarter_scales with one vector load; the four f16 must lie within 64 bytes that may be
/// read.
template <int offset, int stride>
RLX_INLINE VecF pick_quarter_scales(Codes bytes) {
  static_assert((offset + 3 * stride) / 2 < 32 && offset % 2 == 0 && stride % 2 == 0);
  Codes16 from{};
  for (int i = 0; i < 16; ++i) from[i] = (offset + i / 4 * stride) / 2;
  return f16_lanes(__builtin_shuffle(reinterpret_cast<Codes16>(bytes), from), 0);
}

/// 16-bit words out of four whole blocks, read as two vectors that cover them.
template <int stride>
struct BlockWords {
  static constexpr int second = 4 * stride > 128 ? 64 : 4 * stride - 64;
  Codes16 low, high;
  RLX_INLINE explicit BlockWords(const uint8_t* p)
      : low(reinterpret_cast<Codes16>(load64(p))),
        high(reinterpret_cast<Codes16>(load64(p + second))) {}
  /// Where the word at a byte of a block is, counted through both vectors.
  static constexpr uint16_t index(int block, int byte) {
    const int at = block * stride + byte;
    return static_cast<uint16_t>(at + 2 <= 64 ? at / 2 : 32 + (at - second) / 2);
  }
  /// Lanes 4g … 4g+3: the word at `first` of block g; 16 … 31 likewise at `other`.
  RLX_INLINE Codes16 spread(int first, int other) const {
    Codes16 from{};
    for (int i = 0; i < 16; ++i) {
      from[i] = index(i / 4, first);
      from[16 + i] = index(i / 4, other);
    }
    return __builtin_shuffle(low, high, from);
  }
  /// Lanes 0 … 15 as above; 16 … 19: the words at `bits` of the blocks, 20 … 23: those behind them.
  RLX_INLINE Codes16 spread_and_bits(int first, int bits) const {
    Codes16 from{};
    for (int i = 0; i < 16; ++i) {
      from[i] = index(i / 4, first);
      from[16 + i] = index(i % 4, bits + i / 4 % 2 * 2);
    }
    return __builtin_shuffle(low, high, from);
  }
};

/// Four groups of 32 elements: lanes 4g … 4g+3 of every vector belong to group g, `low` holding its
/// first 16 elements and `high` its last.
struct QuarterStep {
  Codes low, high;
  VecF scale, min;
};
/// 256 elements: vector j holds one run of 32 in each half (see HalfOrder). `scale` and `min` are
/// by group, not by lane.
struct HalfStep {
  Codes codes[4];
  VecF scale, min;
};
/// Which runs of 32 elements lie in the halves of a HalfStep's four vectors.
struct HalfOrder {
  int8_t run[4][2];
};
inline constexpr HalfOrder natural_order{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}};

}  // namespace rlx::cpu::RLX_ISA

#endif

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/linear/linear_vnni.h"

// Unpacking of the packed types that have a vector form; layouts as in quant/blocks_*.h. Every
// `load` reads bytes of its own step only.
#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {

// Types in quarter steps: load(row, step, n) gives groups 4 * step … of which n exist.

RLX_INLINE void split_nibbles(Codes v, QuarterStep& out) {
  out.low = v & 15;
  out.high = shift_right(v, 4) & 15;
}
/// Sets bit 4 of the codes whose bit is set; the words hold four blocks' bits each.
RLX_INLINE void add_fifth_bits(uint64_t low, uint64_t high, QuarterStep& out) {
  const __m512i bit = _mm512_set1_epi8(16);
  const auto add = [&](Codes v, uint64_t mask) {
    const __m512i m = reinterpret_cast<__m512i>(v);
    return as_codes(_mm512_mask_add_epi8(m, mask, m, bit));
  };
  out.low = add(out.low, low);
  out.high = add(out.high, high);
}
/// The bits as BlockWords::spread_and_bits gives them.
RLX_INLINE void add_fifth_bits(Codes16 words, QuarterStep& out) {
  const auto eight = reinterpret_cast<Words64>(words);
  add_fifth_bits(eight[4], eight[5], out);
}
/// The bits of n blocks' 32-bit words at p.
RLX_INLINE void add_fifth_bits(const uint8_t* p, int stride, int n, QuarterStep& out) {
  uint64_t low = 0, high = 0;
  for (int i = 0; i < n; ++i) {
    low |= static_cast<uint64_t>(load16(p + i * stride)) << (16 * i);
    high |= static_cast<uint64_t>(load16(p + i * stride + 2)) << (16 * i);
  }
  add_fifth_bits(low, high, out);
}

struct VnniQ4_0 {
  static constexpr int step_bytes = 72;
  static constexpr bool has_min = false;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    const uint8_t* p = row + step * step_bytes;
    QuarterStep out{};
    split_nibbles(load_quarters(p + 2, 18, n), out);
    out.scale =
        n == 4 ? f16_lanes(BlockWords<18>(p).spread(0, 0), 0) : load_quarter_scales(p, 18, n);
    return out;
  }
};

struct VnniQ4_1 {
  static constexpr int step_bytes = 80;
  static constexpr bool has_min = true;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    const uint8_t* p = row + step * step_bytes;
    QuarterStep out{};
    split_nibbles(load_quarters(p + 4, 20, n), out);
    if (n == 4) {
      const Codes bytes = load64(p);
      out.scale = pick_quarter_scales<0, 20>(bytes);
      out.min = pick_quarter_scales<2, 20>(bytes);
    } else {
      out.scale = load_quarter_scales(p, 20, n);
      out.min = load_quarter_scales(p + 2, 20, n);
    }
    return out;
  }
};

struct VnniQ5_0 {
  static constexpr int step_bytes = 88;
  static constexpr bool has_min = false;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    const uint8_t* p = row + step * step_bytes;
    QuarterStep out{};
    split_nibbles(load_quarters(p + 6, 22, n), out);
    if (n == 4) {
      const Codes16 words = BlockWords<22>(p).spread_and_bits(0, 2);
      add_fifth_bits(words, out);
      out.scale = f16_lanes(words, 0);
    } else {
      add_fifth_bits(p + 2, 22, n, out);
      out.scale = load_quarter_scales(p, 22, n);
    }
    return out;
  }
};

struct VnniQ5_1 {
  static constexpr int step_bytes = 96;
  static constexpr bool has_min = true;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    const uint8_t* p = row + step * step_bytes;
    QuarterStep out{};
    split_nibbles(load_quarters(p + 8, 24, n), out);
    if (n == 4) {
      const BlockWords<24> block(p);
      add_fifth_bits(block.spread_and_bits(0, 4), out);
      const Codes16 words = block.spread(0, 2);
      out.scale = f16_lanes(words, 0);
      out.min = f16_lanes(words, 1);
    } else {
      add_fifth_bits(p + 4, 24, n, out);
      out.scale = load_quarter_scales(p, 24, n);
      out.min = load_quarter_scales(p + 2, 24, n);
    }
    return out;
  }
};

struct VnniQ8_0 {
  static constexpr int step_bytes = 136;
  static constexpr bool has_min = false;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    const uint8_t* p = row + step * step_bytes;
    QuarterStep out{};
    out.low = load_quarters(p + 2, 34, n) ^ 128;
    out.high = load_quarters(p + 18, 34, n) ^ 128;
    out.scale =
        n == 4 ? f16_lanes(BlockWords<34>(p).spread(0, 0), 0) : load_quarter_scales(p, 34, n);
    return out;
  }
};

/// The 16 levels of iq4_nl and iq4_xs, plus their offset of 128.
inline constexpr uint8_t iq4_levels[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                           129, 141, 153, 166, 181, 197, 217, 241};

struct VnniIQ4_NL {
  static constexpr int step_bytes = 72;
  static constexpr bool has_min = false;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    QuarterStep out = VnniQ4_0::load(row, step, n);
    out.low = look_up(iq4_levels, out.low);
    out.high = look_up(iq4_levels, out.high);
    return out;
  }
};

struct VnniIQ4_XS {
  static constexpr int step_bytes = 68;
  static constexpr bool has_min = false;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int) {
    const uint8_t* p = row + (step >> 1) * 136;
    const int half = static_cast<int>(step & 1);
    QuarterStep out{};
    split_nibbles(load64(p + 8 + 64 * half), out);
    out.low = look_up(iq4_levels, out.low);
    out.high = look_up(iq4_levels, out.high);
    const VecI low = (splat_i(load16(p + 4 + 2 * half)) >> quarter_shifts(4)) & 15;
    const VecI high = (splat_i(load16(p + 2) >> (8 * half)) >> quarter_shifts(2)) & 3;
    out.scale = to_f32((low | high << 4) - 32) * f16_splat(p);
    return out;
  }
};

/// Twice the e2m1 values, plus their offset of 12.
inline constexpr uint8_t mxfp4_levels[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                             12, 11, 10, 9,  8,  6,  4,  0};

struct VnniMXFP4 {
  static constexpr int step_bytes = 68;
  static constexpr bool has_min = false;
  RLX_INLINE static QuarterStep load(const uint8_t* row, int64_t step, int n) {
    const uint8_t* p = row + step * step_bytes;
    QuarterStep out{};
    split_nibbles(load_quarters(p + 1, 17, n), out);
    out.low = look_up(mxfp4_levels, out.low);
    out.high = look_up(mxfp4_levels, out.high);
    uint32_t packed = p[0];
    for (int i = 1; i < n; ++i) {
      packed |= in_register(static_cast<uint32_t>(p[17 * i]) << (8 * i));
    }
    const VecI e = (splat_i(static_cast<int32_t>(packed)) >> quarter_shifts(8)) & 255;
    // Half of 2^(e - 127), which below e = 2 is subnormal.
    out.scale = from_bits(e < 2 ? splat_i(0x00200000) << e : (e - 1) << 23);
    return out;
  }
};

// Types in half steps: load(row, step) gives elements 256 * step …. With min_lane 8, scales and
// mins share the vector `scale`, the mins in its upper half.

/// Lanes 0 … 7: scales, 8 … 15: mins, of the 12 bytes that q4_k and q5_k pack them in.
RLX_INLINE VecF k_scales_mins(const uint8_t* block) {
  const uint64_t a = load32(block + 4), b = load32(block + 8), c = load32(block + 12);
  constexpr uint64_t six = 0x3f3f3f3f, four = 0x0f0f0f0f, high = 0x30303030;
  const uint64_t scales =
      in_register((a & six) | in_register((c & four) | ((a >> 2) & high)) << 32);
  const uint64_t mins =
      in_register((b & six) | in_register(((c >> 4) & four) | ((b >> 2) & high)) << 32);
  const __m128i bytes = _mm_set_epi64x(static_cast<int64_t>(mins), static_cast<int64_t>(scales));
  const VecI ints = reinterpret_cast<VecI>(_mm512_maskz_cvtepu8_epi32(all_lanes, bytes));
  const __m256i both = _mm256_set1_epi32(static_cast<int32_t>(load32(block)));
  const __m256i spread = _mm256_set_epi64x(0x0302030203020302, 0x0302030203020302,
                                           0x0100010001000100, 0x0100010001000100);
  return to_f32(ints) * VecF(_mm512_maskz_cvtph_ps(all_lanes, _mm256_shuffle_epi8(both, spread)));
}
/// Two counts for the rotations of the lower and upper half's lanes.
RLX_INLINE VecI half_counts(int low, int high) {
  return VecI{low,  low,  low,  low,  low,  low,  low,  low,
              high, high, high, high, high, high, high, high};
}

struct VnniQ4_K {
  static constexpr int step_bytes = 144;
  static constexpr int group = 32;
  static constexpr bool has_min = true;
  static constexpr int min_lane = 8;
  static constexpr HalfOrder order{{{0, 2}, {1, 3}, {4, 6}, {5, 7}}};
  RLX_INLINE static HalfStep load(const uint8_t* row, int64_t step) {
    const uint8_t* p = row + step * step_bytes;
    HalfStep out{};
    for (int h = 0; h < 2; ++h) {
      const Codes v = load64(p + 16 + 64 * h);
      out.codes[2 * h] = v & 15;
      out.codes[2 * h + 1] = shift_right(v, 4) & 15;
    }
    out.scale = k_scales_mins(p);
    return out;
  }
};

struct VnniQ5_K {
  static constexpr int step_bytes = 176;
  static constexpr int group = 32;
  static constexpr bool has_min = true;
  static constexpr int min_lane = 8;
  static constexpr HalfOrder order = VnniQ4_K::order;
  RLX_INLINE static HalfStep load(const uint8_t* row, int64_t step) {
    const uint8_t* p = row + step * step_bytes;
    HalfStep out{};
    const Codes fifth = load_twice(p + 16);
    for (int h = 0; h < 2; ++h) {
      const Codes v = load64(p + 48 + 64 * h);
      // Bit g of a byte goes to bit 4: g is 4h and 4h + 2 in the halves, then one more.
      const int low = (36 - 4 * h) % 32, high = (34 - 4 * h) % 32;
      out.codes[2 * h] = (v & 15) | (rotate_lanes(fifth, half_counts(low, high)) & 16);
      out.codes[2 * h + 1] =
          (shift_right(v, 4) & 15) |
          (rotate_lanes(fifth, half_counts((low + 31) % 32, (high + 31) % 32)) & 16);
    }
    out.scale = k_scales_mins(p);
    return out;
  }
};

struct VnniQ6_K {
  static constexpr int step_bytes = 210;
  static constexpr int group = 16;
  static constexpr bool has_min = false;
  static constexpr int min_lane = 0;
  static constexpr HalfOrder order = natural_order;
  RLX_INLINE static HalfStep load(const uint8_t* row, int64_t step) {
    const uint8_t* p = row + step * step_bytes;
    HalfStep out{};
    for (int h = 0; h < 2; ++h) {
      const Codes v = load64(p + 64 * h);
      const Codes top = load_twice(p + 128 + 32 * h);
      out.codes[2 * h] = (v & 15) | (rotate_lanes(top, half_counts(4, 2)) & 0x30);
      out.codes[2 * h + 1] =
          (shift_right(v, 4) & 15) | (rotate_lanes(top, half_counts(0, 30)) & 0x30);
    }
    const __m128i scales = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 192));
    out.scale = to_f32(reinterpret_cast<VecI>(_mm512_maskz_cvtepi8_epi32(all_lanes, scales))) *
                f16_splat(p + 208);
    return out;
  }
};

struct VnniQ2_K {
  static constexpr int step_bytes = 84;
  static constexpr int group = 16;
  static constexpr bool has_min = true;
  static constexpr int min_lane = 0;
  static constexpr HalfOrder order{{{0, 4}, {1, 5}, {2, 6}, {3, 7}}};
  RLX_INLINE static HalfStep load(const uint8_t* row, int64_t step) {
    const uint8_t* p = row + step * step_bytes;
    HalfStep out{};
    const Codes v = load64(p + 16);
    for (int j = 0; j < 4; ++j) out.codes[j] = shift_right(v, 2 * j) & 3;
    const VecI both = reinterpret_cast<VecI>(_mm512_maskz_cvtepu8_epi32(
        all_lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    out.scale = to_f32(both & 15) * f16_splat(p + 80);
    out.min = to_f32(both >> 4) * f16_splat(p + 82);
    return out;
  }
};

struct VnniQ3_K {
  static constexpr int step_bytes = 110;
  static constexpr int group = 16;
  static constexpr bool has_min = false;
  static constexpr int min_lane = 0;
  static constexpr HalfOrder order = VnniQ2_K::order;
  RLX_INLINE static HalfStep load(const uint8_t* row, int64_t step) {
    const uint8_t* p = row + step * step_bytes;
    HalfStep out{};
    const Codes v = load64(p + 32);
    const Codes third = load_twice(p);
    for (int j = 0; j < 4; ++j) {
      // Bit j of the lower half's bytes and 4 + j of the upper half's goes to bit 2.
      const VecI counts = half_counts((34 - j) % 32, 30 - j);
      out.codes[j] = (shift_right(v, 2 * j) & 3) | (rotate_lanes(third, counts) & 4);
    }
    out.scale = to_f32(scales(p + 96) - 32) * f16_splat(p + 108);
    return out;
  }
  RLX_INLINE static VecI scales(const uint8_t* p) {
    const uint32_t a = load32(p), b = load32(p + 4), c = load32(p + 8);
    constexpr uint32_t four = 0x0f0f0f0f, two = 0x03030303;
    const auto join = [](uint32_t low, uint32_t high) {
      return static_cast<int32_t>((low & four) | (high & two) << 4);
    };
    const __m128i bytes =
        _mm_setr_epi32(join(a, c), join(b, c >> 2), join(a >> 4, c >> 4), join(b >> 4, c >> 6));
    return reinterpret_cast<VecI>(_mm512_maskz_cvtepu8_epi32(all_lanes, bytes));
  }
};

}  // namespace rlx::cpu::RLX_ISA

#endif

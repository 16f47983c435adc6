// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "quant/block_bytes.h"
#include "quant/codes.h"
#include "quant/iq_grids.h"

// The unpacking of one block of the codebook types; see blocks_small.h for the shape of each
// struct. Internal to quant/.
namespace rlx::quant {

/// Sign bits of eight elements from the seven stored ones: their number is always even.
inline uint8_t even_signs(uint32_t seven) {
  // 0x6996 holds the parities of 0 to 15; the baseline has no popcount instruction.
  const uint32_t odd = (0x6996u >> ((seven ^ seven >> 4) & 15)) & 1u;
  return static_cast<uint8_t>(seven | odd << 7);
}

/// Eight codes offset + magnitude, or offset - magnitude where the element's sign bit is set.
/// `grid` holds the magnitudes by byte; offset must be above all of them and at most 128.
inline void store_signed(uint64_t grid, uint8_t signs, uint8_t offset, uint8_t* q) {
  const uint64_t negative = spread_bits(signs) * 0xff;
  const uint64_t center = offset * 0x0101010101010101u;
  store(q, ((center + grid) & ~negative) | ((center - grid) & negative));
}

struct BlockIQ1_S {  // f16 d, 32 low index bytes, 8 words of high index bits, scale, delta sign
  static constexpr DType dtype = DType::IQ1_S;
  static constexpr CodeFormat format{32, 9, false, 18};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    for (int g = 0; g < 8; ++g) {
      const uint32_t high = load<uint16_t>(b + 34 + 2 * g);
      // The code is 8 * (element + delta), delta being 1/8 or -1/8.
      scale[g] = d * static_cast<float>(2 * ((high >> 12) & 7) + 1) * 0.125f;
      const uint64_t delta = (high & 0x8000 ? 0 : 2) * 0x0101010101010101u;
      for (int i = 0; i < 4; ++i) {
        const uint32_t index = b[2 + 4 * g + i] | ((high >> (3 * i)) & 7) << 8;
        store(q + 32 * g + 8 * i, iq1_grid.rows[index] * 8 + delta);
      }
    }
  }
};

struct BlockIQ1_M {  // 32 low index bytes, 16 of high index bits and delta signs, 4 scale words
  static constexpr DType dtype = DType::IQ1_M;
  static constexpr CodeFormat format{16, 9, false, 18};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    uint32_t words[4];
    for (int i = 0; i < 4; ++i) words[i] = load<uint16_t>(b + 48 + 2 * i);
    // The top nibbles of the scale words are d's nibbles, lowest first.
    const float d = f16_to_f32(static_cast<uint16_t>(words[0] >> 12 | words[1] >> 12 << 4 |
                                                     words[2] >> 12 << 8 | words[3] >> 12 << 12));
    for (int g = 0; g < 16; ++g) {
      const uint32_t s = (words[g / 4] >> (g % 4 * 3)) & 7;
      scale[g] = d * static_cast<float>(2 * s + 1) * 0.125f;
      for (int i = 0; i < 2; ++i) {
        const uint32_t high = b[32 + g] >> (4 * i);
        const uint64_t delta = (high & 8 ? 0 : 2) * 0x0101010101010101u;
        const uint32_t index = b[2 * g + i] | (high & 7) << 8;
        store(q + 16 * g + 8 * i, iq1_grid.rows[index] * 8 + delta);
      }
    }
  }
};

struct BlockIQ2_XXS {  // f16 d, per 32: four index bytes, then four 7-bit signs and a 4-bit scale
  static constexpr DType dtype = DType::IQ2_XXS;
  static constexpr CodeFormat format{32, 64, false, 107};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    for (int g = 0; g < 8; ++g) {
      const uint8_t* indices = b + 2 + 8 * g;
      const uint32_t word = load<uint32_t>(indices + 4);
      scale[g] = d * (0.5f + static_cast<float>(word >> 28)) * 0.25f;
      for (int i = 0; i < 4; ++i) {
        store_signed(iq2_xxs_grid.rows[indices[i]], even_signs((word >> (7 * i)) & 127),
                     format.offset, q + 32 * g + 8 * i);
      }
    }
  }
};

struct BlockIQ2_XS {  // f16 d, 32 words of 9-bit index and 7-bit signs, 16 scale nibbles
  static constexpr DType dtype = DType::IQ2_XS;
  static constexpr CodeFormat format{16, 64, false, 107};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    for (int g = 0; g < 16; ++g) {
      const int s = (b[66 + g / 2] >> (g % 2 * 4)) & 15;
      scale[g] = d * (0.5f + static_cast<float>(s)) * 0.25f;
      for (int i = 0; i < 2; ++i) {
        const uint32_t word = load<uint16_t>(b + 2 + 4 * g + 2 * i);
        store_signed(iq2_xs_grid.rows[word & 511], even_signs(word >> 9), format.offset,
                     q + 16 * g + 8 * i);
      }
    }
  }
};

struct BlockIQ2_S {  // f16 d, 32 low index bytes, 32 sign bytes, 8 of high index bits, 16 scales
  static constexpr DType dtype = DType::IQ2_S;
  static constexpr CodeFormat format{16, 64, false, 107};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    for (int g = 0; g < 16; ++g) {
      const int s = (b[74 + g / 2] >> (g % 2 * 4)) & 15;
      scale[g] = d * (0.5f + static_cast<float>(s)) * 0.25f;
      for (int i = 2 * g; i < 2 * g + 2; ++i) {
        const uint32_t index = b[2 + i] | ((b[66 + i / 4] >> (i % 4 * 2)) & 3) << 8;
        store_signed(iq2_s_grid.rows[index], b[34 + i], format.offset, q + 8 * i);
      }
    }
  }
};

struct BlockIQ3_XXS {  // f16 d, 64 index bytes, per 32: four 7-bit signs and a 4-bit scale
  static constexpr DType dtype = DType::IQ3_XXS;
  static constexpr CodeFormat format{32, 64, false, 126};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    for (int g = 0; g < 8; ++g) {
      const uint32_t word = load<uint32_t>(b + 66 + 4 * g);
      scale[g] = d * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
      for (int i = 0; i < 4; ++i) {
        const uint8_t* indices = b + 2 + 8 * g + 2 * i;
        const uint64_t high = iq3_xxs_grid.rows[indices[1]];
        store_signed(iq3_xxs_grid.rows[indices[0]] | high << 32,
                     even_signs((word >> (7 * i)) & 127), format.offset, q + 32 * g + 8 * i);
      }
    }
  }
};

struct BlockIQ3_S {  // f16 d, 64 low index bytes, 8 of ninth bits, 32 sign bytes, 8 scale nibbles
  static constexpr DType dtype = DType::IQ3_S;
  static constexpr CodeFormat format{32, 16, false, 31};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    for (int g = 0; g < 8; ++g) {
      const int s = (b[106 + g / 2] >> (g % 2 * 4)) & 15;
      scale[g] = d * static_cast<float>(1 + 2 * s);
      const uint8_t* low = b + 2 + 8 * g;
      const uint32_t ninth = b[66 + g];
      for (int i = 0; i < 4; ++i) {
        const uint64_t first = iq3_s_grid.rows[low[2 * i] | ((ninth >> (2 * i)) & 1) << 8];
        const uint64_t second = iq3_s_grid.rows[low[2 * i + 1] | ((ninth >> (2 * i + 1)) & 1) << 8];
        store_signed(first | second << 32, b[74 + 4 * g + i], format.offset, q + 32 * g + 8 * i);
      }
    }
  }
};

/// The 16 levels of iq4_nl and iq4_xs (-127 … 113), plus 128.
inline constexpr uint8_t iq4_codes[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                          129, 141, 153, 166, 181, 197, 217, 241};

struct BlockIQ4_NL {  // f16 d, nibbles
  static constexpr DType dtype = DType::IQ4_NL;
  static constexpr CodeFormat format{32, 128, false, 241};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    *scale = load_f16(b);
    for (int i = 0; i < 16; ++i) q[i] = iq4_codes[b[2 + i] & 15];
    for (int i = 0; i < 16; ++i) q[16 + i] = iq4_codes[b[2 + i] >> 4];
  }
};

struct BlockIQ4_XS {  // f16 d, scales' high two bits, low nibbles, then iq4_nl's nibbles
  static constexpr DType dtype = DType::IQ4_XS;
  static constexpr CodeFormat format{32, 128, false, 241};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b);
    const uint32_t high = load<uint16_t>(b + 2);
    for (int g = 0; g < 8; ++g) {
      const int s = ((b[4 + g / 2] >> (g % 2 * 4)) & 15) | ((high >> (2 * g)) & 3) << 4;
      scale[g] = d * static_cast<float>(s - 32);
      const uint8_t* from = b + 8 + 16 * g;
      for (int i = 0; i < 16; ++i) q[32 * g + i] = iq4_codes[from[i] & 15];
      for (int i = 0; i < 16; ++i) q[32 * g + 16 + i] = iq4_codes[from[i] >> 4];
    }
  }
};

}  // namespace rlx::quant

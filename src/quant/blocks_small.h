// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "quant/block_bytes.h"
#include "quant/codes.h"

// The unpacking of one block, per type: plain, ternary and 4-bit float blocks. Each struct gives
// the type, its integer view, and unpack(block, codes, scales, mins). Internal to quant/.
namespace rlx::quant {

struct BlockQ1_0 {  // f16 d, 128 bits: set is +d, clear is -d
  static constexpr DType dtype = DType::Q1_0;
  static constexpr CodeFormat format{32, 1, false, 2};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    for (int g = 0; g < 4; ++g) scale[g] = load_f16(b);
    for (int i = 0; i < 16; ++i) store(q + 8 * i, spread_bits(b[2 + i]) << 1);
  }
};

struct BlockQ2_0 {  // f16 d, two bits per element, four neighbours to a byte; 0 to 3 stand for -1
                    // to 2
  static constexpr DType dtype = DType::Q2_0;
  static constexpr CodeFormat format{32, 1, false, 3};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    for (int g = 0; g < 2; ++g) scale[g] = load_f16(b);
    for (int i = 0; i < 64; ++i) q[i] = static_cast<uint8_t>(b[2 + i / 4] >> (2 * (i % 4)) & 3);
  }
};

struct BlockQ4_0 {  // f16 d, nibbles
  static constexpr DType dtype = DType::Q4_0;
  static constexpr CodeFormat format{32, 8, false, 15};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    *scale = load_f16(b);
    unpack_nibbles(b + 2, q);
  }
};

struct BlockQ4_1 {  // f16 d, f16 m, nibbles
  static constexpr DType dtype = DType::Q4_1;
  static constexpr CodeFormat format{32, 0, true, 15};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float* min) {
    *scale = load_f16(b);
    *min = load_f16(b + 2);
    unpack_nibbles(b + 4, q);
  }
};

/// Nibbles plus a fifth bit per element, bit i of a 32-bit word for element i.
inline void unpack_five_bits(const uint8_t* __restrict high, const uint8_t* __restrict nibbles,
                             uint8_t* __restrict q) {
  unpack_nibbles(nibbles, q);
  for (int i = 0; i < 4; ++i) {
    store(q + 8 * i, load<uint64_t>(q + 8 * i) | spread_bits(high[i]) << 4);
  }
}

struct BlockQ5_0 {  // f16 d, 32 high bits, nibbles
  static constexpr DType dtype = DType::Q5_0;
  static constexpr CodeFormat format{32, 16, false, 31};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    *scale = load_f16(b);
    unpack_five_bits(b + 2, b + 6, q);
  }
};

struct BlockQ5_1 {  // f16 d, f16 m, 32 high bits, nibbles
  static constexpr DType dtype = DType::Q5_1;
  static constexpr CodeFormat format{32, 0, true, 31};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float* min) {
    *scale = load_f16(b);
    *min = load_f16(b + 2);
    unpack_five_bits(b + 4, b + 8, q);
  }
};

struct BlockQ8_0 {  // f16 d, signed bytes
  static constexpr DType dtype = DType::Q8_0;
  static constexpr CodeFormat format{32, 128, false, 255};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    *scale = load_f16(b);
    for (int i = 0; i < 32; ++i) q[i] = b[2 + i] ^ 128;
  }
};

struct BlockQ8_1 {  // f16 d, f16 d * sum (not needed here), signed bytes
  static constexpr DType dtype = DType::Q8_1;
  static constexpr CodeFormat format{32, 128, false, 255};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    *scale = load_f16(b);
    for (int i = 0; i < 32; ++i) q[i] = b[4 + i] ^ 128;
  }
};

struct BlockTQ1_0 {  // 48 bytes of five base-3 digits, 4 bytes of four, f16 d
  static constexpr DType dtype = DType::TQ1_0;
  static constexpr CodeFormat format{32, 1, false, 2};
  static void digits(const uint8_t* __restrict b, int bytes, int count, uint8_t* __restrict q) {
    static constexpr uint8_t powers[5] = {1, 3, 9, 27, 81};
    for (int p = 0; p < count; ++p) {
      for (int i = 0; i < bytes; ++i) {
        // The byte is a fraction of 256; times 3^p leaves digit p as the part above the point.
        const uint8_t fraction = static_cast<uint8_t>(b[i] * powers[p]);
        q[p * bytes + i] = static_cast<uint8_t>((fraction * 3) >> 8);
      }
    }
  }
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    for (int g = 0; g < 8; ++g) scale[g] = load_f16(b + 52);
    digits(b, 32, 5, q);
    digits(b + 32, 16, 5, q + 160);
    digits(b + 48, 4, 4, q + 240);
  }
};

struct BlockTQ2_0 {  // two bits per element, four planes per 32 bytes, f16 d
  static constexpr DType dtype = DType::TQ2_0;
  static constexpr CodeFormat format{32, 1, false, 3};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    for (int g = 0; g < 8; ++g) {
      scale[g] = load_f16(b + 64);
      const uint8_t* from = b + g / 4 * 32;
      for (int i = 0; i < 32; ++i) q[g * 32 + i] = (from[i] >> (g % 4 * 2)) & 3;
    }
  }
};

/// Twice the e2m1 values, plus 12.
inline constexpr uint8_t fp4_codes[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                          12, 11, 10, 9,  8,  6,  4,  0};

struct BlockMXFP4 {  // e8m0 exponent, nibbles of e2m1
  static constexpr DType dtype = DType::MXFP4;
  static constexpr CodeFormat format{32, 12, false, 24};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    // Half of 2^(e - 127), which below e = 2 is subnormal.
    const uint32_t e = b[0];
    *scale = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
    for (int i = 0; i < 16; ++i) q[i] = fp4_codes[b[1 + i] & 15];
    for (int i = 0; i < 16; ++i) q[16 + i] = fp4_codes[b[1 + i] >> 4];
  }
};

struct BlockNVFP4 {  // four unsigned e4m3 scales, nibbles of e2m1 in groups of 16
  static constexpr DType dtype = DType::NVFP4;
  static constexpr CodeFormat format{16, 12, false, 24};
  /// Half the e4m3 value. The sign bit is ignored; 0x7f is zero, 0xff 480, as the format has it.
  static float half_scale(uint8_t x) {
    if (x == 0x7f) return 0.0f;
    const int exponent = (x >> 3) & 15;
    const float mantissa = static_cast<float>(x & 7);
    if (exponent == 0) return mantissa * 0x1p-10f;
    const float power = std::bit_cast<float>(static_cast<uint32_t>(exponent - 8 + 127) << 23);
    return (1.0f + mantissa * 0.125f) * power;
  }
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    for (int g = 0; g < 4; ++g) {
      scale[g] = half_scale(b[g]);
      const uint8_t* from = b + 4 + g * 8;
      for (int i = 0; i < 8; ++i) q[g * 16 + i] = fp4_codes[from[i] & 15];
      for (int i = 0; i < 8; ++i) q[g * 16 + 8 + i] = fp4_codes[from[i] >> 4];
    }
  }
};

}  // namespace rlx::quant

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "quant/block_bytes.h"
#include "quant/codes.h"

// The unpacking of one block of the k types (256 elements, scales of groups quantized too); see
// blocks_small.h for the shape of each struct. Internal to quant/.
namespace rlx::quant {

struct BlockQ2_K {  // 16 bytes of scale and min nibbles, 64 of two-bit codes, f16 d, f16 dmin
  static constexpr DType dtype = DType::Q2_K;
  static constexpr CodeFormat format{16, 0, true, 3};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float* min) {
    const float d = load_f16(b + 80), dmin = load_f16(b + 82);
    for (int g = 0; g < 16; ++g) {
      scale[g] = d * static_cast<float>(b[g] & 15);
      min[g] = -(dmin * static_cast<float>(b[g] >> 4));
    }
    for (int g = 0; g < 8; ++g) {
      const uint8_t* from = b + 16 + g / 4 * 32;
      for (int i = 0; i < 32; ++i) q[g * 32 + i] = (from[i] >> (g % 4 * 2)) & 3;
    }
  }
};

struct BlockQ3_K {  // 32 bytes of high bits, 64 of low two bits, 12 of six-bit scales, f16 d
  static constexpr DType dtype = DType::Q3_K;
  static constexpr CodeFormat format{16, 4, false, 7};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const uint8_t* packed = b + 96;
    const float d = load_f16(b + 108);
    for (int g = 0; g < 16; ++g) {
      const int low = g < 8 ? packed[g] & 15 : packed[g - 8] >> 4;
      const int high = (packed[8 + g % 4] >> (g / 4 * 2)) & 3;
      scale[g] = d * static_cast<float>((low | high << 4) - 32);
    }
    for (int g = 0; g < 8; ++g) {
      const uint8_t* from = b + 32 + g / 4 * 32;
      for (int i = 0; i < 32; ++i) {
        q[g * 32 + i] = ((from[i] >> (g % 4 * 2)) & 3) | (((b[i] >> g) & 1) << 2);
      }
    }
  }
};

/// The 12 bytes of q4_k and q5_k that hold eight six-bit scales and mins, times d and -dmin.
inline void unpack_k_scales(const uint8_t* p, float d, float dmin, float* scale, float* min) {
  for (int g = 0; g < 4; ++g) {
    scale[g] = d * static_cast<float>(p[g] & 63);
    min[g] = -(dmin * static_cast<float>(p[4 + g] & 63));
    scale[4 + g] = d * static_cast<float>((p[8 + g] & 15) | ((p[g] >> 2) & 48));
    min[4 + g] = -(dmin * static_cast<float>((p[8 + g] >> 4) | ((p[4 + g] >> 2) & 48)));
  }
}

struct BlockQ4_K {  // f16 d, f16 dmin, 12 bytes of scales and mins, nibbles (planes per 32 bytes)
  static constexpr DType dtype = DType::Q4_K;
  static constexpr CodeFormat format{32, 0, true, 15};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float* min) {
    unpack_k_scales(b + 4, load_f16(b), load_f16(b + 2), scale, min);
    for (int h = 0; h < 4; ++h) {
      const uint8_t* from = b + 16 + h * 32;
      for (int i = 0; i < 32; ++i) q[h * 64 + i] = from[i] & 15;
      for (int i = 0; i < 32; ++i) q[h * 64 + 32 + i] = from[i] >> 4;
    }
  }
};

struct BlockQ5_K {  // as q4_k with 32 bytes of fifth bits (bit g of byte i: group g) before nibbles
  static constexpr DType dtype = DType::Q5_K;
  static constexpr CodeFormat format{32, 0, true, 31};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float* min) {
    unpack_k_scales(b + 4, load_f16(b), load_f16(b + 2), scale, min);
    const uint8_t* high = b + 16;
    for (int h = 0; h < 4; ++h) {
      const uint8_t* from = b + 48 + h * 32;
      for (int i = 0; i < 32; ++i) {
        q[h * 64 + i] = (from[i] & 15) | (((high[i] >> (2 * h)) & 1) << 4);
      }
      for (int i = 0; i < 32; ++i) {
        q[h * 64 + 32 + i] = (from[i] >> 4) | (((high[i] >> (2 * h + 1)) & 1) << 4);
      }
    }
  }
};

struct BlockQ6_K {  // 128 bytes of low nibbles, 64 of high two bits, 16 signed scales, f16 d
  static constexpr DType dtype = DType::Q6_K;
  static constexpr CodeFormat format{16, 32, false, 63};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    const float d = load_f16(b + 208);
    for (int g = 0; g < 16; ++g) {
      scale[g] = d * static_cast<float>(static_cast<int8_t>(b[192 + g]));
    }
    for (int g = 0; g < 8; ++g) {
      const uint8_t* low = b + g / 4 * 64 + g % 2 * 32;
      const uint8_t* high = b + 128 + g / 4 * 32;
      const int low_shift = g / 2 % 2 * 4, high_shift = g % 4 * 2;
      for (int i = 0; i < 32; ++i) {
        q[g * 32 + i] = ((low[i] >> low_shift) & 15) | (((high[i] >> high_shift) & 3) << 4);
      }
    }
  }
};

struct BlockQ8_K {  // f32 d, signed bytes, sums of 16 (not needed here)
  static constexpr DType dtype = DType::Q8_K;
  static constexpr CodeFormat format{32, 128, false, 255};
  static void unpack(const uint8_t* __restrict b, uint8_t* __restrict q, float* scale, float*) {
    for (int g = 0; g < 8; ++g) scale[g] = load<float>(b);
    for (int i = 0; i < 256; ++i) q[i] = b[4 + i] ^ 128;
  }
};

}  // namespace rlx::quant

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/half.h"
#include "ir/dtype.h"

// Reading fields of packed blocks; internal to quant/.
namespace rlx::quant {

static_assert(std::endian::native == std::endian::little, "blocks are little-endian in memory");

template <typename T>
inline T load(const uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T>
inline void store(uint8_t* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}
inline float load_f16(const uint8_t* p) { return f16_to_f32(load<uint16_t>(p)); }

/// Eight bytes of 0 or 1, the bits of `bits` from the lowest up.
inline uint64_t spread_bits(uint8_t bits) {
  constexpr uint64_t ones = 0x0101010101010101u;
  const uint64_t selected = (bits * ones) & 0x8040201008040201u;
  // Byte i is 0 or 1 << i; adding 127 carries either into bit 7 without leaving the byte.
  return ((selected + 0x7f * ones) >> 7) & ones;
}

/// 16 bytes to 32 codes: the low nibbles, then the high ones.
inline void unpack_nibbles(const uint8_t* __restrict b, uint8_t* __restrict q) {
  for (int i = 0; i < 16; ++i) q[i] = b[i] & 15;
  for (int i = 0; i < 16; ++i) q[16 + i] = b[i] >> 4;
}

constexpr uint32_t block_elements(DType dtype) {
  switch (dtype) {
#define X(name, text, cls, elements, bytes, ggml) \
  case DType::name: return elements;
    RLX_DTYPES(X)
#undef X
  }
  return 0;
}
constexpr uint32_t block_bytes(DType dtype) {
  switch (dtype) {
#define X(name, text, cls, elements, bytes, ggml) \
  case DType::name: return bytes;
    RLX_DTYPES(X)
#undef X
  }
  return 0;
}

}  // namespace rlx::quant

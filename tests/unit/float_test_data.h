// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

// Pseudo-random float patterns, and the CRC-32 of what a conversion makes of them, to compare with
// what other implementations made of the same ones.
namespace rlx::float_test {

/// A 32-bit integer hash of the position; in NumPy the same operations on arange(n, dtype=uint32).
constexpr uint32_t hashed(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/// CRC-32 (IEEE) of convert(float of hashed(i)) for i below 2^20, in little-endian order.
template <typename Convert>
uint32_t crc_of_hashed(Convert convert) {
  uint32_t crc = 0xffffffffu;
  for (uint32_t i = 0; i < 1u << 20; ++i) {
    const auto code = convert(std::bit_cast<float>(hashed(i)));
    for (unsigned byte = 0; byte < sizeof(code); ++byte) {
      crc ^= (static_cast<uint32_t>(code) >> (8 * byte)) & 0xff;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

}  // namespace rlx::float_test

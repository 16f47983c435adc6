// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace rlx::text {

/// The Philox4x32-10 block function: four random words for a counter and a key. Salmon, Moraes,
/// Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011).
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                             std::array<uint32_t, 2> key) {
  constexpr uint64_t multiplier_0 = 0xd2511f53, multiplier_1 = 0xcd9e8d57;
  constexpr uint32_t weyl_0 = 0x9e3779b9, weyl_1 = 0xbb67ae85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = multiplier_0 * counter[0], b = multiplier_1 * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + weyl_0, key[1] + weyl_1};
  }
  return counter;
}

/// A number in [0, 1) with 53 random bits that depends on nothing but `seed` and `position`.
constexpr double uniform_at(uint64_t seed, uint64_t position) {
  const auto words =
      philox4x32({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), 0, 0},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t bits = (static_cast<uint64_t>(words[0]) << 32 | words[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace rlx::text

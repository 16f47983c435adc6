// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace rlx::quant {

/// The largest magnitude of 32 floats; NaN or infinity if any element is. Magnitudes order as the
/// integers of their bits, NaN above infinity, which a float maximum would lose.
inline float max_magnitude_32(const float* x) {
  int32_t largest = 0;
  for (int i = 0; i < 32; ++i) {
    const int32_t bits = std::bit_cast<int32_t>(x[i]) & 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return std::bit_cast<float>(largest);
}

}  // namespace rlx::quant

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace rlx {
namespace detail {

/// Bits of an 8-bit float whose largest finite code is max_code. Rounds to nearest even; beyond the
/// largest, `overflow` is given back with the sign.
template <int mantissa_bits, int bias, uint32_t max_code>
constexpr uint8_t f32_to_f8(float f, uint8_t nan, uint8_t overflow) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint8_t sign = static_cast<uint8_t>((bits >> 24) & 0x80u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | nan;
  constexpr uint32_t exponent_gap = 127 - bias;
  if (magnitude < ((exponent_gap + 1) << 23)) {
    // Adding 2^23 subnormal steps leaves their rounded number in the low mantissa bits.
    constexpr uint32_t steps = static_cast<uint32_t>(127 + 24 - bias - mantissa_bits) << 23;
    const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(steps);
    return sign | static_cast<uint8_t>(std::bit_cast<uint32_t>(shifted) - steps);
  }
  constexpr int drop = 23 - mantissa_bits;
  const uint32_t rounded = magnitude + ((1u << (drop - 1)) - 1) + ((magnitude >> drop) & 1u);
  const uint32_t code = (rounded - (exponent_gap << 23)) >> drop;
  return sign | (code > max_code ? overflow : static_cast<uint8_t>(code));
}

/// The value of a code that is neither infinite nor NaN.
template <int mantissa_bits, int bias>
constexpr float f8_to_f32(uint8_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x80u) << 24;
  const uint32_t magnitude = code & 0x7fu;
  if ((magnitude >> mantissa_bits) != 0) {
    return std::bit_cast<float>(
        sign | ((magnitude << (23 - mantissa_bits)) + (static_cast<uint32_t>(127 - bias) << 23)));
  }
  constexpr uint32_t step = static_cast<uint32_t>(127 + 1 - bias - mantissa_bits) << 23;
  const float value = static_cast<float>(magnitude) * std::bit_cast<float>(step);
  return sign ? -value : value;
}

}  // namespace detail

/// OCP E4M3 (the "FN" kind: no infinity, S.1111.111 is NaN, largest 448) to float, exact.
constexpr float f8e4m3_to_f32(uint8_t code) {
  if ((code & 0x7fu) == 0x7fu) {
    return std::bit_cast<float>(static_cast<uint32_t>(code & 0x80u) << 24 | 0x7fc00000u);
  }
  return detail::f8_to_f32<3, 7>(code);
}

/// float to OCP E4M3, round to nearest even, NaN stays NaN. What rounds above 448, infinity too,
/// becomes 448, or NaN when not `saturate`.
constexpr uint8_t f32_to_f8e4m3(float f, bool saturate = true) {
  return detail::f32_to_f8<3, 7, 0x7e>(f, 0x7f, saturate ? 0x7e : 0x7f);
}

/// OCP E5M2 (infinities and NaN as in IEEE 754, largest 57344) to float, exact.
constexpr float f8e5m2_to_f32(uint8_t code) {
  const uint32_t magnitude = code & 0x7fu;
  if (magnitude >= 0x7cu) {
    return std::bit_cast<float>(static_cast<uint32_t>(code & 0x80u) << 24 |
                                (magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u));
  }
  return detail::f8_to_f32<2, 15>(code);
}

/// float to OCP E5M2, round to nearest even, NaN stays NaN. What rounds above 57344, infinity too,
/// becomes 57344, or infinity when not `saturate`.
constexpr uint8_t f32_to_f8e5m2(float f, bool saturate = true) {
  return detail::f32_to_f8<2, 15, 0x7b>(f, 0x7e, saturate ? 0x7b : 0x7c);
}

}  // namespace rlx

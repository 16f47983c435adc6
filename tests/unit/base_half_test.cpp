// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

#include <doctest/doctest.h>

#include <cmath>

#include "float_test_data.h"

using namespace rlx;
using namespace rlx::float_test;

namespace {

/// The value of binary16 bits by the definition of IEEE 754, sign * significand * 2^exponent.
double f16_value(uint32_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const double magnitude =
      exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("half: every binary16 value converts exactly and comes back") {
  size_t wrong = 0;
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = f16_to_f32(static_cast<uint16_t>(h));
    const uint16_t back = f32_to_f16(f);
    if ((h & 0x7fff) > 0x7c00) {
      wrong += std::isnan(f) && (back & 0x7fff) > 0x7c00 ? 0 : 1;
    } else if ((h & 0x7fff) == 0x7c00) {
      wrong += std::isinf(f) && std::signbit(f) == (h >> 15 != 0) && back == h ? 0 : 1;
    } else {
      wrong += f == f16_value(h) && std::signbit(f) == (h >> 15 != 0) && back == h ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("half: between any two binary16 neighbours the midpoint goes to the even one") {
  size_t wrong = 0;
  for (uint32_t h = 0; h < 0x7bff; ++h) {
    const float middle = static_cast<float>((f16_value(h) + f16_value(h + 1)) / 2);
    const uint16_t even = static_cast<uint16_t>(h & 1 ? h + 1 : h);
    wrong += f32_to_f16(middle) == even ? 0 : 1;
    wrong += f32_to_f16(-middle) == (even | 0x8000) ? 0 : 1;
    wrong += f32_to_f16(std::nextafter(middle, 0.0f)) == h ? 0 : 1;
    wrong += f32_to_f16(std::nextafter(middle, 1e9f)) == h + 1 ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(f32_to_f16(65519.996f) == 0x7bff);
  CHECK(f32_to_f16(65520.0f) == 0x7c00);
  CHECK(f32_to_f16(-1e30f) == 0xfc00);
  CHECK(f32_to_f16(0x1p-149f) == 0);
  CHECK(f32_to_f16(-0.0f) == 0x8000);
}

TEST_CASE("half: bfloat16 is the upper half of a float, rounded to even") {
  size_t wrong = 0;
  for (uint32_t b = 0; b < 0x10000; ++b) {
    const float f = bf16_to_f32(static_cast<uint16_t>(b));
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    wrong += bits == b << 16 ? 0 : 1;
    if (std::isnan(f)) {
      wrong += std::isnan(bf16_to_f32(f32_to_bf16(f))) ? 0 : 1;
      continue;
    }
    wrong += f32_to_bf16(f) == b ? 0 : 1;
    if (std::isinf(f)) continue;
    const uint32_t even = b & 1 ? b + 1 : b;
    wrong += f32_to_bf16(std::bit_cast<float>(bits | 0x8000)) == even ? 0 : 1;
    wrong += f32_to_bf16(std::bit_cast<float>(bits | 0x7fff)) == b ? 0 : 1;
    wrong += f32_to_bf16(std::bit_cast<float>(bits | 0x8001)) == b + 1 ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

TEST_CASE("half: a million float patterns give the bits of NumPy (ml_dtypes for bfloat16)") {
  // numpy 2.4, ml_dtypes 0.6: crc32(hashed(2**20).view(float32).astype(T)), NaN as below.
  CHECK(crc_of_hashed([](float f) { return std::isnan(f) ? uint16_t{0x7e00} : f32_to_f16(f); }) ==
        0xdef75ebf);
  CHECK(crc_of_hashed([](float f) { return std::isnan(f) ? uint16_t{0x7fc0} : f32_to_bf16(f); }) ==
        0xede95259);
}

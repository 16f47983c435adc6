// SPDX-License-Identifier: Apache-2.0
#include "base/float8.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "float_test_data.h"

using namespace rlx;
using namespace rlx::float_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// The value of a finite code by the definition in the OCP 8-bit floating point specification.
double f8_value(uint32_t code, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>((code & 127) >> mantissa_bits);
  const int mantissa = static_cast<int>(code & ((1u << mantissa_bits) - 1));
  const double magnitude =
      exponent ? std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)
               : std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return code & 128 ? -magnitude : magnitude;
}

/// Wrong results among all codes up to `largest`: values, the way back, and every midpoint.
template <typename Decode, typename Encode>
size_t count_wrong(int mantissa_bits, int bias, uint32_t largest, Decode decode, Encode encode) {
  size_t wrong = 0;
  for (uint32_t sign = 0; sign <= 128; sign += 128) {
    for (uint32_t m = 0; m <= largest; ++m) {
      const uint32_t code = sign | m;
      const float f = decode(static_cast<uint8_t>(code));
      wrong += f == f8_value(code, mantissa_bits, bias) && std::signbit(f) == (sign != 0) ? 0 : 1;
      wrong += encode(f) == code ? 0 : 1;
      if (m == largest) continue;
      const double sum = double(f) + f8_value(code + 1, mantissa_bits, bias);
      const float middle = static_cast<float>(sum / 2);
      wrong += encode(middle) == (m & 1 ? code + 1 : code) ? 0 : 1;
      wrong += encode(std::nextafter(middle, 0.0f)) == code ? 0 : 1;
      wrong += encode(std::nextafter(middle, sign ? -1e9f : 1e9f)) == code + 1 ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("float8: E4M3 values, rounding and round trip of all finite codes") {
  CHECK(count_wrong(3, 7, 0x7e, f8e4m3_to_f32, [](float f) { return f32_to_f8e4m3(f); }) == 0);
  CHECK(f8e4m3_to_f32(0x7e) == 448.0f);
  CHECK(f8e4m3_to_f32(0x01) == 0x1p-9f);
  CHECK(std::isnan(f8e4m3_to_f32(0x7f)));
  CHECK(std::isnan(f8e4m3_to_f32(0xff)));
}

TEST_CASE("float8: E5M2 values, rounding and round trip of all finite codes") {
  CHECK(count_wrong(2, 15, 0x7b, f8e5m2_to_f32, [](float f) { return f32_to_f8e5m2(f); }) == 0);
  CHECK(f8e5m2_to_f32(0x7b) == 57344.0f);
  CHECK(f8e5m2_to_f32(0x01) == 0x1p-16f);
  CHECK(f8e5m2_to_f32(0xfc) == -infinity);
  CHECK(std::isnan(f8e5m2_to_f32(0x7d)));
  CHECK(std::isnan(f8e5m2_to_f32(0xff)));
}

TEST_CASE(
    "float8: what rounds above the largest saturates, or becomes NaN or infinity when asked") {
  CHECK(f32_to_f8e4m3(464.0f) == 0x7e);
  CHECK(f32_to_f8e4m3(464.0f, false) == 0x7e);  // a tie with 480, whose mantissa is odd
  CHECK(f32_to_f8e4m3(465.0f) == 0x7e);
  CHECK(f32_to_f8e4m3(465.0f, false) == 0x7f);
  CHECK(f32_to_f8e4m3(-1e38f) == 0xfe);
  CHECK(f32_to_f8e4m3(-infinity) == 0xfe);
  CHECK(f32_to_f8e4m3(infinity, false) == 0x7f);
  CHECK(f32_to_f8e4m3(quiet_nan) == 0x7f);
  CHECK(f32_to_f8e5m2(61439.0f, false) == 0x7b);
  CHECK(f32_to_f8e5m2(61440.0f, false) == 0x7c);
  CHECK(f32_to_f8e5m2(61440.0f) == 0x7b);
  CHECK(f32_to_f8e5m2(-infinity) == 0xfb);
  CHECK(f32_to_f8e5m2(-infinity, false) == 0xfc);
  CHECK(std::isnan(f8e5m2_to_f32(f32_to_f8e5m2(quiet_nan))));
}

TEST_CASE("float8: a million float patterns give the bits of ml_dtypes") {
  // ml_dtypes 0.6: crc32(hashed(2**20).view(float32).astype(T)), NaN inputs as below.
  CHECK(crc_of_hashed([](float f) {
          return std::isnan(f) ? uint8_t{0x7f} : f32_to_f8e4m3(f, false);
        }) == 0x890d9d1d);
  CHECK(crc_of_hashed([](float f) {
          return std::isnan(f) ? uint8_t{0x7e} : f32_to_f8e5m2(f, false);
        }) == 0xa224ddcf);
}

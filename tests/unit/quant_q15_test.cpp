// SPDX-License-Identifier: Apache-2.0
#include "quant/q15.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "quant/dequantize.h"
#include "quant/q8_0.h"
#include "quant_data.h"

using namespace rlx;
using namespace rlx::quant_test;

namespace {

/// A rows file: n rows of 32 floats, then n blocks.
struct Rows {
  std::vector<float> x;
  std::vector<std::byte> blocks;
};

Rows read_rows(const char* name, size_t block_bytes) {
  const std::vector<std::byte> bytes = read_data(name);
  const size_t n = bytes.size() / (128 + block_bytes);
  const std::span<const std::byte> all(bytes);
  return {floats_of(all.first(n * 128)),
          {bytes.begin() + static_cast<ptrdiff_t>(n * 128), bytes.end()}};
}

Q15Block block_at(const std::vector<std::byte>& blocks, size_t i) {
  Q15Block block;
  std::memcpy(&block, blocks.data() + i * sizeof(block), sizeof(block));
  return block;
}

}  // namespace

TEST_CASE("q15: blocks are those of the NumPy definition, byte for byte") {
  const Rows rows = read_rows("quant_q15_rows.bin", 72);
  REQUIRE(rows.x.size() == 45 * 32);
  std::vector<std::byte> out(rows.blocks.size());
  quantize_q15(rows.x.data(), out.data(), rows.x.size());
  size_t differing = 0;
  for (size_t i = 0; i < 45; ++i) {
    Q15Block a = block_at(out, i), b = block_at(rows.blocks, i);
    if (std::isnan(a.scale) && std::isnan(b.scale)) a.scale = b.scale = 0.0f;
    differing += std::memcmp(&a, &b, sizeof(a)) == 0 ? 0 : 1;
  }
  CHECK(differing == 0);
  CHECK(block_at(out, 6).scale == 1.0f);
  CHECK(block_at(out, 6).hi[31] == -127);
}

TEST_CASE("q15: the documented error bound holds and nearly is reached") {
  const Rows rows = read_rows("quant_q15_rows.bin", 72);
  const size_t n = 42 * 32;  // before the rows that are not finite
  std::vector<std::byte> blocks(n / 32 * 72);
  std::vector<float> back(n);
  quantize_q15(rows.x.data(), blocks.data(), n);
  dequantize_q15(blocks.data(), back.data(), n);
  std::vector<float> same(n);
  dequantize(DType::Q15, blocks.data(), same.data(), n);
  CHECK(count_differences(back, same) == 0);
  double worst = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const Q15Block block = block_at(blocks, i / 32);
    if (block.scale == 0.0f) {
      CHECK(rows.x[i] == 0.0f);
      continue;
    }
    const double error = std::abs(double(back[i]) - double(rows.x[i])) / double(block.scale);
    worst = std::max(worst, error);
    int32_t sum = 0;
    for (int j = 0; j < 32; ++j) sum += 128 * block.hi[j] + block.lo[j];
    CHECK(sum == block.sum);
  }
  CHECK(worst <= 0.502);
  CHECK(worst >= 0.49);
}

TEST_CASE("q15 and q8_0: one NaN or infinity makes the whole block NaN, never zero") {
  const float bad[] = {
      std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
      std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (const float value : bad) {
    for (size_t place = 0; place < 32; ++place) {
      std::vector<float> x(64, 0.5f), back(64);
      x[place] = value;
      std::vector<std::byte> q15(144), q8_0(68);
      quantize_q15(x.data(), q15.data(), 64);
      dequantize_q15(q15.data(), back.data(), 64);
      const auto nan = [](float v) { return std::isnan(v); };
      CHECK(std::all_of(back.begin(), back.begin() + 32, nan));
      CHECK(std::none_of(back.begin() + 32, back.end(), nan));
      quantize_q8_0(x.data(), q8_0.data(), 64);
      dequantize(DType::Q8_0, q8_0.data(), back.data(), 64);
      CHECK(std::all_of(back.begin(), back.begin() + 32, nan));
      CHECK(std::none_of(back.begin() + 32, back.end(), nan));
    }
  }
}

TEST_CASE("q15: extreme magnitudes keep scale finite and integers in range") {
  for (const float amax : {0x1p127f, 0x1p-112f, 0x1p-126f, 0x1p-149f}) {
    CAPTURE(amax);
    std::vector<float> x(32, -amax), back(32);
    x[3] = amax;
    std::vector<std::byte> blocks(72);
    quantize_q15(x.data(), blocks.data(), 32);
    dequantize_q15(blocks.data(), back.data(), 32);
    const Q15Block block = block_at(blocks, 0);
    CHECK(block.scale >= q15_min_scale);
    CHECK(std::isfinite(1.0f / block.scale));
    CHECK(std::abs(block.sum) <= 30 * q15_max);
    CHECK(std::abs(double(back[3]) - double(amax)) <= 0.502 * double(block.scale));
  }
}

TEST_CASE("q8_0: blocks are those of the GGUF reference quantizer, byte for byte") {
  const Rows rows = read_rows("quant_q8_0_rows.bin", 34);
  REQUIRE(rows.x.size() == 40 * 32);
  std::vector<std::byte> out(rows.blocks.size());
  quantize_q8_0(rows.x.data(), out.data(), rows.x.size());
  CHECK(std::memcmp(out.data(), rows.blocks.data(), out.size()) == 0);
  // Ties of a block with d = 1 go away from zero: 0.5, -1.5, 2.5 become 1, -2, 3.
  const auto* tied = reinterpret_cast<const int8_t*>(out.data()) + 5 * 34 + 2;
  CHECK(int{tied[0]} == 1);
  CHECK(int{tied[1]} == -2);
  CHECK(int{tied[2]} == 3);
  std::vector<float> x(32, 1e-42f);
  std::vector<float> back(32, 1.0f);
  quantize_q8_0(x.data(), out.data(), 32);
  dequantize(DType::Q8_0, out.data(), back.data(), 32);
  CHECK(back[0] == 0.0f);
}

TEST_CASE("q15 and q8_0: refuse broken blocks") {
  std::vector<float> x(40);
  std::vector<std::byte> out(144);
  CHECK_THROWS_WITH_AS(quantize_q15(x.data(), out.data(), 40), doctest::Contains("quantize_q15"),
                       Error);
  CHECK_THROWS_WITH_AS(dequantize_q15(out.data(), x.data(), 1), doctest::Contains("1 elements"),
                       Error);
  CHECK_THROWS_WITH_AS(quantize_q8_0(x.data(), out.data(), 33), doctest::Contains("33 elements"),
                       Error);
}

// SPDX-License-Identifier: Apache-2.0
#include "quant/dequantize.h"

#include <doctest/doctest.h>

#include <map>
#include <sstream>

#include "base/error.h"
#include "quant_data.h"

using namespace rlx;
using namespace rlx::quant_test;

namespace {

std::vector<float> dequantized(DType dtype, const std::vector<std::byte>& blocks) {
  const DTypeInfo& info = dtype_info(dtype);
  std::vector<float> out(blocks.size() / info.block_bytes * info.block_elements);
  dequantize(dtype, blocks.data(), out.data(), out.size());
  return out;
}

std::map<std::string, uint32_t> read_crcs() {
  const std::vector<std::byte> bytes = read_data("quant_crc.txt");
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::map<std::string, uint32_t> crcs;
  std::string name;
  uint32_t crc = 0;
  while (in >> name >> std::hex >> crc) crcs[name] = crc;
  return crcs;
}

}  // namespace

TEST_CASE("dequantize: every block type, bit for bit as the NumPy dequantizers (issue 3, part 2)") {
  CHECK(stored_types().size() == 27);
  for (const DType dtype : stored_types()) {
    CAPTURE(dtype_name(dtype));
    const Stored stored = read_stored(dtype);
    REQUIRE(stored.values.size() >= 1280);
    CHECK(count_differences(dequantized(dtype, stored.blocks), stored.values) == 0);
  }
}

TEST_CASE("dequantize: 2048 noise blocks of every type reach every codebook row") {
  const std::map<std::string, uint32_t> crcs = read_crcs();
  REQUIRE(crcs.size() == stored_types().size());
  for (const DType dtype : stored_types()) {
    const std::string name(dtype_name(dtype));
    CAPTURE(name);
    const auto blocks = noise(2048 * dtype_info(dtype).block_bytes);
    CHECK(crc_of(dequantized(dtype, blocks)) == crcs.at(name));
  }
}

TEST_CASE("dequantize: the comparison sees one changed bit of any type's blocks or values") {
  for (const DType dtype : stored_types()) {
    CAPTURE(dtype_name(dtype));
    Stored stored = read_stored(dtype);
    const uint32_t block_bytes = dtype_info(dtype).block_bytes;
    const uint32_t elements = dtype_info(dtype).block_elements;
    // Of the last block, which has an everyday scale; q8_k's and q8_1's sums change no value.
    const size_t ignored = dtype == DType::Q8_K ? 32 : dtype == DType::Q8_1 ? 2 : 0;
    std::byte* last = stored.blocks.data() + stored.blocks.size() - block_bytes;
    size_t unseen = 0;
    for (uint32_t i = 0; i < block_bytes; ++i) {
      last[i] ^= std::byte{1};
      std::vector<float> out(elements);
      dequantize(dtype, last, out.data(), elements);
      const auto expected = std::span(stored.values).last(elements);
      unseen += count_differences(out, expected) == 0 ? 1 : 0;
      last[i] ^= std::byte{1};
    }
    // tq1_0's bytes have 256 values for 243 (or 81) sets of digits.
    const size_t lossy = dtype == DType::TQ1_0 ? 6 : 0;
    CHECK(unseen <= ignored + lossy);
    stored.values[7] = std::bit_cast<float>(std::bit_cast<uint32_t>(stored.values[7]) ^ 1);
    stored.values.back() = -stored.values.back();
    CHECK(count_differences(dequantized(dtype, stored.blocks), stored.values) >= 1);
  }
}

TEST_CASE("dequantize: known values written out by hand") {
  // f16 1.0, then q4_0 nibbles 0xf0: the first half is -8, the second 7.
  std::vector<std::byte> q4_0(18, std::byte{0xf0});
  q4_0[0] = std::byte{0x00};
  q4_0[1] = std::byte{0x3c};
  const std::vector<float> values = dequantized(DType::Q4_0, q4_0);
  CHECK(values[0] == -8.0f);
  CHECK(values[15] == -8.0f);
  CHECK(values[16] == 7.0f);
  CHECK(values[31] == 7.0f);
  // mxfp4 with exponent 127 (one): nibbles 7 and 9 are 6 and -0.5.
  std::vector<std::byte> mxfp4(17, std::byte{0x97});
  mxfp4[0] = std::byte{127};
  CHECK(dequantized(DType::MXFP4, mxfp4)[0] == 6.0f);
  CHECK(dequantized(DType::MXFP4, mxfp4)[31] == -0.5f);
}

TEST_CASE("dequantize: refuses types that are not packed and broken blocks") {
  std::vector<std::byte> blocks(64);
  std::vector<float> out(64, 1.0f);
  CHECK_THROWS_WITH_AS(dequantize(DType::F16, blocks.data(), out.data(), 32),
                       doctest::Contains("f16 is not a packed type"), Error);
  CHECK_THROWS_WITH_AS(dequantize(DType::Q4_0, blocks.data(), out.data(), 33),
                       doctest::Contains("33 elements are not whole q4_0 blocks of 32"), Error);
  dequantize(DType::Q6_K, blocks.data(), out.data(), 0);
  CHECK(out[0] == 1.0f);
}

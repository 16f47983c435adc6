// SPDX-License-Identifier: Apache-2.0
#include "quant/codes.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "quant_data.h"

using namespace rlx;
using namespace rlx::quant_test;

namespace {

struct Unpacked {
  std::vector<uint8_t> codes;
  std::vector<float> scales, mins;
};

Unpacked unpacked(DType dtype, const std::vector<std::byte>& blocks) {
  const DTypeInfo& info = dtype_info(dtype);
  const CodeFormat format = code_format(dtype).value();
  const size_t n = blocks.size() / info.block_bytes * info.block_elements;
  Unpacked u;
  u.codes.resize(n);
  u.scales.resize(n / format.group);
  if (format.has_min) u.mins.resize(n / format.group);
  unpack_codes(dtype, blocks.data(), n, u.codes.data(), u.scales.data(),
               format.has_min ? u.mins.data() : nullptr);
  return u;
}

}  // namespace

TEST_CASE("codes: scale * (code - offset) + min is the stored value of every type") {
  for (const DType dtype : stored_types()) {
    CAPTURE(dtype_name(dtype));
    const CodeFormat format = code_format(dtype).value();
    const Stored stored = read_stored(dtype);
    const Unpacked u = unpacked(dtype, stored.blocks);
    std::vector<float> values(u.codes.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t g = i / format.group;
      values[i] = u.scales[g] * static_cast<float>(u.codes[i] - format.offset);
      if (format.has_min) values[i] += u.mins[g];
    }
    CHECK(count_differences(values, stored.values) == 0);
    // The same with one code changed must not pass.
    values.back() = u.scales.back() * static_cast<float>(u.codes.back() + 1 - format.offset) +
                    (format.has_min ? u.mins.back() : 0.0f);
    CHECK(count_differences(values, stored.values) == 1);
  }
}

TEST_CASE("codes: group is 16 or 32, codes reach max_code and never exceed it") {
  for (const DType dtype : stored_types()) {
    CAPTURE(dtype_name(dtype));
    const DTypeInfo& info = dtype_info(dtype);
    const CodeFormat format = code_format(dtype).value();
    CHECK((format.group == 16 || format.group == 32));
    CHECK(info.block_elements % format.group == 0);
    CHECK(format.offset <= format.max_code);
    const Unpacked u = unpacked(dtype, noise(2048 * info.block_bytes));
    CHECK(*std::max_element(u.codes.begin(), u.codes.end()) == format.max_code);
  }
}

TEST_CASE("codes: only packed types other than q15 have them") {
  for (const DTypeInfo& info : all_dtypes()) {
    CAPTURE(info.name);
    const bool packed = info.type_class == DTypeClass::Packed && info.dtype != DType::Q15;
    CHECK(code_format(info.dtype).has_value() == packed);
  }
  std::vector<std::byte> blocks(144);
  uint8_t codes[256];
  float scales[16], mins[16];
  CHECK_THROWS_WITH_AS(unpack_codes(DType::Q15, blocks.data(), 32, codes, scales, mins),
                       doctest::Contains("q15 has no integer codes"), Error);
  CHECK_THROWS_WITH_AS(unpack_codes(DType::Q4_K, blocks.data(), 32, codes, scales, mins),
                       doctest::Contains("32 elements are not whole q4_k blocks of 256"), Error);
}

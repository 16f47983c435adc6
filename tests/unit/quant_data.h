// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "ir/dtype.h"

// What the quant tests share: the stored outputs of tests/data/make_quant_data.py.
namespace rlx::quant_test {

inline std::vector<std::byte> read_data(const std::string& name) {
  std::ifstream in(std::string(RLX_TEST_DATA) + "/" + name, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

inline std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(values.size() * sizeof(float)),
            reinterpret_cast<std::byte*>(values.data()));
  return values;
}

/// Blocks of a type and the floats they stand for.
struct Stored {
  std::vector<std::byte> blocks;
  std::vector<float> values;
};

inline Stored read_stored(DType dtype) {
  const DTypeInfo& info = dtype_info(dtype);
  const std::vector<std::byte> bytes = read_data("quant_" + std::string(info.name) + ".bin");
  const size_t n = bytes.size() / (info.block_bytes + 4 * info.block_elements);
  const std::span<const std::byte> all(bytes);
  Stored stored;
  stored.blocks.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n * info.block_bytes));
  stored.values = floats_of(all.subspan(n * info.block_bytes));
  return stored;
}

/// Every type with stored blocks: all packed ones but Q15.
inline std::vector<DType> stored_types() {
  std::vector<DType> types;
  for (const DTypeInfo& info : all_dtypes()) {
    if (info.type_class == DTypeClass::Packed && info.dtype != DType::Q15) {
      types.push_back(info.dtype);
    }
  }
  return types;
}

/// Number of places whose bits differ; two NaN are the same, whatever their bits.
inline size_t count_differences(std::span<const float> a, std::span<const float> b) {
  size_t differences = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const bool same = std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i]) ||
                      (a[i] != a[i] && b[i] != b[i]);
    differences += same ? 0 : 1;
  }
  return differences;
}

/// n bytes: the low byte of a 32-bit integer hash of the position (as in make_quant_data.py).
inline std::vector<std::byte> noise(size_t n) {
  std::vector<std::byte> bytes(n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t x = static_cast<uint32_t>(i);
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    bytes[i] = static_cast<std::byte>(x & 0xff);
  }
  return bytes;
}

/// CRC-32 (IEEE) of the floats' bytes, NaN counted as 0x7fc00000.
inline uint32_t crc_of(std::span<const float> values) {
  uint32_t crc = 0xffffffffu;
  for (const float value : values) {
    const uint32_t bits = value != value ? 0x7fc00000u : std::bit_cast<uint32_t>(value);
    for (int byte = 0; byte < 4; ++byte) {
      crc ^= (bits >> (8 * byte)) & 0xff;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

}  // namespace rlx::quant_test

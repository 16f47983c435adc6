// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/vec.h"

// Rows of cached keys and values as f32 vectors, per storage type. `at` counts elements in the row.

namespace rlx::cpu::RLX_ISA {

struct F32Rows {
  static int64_t row_bytes(int64_t n) { return n * 4; }
  static RLX_INLINE VecF get(const std::byte* row, int64_t at) {
    return load(reinterpret_cast<const float*>(row) + at);
  }
  static RLX_INLINE VecF get_part(const std::byte* row, int64_t at, int64_t n) {
    return load_part(reinterpret_cast<const float*>(row) + at, n);
  }
};

template <bool bf16>
struct HalfRows {
  static int64_t row_bytes(int64_t n) { return n * 2; }
  static RLX_INLINE VecF get(const std::byte* row, int64_t at) {
    const VecU16 h = load_u16(row + at * 2);
    return bf16 ? bf16_to_f32(h) : f16_to_f32(h);
  }
  static RLX_INLINE VecF get_part(const std::byte* row, int64_t at, int64_t n) {
    VecU16 h{};
    for (int64_t i = 0; i < n; ++i) {
      uint16_t one;
      __builtin_memcpy(&one, row + (at + i) * 2, 2);
      h[i] = one;
    }
    return bf16 ? bf16_to_f32(h) : f16_to_f32(h);
  }
};

/// Blocks of 32: an f16 scale, then 32 signed bytes.
struct Q8Rows {
  static int64_t row_bytes(int64_t n) { return n / 32 * 34; }
  static RLX_INLINE VecF get(const std::byte* row, int64_t at) {
    const int64_t within = at % 32;
    if (within + lanes > 32) return get_part(row, at, lanes);
    const std::byte* block = row + at / 32 * 34;
    return i8_to_f32(block + 2 + within) * f16_scalar(block);
  }
  static VecF get_part(const std::byte* row, int64_t at, int64_t n) {
    VecF v{};
    for (int64_t i = 0; i < n; ++i) {
      const std::byte* block = row + (at + i) / 32 * 34;
      const auto q = static_cast<int8_t>(block[2 + (at + i) % 32]);
      v[i] = static_cast<float>(q) * f16_scalar(block);
    }
    return v;
  }
};

}  // namespace rlx::cpu::RLX_ISA

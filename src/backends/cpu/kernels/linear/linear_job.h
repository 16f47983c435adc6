// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "device/kernel.h"

// What the linear kernels and their rows share: parameters, tile sizes and scratch layouts. Seen by
// every ISA level, so functions here are static: the linker must not merge them.
namespace rlx::cpu {

/// Up to this many activation rows, weights are streamed and not unpacked into tiles.
inline constexpr int64_t linear_stream_rows = 4;
/// Weight rows per tile.
inline constexpr int64_t linear_tile = 32;
/// Weight rows per item of linear (two tiles when there are tiles: they share work on x) and of
/// expert_linear. Results may not depend on the team, so neither do these.
[[maybe_unused]] static int64_t linear_item_rows(int64_t rows) {
  return rows <= linear_stream_rows ? linear_tile : 2 * linear_tile;
}
inline constexpr int64_t expert_item_rows = linear_tile;
/// Elements of a row per unpacked panel of weights: Q15 and f32 activations.
inline constexpr int64_t linear_panel_q15 = 2048;
inline constexpr int64_t linear_panel_f32 = 512;
/// Elements of a row that are unpacked together; a multiple of every packed block.
inline constexpr int64_t linear_unpack_elements = 256;
/// Up to this many (token, expert) pairs, each pair streams its expert's weights for itself.
inline constexpr int64_t expert_pair_limit = 16;
/// Blocks of 32 elements per item of quantize.
inline constexpr int64_t quantize_item_blocks = 64;

/// KernelCall::params of linear and expert_linear: the weight type's facts, of a packed type also
/// its integer view (quant/codes.h).
struct LinearParams {
  DType weight;
  uint32_t block_elements;
  uint32_t block_bytes;
  uint32_t group;
  int32_t offset;
  bool has_min;
};

/// One product: y[row] = w * x[row] + bias for the rows of a list.
struct LinearJob {
  LinearParams type;
  const uint8_t* w;  ///< [n, k]
  int64_t row_bytes;
  int64_t n, k;
  const float* bias;  ///< [n] or null
  const uint8_t* x;   ///< of row r: x + r / x_divisor * x_stride
  int64_t x_stride;   ///< bytes
  int64_t x_divisor;
  float* y;             ///< of row r: y + r * n
  const int32_t* list;  ///< rows, or null for 0 … count - 1
  int64_t count;

  [[gnu::always_inline]] int64_t row(int64_t i) const { return list != nullptr ? list[i] : i; }
  [[gnu::always_inline]] const uint8_t* x_row(int64_t i) const {
    const int64_t r = row(i);
    return x + (x_divisor == 1 ? r : r / x_divisor) * x_stride;
  }
  [[gnu::always_inline]] float* y_row(int64_t i) const { return y + row(i) * n; }
};

/// Rounds up to whole multiples.
[[maybe_unused]] static int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Bytes in front of a worker's scratch where expert_linear keeps ids and rows of all pairs.
[[maybe_unused]] static int64_t expert_list_bytes(int64_t pairs) { return round_up(8 * pairs, 64); }

/// Entry i of an i32 or i64 tensor when it is within [0, limit), otherwise -1.
[[maybe_unused]] static int64_t read_id(const TensorView& ids, int64_t i, int64_t limit) {
  int64_t id;
  if (ids.dtype == DType::I64) {
    id = reinterpret_cast<const int64_t*>(ids.data)[i];
  } else {
    id = reinterpret_cast<const int32_t*>(ids.data)[i];
  }
  return id >= 0 && id < limit ? id : -1;
}

}  // namespace rlx::cpu

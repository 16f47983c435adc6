// SPDX-License-Identifier: Apache-2.0
#include "quant/q15.h"

#include <bit>
#include <cstring>
#include <limits>

#include "quant/blocks.h"
#include "quant/magnitude.h"

namespace rlx {
namespace {

Q15Block quantize_block(const float* x) {
  Q15Block block{};
  const float amax = quant::max_magnitude_32(x);
  if (amax == 0.0f) return block;
  if (!(amax <= std::numeric_limits<float>::max())) {
    block.scale = std::numeric_limits<float>::quiet_NaN();
    return block;
  }
  const float even_share = amax / static_cast<float>(q15_max);
  block.scale = even_share < q15_min_scale ? q15_min_scale : even_share;
  int32_t sum = 0;
  for (size_t i = 0; i < q15_block_elements; ++i) {
    // Adding 1.5 * 2^23 leaves the quotient, rounded half to even, in the low mantissa bits.
    const float shifted = x[i] / block.scale + 0x1.8p23f;
    const int32_t q = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(0x1.8p23f);
    const int32_t hi = (q + 64) >> 7;
    block.hi[i] = static_cast<int8_t>(hi);
    block.lo[i] = static_cast<int8_t>(q - hi * 128);
    sum += q;
  }
  block.sum = sum;
  return block;
}

}  // namespace

void quantize_q15(const float* x, std::byte* blocks, size_t n) {
  quant::require_whole_blocks("quantize_q15", DType::Q15, n);
  for (size_t i = 0; i < n / q15_block_elements; ++i) {
    const Q15Block block = quantize_block(x + i * q15_block_elements);
    std::memcpy(blocks + i * sizeof(Q15Block), &block, sizeof(Q15Block));
  }
}

void dequantize_q15(const std::byte* blocks, float* out, size_t n) {
  quant::require_whole_blocks("dequantize_q15", DType::Q15, n);
  for (size_t i = 0; i < n / q15_block_elements; ++i) {
    Q15Block block;
    std::memcpy(&block, blocks + i * sizeof(Q15Block), sizeof(Q15Block));
    for (size_t j = 0; j < q15_block_elements; ++j) {
      out[i * q15_block_elements + j] =
          block.scale * static_cast<float>(block.hi[j] * 128 + block.lo[j]);
    }
  }
}

}  // namespace rlx

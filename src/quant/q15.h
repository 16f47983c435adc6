// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace rlx {

/// 32 activations with one scale, element i = scale * (128 * hi[i] + lo[i]): two signed bytes that
/// integer dot products take apart from the scale. hi is in [-127, 127], lo in [-64, 63].
///
/// Error: |element - x| <= 0.502 * scale, so at most 3.1e-5 of the block's largest magnitude
/// (scale is that magnitude / 16256, but never below 2^-126 unless the block is all zero). Within a
/// few ulp of the largest float the product may read back as infinity.
struct Q15Block {
  float scale;
  int32_t sum;  ///< sum of 128 * hi + lo over the block, for types with offsets or mins
  int8_t hi[32];
  int8_t lo[32];
};
static_assert(sizeof(Q15Block) == 72);

inline constexpr size_t q15_block_elements = 32;
/// Largest magnitude of 128 * hi + lo.
inline constexpr int32_t q15_max = 127 * 128;
/// Smallest scale of a block that is not all zero; keeps 1 / scale finite.
inline constexpr float q15_min_scale = 0x1p-126f;

/// Packs n floats (a multiple of 32, else InvalidArgument) into n / 32 Q15Block. With amax the
/// block's largest magnitude: scale = max(amax / 16256, 2^-126), each element rounds x / scale half
/// to even; amax 0 gives zero bytes. A NaN or infinity anywhere in a block makes its scale NaN and
/// its integers zero, so whatever is computed from the block is NaN.
void quantize_q15(const float* x, std::byte* blocks, size_t n);

/// The n floats that n / 32 blocks stand for: scale * float(128 * hi + lo).
void dequantize_q15(const std::byte* blocks, float* out, size_t n);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace rlx {

/// Packs n floats (a multiple of 32, else InvalidArgument) into q8_0 blocks as the GGUF format
/// defines them: d = amax / 127 stored as f16, q = x * (1 / d) with the unrounded d, rounded half
/// away from zero. A NaN or infinity in a block makes d NaN, so the block reads back as NaN; blocks
/// whose d is too large for f16 (amax above 8.3e6) read back non-finite.
void quantize_q8_0(const float* x, std::byte* blocks, size_t n);

}  // namespace rlx

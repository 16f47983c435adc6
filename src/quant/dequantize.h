// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "ir/dtype.h"

namespace rlx {

/// Expands packed blocks of any Packed type to `n_elements` floats in row order. Finite results are
/// bit-identical to the NumPy dequantizers of PyPI gguf 0.19; non-finite scales give non-finite
/// values. Throws InvalidArgument for a type that is not packed or n_elements that is not a
/// multiple of its block. `blocks` needs no alignment and holds dtype_info(dtype).block_bytes for
/// every block.
void dequantize(DType dtype, const std::byte* blocks, float* out, size_t n_elements);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/error.h"
#include "quant/blocks_iq.h"
#include "quant/blocks_k.h"
#include "quant/blocks_small.h"

// All types that have an integer view, in one list; internal to quant/.
namespace rlx::quant {

template <typename... Blocks>
struct BlockList {
  /// Calls visit(Block{}) for the block struct of `dtype`; false when the list has none.
  template <typename Visit>
  static bool visit(DType dtype, Visit&& visit) {
    return ((dtype == Blocks::dtype && (visit(Blocks{}), true)) || ...);
  }
};

using AllBlocks =
    BlockList<BlockQ1_0, BlockQ2_0, BlockQ4_0, BlockQ4_1, BlockQ5_0, BlockQ5_1, BlockQ8_0,
              BlockQ8_1, BlockQ2_K, BlockQ3_K, BlockQ4_K, BlockQ5_K, BlockQ6_K, BlockQ8_K,
              BlockIQ1_S, BlockIQ1_M, BlockIQ2_XXS, BlockIQ2_XS, BlockIQ2_S, BlockIQ3_XXS,
              BlockIQ3_S, BlockIQ4_NL, BlockIQ4_XS, BlockTQ1_0, BlockTQ2_0, BlockMXFP4, BlockNVFP4>;

/// Throws InvalidArgument unless n_elements is whole blocks of `dtype`.
inline void require_whole_blocks(const char* caller, DType dtype, size_t n_elements) {
  const uint32_t elements = dtype_info(dtype).block_elements;
  if (n_elements % elements != 0) {
    fail(ErrorCode::InvalidArgument, "{}: {} elements are not whole {} blocks of {}", caller,
         n_elements, dtype_name(dtype), elements);
  }
}

}  // namespace rlx::quant

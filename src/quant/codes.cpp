// SPDX-License-Identifier: Apache-2.0
#include "quant/codes.h"

#include "quant/blocks.h"

namespace rlx {
namespace {

template <typename Block>
void unpack_row(const uint8_t* blocks, size_t n_elements, uint8_t* codes, float* scales,
                float* mins) {
  constexpr uint32_t elements = quant::block_elements(Block::dtype);
  constexpr uint32_t bytes = quant::block_bytes(Block::dtype);
  constexpr uint32_t groups = elements / Block::format.group;
  for (size_t i = 0; i < n_elements / elements; ++i) {
    Block::unpack(blocks + i * bytes, codes + i * elements, scales + i * groups,
                  Block::format.has_min ? mins + i * groups : nullptr);
  }
}

}  // namespace

std::optional<CodeFormat> code_format(DType dtype) {
  std::optional<CodeFormat> format;
  quant::AllBlocks::visit(dtype, [&](auto block) { format = block.format; });
  return format;
}

void unpack_codes(DType dtype, const std::byte* blocks, size_t n_elements, uint8_t* codes,
                  float* scales, float* mins) {
  quant::require_whole_blocks("unpack_codes", dtype, n_elements);
  const bool known = quant::AllBlocks::visit(dtype, [&](auto block) {
    unpack_row<decltype(block)>(reinterpret_cast<const uint8_t*>(blocks), n_elements, codes, scales,
                                mins);
  });
  if (!known) {
    fail(ErrorCode::InvalidArgument, "unpack_codes: {} has no integer codes, packed types have",
         dtype_name(dtype));
  }
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "quant/dequantize.h"

#include "quant/blocks.h"
#include "quant/q15.h"

// Bit-identity needs the multiply and the add rounded apart: the x86-64 baseline this file is built
// for has no fused form; compilers for targets that have one must get -ffp-contract=off.

namespace rlx {
namespace {

/// `groups` groups as floats; the definition of CodeFormat, a multiply and then an add.
template <typename Block>
void expand_groups(const uint8_t* __restrict codes, const float* __restrict scales,
                   const float* __restrict mins, size_t groups, float* __restrict out) {
  constexpr CodeFormat format = Block::format;
  for (size_t g = 0; g < groups; ++g) {
    const float scale = scales[g];
    const float min = format.has_min ? mins[g] : 0.0f;
    for (uint32_t i = 0; i < format.group; ++i) {
      const int code = codes[g * format.group + i] - format.offset;
      const float value = scale * static_cast<float>(code);
      // Adding a zero min would turn -0 into +0.
      out[g * format.group + i] = format.has_min ? value + min : value;
    }
  }
}

template <typename Block>
void dequantize_row(const uint8_t* blocks, size_t n_elements, float* out) {
  constexpr size_t elements = quant::block_elements(Block::dtype);
  constexpr size_t bytes = quant::block_bytes(Block::dtype);
  constexpr size_t groups = elements / Block::format.group;
  // Some blocks at a time: codes read right after they were written would wait for the store.
  constexpr size_t batch = 512 / elements;
  alignas(64) uint8_t codes[batch * elements];
  float scales[batch * groups], mins[batch * groups];
  const size_t n_blocks = n_elements / elements;
  for (size_t first = 0; first < n_blocks; first += batch) {
    const size_t count = n_blocks - first < batch ? n_blocks - first : batch;
    for (size_t i = 0; i < count; ++i) {
      Block::unpack(blocks + (first + i) * bytes, codes + i * elements, scales + i * groups,
                    mins + i * groups);
    }
    expand_groups<Block>(codes, scales, mins, count * groups, out + first * elements);
  }
}

}  // namespace

void dequantize(DType dtype, const std::byte* blocks, float* out, size_t n_elements) {
  quant::require_whole_blocks("dequantize", dtype, n_elements);
  if (dtype == DType::Q15) return dequantize_q15(blocks, out, n_elements);
  const bool known = quant::AllBlocks::visit(dtype, [&](auto block) {
    dequantize_row<decltype(block)>(reinterpret_cast<const uint8_t*>(blocks), n_elements, out);
  });
  if (!known) {
    fail(ErrorCode::InvalidArgument, "dequantize: {} is not a packed type", dtype_name(dtype));
  }
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "quant/q8_0.h"

#include <limits>

#include "quant/blocks.h"
#include "quant/magnitude.h"

namespace rlx {
namespace {

constexpr uint16_t f16_nan = 0x7e00;
constexpr float max_float = std::numeric_limits<float>::max();

void quantize_block(const float* x, uint8_t* out) {
  const float amax = quant::max_magnitude_32(x);
  const float d = amax / 127.0f;
  const float inverse = d == 0.0f ? 0.0f : 1.0f / d;
  const bool finite = amax <= max_float;
  quant::store<uint16_t>(out, finite ? f32_to_f16(d) : f16_nan);
  // Below about 2^-128 d has no finite inverse, but then d is zero as f16 and so is every value.
  const float factor = finite && inverse <= max_float ? inverse : 0.0f;
  for (int i = 0; i < 32; ++i) {
    const float scaled = finite ? x[i] * factor : 0.0f;
    const float magnitude = scaled < 0.0f ? -scaled : scaled;
    const int whole = static_cast<int>(magnitude);
    const int rounded = whole + (magnitude - static_cast<float>(whole) >= 0.5f ? 1 : 0);
    out[2 + i] = static_cast<uint8_t>(scaled < 0.0f ? -rounded : rounded);
  }
}

}  // namespace

void quantize_q8_0(const float* x, std::byte* blocks, size_t n) {
  quant::require_whole_blocks("quantize_q8_0", DType::Q8_0, n);
  for (size_t i = 0; i < n / 32; ++i) {
    quantize_block(x + i * 32, reinterpret_cast<uint8_t*>(blocks) + i * 34);
  }
}

}  // namespace rlx

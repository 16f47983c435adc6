// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"
#include "quant/q8_0.h"

namespace rlx::cpu::RLX_ISA {

// Items: rows of x. The result lies on the state's bytes, so only the new rows are written.
void append(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const TensorView& x = call.operands[1];
  const TensorView& y = call.results[0];
  const int64_t at = y.dims[0] - x.dims[0];
  const int64_t n = extent_product(x, 1, x.rank);
  const float* rows = floats(x);
  for (int64_t t = begin; t < end; ++t) {
    const float* from = rows + t * n;
    const int64_t first = (at + t) * n;
    switch (y.dtype) {
      case DType::F32:
        __builtin_memcpy(y.data + first * 4, from, static_cast<size_t>(n) * 4);
        break;
      case DType::F16: f32_to_halves<false>(from, y.data + first * 2, n); break;
      case DType::BF16: f32_to_halves<true>(from, y.data + first * 2, n); break;
      case DType::Q8_0:
        quantize_q8_0(from, y.data + first / 32 * 34, static_cast<size_t>(n));
        break;
      default: break;
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

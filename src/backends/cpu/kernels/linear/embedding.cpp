// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear.h"
#include "backends/cpu/kernels/vec.h"
#include "quant/dequantize.h"

namespace rlx::cpu::RLX_ISA {
namespace {

template <VecF convert(VecU16)>
void expand_16_bit(const uint8_t* from, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(out + i, convert(load_u16(from + 2 * i)));
  if (i == n) return;
  VecU16 rest{};
  __builtin_memcpy(&rest, from + 2 * i, static_cast<size_t>(2 * (n - i)));
  store_part(out + i, convert(rest), n - i);
}

void expand_row(const LinearParams& type, const uint8_t* from, float* out, int64_t n) {
  switch (type.weight) {
    case DType::F32: __builtin_memcpy(out, from, static_cast<size_t>(4 * n)); break;
    case DType::F16: expand_16_bit<f16_to_f32>(from, out, n); break;
    case DType::BF16: expand_16_bit<bf16_to_f32>(from, out, n); break;
    default:
      dequantize(type.weight, reinterpret_cast<const std::byte*>(from), out,
                 static_cast<size_t>(n));
  }
}

}  // namespace

void run_embedding(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const LinearParams& type = *static_cast<const LinearParams*>(call.params);
  const TensorView& table = call.operands[0];
  const int64_t width = table.dims[1];
  const int64_t row_bytes = width / type.block_elements * type.block_bytes;
  for (int64_t t = begin; t < end; ++t) {
    float* out = reinterpret_cast<float*>(call.results[0].data) + t * width;
    const int64_t id = read_id(call.operands[1], t, table.dims[0]);
    if (id < 0) {
      for (int64_t i = 0; i < width; ++i) out[i] = __builtin_nanf("");
      continue;
    }
    expand_row(type, reinterpret_cast<const uint8_t*>(table.data) + id * row_bytes, out, width);
  }
}

}  // namespace rlx::cpu::RLX_ISA

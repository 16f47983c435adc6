// SPDX-License-Identifier: Apache-2.0
#include "ops/records.h"
#include "ops/rules.h"
#include "ops/walk.h"
#include "quant/dequantize.h"
#include "quant/q15.h"
#include "quant/q8_0.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_quantize(const InferArgs& a) {
  require_dtype(a, 0, DType::F32);
  require_min_rank(a, 0, 1);
  const DType to = a.attrs.get_dtype(AttrKey::To);
  if (to != DType::Q15 && to != DType::Q8_0) {
    fail_infer(a, "to {} is not allowed, only q15 and q8_0 are", dtype_name(to));
  }
  return one(to, a.operands[0].shape);
}

void quantize_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const std::vector<float> x(a.operands[0]->data.begin(), a.operands[0]->data.end());
  OracleTensor& y = results[0];
  if (y.dtype == DType::Q15) {
    quantize_q15(x.data(), y.packed.data(), x.size());
  } else {
    quantize_q8_0(x.data(), y.packed.data(), x.size());
  }
}

std::vector<TensorType> infer_dequantize(const InferArgs& a) {
  require_class(a, 0, kPackeds);
  return one(DType::F32, a.operands[0].shape);
}

void dequantize_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  OracleTensor& y = results[0];
  if (y.data.empty()) return;
  const int64_t row = y.shape.back();
  const DTypeInfo& info = dtype_info(x.dtype);
  const int64_t row_bytes = row / info.block_elements * info.block_bytes;
  std::vector<float> values(static_cast<size_t>(row));
  const int64_t rows = y.count() / row;
  for (int64_t r = 0; r < rows; ++r) {
    dequantize(x.dtype, x.packed.data() + r * row_bytes, values.data(), values.size());
    std::copy(values.begin(), values.end(), y.data.begin() + r * row);
  }
}

}  // namespace

template <>
OpDef make_op<OpKind::Quantize>() {
  OpDef d;
  d.op = OpKind::Quantize;
  d.doc =
      "y = x in packed storage `to`, blocks along the last axis: q15 (scale amax/16256, halves to "
      "even) or q8_0 (scale amax/127 stored as f16, halves away from zero, as the GGUF format).";
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::To}};
  d.precision = PrecisionClass::Elementwise;
  d.infer = infer_quantize;
  d.reference = quantize_reference;
  d.samples = {{"const %x : f32[32] = splat 2.0 %q = quantize %x {to = q15} %y = dequantize %q "
                "%s = reduce_sum %y output %s",
                {64},
                1e-5},
               {"const %x : f32[2, 32] = splat -254.0 %q = quantize %x {to = q8_0} : q8_0[2, 32] "
                "%y = dequantize %q %s = reduce_sum %y {axes = [1]} output %s",
                {-8128, -8128}}};
  return d;
}

template <>
OpDef make_op<OpKind::Dequantize>() {
  OpDef d;
  d.op = OpKind::Dequantize;
  d.doc =
      "y = the f32 numbers that packed x stands for, by its format's own definition (scale, offset "
      "and codebook of each block).";
  d.operands = {{"x"}};
  d.precision = PrecisionClass::Elementwise;
  d.infer = infer_dequantize;
  d.reference = dequantize_reference;
  d.samples = {
      {"const %x : f32[32] = [127.0, 1.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "
       "0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "
       "0.0, 0.0, 0.0, 0.0, -127.0] %q = quantize %x {to = q8_0} %y = dequantize %q "
       "%s = slice %y {starts = [0], sizes = [4]} output %s",
       {127, 1, -1, 1}}};
  return d;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "ops/families/elementwise.h"
#include "ops/oracle.h"
#include "ops/records.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_where(const InferArgs& a) {
  require_class(a, 0, kBools);
  require_class(a, 1, kNumbers | kBools);
  require_same_dtype(a, 1, 2);
  const Shape values = broadcast_shapes(a, a.operands[1].shape, a.operands[2].shape);
  return one(a.operands[1].dtype, broadcast_shapes(a, a.operands[0].shape, values));
}

void where_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  OracleTensor& out = results[0];
  std::array<Extents, 3> strides;
  for (size_t k = 0; k < 3; ++k) strides[k] = broadcast_strides(a.operands[k]->shape, out.shape);
  size_t i = 0;
  walk<3>(out.shape, strides, [&](const std::array<int64_t, 3>& at) {
    const size_t from = a.operands[0]->data[static_cast<size_t>(at[0])] != 0 ? 1 : 2;
    out.data[i++] = a.operands[from]->data[static_cast<size_t>(at[from])];
  });
}

std::vector<TensorType> infer_cast(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools);
  const DType to = a.attrs.get_dtype(AttrKey::To);
  const DTypeClass c = dtype_info(to).type_class;
  if (c == DTypeClass::Packed || c == DTypeClass::Complex) {
    fail_infer(a, "to {} is not of an allowed class (Float, Int, Bool)", dtype_name(to));
  }
  return one(to, a.operands[0].shape);
}

void cast_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  OracleTensor& y = results[0];
  for (size_t i = 0; i < x.data.size(); ++i) {
    y.data[i] = convert_number(x.dtype, y.dtype, x.data[i]);
  }
}

}  // namespace

template <>
OpDef make_op<OpKind::Where>() {
  OpDef d;
  d.op = OpKind::Where;
  d.doc = "y = cond ? a : b with NumPy broadcasting of all three; the value not taken has no part.";
  d.operands = {{"cond"}, {"a"}, {"b"}};
  d.precision = PrecisionClass::Elementwise;
  d.infer = infer_where;
  d.reference = where_reference;
  d.samples = {
      {"const %c : bool[2, 1] = [true, false] const %a : f32[2] = [1.0, 2.0] "
       "const %b : f32[] = nan %y = where %c, %a, %b output %y",
       {1, 2, __builtin_nan(""), __builtin_nan("")}}};
  return d;
}

template <>
OpDef make_op<OpKind::Cast>() {
  OpDef d;
  d.op = OpKind::Cast;
  d.doc =
      "y = x as element type `to`: Float storage rounds to nearest even (f8 is OCP E4M3FN and E5M2 "
      "and saturates), Float to "
      "Int truncates toward zero and saturates (NaN gives 0), Int to Int wraps around, Bool is "
      "x != 0; not defined on Packed and Complex.";
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::To}};
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_cast;
  d.reference = cast_reference;
  d.samples = {
      {"const %x : f32[5] = [1.75, -1.75, 300.0, -inf, nan] %y = cast %x {to = i8} output %y",
       {1, -1, 127, -128, 0}},
      {"const %x : f32[3] = [2049.0, 2051.0, 65520.0] %y = cast %x {to = f16} output %y",
       {2048, 2052, __builtin_inf()}},
      {"const %x : f32[2] = [257.0, 259.0] %y = cast %x {to = bf16} output %y", {256, 260}},
      {"const %x : f32[3] = [17.0, 500.0, 0.0009765625] %y = cast %x {to = f8e4m3} output %y",
       {16, 448, 0}},
      {"const %x : f32[3] = [9.0, 11.0, 1.0e6] %y = cast %x {to = f8e5m2} output %y",
       {8, 12, 57344}},
      {"const %x : i32[2] = [300, -1] %y = cast %x {to = u8} output %y", {44, 255}},
      {"const %x : f32[3] = [0.0, -0.5, 2.0] %y = cast %x {to = bool} output %y", {0, 1, 1}}};
  return d;
}

}  // namespace rlx

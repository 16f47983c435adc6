// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"
#include "ops/records.h"
#include "ops/rules.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_rope_table(const InferArgs& a) {
  require_class(a, 0, kInts);
  require_rank(a, 0, 1);
  require_dtype(a, 1, DType::F32);
  require_rank(a, 1, 1);
  const TensorType table{DType::F32, {a.operands[0].shape[0], a.operands[1].shape[0]}};
  return {table, table};
}

std::vector<Value> lower_rope_table(Builder& b, const Node& n) {
  const Value positions = n.operands[0];
  const Value frequencies = n.operands[1];
  const Value column = b.reshape(b.cast(positions, DType::F64), {b.dim(positions, 0), Dim(1)});
  const Value row = b.reshape(b.cast(frequencies, DType::F64), {Dim(1), b.dim(frequencies, 0)});
  const Value angle = b.mul(column, row);
  const Value magnitude = b.scalar(DType::F64, n.attrs.get_float(AttrKey::Magnitude));
  const auto table = [&](OpKind f) {
    return b.cast(b.mul(b.op(f, {angle}), magnitude), DType::F32);
  };
  return {table(OpKind::Cos), table(OpKind::Sin)};
}

std::vector<TensorType> infer_rope(const InferArgs& a) {
  require_class(a, 0, kFloats);
  for (size_t i = 0; i < 3; ++i) require_rank(a, i, 2);
  require_dtype(a, 1, DType::F32);
  require_dtype(a, 2, DType::F32);
  const std::string& style = a.attrs.get_string(AttrKey::Style);
  if (style != "neox" && style != "interleaved") {
    fail_infer(a, "style \"{}\" must be \"neox\" or \"interleaved\"", style);
  }
  const Shape& table = a.operands[1].shape;
  require_equal(a, table[0], a.operands[0].shape[0], "rows of cos against rows of x");
  if (a.operands[2].shape != table) {
    fail_infer(a, "{} and {} must have one shape", operand_text(a, 1), operand_text(a, 2));
  }
  const int64_t heads = a.attrs.get_int(AttrKey::Heads);
  const int64_t width = a.operands[0].shape[1].static_value("the width of x");
  const int64_t half = table[1].static_value("the width of cos");
  if (heads < 1 || width % heads != 0) {
    fail_infer(a, "{} does not divide into {} heads", operand_text(a, 0), heads);
  }
  if (2 * half > width / heads) {
    fail_infer(a, "{} rotates {} channels, a head of x has {}", operand_text(a, 1), 2 * half,
               width / heads);
  }
  return {a.operands[0]};
}

/// A table [T, half] as [T, 1, half]: the same for every head.
Value per_head(Builder& b, Value table, DType dtype) {
  return b.reshape(b.cast(table, dtype), {b.dim(table, 0), Dim(1), b.dim(table, 1)});
}

std::vector<Value> lower_rope(Builder& b, const Node& n) {
  const int64_t heads = n.attrs.get_int(AttrKey::Heads);
  const bool neox = n.attrs.get_string(AttrKey::Style) == "neox";
  const Value given = n.operands[0];
  const Value wide = widened(b, given);
  const Dim rows = b.dim(given, 0);
  const Dim width = b.dim(given, 1).divided_by(heads, "the width of x");
  const Dim half = b.dim(n.operands[1], 1);
  const Dim turned = half * Dim(2);
  const Value x = b.reshape(wide, {rows, Dim(heads), width});
  const Value x1 = neox ? slice_axis(b, x, 2, 0, half) : slice_axis(b, x, 2, 0, half, 2);
  const Value x2 = neox ? slice_axis(b, x, 2, half, half)
                        : slice_axis(b, slice_axis(b, x, 2, 0, turned), 2, Dim(1), half, 2);
  const Value c = per_head(b, n.operands[1], b.type(wide).dtype);
  const Value s = per_head(b, n.operands[2], b.type(wide).dtype);
  const Value y1 = b.sub(b.mul(x1, c), b.mul(x2, s));
  const Value y2 = b.add(b.mul(x2, c), b.mul(x1, s));
  const auto axis = [](int64_t i) { return Attrs{{AttrKey::Axis, AttrValue::of_int(i)}}; };
  Value y;
  if (neox) {
    y = b.op(OpKind::Concat, {y1, y2}, axis(2));
  } else {
    const Shape single{rows, Dim(heads), half, Dim(1)};
    y = b.op(OpKind::Concat, {b.reshape(y1, single), b.reshape(y2, single)}, axis(3));
    y = b.reshape(y, {rows, Dim(heads), turned});
  }
  if (turned != width) {
    y = b.op(OpKind::Concat, {y, slice_axis(b, x, 2, turned, width - turned)}, axis(2));
  }
  return {b.cast(b.reshape(y, b.shape(given)), b.type(given).dtype)};
}

}  // namespace

template <>
OpDef make_op<OpKind::RopeTable>() {
  OpDef d;
  d.op = OpKind::RopeTable;
  d.doc =
      "cos and sin of positions[t] * inv_freq[i], both times `magnitude`; the angle is taken in "
      "float64, so far positions keep their phase.";
  d.operands = {{"positions"}, {"inv_freq"}};
  d.attrs = {{AttrKey::Magnitude, true, AttrValue::of_float(1)}};
  d.results = 2;
  d.precision = PrecisionClass::Elementwise;
  d.needs_f32 = true;
  d.infer = infer_rope_table;
  d.lower = lower_rope_table;
  d.samples = {{"const %p : i32[2] = [0, 2] const %f : f32[2] = [1.0, 0.5] "
                "%c, %s = rope_table %p, %f {magnitude = 2.0} : f32[2, 2], f32[2, 2] output %c",
                {2, 2, -0.8322936730942848, 1.0806046117362795}},
               {"const %p : i32[1] = [100000] const %f : f32[2] = [1.0, 0.5] "
                "%c, %s = rope_table %p, %f output %s",
                {0.03574879797201651, -0.9998401890897896}}};
  return d;
}

template <>
OpDef make_op<OpKind::Rope>() {
  OpDef d;
  d.op = OpKind::Rope;
  d.doc =
      "Each head's first 2n channels of x, n the width of cos, are rotated in pairs (p, q) to (p "
      "cos "
      "- q sin, q cos + p sin) and the rest copied; `style` \"neox\" pairs channel i with i + n, "
      "\"interleaved\" 2i with 2i + 1 (Su et al. 2021).";
  d.operands = {{"x"}, {"cos"}, {"sin"}};
  d.attrs = {{AttrKey::Heads}, {AttrKey::Style, true, AttrValue::of_string("neox")}};
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_rope;
  d.lower = lower_rope;
  d.samples = {{"const %x : f32[1, 10] = [1.0, 2.0, 3.0, 4.0, 9.0, 5.0, 6.0, 7.0, 8.0, 10.0] "
                "const %c : f32[1, 2] = [0.5, 0.0] const %s : f32[1, 2] = [2.0, 1.0] "
                "%y = rope %x, %c, %s {heads = 2} output %y",
                {-5.5, -4, 3.5, 2, 9, -11.5, -8, 13.5, 6, 10}},
               {"const %x : f32[1, 5] = [1.0, 2.0, 3.0, 4.0, 9.0] "
                "const %c : f32[1, 2] = [0.5, 0.0] const %s : f32[1, 2] = [2.0, 1.0] "
                "%y = rope %x, %c, %s {heads = 1, style = \"interleaved\"} output %y",
                {-3.5, 3, -4, 3, 9}}};
  return d;
}

}  // namespace rlx

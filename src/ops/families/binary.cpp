// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/families/elementwise.h"
#include "ops/records.h"

namespace rlx {
namespace {

double add(double a, double b, bool) { return a + b; }
double sub(double a, double b, bool) { return a - b; }
double mul(double a, double b, bool) { return a * b; }
double div_of(double a, double b, bool integer) {
  if (!integer) return a / b;
  return b == 0 ? 0 : std::trunc(a / b);
}
double max_of(double a, double b, bool) { return std::isnan(a) || a > b ? a : b; }
double min_of(double a, double b, bool) { return std::isnan(a) || a < b ? a : b; }
double pow_of(double a, double b, bool integer) {
  const double p = std::pow(a, b);
  if (!integer) return p;
  return std::isfinite(p) ? std::trunc(p) : 0;
}
double mod(double a, double b, bool integer) { return integer && b == 0 ? 0 : std::fmod(a, b); }
double and_of(double a, double b, bool) { return a != 0 && b != 0 ? 1 : 0; }
double or_of(double a, double b, bool) { return a != 0 || b != 0 ? 1 : 0; }
double equal(double a, double b, bool) { return a == b ? 1 : 0; }
double less(double a, double b, bool) { return a < b ? 1 : 0; }
double less_equal(double a, double b, bool) { return a <= b ? 1 : 0; }

using Infer = std::vector<TensorType> (*)(const InferArgs&);

template <double (*function)(double, double, bool)>
OpDef binary(OpKind op, std::string_view doc, Infer infer, std::vector<Sample> samples) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"a"}, {"b"}};
  d.precision = PrecisionClass::Elementwise;
  d.infer = infer;
  d.reference = binary_reference<function>;
  d.samples = std::move(samples);
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::Add>() {
  return binary<add>(
      OpKind::Add, "y = a + b with NumPy broadcasting; integers wrap around.",
      infer_binary<kNumbers>,
      {{"const %a : f32[2, 1] = [1.0, 2.0] const %b : f32[3] = [10.0, 20.0, 30.5] "
        "%y = add %a, %b output %y",
        {11, 21, 31.5, 12, 22, 32.5}},
       {"const %a : u8[2] = [250, 1] const %b : u8[2] = [10, 1] %y = add %a, %b output %y",
        {4, 2}}});
}

template <>
OpDef make_op<OpKind::Sub>() {
  return binary<sub>(
      OpKind::Sub, "y = a - b with NumPy broadcasting; integers wrap around.",
      infer_binary<kNumbers>,
      {{"const %a : f32[2] = [1.0, 2.0] const %b : f32[] = 0.5 %y = sub %a, %b output %y",
        {0.5, 1.5}},
       {"const %a : u8[1] = [3] const %b : u8[1] = [5] %y = sub %a, %b output %y", {254}}});
}

template <>
OpDef make_op<OpKind::Mul>() {
  return binary<mul>(
      OpKind::Mul, "y = a * b with NumPy broadcasting; integers wrap around.",
      infer_binary<kNumbers>,
      {{"const %a : f32[2, 2] = [1.0, 2.0, 3.0, 4.0] const %b : f32[2, 1] = [2.0, -0.5] "
        "%y = mul %a, %b output %y",
        {2, 4, -1.5, -2}}});
}

template <>
OpDef make_op<OpKind::Div>() {
  return binary<div_of>(
      OpKind::Div,
      "y = a / b with NumPy broadcasting; integers truncate toward zero (as ONNX) and give 0 for "
      "b = 0.",
      infer_binary<kNumbers>,
      {{"const %a : f32[3] = [1.0, -3.0, 1.0] const %b : f32[3] = [4.0, 2.0, 0.0] "
        "%y = div %a, %b output %y",
        {0.25, -1.5, __builtin_inf()}},
       {"const %a : i32[4] = [7, -7, 7, 5] const %b : i32[4] = [2, 2, -2, 0] "
        "%y = div %a, %b output %y",
        {3, -3, -3, 0}}});
}

template <>
OpDef make_op<OpKind::Max>() {
  return binary<max_of>(
      OpKind::Max, "y = the larger of a and b with NumPy broadcasting; NaN if either is NaN.",
      infer_binary<kNumbers>,
      {{"const %a : f32[4] = [1.0, -3.0, nan, 0.0] const %b : f32[4] = [0.5, 2.0, 1.0, nan] "
        "%y = max %a, %b output %y",
        {1, 2, __builtin_nan(""), __builtin_nan("")}}});
}

template <>
OpDef make_op<OpKind::Min>() {
  return binary<min_of>(
      OpKind::Min, "y = the smaller of a and b with NumPy broadcasting; NaN if either is NaN.",
      infer_binary<kNumbers>,
      {{"const %a : f32[4] = [1.0, -3.0, nan, 0.0] const %b : f32[4] = [0.5, 2.0, 1.0, nan] "
        "%y = min %a, %b output %y",
        {0.5, -3, __builtin_nan(""), __builtin_nan("")}}});
}

template <>
OpDef make_op<OpKind::Pow>() {
  return binary<pow_of>(
      OpKind::Pow,
      "y = a^b with NumPy broadcasting (IEEE 754 pow); integers truncate toward zero and give 0 "
      "for 0 to a negative power.",
      infer_binary<kNumbers>,
      {{"const %a : f32[3] = [2.0, 9.0, -2.0] const %b : f32[3] = [3.0, 0.5, 2.0] "
        "%y = pow %a, %b output %y",
        {8, 3, 4}},
       {"const %a : i32[3] = [3, 2, 0] const %b : i32[3] = [4, -1, -1] "
        "%y = pow %a, %b output %y",
        {81, 0, 0}}});
}

template <>
OpDef make_op<OpKind::Mod>() {
  return binary<mod>(
      OpKind::Mod,
      "y = a - b * trunc(a / b) with NumPy broadcasting: the sign of a (C fmod, ONNX fmod = 1; "
      "NumPy's % takes the sign of b); integers give 0 for b = 0.",
      infer_binary<kNumbers>,
      {{"const %a : f32[3] = [5.5, -5.5, 5.5] const %b : f32[3] = [2.0, 2.0, -2.0] "
        "%y = mod %a, %b output %y",
        {1.5, -1.5, 1.5}},
       {"const %a : i32[4] = [7, -7, 7, 7] const %b : i32[4] = [3, 3, -3, 0] "
        "%y = mod %a, %b output %y",
        {1, -1, 1, 0}}});
}

template <>
OpDef make_op<OpKind::And>() {
  return binary<and_of>(
      OpKind::And, "y = a and b, on bools, with NumPy broadcasting.", infer_binary<kBools>,
      {{"const %a : bool[4] = [true, true, false, false] "
        "const %b : bool[4] = [true, false, true, false] %y = and %a, %b output %y",
        {1, 0, 0, 0}}});
}

template <>
OpDef make_op<OpKind::Or>() {
  return binary<or_of>(OpKind::Or, "y = a or b, on bools, with NumPy broadcasting.",
                       infer_binary<kBools>,
                       {{"const %a : bool[4] = [true, true, false, false] "
                         "const %b : bool[4] = [true, false, true, false] %y = or %a, %b output %y",
                         {1, 1, 1, 0}}});
}

template <>
OpDef make_op<OpKind::Equal>() {
  return binary<equal>(OpKind::Equal,
                       "y = (a == b) as bool with NumPy broadcasting; false where either is NaN.",
                       infer_compare<kNumbers | kBools>,
                       {{"const %a : f32[3] = [1.0, 2.0, nan] const %b : f32[3] = [1.0, 3.0, nan] "
                         "%y = equal %a, %b output %y",
                         {1, 0, 0}}});
}

template <>
OpDef make_op<OpKind::Less>() {
  return binary<less>(
      OpKind::Less, "y = (a < b) as bool with NumPy broadcasting; false where either is NaN.",
      infer_compare<kNumbers>,
      {{"const %a : i32[3] = [1, 2, 3] const %b : i32[] = 2 %y = less %a, %b output %y",
        {1, 0, 0}}});
}

template <>
OpDef make_op<OpKind::LessEqual>() {
  return binary<less_equal>(
      OpKind::LessEqual, "y = (a <= b) as bool with NumPy broadcasting; false where either is NaN.",
      infer_compare<kNumbers>,
      {{"const %a : f32[4] = [1.0, 2.0, 3.0, nan] const %b : f32[] = 2.0 "
        "%y = less_equal %a, %b output %y",
        {1, 1, 0, 0}}});
}

}  // namespace rlx

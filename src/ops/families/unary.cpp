// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/families/elementwise.h"
#include "ops/records.h"

namespace rlx {
namespace {

double neg(double x) { return -x; }
double abs_of(double x) { return std::fabs(x); }
double sign(double x) { return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; }
double exp_of(double x) { return std::exp(x); }
double log_of(double x) { return std::log(x); }
double sqrt_of(double x) { return std::sqrt(x); }
double sin_of(double x) { return std::sin(x); }
double cos_of(double x) { return std::cos(x); }
double tanh_of(double x) { return std::tanh(x); }
double erf_of(double x) { return std::erf(x); }
double floor_of(double x) { return std::floor(x); }
double ceil_of(double x) { return std::ceil(x); }
double round_even(double x) { return std::nearbyint(x); }
double not_of(double x) { return x == 0 ? 1 : 0; }

template <double (*function)(double), ClassSet allowed>
OpDef unary(OpKind op, std::string_view doc, std::vector<Sample> samples) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.operands = {{"x"}};
  d.precision = PrecisionClass::Elementwise;
  d.infer = infer_unary<allowed>;
  d.reference = unary_reference<function>;
  d.samples = std::move(samples);
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::Neg>() {
  return unary<neg, kNumbers>(
      OpKind::Neg, "y = -x; integers wrap around.",
      {{"const %x : f32[3] = [1.0, -2.0, 0.5] %y = neg %x output %y", {-1, 2, -0.5}},
       {"const %x : i8[3] = [5, -7, -128] %y = neg %x output %y", {-5, 7, -128}}});
}

template <>
OpDef make_op<OpKind::Abs>() {
  return unary<abs_of, kNumbers>(
      OpKind::Abs, "y = |x|; the lowest signed integer stays itself.",
      {{"const %x : f32[3] = [1.5, -2.0, 0.0] %y = abs %x output %y", {1.5, 2, 0}},
       {"const %x : i8[2] = [-3, -128] %y = abs %x output %y", {3, -128}}});
}

template <>
OpDef make_op<OpKind::Sign>() {
  return unary<sign, kNumbers>(
      OpKind::Sign, "y = 1 where x > 0, -1 where x < 0, 0 at zero; NaN stays NaN.",
      {{"const %x : f32[4] = [1.5, -2.0, 0.0, -inf] %y = sign %x output %y", {1, -1, 0, -1}}});
}

template <>
OpDef make_op<OpKind::Exp>() {
  return unary<exp_of, kFloats>(
      OpKind::Exp, "y = e^x.",
      {{"const %x : f32[4] = [0.0, 1.0, -2.0, -inf] %y = exp %x output %y",
        {1, 2.718281828459045, 0.1353352832366127, 0}}});
}

template <>
OpDef make_op<OpKind::Log>() {
  return unary<log_of, kFloats>(OpKind::Log, "y = ln x; -inf at zero, NaN below.",
                                {{"const %x : f32[4] = [1.0, 2.0, 0.5, 0.0] %y = log %x output %y",
                                  {0, 0.6931471805599453, -0.6931471805599453, -__builtin_inf()}}});
}

template <>
OpDef make_op<OpKind::Sqrt>() {
  return unary<sqrt_of, kFloats>(
      OpKind::Sqrt, "y = the square root of x; NaN below zero.",
      {{"const %x : f32[3] = [4.0, 2.0, 0.0] %y = sqrt %x output %y", {2, 1.4142135623730951, 0}}});
}

template <>
OpDef make_op<OpKind::Sin>() {
  return unary<sin_of, kFloats>(OpKind::Sin, "y = sin x, x in radians.",
                                {{"const %x : f32[3] = [0.0, 1.0, -0.5] %y = sin %x output %y",
                                  {0, 0.8414709848078965, -0.479425538604203}}});
}

template <>
OpDef make_op<OpKind::Cos>() {
  return unary<cos_of, kFloats>(OpKind::Cos, "y = cos x, x in radians.",
                                {{"const %x : f32[3] = [0.0, 1.0, 2.0] %y = cos %x output %y",
                                  {1, 0.5403023058681398, -0.4161468365471424}}});
}

template <>
OpDef make_op<OpKind::Tanh>() {
  return unary<tanh_of, kFloats>(OpKind::Tanh, "y = tanh x.",
                                 {{"const %x : f32[3] = [0.0, 0.5, -inf] %y = tanh %x output %y",
                                   {0, 0.46211715726000975, -1}}});
}

template <>
OpDef make_op<OpKind::Erf>() {
  return unary<erf_of, kFloats>(OpKind::Erf,
                                "y = 2/sqrt(pi) * the integral of e^(-t*t) from 0 to x.",
                                {{"const %x : f32[3] = [0.0, 1.0, -0.5] %y = erf %x output %y",
                                  {0, 0.8427007929497149, -0.5204998778130465}}});
}

template <>
OpDef make_op<OpKind::Floor>() {
  return unary<floor_of, kFloats>(
      OpKind::Floor, "y = the largest whole number not above x.",
      {{"const %x : f32[4] = [1.5, -1.5, 2.0, -0.25] %y = floor %x output %y", {1, -2, 2, -1}}});
}

template <>
OpDef make_op<OpKind::Ceil>() {
  return unary<ceil_of, kFloats>(
      OpKind::Ceil, "y = the smallest whole number not below x.",
      {{"const %x : f32[4] = [1.5, -1.5, 2.0, 0.25] %y = ceil %x output %y", {2, -1, 2, 1}}});
}

template <>
OpDef make_op<OpKind::Round>() {
  return unary<round_even, kFloats>(
      OpKind::Round, "y = the nearest whole number, halves to the even one (as NumPy and ONNX).",
      {{"const %x : f32[6] = [0.5, 1.5, 2.5, -0.5, -1.5, 2.75] %y = round %x output %y",
        {0, 2, 2, 0, -2, 3}}});
}

template <>
OpDef make_op<OpKind::Not>() {
  return unary<not_of, kBools>(
      OpKind::Not, "y = not x, on bools.",
      {{"const %x : bool[2] = [true, false] %y = not %x output %y", {0, 1}}});
}

}  // namespace rlx

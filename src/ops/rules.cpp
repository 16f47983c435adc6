// SPDX-License-Identifier: Apache-2.0
#include "ops/rules.h"

#include <algorithm>

namespace rlx {
namespace {

unsigned class_bit(DType dtype) {
  switch (dtype_info(dtype).type_class) {
    case DTypeClass::Float: return kFloats;
    case DTypeClass::Int: return kInts;
    case DTypeClass::Bool: return kBools;
    case DTypeClass::Packed: return kPackeds;
    case DTypeClass::Complex: break;
  }
  return 0;
}

std::string class_names(ClassSet allowed) {
  std::string out;
  const auto add = [&](ClassSet bit, std::string_view name) {
    if ((allowed & bit) == 0) return;
    if (!out.empty()) out += ", ";
    out += name;
  };
  add(kFloats, "Float");
  add(kInts, "Int");
  add(kBools, "Bool");
  add(kPackeds, "Packed");
  return out;
}

std::string_view operand_name(const InferArgs& a, size_t i) {
  const auto& specs = op_def(a.op).operands;
  return specs[std::min(i, specs.size() - 1)].name;
}

}  // namespace

std::string operand_text(const InferArgs& a, size_t i) {
  return fmt::format("{} {}", operand_name(a, i), to_string(a.operands[i], a.symbols));
}

std::string text_of(const InferArgs& a, const Dim& dim) { return to_string(dim, a.symbols); }
std::string text_of(const InferArgs& a, const Shape& shape) { return to_string(shape, a.symbols); }

void require_class(const InferArgs& a, size_t i, ClassSet allowed) {
  if ((class_bit(a.operands[i].dtype) & allowed) != 0) return;
  fail_infer(a, "{} is not of an allowed class ({})", operand_text(a, i), class_names(allowed));
}

void require_dtype(const InferArgs& a, size_t i, DType dtype) {
  if (a.operands[i].dtype == dtype) return;
  fail_infer(a, "{} must be {}", operand_text(a, i), dtype_name(dtype));
}

void require_same_dtype(const InferArgs& a, size_t i, size_t j) {
  if (a.operands[i].dtype == a.operands[j].dtype) return;
  fail_infer(a, "{} and {} must have one element type", operand_text(a, i), operand_text(a, j));
}

void require_rank(const InferArgs& a, size_t i, size_t rank) {
  if (a.operands[i].rank() == rank) return;
  fail_infer(a, "{} has rank {}, must have {}", operand_text(a, i), a.operands[i].rank(), rank);
}

void require_min_rank(const InferArgs& a, size_t i, size_t rank) {
  if (a.operands[i].rank() >= rank) return;
  fail_infer(a, "{} has rank {}, must have at least {}", operand_text(a, i), a.operands[i].rank(),
             rank);
}

void require_equal(const InferArgs& a, const Dim& found, const Dim& wanted, std::string_view what) {
  if (found == wanted) return;
  fail_infer(a, "{}: found {}, must be {}", what, text_of(a, found), text_of(a, wanted));
}

size_t require_axis(const InferArgs& a, int64_t axis, size_t rank) {
  if (axis < 0 || axis >= static_cast<int64_t>(rank)) {
    fail_infer(a, "axis {} is outside rank {}", axis, rank);
  }
  return static_cast<size_t>(axis);
}

Shape broadcast_shapes(const InferArgs& a, const Shape& x, const Shape& y) {
  const Shape& longer = x.size() >= y.size() ? x : y;
  const Shape& shorter = x.size() >= y.size() ? y : x;
  Shape out = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& d = out[lead + i];
    const Dim& s = shorter[i];
    if (d == s || s == Dim(1)) continue;
    if (d != Dim(1)) {
      fail_infer(a, "{} and {} do not broadcast: {} against {} on axis {}", text_of(a, x),
                 text_of(a, y), text_of(a, x.size() >= y.size() ? d : s),
                 text_of(a, x.size() >= y.size() ? s : d), lead + i);
    }
    d = s;
  }
  return out;
}

bool is_never_allowed(const InferArgs& a, const Dim& dim) {
  (void)dim.lower_bound(a.symbols);
  return dim.upper_bound(a.symbols) < 0;
}

}  // namespace rlx

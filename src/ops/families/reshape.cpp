// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "ops/records.h"
#include "ops/rules.h"

namespace rlx {
namespace {

/// A product of extents, expanded: factor of every product of symbols. Exact, so two shapes have
/// the same number of elements at every extent if and only if their polynomials are equal.
using Polynomial = std::map<std::vector<SymbolId>, int64_t>;

int64_t exact_mul(const InferArgs& a, int64_t x, int64_t y) {
  int64_t p;
  if (__builtin_mul_overflow(x, y, &p)) fail_infer(a, "the element count does not fit 64 bits");
  return p;
}

void add_product(const InferArgs& a, Polynomial& out, std::vector<SymbolId> symbols, int64_t x,
                 int64_t y) {
  std::sort(symbols.begin(), symbols.end());
  int64_t& slot = out[symbols];
  if (__builtin_add_overflow(slot, exact_mul(a, x, y), &slot)) {
    fail_infer(a, "the element count does not fit 64 bits");
  }
  if (slot == 0) out.erase(symbols);
}

Polynomial expanded(const InferArgs& a, const Shape& shape) {
  Polynomial p{{{}, 1}};
  for (const Dim& d : shape) {
    Polynomial next;
    for (const auto& [symbols, factor] : p) {
      if (d.constant() != 0) add_product(a, next, symbols, factor, d.constant());
      for (const Dim::Term& t : d.terms()) {
        std::vector<SymbolId> longer = symbols;
        longer.push_back(t.symbol);
        add_product(a, next, std::move(longer), factor, t.factor);
      }
    }
    p = std::move(next);
  }
  return p;
}

/// The extent that -1 stands for: what is left of `from` after taking out the extents of `to`.
Dim missing_extent(const InferArgs& a, Shape from, const Shape& to, size_t hole) {
  int64_t divisor = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (i == hole) continue;
    if (to[i] == Dim(0)) fail_infer(a, "the -1 in {} may be anything", text_of(a, to));
    const auto same = std::find(from.begin(), from.end(), to[i]);
    if (same != from.end()) {
      from.erase(same);
    } else if (to[i].is_static()) {
      divisor = exact_mul(a, divisor, to[i].constant());
    } else {
      fail_infer(a, "the -1 in {} is not determined by {}", text_of(a, to), operand_text(a, 0));
    }
  }
  return element_count(from).divided_by(
      divisor, fmt::format("the -1 in {} for {}", text_of(a, to), operand_text(a, 0)));
}

std::vector<TensorType> infer_reshape(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools);
  Shape to = a.attrs.get_dims(AttrKey::Shape);
  const Shape& from = a.operands[0].shape;
  size_t hole = to.size();
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == Dim(-1)) {
      if (hole != to.size()) fail_infer(a, "{} has more than one -1", text_of(a, to));
      hole = i;
    } else if (is_never_allowed(a, to[i])) {
      fail_infer(a, "extent {} of {} is negative", text_of(a, to[i]), text_of(a, to));
    }
  }
  if (hole != to.size()) to[hole] = missing_extent(a, from, to, hole);
  if (expanded(a, from) != expanded(a, to)) {
    fail_infer(a, "{} and {} do not have the same number of elements", operand_text(a, 0),
               text_of(a, to));
  }
  return one(a.operands[0].dtype, std::move(to));
}

void reshape_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  results[0].data = a.operands[0]->data;
}

}  // namespace

template <>
OpDef make_op<OpKind::Reshape>() {
  OpDef d;
  d.op = OpKind::Reshape;
  d.doc =
      "y holds x's elements in row order under `shape`; the counts must be equal at every extent, "
      "and one entry may be -1, what the others leave over.";
  d.operands = {{"x"}};
  d.attrs = {{AttrKey::Shape}};
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_reshape;
  d.reference = reshape_reference;
  d.samples = {
      {"const %x : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
       "%y = reshape %x {shape = [3, -1]} : f32[3, 2] "
       "%t = transpose %y {perm = [1, 0]} output %t",
       {1, 3, 5, 2, 4, 6}}};
  return d;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "ir/dim.h"

#include <fmt/format.h>

#include "base/error.h"

namespace rlx {
namespace {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    fail(ErrorCode::LimitExceeded, "extent {} + {} does not fit 64 bits", a, b);
  }
  return sum;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(ErrorCode::LimitExceeded, "extent {} * {} does not fit 64 bits", a, b);
  }
  return product;
}

}  // namespace

Dim Dim::of_symbol(SymbolId symbol) {
  Dim d;
  d.add_term(symbol, 1);
  return d;
}

int64_t Dim::static_value(std::string_view what) const {
  if (!is_static()) fail(ErrorCode::Unsupported, "{} must be a number known at compile time", what);
  return constant_;
}

void Dim::add_term(SymbolId symbol, int64_t factor) {
  size_t i = 0;
  while (i < count_ && terms_[i].symbol < symbol) ++i;
  if (i < count_ && terms_[i].symbol == symbol) {
    terms_[i].factor = checked_add(terms_[i].factor, factor);
    if (terms_[i].factor != 0) return;
    for (; i + 1 < count_; ++i) terms_[i] = terms_[i + 1];
    terms_[--count_] = {};
    return;
  }
  if (factor == 0) return;
  if (count_ == kMaxTerms) {
    fail(ErrorCode::LimitExceeded, "an extent may name at most {} symbols", kMaxTerms);
  }
  for (size_t k = count_; k > i; --k) terms_[k] = terms_[k - 1];
  terms_[i] = {symbol, factor};
  ++count_;
}

int64_t Dim::value(std::span<const int64_t> symbols) const {
  int64_t sum = constant_;
  for (const Term& t : terms()) sum += t.factor * symbols[t.symbol];
  return sum;
}

int64_t Dim::upper_bound(std::span<const Symbol> symbols) const {
  int64_t sum = constant_;
  for (const Term& t : terms()) {
    if (t.factor > 0) sum = checked_add(sum, checked_mul(t.factor, symbols[t.symbol].bound));
  }
  return sum;
}

int64_t Dim::lower_bound(std::span<const Symbol> symbols) const {
  int64_t sum = constant_;
  for (const Term& t : terms()) {
    if (t.factor < 0) sum = checked_add(sum, checked_mul(t.factor, symbols[t.symbol].bound));
  }
  return sum;
}

Dim Dim::operator+(const Dim& other) const {
  Dim sum = *this;
  sum.constant_ = checked_add(constant_, other.constant_);
  for (const Term& t : other.terms()) sum.add_term(t.symbol, t.factor);
  return sum;
}

Dim Dim::operator-(const Dim& other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim& other) const {
  if (!is_static() && !other.is_static()) {
    fail(ErrorCode::Unsupported, "the product of two symbolic extents is not affine");
  }
  const Dim& symbolic = is_static() ? other : *this;
  const int64_t factor = is_static() ? constant_ : other.constant_;
  Dim product(checked_mul(symbolic.constant_, factor));
  for (const Term& t : symbolic.terms()) product.add_term(t.symbol, checked_mul(t.factor, factor));
  return product;
}

Dim Dim::divided_by(int64_t divisor, std::string_view what) const {
  if (divisor <= 0) fail(ErrorCode::InvalidArgument, "{}: division by {}", what, divisor);
  Dim quotient(constant_ / divisor);
  bool exact = constant_ % divisor == 0;
  for (const Term& t : terms()) {
    exact = exact && t.factor % divisor == 0;
    quotient.add_term(t.symbol, t.factor / divisor);
  }
  if (!exact) fail(ErrorCode::InvalidArgument, "{}: not a multiple of {}", what, divisor);
  return quotient;
}

std::string to_string(const Dim& dim, std::span<const Symbol> symbols) {
  std::string out;
  for (const Dim::Term& t : dim.terms()) {
    if (t.factor < 0) {
      out += '-';
    } else if (!out.empty()) {
      out += '+';
    }
    const int64_t magnitude = t.factor < 0 ? -t.factor : t.factor;
    if (magnitude != 1) out += fmt::format("{}*", magnitude);
    out += symbols[t.symbol].name;
  }
  if (out.empty()) return fmt::format("{}", dim.constant());
  if (dim.constant() != 0) out += fmt::format("{:+}", dim.constant());
  return out;
}

std::string to_string(const Shape& shape, std::span<const Symbol> symbols) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ", ";
    out += to_string(shape[i], symbols);
  }
  return out + "]";
}

Dim element_count(const Shape& shape) {
  Dim product(1);
  for (const Dim& d : shape) product = product * d;
  return product;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx {

using SymbolId = uint16_t;

/// A named extent of a graph, known at run time only: 0 <= value <= bound.
struct Symbol {
  std::string name;
  int64_t bound;
};

/// An extent: a number plus whole multiples of symbols, `P+T`, `2*T+1`. Shape rules are total over
/// it; what would not be affine (a product of two symbols) is an Error where it is asked for.
class Dim {
 public:
  struct Term {
    SymbolId symbol;
    int64_t factor;
    friend bool operator==(const Term&, const Term&) = default;
  };
  static constexpr size_t kMaxTerms = 3;

  constexpr Dim(int64_t constant = 0) : constant_(constant) {}  // NOLINT: a number is a Dim
  static Dim of_symbol(SymbolId symbol);

  bool is_static() const { return count_ == 0; }
  int64_t constant() const { return constant_; }
  std::span<const Term> terms() const { return {terms_.data(), count_}; }
  /// The number of a static Dim; Error otherwise, naming `what`.
  int64_t static_value(std::string_view what) const;

  /// The extent for given symbol values (indexed by SymbolId).
  int64_t value(std::span<const int64_t> symbols) const;
  /// Largest and smallest extent over 0 <= symbol <= bound.
  int64_t upper_bound(std::span<const Symbol> symbols) const;
  int64_t lower_bound(std::span<const Symbol> symbols) const;

  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  /// Error when both have symbols.
  Dim operator*(const Dim& other) const;
  /// Exact division by a positive number; Error when a coefficient leaves a remainder.
  Dim divided_by(int64_t divisor, std::string_view what) const;
  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  void add_term(SymbolId symbol, int64_t factor);
  int64_t constant_;
  std::array<Term, kMaxTerms> terms_{};
  size_t count_ = 0;
};

using Shape = std::vector<Dim>;

/// "P+T", "2*T-1", "64".
std::string to_string(const Dim& dim, std::span<const Symbol> symbols);
/// "[B, 784]".
std::string to_string(const Shape& shape, std::span<const Symbol> symbols);
/// The product of all extents.
Dim element_count(const Shape& shape);

}  // namespace rlx

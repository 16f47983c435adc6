// SPDX-License-Identifier: Apache-2.0
// Arithmetic and comparison with Python's rules.
#include <cmath>

#include "text/jinja/interpreter.h"
#include "text/jinja_builtins/format.h"
#include "text/jinja_text/html.h"

namespace rlx::text::jinja {
namespace {

[[noreturn]] void raise_overflow() {
  fail(ErrorCode::LimitExceeded, "an integer result needs more than 64 bits");
}

[[noreturn]] void raise_operands(std::string_view sign, const Value& a, const Value& b) {
  require_defined(a);
  require_defined(b);
  raise("unsupported operand type(s) for {}: '{}' and '{}'", sign, type_name(a), type_name(b));
}

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) raise("integer division or modulo by zero");
  if (a == INT64_MIN && b == -1) raise_overflow();
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

int64_t floor_modulo(int64_t a, int64_t b) {
  if (b == 0) raise("integer division or modulo by zero");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct FloatQuotient {
  double quotient, rest;
};

/// Python's divmod of floats: the rest has the sign of the divisor.
FloatQuotient floor_divide(double a, double b) {
  if (b == 0) raise("float floor division by zero");
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), rest};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return {whole, rest};
}

Value power(const Value& a, const Value& b) {
  if (!a.is(Kind::Float) && !b.is(Kind::Float) && b.as_int() >= 0) {
    int64_t base = a.as_int(), result = 1;
    for (uint64_t n = static_cast<uint64_t>(b.as_int()); n; n >>= 1) {
      if ((n & 1) && __builtin_mul_overflow(result, base, &result)) raise_overflow();
      if (n > 1 && __builtin_mul_overflow(base, base, &base)) raise_overflow();
    }
    return Value::integer(result);
  }
  const double x = a.as_double(), y = b.as_double();
  if (x == 0 && y < 0) raise("0.0 cannot be raised to a negative power");
  if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y))
    raise("a negative number to a fractional power is not a real number");
  const double result = std::pow(x, y);
  if (std::isinf(result) && std::isfinite(x) && std::isfinite(y))
    raise("the result of ** is too large for a float");
  return Value::number(result);
}

Value divide(const Value& a, const Value& b) {
  if (b.as_double() == 0) raise("division by zero");
  if (a.is(Kind::Float) || b.is(Kind::Float)) return Value::number(a.as_double() / b.as_double());
  return Value::number(static_cast<double>(static_cast<long double>(a.as_int()) /
                                           static_cast<long double>(b.as_int())));
}

Value float_arithmetic(Op op, double a, double b) {
  switch (op) {
    case Op::Add: return Value::number(a + b);
    case Op::Subtract: return Value::number(a - b);
    case Op::Multiply: return Value::number(a * b);
    case Op::FloorDivide: return Value::number(floor_divide(a, b).quotient);
    default: return Value::number(floor_divide(a, b).rest);
  }
}

Value arithmetic(Op op, const Value& a, const Value& b) {
  if (op == Op::Power) return power(a, b);
  if (op == Op::Divide) return divide(a, b);
  if (a.is(Kind::Float) || b.is(Kind::Float))
    return float_arithmetic(op, a.as_double(), b.as_double());
  const int64_t x = a.as_int(), y = b.as_int();
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Op::Add: overflow = __builtin_add_overflow(x, y, &result); break;
    case Op::Subtract: overflow = __builtin_sub_overflow(x, y, &result); break;
    case Op::Multiply: overflow = __builtin_mul_overflow(x, y, &result); break;
    case Op::FloorDivide: result = floor_divide(x, y); break;
    default: result = floor_modulo(x, y); break;
  }
  if (overflow) raise_overflow();
  return Value::integer(result);
}

Value add_texts(Interpreter& in, const Value& a, const Value& b) {
  in.charge(a.text().size() + b.text().size());
  if (!a.is_markup() && !b.is_markup()) return in.text(a.text() + b.text());
  const auto safe = [](const Value& v) { return v.is_markup() ? v.text() : escape_html(v.text()); };
  return Value::markup(safe(a) + safe(b));
}

Value add_lists(Interpreter& in, const Value& a, const Value& b) {
  in.charge((a.items().size() + b.items().size()) * sizeof(Value));
  in.step((a.items().size() + b.items().size()) / 16);
  std::vector<Value> items = a.items();
  items.insert(items.end(), b.items().begin(), b.items().end());
  return a.is(Kind::List) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

/// `v` (a string, list or tuple) `count` times.
Value repeat(Interpreter& in, const Value& v, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  const uint64_t unit = v.is_string() ? v.text().size() : v.items().size() * sizeof(Value);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(unit, times, &bytes)) bytes = UINT64_MAX;
  in.charge(bytes);
  if (unit == 0) return v;
  if (v.is_string()) {
    std::string out;
    out.reserve(bytes);
    for (uint64_t i = 0; i < times; ++i) out += v.text();
    return in.text_like(v, std::move(out));
  }
  in.step(bytes / 256);
  std::vector<Value> items;
  items.reserve(bytes / sizeof(Value));
  for (uint64_t i = 0; i < times; ++i)
    items.insert(items.end(), v.items().begin(), v.items().end());
  return v.is(Kind::List) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

bool is_sequence(const Value& v) { return v.is_string() || v.is(Kind::List) || v.is(Kind::Tuple); }

std::string_view sign_of(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Subtract: return "-";
    case Op::Multiply: return "*";
    case Op::Divide: return "/";
    case Op::FloorDivide: return "//";
    case Op::Modulo: return "%";
    case Op::Power: return "**";
    default: return "?";
  }
}

}  // namespace

Value Interpreter::binary(Op op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return arithmetic(op, a, b);
  if (op == Op::Add) {
    if (a.is_string() && b.is_string()) return add_texts(*this, a, b);
    if (a.kind() == b.kind() && (a.is(Kind::List) || a.is(Kind::Tuple)))
      return add_lists(*this, a, b);
    require_defined(a);
    require_defined(b);
    if (a.is_string()) raise("can only concatenate str (not \"{}\") to str", type_name(b));
  }
  if (op == Op::Multiply) {
    const bool a_count = a.is(Kind::Int) || a.is(Kind::Bool);
    const bool b_count = b.is(Kind::Int) || b.is(Kind::Bool);
    if (is_sequence(a) && b_count) return repeat(*this, a, b.as_int());
    if (is_sequence(b) && a_count) return repeat(*this, b, a.as_int());
  }
  if (op == Op::Modulo && a.is_string()) {
    return text_like(a, format_percent(*this, a, b));
  }
  raise_operands(sign_of(op), a, b);
}

Value Interpreter::negative(const Value& v) {
  require_defined(v);
  if (!v.is_number()) raise("bad operand type for unary -: '{}'", type_name(v));
  if (v.is(Kind::Float)) return Value::number(-v.as_double());
  if (v.as_int() == INT64_MIN) raise_overflow();
  return Value::integer(-v.as_int());
}

bool Interpreter::compare(Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::Equal: return equal(a, b);
    case Op::NotEqual: return !equal(a, b);
    case Op::In: return contains(b, a);
    case Op::NotIn: return !contains(b, a);
    default: break;
  }
  step(std::min(a.weight(), b.weight()) / 64);
  switch (op) {
    case Op::Less: return less(a, b, "<");
    case Op::Greater: return less(b, a, ">");
    // Not the negation of the other order: nothing holds for NaN.
    case Op::LessEqual: return less(a, b, "<=") || jinja::equal(a, b);
    case Op::GreaterEqual: return less(b, a, ">=") || jinja::equal(a, b);
    default: return false;
  }
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// Filters that work on numbers, and default.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "text/jinja/objects.h"
#include "text/jinja_builtins/filters.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

/// Digits without the single underscores that Python allows between them; nothing if misplaced.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto part = [&](size_t k) {
      return k < text.size() && std::isalnum(static_cast<unsigned char>(text[k]));
    };
    if (i == 0 || !part(i - 1) || !part(i + 1)) return std::nullopt;
  }
  return out;
}

/// int(text, base); nothing where Python raises ValueError.
std::optional<int64_t> parse_integer(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  text = strip_space(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const char mark = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  const int64_t marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
  if (marked && (base == 0 || base == marked)) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
    base = marked;
  } else if (base == 0) {
    base = 10;
    if (text.starts_with('0') && text.find_first_not_of("0_") != std::string_view::npos)
      return std::nullopt;
  }
  const auto digits = without_underscores(text);
  if (!digits || digits->empty() || (*digits)[0] == '-') return std::nullopt;
  const std::string all = (negative ? "-" : "") + *digits;
  int64_t value = 0;
  const auto end =
      std::from_chars(all.data(), all.data() + all.size(), value, static_cast<int>(base));
  if (end.ptr != all.data() + all.size()) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range)
    fail(ErrorCode::LimitExceeded, "int: '{}' needs more than 64 bits", text.substr(0, 40));
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

/// float(text); nothing where Python raises ValueError.
std::optional<double> parse_float(std::string_view text) {
  const auto digits = without_underscores(strip_space(text));
  if (!digits || digits->empty()) return std::nullopt;
  std::string lower = to_lower(*digits);
  if (lower.find_first_of("xp(") != std::string::npos) return std::nullopt;  // C's own forms
  char* end = nullptr;
  const double d = std::strtod(lower.c_str(), &end);
  return end == lower.c_str() + lower.size() ? std::optional(d) : std::nullopt;
}

int64_t float_to_integer(double d) {
  if (!(std::fabs(d) < 0x1p63))
    fail(ErrorCode::LimitExceeded, "int: {} needs more than 64 bits", float_repr(d));
  return static_cast<int64_t>(d);
}

Value filter_int(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("int", args, {"default", "base"});
  const Value otherwise = b.get(0, Value::integer(0));
  const int64_t base = b.integer(1, 10);
  require_defined(v);
  if (v.is(Kind::Bool) || v.is(Kind::Int)) return Value::integer(v.as_int());
  std::optional<double> d;
  if (v.is_string()) {
    if (const auto i = parse_integer(v.text(), base)) return Value::integer(*i);
    d = parse_float(v.text());
  } else if (v.is(Kind::Float)) {
    d = v.as_double();
  }
  if (!d || !std::isfinite(*d)) return otherwise;
  return Value::integer(float_to_integer(*d));
}

Value filter_float(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("float", args, {"default"});
  require_defined(v);
  if (v.is_number()) return Value::number(v.as_double());
  const auto d = v.is_string() ? parse_float(v.text()) : std::nullopt;
  return d ? Value::number(*d) : b.get(0, Value::number(0));
}

Value filter_abs(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("abs", args, {});
  require_defined(v);
  if (!v.is_number()) raise("bad operand type for abs(): '{}'", type_name(v));
  if (v.is(Kind::Float)) return Value::number(std::fabs(v.as_double()));
  return v.as_int() < 0 ? in.negative(v) : Value::integer(v.as_int());
}

/// round(d, places) as Python has it: the decimal nearest to the exact value, half to even.
double round_float(double d, int64_t places) {
  if (!std::isfinite(d) || places > 323) return d;
  if (places < -308) return std::copysign(0.0, d);
  if (places >= 0) {
    const std::string text = fmt::format("{:.{}f}", d, places);
    return std::strtod(text.c_str(), nullptr);
  }
  const double scale = std::pow(10.0, static_cast<double>(-places));
  return std::nearbyint(d / scale) * scale;
}

int64_t round_integer(int64_t v, int64_t places) {
  if (places >= 0) return v;
  if (places < -18) return 0;
  int64_t scale = 1;
  for (int64_t k = places; k < 0; ++k) scale *= 10;
  const int64_t rest = ((v % scale) + scale) % scale;
  int64_t low = 0, high = 0;
  if (__builtin_sub_overflow(v, rest, &low) || __builtin_add_overflow(low, scale, &high))
    fail(ErrorCode::LimitExceeded, "round: the result needs more than 64 bits");
  const int64_t twice_from_half = rest - (scale - rest);
  const bool up = twice_from_half > 0 || (twice_from_half == 0 && (low / scale) % 2 != 0);
  return up ? high : low;
}

Value filter_round(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("round", args, {"precision", "method"});
  const int64_t places = b.integer(0, 0);
  const std::string method = b.has(1) ? b.text(1) : "common";
  require_defined(v);
  if (method != "common" && method != "ceil" && method != "floor")
    raise("round: the method is '{}', allowed are common, ceil and floor", method);
  if (!v.is_number()) raise("type {} cannot be rounded", type_name(v));
  if (method == "common")
    return v.is(Kind::Float) ? Value::number(round_float(v.as_double(), places))
                             : Value::integer(round_integer(v.as_int(), places));
  const double scale = std::pow(10.0, static_cast<double>(places));
  const double scaled = v.as_double() * scale;
  if (!std::isfinite(scaled)) raise("round: {} is too large for this precision", repr(v));
  // Python rounds to an integer, which has no negative zero.
  return Value::number(((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0) / scale);
}

Value filter_filesizeformat(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("filesizeformat", args, {"binary"});
  const bool binary = b.flag(0, false);
  require_defined(v);
  const auto parsed = v.is_string() ? parse_float(v.text()) : std::nullopt;
  if (!v.is_number() && !parsed) raise("filesizeformat: a number is required");
  const double bytes = parsed ? *parsed : v.as_double(), base = binary ? 1024 : 1000;
  if (bytes == 1) return Value::string("1 Byte");
  if (bytes < base) return Value::string(fmt::format("{:.0f} Bytes", std::trunc(bytes)));
  static constexpr std::string_view names = "kMGTPEZY";
  double unit = base;
  size_t i = 0;
  for (; i + 1 < names.size() && bytes >= unit * base; ++i) unit *= base;
  std::string prefix(1, binary && i == 0 ? 'K' : names[i]);
  if (binary) prefix += 'i';
  return Value::string(fmt::format("{:.1f} {}B", bytes / unit, prefix));
}

Value filter_default(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("default", args, {"default_value", "boolean"});
  if (v.is_undefined() || (b.flag(1, false) && !truth(v))) return b.get(0, Value::string(""));
  return v;
}

/// Attributes only: never the keys of a dict.
Value filter_attr(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("attr", args, {"name"}, 1);
  const std::string name = in.to_text(b[0]);
  std::string_view method;
  if (v.is(Kind::Dict) && !find_method(v, name, method))
    return Value::undefined(fmt::format("'dict object' has no attribute '{}'", name));
  return in.attribute(v, name);
}

constexpr NamedFilter filters[] = {
    {"abs", filter_abs},
    {"attr", filter_attr},
    {"d", filter_default},
    {"default", filter_default},
    {"filesizeformat", filter_filesizeformat},
    {"float", filter_float},
    {"int", filter_int},
    {"round", filter_round},
};

}  // namespace

std::span<const NamedFilter> number_filters() { return filters; }

}  // namespace rlx::text::jinja

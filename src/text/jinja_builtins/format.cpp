// SPDX-License-Identifier: Apache-2.0
// printf-style formatting and the parts that both styles share.
#include "text/jinja_builtins/format.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/utf8.h"
#include "text/jinja_text/html.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

constexpr int max_precision = 1000;

/// The text of an integer's magnitude in base 8, 10 or 16.
std::string magnitude_digits(int64_t v, char type) {
  const uint64_t m = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  switch (type) {
    case 'x': return fmt::format("{:x}", m);
    case 'X': return fmt::format("{:X}", m);
    case 'o': return fmt::format("{:o}", m);
    default: return fmt::format("{}", m);
  }
}

int64_t whole_number(const Value& v, char type) {
  require_defined(v);
  if (v.is(Kind::Float) && type != 'c' && type != 'x' && type != 'X' && type != 'o') {
    const double d = std::trunc(v.as_double());
    if (!(std::fabs(d) < 0x1p63)) raise("%{} of {}: not a 64-bit integer", type, float_repr(d));
    return static_cast<int64_t>(d);
  }
  if (!v.is_number() || v.is(Kind::Float))
    raise("%{} format: a number is required, not {}", type, type_name(v));
  return v.as_int();
}

/// One run of `pattern % values`.
class PercentFormatter {
 public:
  PercentFormatter(Interpreter& in, const Value& pattern, const Value& values)
      : in_(in), pattern_(pattern.text()), markup_(pattern.is_markup()), values_(values) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_++];
      if (c != '%') {
        out_ += c;
      } else if (at_ < pattern_.size() && pattern_[at_] == '%') {
        out_ += '%';
        ++at_;
      } else {
        conversion();
      }
      if (out_.size() > in_.limits().max_output) in_.charge(out_.size());
    }
    const bool single = !values_.is(Kind::Tuple);
    // Whatever can be indexed may go unused: Python takes it for a mapping.
    const bool mapping = values_.is(Kind::Dict) || values_.is(Kind::List) ||
                         values_.is(Kind::Range) || values_.is_undefined();
    if (single ? !used_ && !mapping : used_ < values_.items().size())
      raise("not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  char peek() const {
    if (at_ >= pattern_.size()) raise("incomplete format");
    return pattern_[at_];
  }

  Value next_value() {
    if (!values_.is(Kind::Tuple)) {
      if (used_++) raise("not enough arguments for format string");
      return values_;
    }
    if (used_ >= values_.items().size()) raise("not enough arguments for format string");
    return values_.items()[used_++];
  }

  Value keyed_value() {
    const size_t close = pattern_.find(')', ++at_);
    if (close == std::string::npos) raise("incomplete format key");
    require_defined(values_);
    if (!values_.is(Kind::Dict)) raise("format requires a mapping");
    const std::string key = pattern_.substr(at_, close - at_);
    at_ = close + 1;
    const Value* v = values_.dict_data().find(std::string_view(key));
    if (!v) raise("format: there is no key '{}'", key);
    used_ = 1;
    return *v;
  }

  size_t number_or_star() {
    if (peek() == '*') {
      ++at_;
      const int64_t n = whole_number(next_value(), 'd');
      if (n < 0) spec_.align = '<';
      return static_cast<size_t>(n < 0 ? -n : n);
    }
    size_t n = 0;
    while (peek() >= '0' && peek() <= '9' && n < in_.limits().max_output)
      n = n * 10 + static_cast<size_t>(pattern_[at_++] - '0');
    return n;
  }

  void flags() {
    for (; std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++at_) {
      switch (pattern_[at_]) {
        case '-': spec_.align = '<'; break;
        case '+': spec_.sign = '+'; break;
        case ' ': spec_.sign = spec_.sign == '+' ? '+' : ' '; break;
        case '#': spec_.alternate = true; break;
        default: zero_ = true;
      }
    }
  }

  void conversion() {
    spec_ = {};
    zero_ = false;
    std::optional<Value> v;
    if (peek() == '(') v = keyed_value();
    flags();
    spec_.width = number_or_star();
    in_.charge(spec_.width);
    if (peek() == '.') {
      ++at_;
      spec_.precision = static_cast<int>(std::min<size_t>(number_or_star(), max_precision));
    }
    if (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    spec_.type = peek();
    ++at_;
    if (!v) v = next_value();
    append(*v);
  }

  void append(const Value& v) {
    switch (spec_.type) {
      case 's':
      case 'r':
      case 'a': append_text(spec_.type == 's' ? in_.to_text(v) : repr(v), v); break;
      case 'c': append_character(v); break;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': append_integer(whole_number(v, spec_.type)); break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': append_float(v); break;
      default: raise("unsupported format character '{}'", spec_.type);
    }
  }

  void append_text(std::string s, const Value& v) {
    if (markup_ && !v.is_markup()) s = escape_html(s);
    if (spec_.precision >= 0) s.resize(offset_of(s, static_cast<size_t>(spec_.precision)));
    out_ += pad("", s, spec_, '>');
  }

  void append_character(const Value& v) {
    std::string s;
    if (v.is_string() && v.text_length() == 1)
      s = v.text();
    else if (const int64_t code = whole_number(v, 'c');
             !v.is_string() && code >= 0 && code < 0x110000 && !(code >= 0xd800 && code < 0xe000))
      append_utf8(s, static_cast<uint32_t>(code));
    else
      raise("%c requires an int or a single character");
    out_ += pad("", s, spec_, '>');
  }

  std::string sign_text(bool negative) const {
    return negative ? "-" : spec_.sign == '-' ? "" : std::string(1, spec_.sign);
  }

  void append_integer(int64_t v) {
    std::string digits = magnitude_digits(v, spec_.type);
    if (spec_.precision > static_cast<int>(digits.size()))
      digits.insert(0, static_cast<size_t>(spec_.precision) - digits.size(), '0');
    std::string sign = sign_text(v < 0);
    if (spec_.alternate && (spec_.type == 'x' || spec_.type == 'X' || spec_.type == 'o'))
      sign += std::string("0") + spec_.type;
    append_number(sign, digits);
  }

  void append_float(const Value& v) {
    require_defined(v);
    if (!v.is_number()) raise("must be real number, not {}", type_name(v));
    const double d = v.as_double();
    if (!std::isfinite(d)) zero_ = false;
    append_number(sign_text(std::signbit(d) && !std::isnan(d)), float_digits(std::fabs(d), spec_));
  }

  void append_number(const std::string& sign, const std::string& digits) {
    if (zero_ && spec_.align != '<') {
      spec_.fill = "0";
      spec_.align = '=';
    }
    out_ += pad(sign, digits, spec_, '>');
  }

  Interpreter& in_;
  const std::string& pattern_;
  bool markup_;
  const Value& values_;
  size_t at_ = 0, used_ = 0;
  FormatSpec spec_;
  bool zero_ = false;
  std::string out_;
};

}  // namespace

std::string float_digits(double magnitude, const FormatSpec& spec) {
  const char type = spec.type == 0 ? 'g' : spec.type;
  const bool upper = type == 'E' || type == 'F' || type == 'G';
  if (!std::isfinite(magnitude)) {
    const std::string name =
        std::isnan(magnitude) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    return type == '%' ? name + "%" : name;
  }
  const int precision = spec.precision < 0 ? 6 : std::min(spec.precision, max_precision);
  const double v = type == '%' ? magnitude * 100 : magnitude;
  const char kind = type == '%' ? 'f' : type == 'n' ? 'g' : type;
  const char pattern[] = {'%',
                          spec.alternate ? '#' : '.',
                          spec.alternate ? '.' : '*',
                          spec.alternate ? '*' : kind,
                          spec.alternate ? kind : '\0',
                          '\0'};
  std::string out(static_cast<size_t>(precision) + 340, '\0');
  const int size = std::snprintf(out.data(), out.size(), pattern, precision, v);
  out.resize(static_cast<size_t>(size));
  return type == '%' ? out + "%" : out;
}

std::string group_digits(const std::string& digits, char separator, size_t every) {
  size_t whole = 0;
  const auto is_part = [&](char c) {  // groups of four are of binary, octal or hexadecimal digits
    const auto u = static_cast<unsigned char>(c);
    return (every == 4 ? std::isxdigit(u) : std::isdigit(u)) != 0;
  };
  while (whole < digits.size() && is_part(digits[whole])) ++whole;
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i && (whole - i) % every == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string pad(const std::string& sign, const std::string& body, const FormatSpec& spec,
                char default_align) {
  const size_t length = sign.size() + count_code_points(body);
  if (length >= spec.width) return sign + body;
  const size_t missing = spec.width - length;
  const char align = spec.align ? spec.align : default_align;
  const size_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  const auto fill = [&](size_t n) {
    std::string s;
    for (size_t i = 0; i < n; ++i) s += spec.fill;
    return s;
  };
  if (align == '=') return sign + fill(missing) + body;
  return fill(left) + sign + body + fill(missing - left);
}

std::string format_percent(Interpreter& in, const Value& pattern, const Value& values) {
  return PercentFormatter(in, pattern, values).run();
}

}  // namespace rlx::text::jinja

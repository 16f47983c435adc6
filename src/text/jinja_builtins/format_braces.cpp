// SPDX-License-Identifier: Apache-2.0
// str.format: replacement fields and format specifications.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "text/jinja_builtins/format.h"
#include "text/jinja_text/html.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }
bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

/// Reads a specification like "*>+#010,.3f".
FormatSpec parse_spec(Interpreter& in, std::string_view s) {
  FormatSpec spec;
  size_t at = 0;
  const auto peek = [&] { return at < s.size() ? s[at] : '\0'; };
  const size_t first = s.empty() ? 0 : sequence_length(s[0]);
  if (first < s.size() && is_align(s[first])) {
    spec.fill = s.substr(0, first);
    spec.align = s[first];
    at = first + 1;
  } else if (is_align(peek())) {
    spec.align = s[at++];
  }
  if (peek() == '+' || peek() == '-' || peek() == ' ') {
    spec.sign = s[at++];
    spec.has_sign = true;
  }
  if (peek() == '#') {
    spec.alternate = true;
    ++at;
  }
  if (peek() == '0') {
    if (!spec.align) {
      spec.fill = "0";
      spec.align = '=';
    }
    ++at;
  }
  const auto number = [&] {
    size_t n = 0;
    while (is_digit_char(peek()) && n < in.limits().max_output)
      n = n * 10 + static_cast<size_t>(s[at++] - '0');
    return n;
  };
  spec.width = number();
  in.charge(spec.width * spec.fill.size());
  if (peek() == ',' || peek() == '_') spec.grouping = s[at++];
  if (peek() == '.') {
    ++at;
    if (!is_digit_char(peek())) raise("format specifier '{}' is missing its precision", s);
    spec.precision = static_cast<int>(std::min<size_t>(number(), 1000));
  }
  if (at < s.size()) spec.type = s[at++];
  if (at != s.size()) raise("invalid format specifier '{}'", s);
  return spec;
}

std::string sign_text(const FormatSpec& spec, bool negative) {
  return negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
}

[[noreturn]] void raise_type(const FormatSpec& spec, const Value& v) {
  raise("unknown format code '{}' for object of type '{}'", spec.type, type_name(v));
}

std::string format_text(const std::string& text, FormatSpec spec, const Value& v) {
  if (spec.type && spec.type != 's') raise_type(spec, v);
  if (spec.has_sign) raise("a sign is not allowed in the format specifier of a string");
  if (spec.grouping) raise("'{}' cannot be specified with 's'", spec.grouping);
  if (spec.fill == "0" && spec.align == '=') spec.align = '<';
  if (spec.align == '=') raise("'=' alignment is not allowed in a string format specifier");
  std::string cut = text;
  if (spec.precision >= 0) cut.resize(offset_of(cut, static_cast<size_t>(spec.precision)));
  return pad("", cut, spec, '<');
}

/// `digits` with separators; zeros that fill the width are grouped too.
std::string grouped(std::string digits, const FormatSpec& spec, size_t every, size_t taken) {
  std::string out = group_digits(digits, spec.grouping, every);
  if (spec.fill != "0" || spec.align != '=') return out;
  const size_t width = spec.width > taken ? spec.width - taken : 0;
  if (out.size() < width) digits.insert(0, (width - out.size()) * every / (every + 1), '0');
  for (out = group_digits(digits, spec.grouping, every); out.size() < width;) {
    digits.insert(0, 1, '0');
    out = group_digits(digits, spec.grouping, every);
  }
  return out;
}

/// A float with a precision but no type: like g, with at least one digit behind the point.
std::string short_float(double magnitude, int precision) {
  if (!std::isfinite(magnitude)) return float_repr(magnitude);
  std::string text = fmt::format("{:.{}e}", magnitude, precision - 1);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (exponent < -4 || exponent >= precision - 1) {
    std::string mantissa = text.substr(0, text.find('e'));
    if (mantissa.find('.') != std::string::npos) {
      mantissa.erase(mantissa.find_last_not_of('0') + 1);
      if (mantissa.back() == '.') mantissa.pop_back();
    }
    return mantissa + text.substr(text.find('e'));
  }
  text = fmt::format("{:.{}g}", magnitude, precision);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string format_float(double d, FormatSpec spec, const Value& v) {
  static constexpr std::string_view types = "eEfFgGn%";
  if (spec.type && types.find(spec.type) == std::string_view::npos) raise_type(spec, v);
  const double magnitude = std::fabs(d);
  std::string digits;
  if (spec.type) {
    digits = float_digits(magnitude, spec);
  } else if (spec.precision < 0) {
    digits = float_repr(magnitude);
  } else {
    digits = short_float(magnitude, std::max(spec.precision, 1));
  }
  if (spec.grouping) digits = grouped(digits, spec, 3, sign_text(spec, std::signbit(d)).size());
  return pad(sign_text(spec, std::signbit(d) && !std::isnan(d)), digits, spec, '>');
}

std::string format_integer(int64_t i, const FormatSpec& spec, const Value& v) {
  if (spec.type && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos)
    return format_float(static_cast<double>(i), spec, v);
  if (spec.precision >= 0) raise("precision is not allowed in an integer format specifier");
  const uint64_t m = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  std::string digits, prefix;
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n': digits = fmt::format("{}", m); break;
    case 'b': digits = fmt::format("{:b}", m); break;
    case 'o': digits = fmt::format("{:o}", m); break;
    case 'x': digits = fmt::format("{:x}", m); break;
    case 'X': digits = fmt::format("{:X}", m); break;
    case 'c':
      if (i < 0 || i >= 0x110000 || (i >= 0xd800 && i < 0xe000)) raise("%c arg not in range");
      append_utf8(digits, static_cast<uint32_t>(i));
      return pad("", digits, spec, '<');
    default: raise_type(spec, v);
  }
  const bool decimal = spec.type == 0 || spec.type == 'd' || spec.type == 'n';
  if (spec.alternate && !decimal) prefix = std::string("0") + spec.type;
  const std::string sign = sign_text(spec, i < 0) + prefix;
  if (spec.grouping) digits = grouped(digits, spec, decimal ? 3 : 4, sign.size());
  return pad(sign, digits, spec, '>');
}

std::string format_value(Interpreter& in, const Value& v, std::string_view spec_text) {
  if (spec_text.empty()) return in.to_text(v);
  const FormatSpec spec = parse_spec(in, spec_text);
  if (v.is_string()) return format_text(v.text(), spec, v);
  if (v.is(Kind::Float)) return format_float(v.as_double(), spec, v);
  if (v.is_number()) return format_integer(v.as_int(), spec, v);
  raise("unsupported format string passed to {}.__format__", type_name(v));
}

/// One run of `pattern.format(...)`.
class BraceFormatter {
 public:
  BraceFormatter(Interpreter& in, bool markup, const Arguments& args)
      : in_(in), markup_(markup), args_(args) {}

  std::string run(std::string_view pattern, int level) {
    if (level > 2) raise("max string recursion exceeded in format");
    std::string out;
    for (size_t at = 0; at < pattern.size();) {
      const char c = pattern[at];
      const bool doubled = at + 1 < pattern.size() && pattern[at + 1] == c;
      if (c != '{' && c != '}') {
        out += c;
        ++at;
      } else if (doubled) {
        out += c;
        at += 2;
      } else if (c == '}') {
        raise("single '}}' encountered in format string");
      } else {
        const size_t end = field_end(pattern, at);
        out += field(pattern.substr(at + 1, end - at - 1), level);
        at = end + 1;
      }
      if (out.size() > in_.limits().max_output) in_.charge(out.size());
    }
    return out;
  }

 private:
  static size_t field_end(std::string_view pattern, size_t open) {
    int depth = 0;
    for (size_t i = open; i < pattern.size(); ++i) {
      if (pattern[i] == '{') ++depth;
      if (pattern[i] == '}' && --depth == 0) return i;
    }
    raise("expected '}}' before end of string");
  }

  std::string field(std::string_view text, int level) {
    in_.step();
    std::string spec;
    const size_t mark = text.find_first_of("!:");
    std::string_view name = text.substr(0, mark);
    char conversion = 0;
    if (mark != std::string_view::npos) {
      std::string_view rest = text.substr(mark);
      if (rest[0] == '!') {
        if (rest.size() < 2) raise("end of string while looking for conversion specifier");
        conversion = rest[1];
        rest.remove_prefix(2);
        if (!rest.empty() && rest[0] != ':') raise("expected ':' after conversion specifier");
      }
      if (!rest.empty()) spec = run(rest.substr(1), level + 1);
    }
    Value v = look_up(name);
    if (conversion == 'r' || conversion == 'a') {
      in_.walk(v);
      v = Value::string(repr(v));
    } else if (conversion == 's') {
      v = Value::string(in_.to_text(v));
    } else if (conversion) {
      raise("unknown conversion specifier '{}'", conversion);
    }
    const std::string out = format_value(in_, v, spec);
    return markup_ && !v.is_markup() ? escape_html(out) : out;
  }

  Value automatic() {
    if (manual_) raise("cannot switch from manual to automatic field numbering");
    automatic_ = true;
    return positional(next_++);
  }

  Value positional(size_t i) {
    if (i >= args_.positional.size())
      raise("replacement index {} out of range for positional args tuple", i);
    return args_.positional[i];
  }

  Value first_part(std::string_view name) {
    if (name.empty()) return automatic();
    if (std::all_of(name.begin(), name.end(), is_digit_char)) {
      if (automatic_) raise("cannot switch from automatic to manual field numbering");
      manual_ = true;
      if (name.size() > 9) raise("format: index {} is too large", name);
      return positional(static_cast<size_t>(std::stoul(std::string(name))));
    }
    for (const auto& [key, value] : args_.named)
      if (key == name) return value;
    raise("format: there is no argument '{}'", name);
  }

  Value look_up(std::string_view name) {
    const size_t end = std::min(name.find_first_of(".["), name.size());
    Value v = first_part(name.substr(0, end));
    for (size_t at = end; at < name.size();) {
      if (name[at] == '.') {
        const size_t stop = std::min(name.find_first_of(".[", at + 1), name.size());
        v = in_.attribute(v, name.substr(at + 1, stop - at - 1));
        at = stop;
        continue;
      }
      const size_t close = name.find(']', at);
      if (name[at] != '[' || close == std::string_view::npos)
        raise("invalid replacement field '{}'", name);
      const std::string key(name.substr(at + 1, close - at - 1));
      const bool index =
          !key.empty() && key.size() <= 9 && std::all_of(key.begin(), key.end(), is_digit_char);
      v = in_.item(v, index ? Value::integer(std::stol(key)) : Value::string(key));
      at = close + 1;
    }
    return v;
  }

  Interpreter& in_;
  bool markup_;
  const Arguments& args_;
  size_t next_ = 0;
  bool automatic_ = false, manual_ = false;
};

}  // namespace

std::string format_braces(Interpreter& in, const Value& pattern, const Arguments& args) {
  return BraceFormatter(in, pattern.is_markup(), args).run(pattern.text(), 0);
}

}  // namespace rlx::text::jinja

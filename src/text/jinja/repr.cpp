// SPDX-License-Identifier: Apache-2.0
// How Python prints values: str() and repr().
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "text/jinja/value.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

constexpr size_t max_repr = size_t{64} << 20;  // values shared many times print many times

void append_string_repr(std::string& out, std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out += quote;
  for (size_t i = 0; i < text.size();) {
    const uint32_t c = decode_utf8(text, i);
    if (c == static_cast<uint32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      append_utf8(out, c);
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", c);
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += fmt::format("\\U{:08x}", c);
    }
  }
  out += quote;
}

void append_items(std::string& out, const std::vector<Value>& items, int level) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    append_repr(out, items[i], level + 1);
  }
}

void append_dict(std::string& out, const DictData& d, int level) {
  out += '{';
  for (size_t i = 0; i < d.entries.size(); ++i) {
    if (i) out += ", ";
    append_repr(out, d.entries[i].first, level + 1);
    out += ": ";
    append_repr(out, d.entries[i].second, level + 1);
  }
  out += '}';
}

void append_view(std::string& out, const Value& v, int level) {
  const auto& view = v.as<ViewData>();
  out += type_name(v);
  out += "([";
  const char* separator = "";
  for (const auto& [key, value] : view.dict->entries) {
    out += separator;
    separator = ", ";
    const bool pair = view.part == ViewData::Part::Items;
    if (pair) out += '(';
    if (view.part != ViewData::Part::Values) append_repr(out, key, level + 1);
    if (pair) out += ", ";
    if (view.part != ViewData::Part::Keys) append_repr(out, value, level + 1);
    if (pair) out += ')';
  }
  out += "])";
}

void append_range(std::string& out, const RangeData& r) {
  if (r.step == 1)
    out += fmt::format("range({}, {})", r.start, r.stop);
  else
    out += fmt::format("range({}, {}, {})", r.start, r.stop, r.step);
}

}  // namespace

std::string float_repr(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
  std::string out;
  if (text[0] == '-') {
    out = "-";
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  int exponent = 0;
  const char* digits_of_exponent = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return out + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  const auto whole = static_cast<size_t>(exponent + 1);
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

void append_repr(std::string& out, const Value& v, int level) {
  if (level > static_cast<int>(max_value_depth) || out.size() > max_repr)
    fail(ErrorCode::LimitExceeded, "a value is too deep or too large to be printed");
  switch (v.kind()) {
    case Kind::Undefined: out += "Undefined"; return;
    case Kind::None: out += "None"; return;
    case Kind::Bool: out += v.as_int() ? "True" : "False"; return;
    case Kind::Int: out += std::to_string(v.as_int()); return;
    case Kind::Float: out += float_repr(v.as_double()); return;
    case Kind::String:
      if (v.is_markup()) out += "Markup(";
      append_string_repr(out, v.text());
      if (v.is_markup()) out += ')';
      return;
    case Kind::List:
      out += '[';
      append_items(out, v.items(), level);
      out += ']';
      return;
    case Kind::Tuple:
      out += '(';
      append_items(out, v.items(), level);
      out += v.items().size() == 1 ? ",)" : ")";
      return;
    case Kind::Dict: append_dict(out, v.dict_data(), level); return;
    case Kind::View: append_view(out, v, level); return;
    case Kind::Range: append_range(out, v.as<RangeData>()); return;
    case Kind::Iterator: out += "<generator object>"; return;
    case Kind::Object: v.as<ObjectData>().append_repr(out, level); return;
  }
}

std::string repr(const Value& v) {
  std::string out;
  append_repr(out, v);
  return out;
}

std::string to_text(const Value& v) {
  if (v.is_string()) return v.text();
  if (v.is_undefined()) return {};
  return repr(v);
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// Methods of strings.
#include <algorithm>

#include "base/utf8.h"
#include "text/jinja_builtins/format.h"
#include "text/jinja_builtins/method_tables.h"
#include "text/jinja_builtins/text_methods.h"
#include "text/jinja_text/html.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

// Markup escapes plain text that it takes in.
std::string taken_in(const Value& self, const Value& v, const char* who) {
  require_defined(v);
  if (!v.is_string()) raise("{}: argument must be str, not {}", who, type_name(v));
  return self.is_markup() && !v.is_markup() ? escape_html(v.text()) : v.text();
}

template <std::string (*map)(std::string_view)>
Value mapped(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("case method", args, {});
  in.walk(self);
  return in.text_like(self, map(self.text()));
}

template <bool (*holds)(uint32_t)>
Value all_are(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("is... method", args, {});
  in.walk(self);
  const std::string& s = self.text();
  for (size_t at = 0; at < s.size();)
    if (!holds(decode_utf8(s, at))) return Value::boolean(false);
  return Value::boolean(!s.empty());
}

bool is_alnum(uint32_t c) { return is_alpha(c) || is_digit(c) || is_numeric(c); }

/// Whether all cased characters are of one case, and there is one.
template <bool (*wanted)(uint32_t)>
Value one_case(Interpreter& in, const Value& self, const Arguments&) {
  in.walk(self);
  const std::string& s = self.text();
  bool any = false;
  for (size_t at = 0; at < s.size();) {
    const uint32_t c = decode_utf8(s, at);
    if (!is_cased(c)) continue;
    if (!wanted(c)) return Value::boolean(false);
    any = true;
  }
  return Value::boolean(any);
}

Value text_istitle(Interpreter& in, const Value& self, const Arguments&) {
  in.walk(self);
  const std::string& s = self.text();
  bool any = false, inside = false;
  for (size_t at = 0; at < s.size();) {
    const uint32_t c = decode_utf8(s, at);
    if (is_cased(c) && is_lower(c) != inside) return Value::boolean(false);
    inside = is_cased(c);
    any |= inside;
  }
  return Value::boolean(any);
}

Value text_isascii(Interpreter& in, const Value& self, const Arguments&) {
  in.walk(self);
  return Value::boolean(self.text_length() == self.text().size());
}

Value text_isprintable(Interpreter& in, const Value& self, const Arguments& args) {
  return self.text().empty() ? Value::boolean(true) : all_are<is_printable>(in, self, args);
}

Value text_isidentifier(Interpreter& in, const Value& self, const Arguments& args) {
  const std::string& s = self.text();
  if (s.empty() || is_decimal(static_cast<unsigned char>(s[0]))) return Value::boolean(false);
  return all_are<is_word>(in, self, args);
}

template <bool left, bool right>
Value text_strip(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("strip", args, {"chars"});
  in.walk(self);
  const std::string& s = self.text();
  if (!b.has(0) || b[0].is_none())
    return in.text_like(self, std::string(strip_space(s, left, right)));
  const std::string& chars = b.text(0);
  in.step(s.size() * chars.size() / 4096);
  return in.text_like(self, std::string(strip_chars(s, chars, left, right)));
}

Value text_list(Interpreter& in, const Value& self, const std::vector<std::string_view>& parts) {
  in.step(parts.size());
  in.charge(self.text().size());
  in.charge(parts.size() * (sizeof(Value) + 96));
  std::vector<Value> items;
  items.reserve(parts.size());
  for (const std::string_view p : parts)
    items.push_back(self.is_markup() ? Value::markup(std::string(p))
                                     : Value::string(std::string(p)));
  return Value::list(std::move(items));
}

template <bool from_right>
Value text_split(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b(from_right ? "rsplit" : "split", args, {"sep", "maxsplit"});
  const int64_t limit = b.integer(1, -1);
  in.walk(self);
  if (!b.has(0) || b[0].is_none())
    return text_list(
        in, self, from_right ? rsplit_space(self.text(), limit) : split_space(self.text(), limit));
  const std::string& separator = b.text(0);
  if (separator.empty()) raise("empty separator");
  return text_list(in, self,
                   from_right ? rsplit_text(self.text(), separator, limit)
                              : split_text(self.text(), separator, limit));
}

Value text_splitlines(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("splitlines", args, {"keepends"});
  in.walk(self);
  return text_list(in, self, split_lines(self.text(), b.flag(0, false)));
}

template <bool last>
Value text_partition(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("partition", args, {"sep"}, 1);
  const std::string& s = self.text();
  const std::string& separator = b.text(0);
  if (separator.empty()) raise("empty separator");
  in.walk(self);
  const size_t at = last ? rfind_text(s, separator) : find_text(s, separator);
  if (at == std::string::npos) {
    const Value nothing = in.text_like(self, "");
    return last ? Value::tuple({nothing, nothing, self}) : Value::tuple({self, nothing, nothing});
  }
  return Value::tuple({in.text_like(self, s.substr(0, at)), in.text_like(self, separator),
                       in.text_like(self, s.substr(at + separator.size()))});
}

/// The part of `self` between optional bounds in code points, and its byte offset; nothing where
/// the bounds cross.
std::optional<std::pair<std::string_view, size_t>> window(const Value& self, const Bound& b,
                                                          size_t first) {
  const auto length = static_cast<int64_t>(self.text_length());
  const auto clamp = [&](size_t i, int64_t otherwise) {
    if (!b.has(i) || b[i].is_none()) return otherwise;
    int64_t v = b.integer(i, 0);
    if (v < 0) v = std::max<int64_t>(v + length, 0);
    return v;
  };
  const int64_t start = clamp(first, 0), stop = std::min(clamp(first + 1, length), length);
  if (start > stop) return std::nullopt;
  const std::string_view s = self.text();
  const size_t begin = offset_of(s, static_cast<size_t>(start));
  const size_t size = offset_of(s.substr(begin), static_cast<size_t>(stop - start));
  return std::pair{s.substr(begin, size), begin};
}

int64_t find_in(Interpreter& in, const Value& self, const Arguments& args, bool last) {
  const Bound b("find", args, {"sub", "start", "end"}, 1);
  in.walk(self);
  const std::string& sub = b.text(0);
  const auto part = window(self, b, 1);
  if (!part) return -1;
  const size_t at = last ? rfind_text(part->first, sub) : find_text(part->first, sub);
  if (at == std::string_view::npos) return -1;
  const std::string_view before = std::string_view(self.text()).substr(0, part->second + at);
  return static_cast<int64_t>(count_code_points(before));
}

template <bool last>
Value text_find(Interpreter& in, const Value& self, const Arguments& args) {
  return Value::integer(find_in(in, self, args, last));
}

template <bool last>
Value text_index(Interpreter& in, const Value& self, const Arguments& args) {
  const int64_t at = find_in(in, self, args, last);
  if (at < 0) raise("substring not found");
  return Value::integer(at);
}

Value text_count(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("count", args, {"sub", "start", "end"}, 1);
  in.walk(self);
  const std::string& sub = b.text(0);
  const auto part = window(self, b, 1);
  if (!part) return Value::integer(0);
  if (sub.empty()) return Value::integer(static_cast<int64_t>(count_code_points(part->first)) + 1);
  int64_t count = 0;
  for (size_t at = 0; (at = find_text(part->first, sub, at)) != std::string_view::npos; ++count)
    at += sub.size();
  return Value::integer(count);
}

template <bool at_end>
Value text_affix(Interpreter& in, const Value& self, const Arguments& args) {
  const char* who = at_end ? "endswith" : "startswith";
  const Bound b(who, args, {"prefix", "start", "end"}, 1);
  require_defined(b[0]);
  if (!b[0].is_string() && !b[0].is(Kind::Tuple))
    raise("{} first arg must be str or a tuple of str, not {}", who, type_name(b[0]));
  if (b.has(1)) in.walk(self);
  const auto part = window(self, b, 1);
  const auto matches = [&](const Value& v) {
    if (!v.is_string()) raise("tuple for {} must only contain str, not {}", who, type_name(v));
    in.step();
    return part && (at_end ? part->first.ends_with(v.text()) : part->first.starts_with(v.text()));
  };
  if (b[0].is_string()) return Value::boolean(matches(b[0]));
  return Value::boolean(std::any_of(b[0].items().begin(), b[0].items().end(), matches));
}

template <bool at_end>
Value text_removeaffix(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("removeprefix", args, {"prefix"}, 1);
  std::string_view s = self.text();
  const std::string& affix = b.text(0);
  if (at_end && s.ends_with(affix)) s.remove_suffix(affix.size());
  if (!at_end && s.starts_with(affix)) s.remove_prefix(affix.size());
  return in.text_like(self, std::string(s));
}

Value text_replace(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("replace", args, {"old", "new", "count"}, 2);
  return in.text_like(self, replace_text(in, self.text(), taken_in(self, b[0], "replace"),
                                         taken_in(self, b[1], "replace"), b.integer(2, -1)));
}

Value text_join(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("join", args, {"iterable"}, 1);
  std::vector<std::string> parts;
  size_t i = 0;
  for (const Value& v : in.collect(b[0])) {
    if (!v.is_string() && !self.is_markup())
      raise("sequence item {}: expected str instance, {} found", i, type_name(v));
    parts.push_back(!self.is_markup() || v.is_markup() ? v.text() : escape_html(in.to_text(v)));
    in.charge(parts.back().size());
    ++i;
  }
  return in.text_like(self, join_texts(in, self.text(), parts));
}

/// ljust, rjust and center.
template <char align>
Value text_justify(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("justify", args, {"width", "fillchar"}, 1);
  FormatSpec spec;
  if (b.has(1)) spec.fill = b.text(1);
  if (count_code_points(spec.fill) != 1)
    raise("the fill character must be exactly one character long");
  const auto length = static_cast<int64_t>(self.text_length());
  const int64_t width = std::max(b.integer(0, 0), length);
  in.charge(static_cast<uint64_t>(width));
  spec.width = static_cast<size_t>(width);
  if (align != '^') return in.text_like(self, pad("", self.text(), spec, align));
  // Python's str.center puts the odd one left only where the width is odd too.
  const int64_t missing = width - length, left = missing / 2 + (missing & width & 1);
  spec.width = static_cast<size_t>(length + left);
  const std::string head = pad("", self.text(), spec, '>');
  spec.width = static_cast<size_t>(width);
  return in.text_like(self, pad("", head, spec, '<'));
}

Value text_zfill(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("zfill", args, {"width"}, 1);
  const int64_t width = std::max<int64_t>(b.integer(0, 0), 0);
  in.charge(static_cast<uint64_t>(width));
  FormatSpec spec;
  spec.fill = "0";
  spec.align = '=';
  spec.width = static_cast<size_t>(width);
  const std::string& s = self.text();
  const bool sign = !s.empty() && (s[0] == '-' || s[0] == '+');
  return in.text_like(self, pad(sign ? s.substr(0, 1) : "", s.substr(sign ? 1 : 0), spec, '='));
}

Value text_expandtabs(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("expandtabs", args, {"tabsize"});
  const int64_t size = std::max<int64_t>(b.integer(0, 8), 0);
  in.charge(static_cast<uint64_t>(size));
  std::string out;
  int64_t column = 0;
  const std::string& s = self.text();
  for (size_t at = 0; at < s.size();) {
    const size_t start = at;
    const uint32_t c = decode_utf8(s, at);
    if (c == '\t') {
      const int64_t gap = size ? size - column % size : 0;
      in.charge(out.size() + static_cast<uint64_t>(gap));
      out.append(static_cast<size_t>(gap), ' ');
      column += gap;
    } else {
      out.append(s, start, at - start);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  }
  return in.text_like(self, std::move(out));
}

Value text_format(Interpreter& in, const Value& self, const Arguments& args) {
  return in.text_like(self, format_braces(in, self, args));
}

Value text_format_map(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("format_map", args, {"mapping"}, 1);
  if (!b[0].is(Kind::Dict)) raise("format_map needs a mapping, not {}", type_name(b[0]));
  Arguments named;
  for (const auto& [key, value] : b[0].dict_data().entries) {
    in.step();
    if (key.is_string()) named.named.emplace_back(key.text(), value);
  }
  return in.text_like(self, format_braces(in, self, named));
}

Value text_unescape(Interpreter& in, const Value& self, const Arguments&) {
  in.walk(self);
  return in.text(unescape_html(self.text()));
}

Value text_striptags(Interpreter& in, const Value& self, const Arguments&) {
  in.walk(self);
  return in.text(strip_tags(self.text()));
}

Value text_encode(Interpreter&, const Value&, const Arguments&) {
  fail(ErrorCode::Unsupported, "str.encode is not supported: templates have no bytes");
}

Value text_translate(Interpreter&, const Value&, const Arguments&) {
  fail(ErrorCode::Unsupported, "str.translate is not supported");
}

constexpr NamedMethod methods[] = {
    {"capitalize", mapped<to_capitalized>},
    {"casefold", mapped<to_case_folded>},
    {"center", text_justify<'^'>},
    {"count", text_count},
    {"encode", text_encode},
    {"endswith", text_affix<true>},
    {"expandtabs", text_expandtabs},
    {"find", text_find<false>},
    {"format", text_format},
    {"format_map", text_format_map},
    {"index", text_index<false>},
    {"isalnum", all_are<is_alnum>},
    {"isalpha", all_are<is_alpha>},
    {"isascii", text_isascii},
    {"isdecimal", all_are<is_decimal>},
    {"isdigit", all_are<is_digit>},
    {"isidentifier", text_isidentifier},
    {"islower", one_case<is_lower>},
    {"isnumeric", all_are<is_numeric>},
    {"isprintable", text_isprintable},
    {"isspace", all_are<is_space>},
    {"istitle", text_istitle},
    {"isupper", one_case<is_upper>},
    {"join", text_join},
    {"ljust", text_justify<'<'>},
    {"lower", mapped<to_lower>},
    {"lstrip", text_strip<true, false>},
    {"partition", text_partition<false>},
    {"removeprefix", text_removeaffix<false>},
    {"removesuffix", text_removeaffix<true>},
    {"replace", text_replace},
    {"rfind", text_find<true>},
    {"rindex", text_index<true>},
    {"rjust", text_justify<'>'>},
    {"rpartition", text_partition<true>},
    {"rsplit", text_split<true>},
    {"rstrip", text_strip<false, true>},
    {"split", text_split<false>},
    {"splitlines", text_splitlines},
    {"startswith", text_affix<false>},
    {"strip", text_strip<true, true>},
    {"swapcase", mapped<to_swapped_case>},
    {"title", mapped<to_title>},
    {"translate", text_translate},
    {"upper", mapped<to_upper>},
    {"zfill", text_zfill},
};

constexpr NamedMethod markup_only[] = {
    {"striptags", text_striptags},
    {"unescape", text_unescape},
};

}  // namespace

std::span<const NamedMethod> text_methods() { return methods; }
std::span<const NamedMethod> markup_methods() { return markup_only; }

}  // namespace rlx::text::jinja

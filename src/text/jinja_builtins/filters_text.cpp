// SPDX-License-Identifier: Apache-2.0
// Filters that work on text.
#include <algorithm>

#include "base/utf8.h"
#include "text/jinja_builtins/filters.h"
#include "text/jinja_builtins/format.h"
#include "text/jinja_builtins/text_methods.h"
#include "text/jinja_text/html.h"
#include "text/jinja_text/unicode.h"
#include "text/jinja_text/word_wrap.h"

namespace rlx::text::jinja {
namespace {

/// Text of any value; markup stays markup.
Value soft_text(Interpreter& in, const Value& v) {
  return v.is_string() ? v : in.text(in.to_text(v));
}

const std::string& text_of(const Value& v, const char* who) {
  require_defined(v);
  if (!v.is_string()) raise("{}: a string is required, not {}", who, type_name(v));
  return v.text();
}

template <std::string (*map)(std::string_view)>
Value mapped(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("case filter", args, {});
  const Value s = soft_text(in, v);
  in.walk(s);
  return in.text_like(s, map(s.text()));
}

/// Upper case behind white space and opening brackets only, unlike str.title.
std::string title_words(std::string_view text) {
  std::string out;
  size_t start = 0;
  bool at_start = true;
  for (size_t at = 0; at <= text.size();) {
    const size_t before = at;
    const uint32_t c = at < text.size() ? decode_utf8(text, at) : ' ';
    const bool gap = before == text.size() || is_space(c) || c == '-' || c == '(' || c == '{' ||
                     c == '[' || c == '<';
    if (gap && !at_start) out += to_lower(text.substr(start, before - start));
    if (before == text.size()) break;
    if (gap) {
      out += text.substr(before, at - before);
    } else if (at_start) {
      out += to_upper(text.substr(before, at - before));
      start = at;
    }
    at_start = gap;
  }
  return out;
}

Value filter_string(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("string", args, {});
  return soft_text(in, v);
}

Value filter_safe(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("safe", args, {});
  return Value::markup(in.to_text(v));
}

Value filter_escape(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("escape", args, {});
  if (v.is_markup()) return v;
  std::string out = escape_html(in.to_text(v));
  in.charge(out.size());
  return Value::markup(std::move(out));
}

Value filter_forceescape(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("forceescape", args, {});
  std::string out = escape_html(in.to_text(v));
  in.charge(out.size());
  return Value::markup(std::move(out));
}

Value filter_striptags(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("striptags", args, {});
  return in.text(strip_tags(in.to_text(v)));
}

Value filter_trim(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("trim", args, {"chars"});
  const Value s = soft_text(in, v);
  in.walk(s);
  if (!b.has(0) || b[0].is_none()) return in.text_like(s, std::string(strip_space(s.text())));
  in.step(s.text().size() * b.text(0).size() / 4096);
  return in.text_like(s, std::string(strip_chars(s.text(), b.text(0), true, true)));
}

Value filter_replace(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("replace", args, {"old", "new", "count"}, 2);
  const bool limited = b.has(2) && !b[2].is_none();
  return in.text(replace_text(in, in.to_text(v), in.to_text(b[0]), in.to_text(b[1]),
                              limited ? b.integer(2, -1) : -1));
}

Value filter_indent(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("indent", args, {"width", "first", "blank"});
  const std::string text = text_of(v, "indent") + "\n";
  std::string indent;
  if (b.has(0) && b[0].is_string()) {
    indent = b[0].text();
  } else {
    const int64_t width = std::max<int64_t>(b.integer(0, 4), 0);
    in.charge(static_cast<uint64_t>(width));
    indent = std::string(static_cast<size_t>(width), ' ');
  }
  const auto lines = split_lines(text, false);
  in.step(lines.size());
  std::string out = b.flag(1, false) ? indent : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i) out += '\n';
    if (i && (b.flag(2, false) || !lines[i].empty())) out += indent;
    out += lines[i];
    if (out.size() > in.limits().max_output) in.charge(out.size());
  }
  return in.text_like(v, std::move(out));
}

Value filter_truncate(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("truncate", args, {"length", "killwords", "end", "leeway"});
  const std::string end = b.has(2) ? b.text(2) : "...";
  const int64_t length = b.integer(0, 255);
  const int64_t leeway = b.has(3) && !b[3].is_none() ? b.integer(3, 5) : 5;
  const auto end_length = static_cast<int64_t>(count_code_points(end));
  if (length < end_length) raise("truncate: expected length >= {}, got {}", end_length, length);
  if (leeway < 0) raise("truncate: expected leeway >= 0, got {}", leeway);
  const int64_t size = sized_length(v);
  if (size < 0) raise("truncate: object of type '{}' has no len()", type_name(v));
  if (size <= length || size - length <= leeway) return v;
  const std::string& s = text_of(v, "truncate");
  const std::string_view head =
      std::string_view(s).substr(0, offset_of(s, static_cast<size_t>(length - end_length)));
  const size_t space = b.flag(1, false) ? std::string_view::npos : head.rfind(' ');
  return in.text_like(v, std::string(head.substr(0, space)) + end);
}

Value filter_center(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("center", args, {"width"});
  const Value s = soft_text(in, v);
  Arguments width;
  width.positional.push_back(Value::integer(b.integer(0, 80)));
  const Value method = in.attribute(s, "center");
  return in.call(method, width);
}

Value filter_format(Interpreter& in, const Value& v, const Arguments& args) {
  if (!args.positional.empty() && !args.named.empty())
    raise("format: positional and keyword arguments cannot be mixed");
  const Value pattern = soft_text(in, v);
  if (args.named.empty())
    return in.text_like(pattern, format_percent(in, pattern, Value::tuple(args.positional)));
  auto named = std::make_shared<DictData>();
  for (const auto& [name, value] : args.named) named->set(Value::string(name), value);
  return in.text_like(pattern, format_percent(in, pattern, Value::dict(std::move(named))));
}

Value filter_wordcount(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("wordcount", args, {});
  const std::string s = in.to_text(v);
  int64_t words = 0;
  bool inside = false;
  for (size_t at = 0; at < s.size();) {
    const bool word = is_word(decode_utf8(s, at));
    words += word && !inside;
    inside = word;
  }
  return Value::integer(words);
}

Value filter_wordwrap(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("wordwrap", args, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const int64_t width = b.integer(0, 79);
  if (width <= 0) raise("wordwrap: invalid width {} (must be > 0)", width);
  const std::string joint = b.has(2) && !b[2].is_none() ? b.text(2) : "\n";
  in.walk(v);
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text_of(v, "wordwrap"), false)) {
    const auto wrapped =
        wrap_words(line, static_cast<size_t>(width), b.flag(1, true), b.flag(3, true));
    in.step(wrapped.size() + 1);
    lines.push_back(join_texts(in, joint, wrapped));
  }
  return in.text(join_texts(in, joint, lines));
}

/// Percent-encodes all but unreserved characters and '/' (in a query: '/' too, and ' ' as '+').
std::string quote_url(std::string_view text, bool query) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool letter = (u | 0x20) >= 'a' && (u | 0x20) <= 'z' && u < 0x80;
    if (letter || (u >= '0' && u <= '9') || c == '_' || c == '.' || c == '-' || c == '~' ||
        (c == '/' && !query))
      out += c;
    else if (c == ' ' && query)
      out += '+';
    else
      out += fmt::format("%{:02X}", u);
  }
  return out;
}

Value filter_urlencode(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("urlencode", args, {});
  const bool pairs = v.is(Kind::Dict);
  if (!pairs && (v.is_string() || (sized_length(v) < 0 && !v.is(Kind::Iterator))))
    return in.text(quote_url(in.to_text(v), false));
  Arguments none;
  const Value items = pairs ? in.call(in.attribute(v, "items"), none) : v;
  std::vector<std::string> parts;
  for (const Value& item : in.collect(items)) {
    const std::vector<Value> pair = in.collect(item);
    if (pair.size() != 2) raise("urlencode: pairs are required, got {} values", pair.size());
    parts.push_back(quote_url(in.to_text(pair[0]), true) + "=" +
                    quote_url(in.to_text(pair[1]), true));
    in.charge(parts.back().size());
  }
  return in.text(join_texts(in, "&", parts));
}

Value filter_xmlattr(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("xmlattr", args, {"autospace"});
  require_defined(v);
  if (!v.is(Kind::Dict)) raise("xmlattr: a mapping is required, not {}", type_name(v));
  std::vector<std::string> parts;
  for (const auto& [key, value] : v.dict_data().entries) {
    in.step();
    if (value.is_none() || value.is_undefined()) continue;
    const std::string name = in.to_text(key);
    const bool spaced = name.find_first_of(" \t\n\r\f\v/>=") != std::string::npos;
    if (spaced) raise("xmlattr: invalid character in attribute name '{}'", name);
    const auto safe = [&](const Value& x, const std::string& s) {
      return x.is_markup() ? s : escape_html(s);
    };
    parts.push_back(safe(key, name) + "=\"" + safe(value, in.to_text(value)) + "\"");
    in.charge(parts.back().size());
  }
  std::string out = join_texts(in, " ", parts);
  if (!out.empty() && b.flag(0, true)) out.insert(0, " ");
  return in.text(std::move(out));
}

/// Sets one of json.dumps's arguments `indent` and `separators`.
void set_json_layout(Interpreter& in, JsonStyle& style, const Bound& b) {
  if (b.has(1) && !b[1].is_none()) {
    style.indented = true;
    style.item_separator = ",";
    if (b[1].is_string()) {
      style.indent = b[1].text();
    } else {
      const int64_t width = std::max<int64_t>(b.integer(1, 0), 0);
      in.charge(static_cast<uint64_t>(width));
      style.indent = std::string(static_cast<size_t>(width), ' ');
    }
  }
  if (!b.has(2) || b[2].is_none()) return;
  const std::vector<Value> separators = in.collect(b[2]);
  if (separators.size() != 2) raise("tojson: separators must be two strings");
  style.item_separator = text_of(separators[0], "tojson separator");
  style.key_separator = text_of(separators[1], "tojson separator");
}

Value filter_tojson(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("tojson", args, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = b.flag(0, false);
  style.sort_keys = b.flag(3, false);
  set_json_layout(in, style, b);
  in.walk(v);
  return in.text(to_json(v, style));
}

Value filter_urlize(Interpreter&, const Value&, const Arguments&) {
  fail(ErrorCode::Unsupported, "the filter urlize is not supported");
}

constexpr NamedFilter filters[] = {
    {"capitalize", mapped<to_capitalized>},
    {"center", filter_center},
    {"e", filter_escape},
    {"escape", filter_escape},
    {"forceescape", filter_forceescape},
    {"format", filter_format},
    {"indent", filter_indent},
    {"lower", mapped<to_lower>},
    {"replace", filter_replace},
    {"safe", filter_safe},
    {"string", filter_string},
    {"striptags", filter_striptags},
    {"title", mapped<title_words>},
    {"tojson", filter_tojson},
    {"trim", filter_trim},
    {"truncate", filter_truncate},
    {"upper", mapped<to_upper>},
    {"urlencode", filter_urlencode},
    {"urlize", filter_urlize},
    {"wordcount", filter_wordcount},
    {"wordwrap", filter_wordwrap},
    {"xmlattr", filter_xmlattr},
};

}  // namespace

std::span<const NamedFilter> text_filters() { return filters; }

}  // namespace rlx::text::jinja

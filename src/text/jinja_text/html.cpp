// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_text/html.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/utf8.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '\'': out += "&#39;"; break;
      case '"': out += "&#34;"; break;
      default: out += c;
    }
  }
  return out;
}

namespace {

void erase_between(std::string& text, std::string_view open, std::string_view close) {
  std::string out;
  size_t at = 0;
  while (true) {
    const size_t start = text.find(open, at);
    const size_t end = start == std::string::npos ? start : text.find(close, start + open.size());
    if (end == std::string::npos) break;
    out.append(text, at, start - at);
    at = end + close.size();
  }
  text = out + text.substr(at);
}

/// Appends the character that the reference `name` (between & and ;) stands for.
bool append_reference(std::string& out, std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> names = {{
      {"amp", "&"},
      {"lt", "<"},
      {"gt", ">"},
      {"quot", "\""},
      {"apos", "'"},
      {"nbsp", "\u00a0"},
      {"copy", "\u00a9"},
      {"reg", "\u00ae"},
      {"hellip", "\u2026"},
      {"mdash", "\u2014"},
      {"ndash", "\u2013"},
      {"euro", "\u20ac"},
  }};
  for (const auto& [key, text] : names) {
    if (key != name) continue;
    out += text;
    return true;
  }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hex = name[1] == 'x' || name[1] == 'X';
  const char* first = name.data() + (hex ? 2 : 1);
  const char* last = name.data() + name.size();
  uint32_t code = 0;
  const auto read = std::from_chars(first, last, code, hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != last || first == last) return false;
  const bool scalar = code != 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  append_utf8(out, scalar ? code : 0xfffd);
  return true;
}

}  // namespace

std::string unescape_html(std::string_view text) {
  constexpr size_t longest = 12;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = text[i] == '&' ? text.substr(i, longest).find(';') : std::string_view::npos;
    if (end != std::string_view::npos && append_reference(out, text.substr(i + 1, end - 1)))
      i += end + 1;
    else
      out += text[i++];
  }
  return out;
}

std::string strip_tags(std::string_view text) {
  std::string rest(text);
  erase_between(rest, "<!--", "-->");
  erase_between(rest, "<", ">");
  std::string out;
  bool gap = false;
  for (size_t i = 0; i < rest.size();) {
    const uint32_t c = decode_utf8(rest, i);
    if (is_space(c)) {
      gap = !out.empty();
      continue;
    }
    if (gap) out += ' ';
    gap = false;
    append_utf8(out, c);
  }
  return unescape_html(out);
}

}  // namespace rlx::text::jinja

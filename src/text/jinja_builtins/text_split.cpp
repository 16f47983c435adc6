// SPDX-License-Identifier: Apache-2.0
// Splitting, replacing and joining text with Python's rules.
#include <algorithm>

#include "base/utf8.h"
#include "text/jinja_builtins/text_methods.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {

std::vector<std::string_view> split_space(std::string_view text, int64_t limit) {
  std::vector<std::string_view> parts;
  text = strip_space(text, true, false);
  while (!text.empty()) {
    if (limit >= 0 && static_cast<int64_t>(parts.size()) >= limit) {
      parts.push_back(strip_space(text, false, true));
      break;
    }
    size_t end = 0;
    for (size_t at = 0; at < text.size();) {
      if (is_space(decode_utf8(text, at))) break;
      end = at;
    }
    parts.push_back(text.substr(0, end));
    text = strip_space(text.substr(end), true, false);
  }
  return parts;
}

std::vector<std::string_view> rsplit_space(std::string_view text, int64_t limit) {
  std::vector<std::string_view> parts;
  text = strip_space(text, false, true);
  while (!text.empty()) {
    if (limit >= 0 && static_cast<int64_t>(parts.size()) >= limit) {
      parts.push_back(strip_space(text, true, false));
      break;
    }
    size_t start = text.size();
    while (start > 0) {
      size_t lead = start - 1;
      while (lead > 0 && (text[lead] & 0xc0) == 0x80) --lead;
      size_t next = lead;
      if (is_space(decode_utf8(text, next))) break;
      start = lead;
    }
    parts.push_back(text.substr(start));
    text = strip_space(text.substr(0, start), false, true);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_text(std::string_view text, std::string_view separator,
                                         int64_t limit) {
  std::vector<std::string_view> parts;
  size_t at = 0;
  while (limit < 0 || static_cast<int64_t>(parts.size()) < limit) {
    const size_t found = find_text(text, separator, at);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

std::vector<std::string_view> rsplit_text(std::string_view text, std::string_view separator,
                                          int64_t limit) {
  // The same as splitting the mirrored text from its front.
  const std::string mirrored(text.rbegin(), text.rend());
  const std::string wanted(separator.rbegin(), separator.rend());
  std::vector<std::string_view> parts = split_text(mirrored, wanted, limit);
  for (std::string_view& p : parts) {
    const auto start = static_cast<size_t>(p.data() - mirrored.data());
    p = text.substr(text.size() - start - p.size(), p.size());
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    const uint32_t c = decode_utf8(text, at);
    const bool ends = (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    if (!ends) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(start, (keep_ends ? at : before) - start));
    start = at;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

namespace {

/// "abc".replace("", "."): between all characters and at both ends.
std::string interleave(Interpreter& in, std::string_view text, std::string_view to, int64_t limit) {
  const auto places = static_cast<int64_t>(count_code_points(text)) + 1;
  int64_t left = limit < 0 ? places : std::min(limit, places);
  in.charge(text.size() + static_cast<uint64_t>(left) * to.size());
  std::string out;
  for (size_t at = 0; at <= text.size(); --left) {
    if (left > 0) out += to;
    if (at == text.size()) break;
    const size_t size = sequence_length(text[at]);
    out += text.substr(at, size);
    at += size;
  }
  return out;
}

}  // namespace

std::string replace_text(Interpreter& in, std::string_view text, std::string_view from,
                         std::string_view to, int64_t limit) {
  in.step(text.size() / 64);
  if (from.empty()) return interleave(in, text, to, limit);
  uint64_t count = 0;
  for (size_t at = 0; limit < 0 || static_cast<int64_t>(count) < limit; ++count) {
    at = find_text(text, from, at);
    if (at == std::string_view::npos) break;
    at += from.size();
  }
  if (count == 0) return std::string(text);
  in.step(count);
  uint64_t size = 0;
  if (__builtin_mul_overflow(count, static_cast<uint64_t>(to.size()), &size)) size = UINT64_MAX / 2;
  in.charge(size + text.size() - count * from.size());
  std::string out;
  out.reserve(size + text.size() - count * from.size());
  size_t at = 0;
  for (; count; --count) {
    const size_t found = find_text(text, from, at);
    out += text.substr(at, found - at);
    out += to;
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

std::string join_texts(Interpreter& in, std::string_view separator,
                       const std::vector<std::string>& items) {
  uint64_t size = 0;
  for (const std::string& s : items) size += s.size() + separator.size();
  in.charge(size);
  std::string out;
  out.reserve(size);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += separator;
    out += items[i];
  }
  return out;
}

}  // namespace rlx::text::jinja

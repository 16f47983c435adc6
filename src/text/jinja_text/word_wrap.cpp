// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_text/word_wrap.h"

#include "base/utf8.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

bool is_letter_at(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  const uint32_t c = decode_utf8(text, at);
  return is_word(c) && !is_digit(c);
}

/// Whether a word may break behind the hyphen at `at`: letters on both sides.
bool breaks_behind(std::string_view text, size_t at) {
  if (at == 0 || text[at] != '-') return false;
  size_t before = at - 1;
  while (before > 0 && (text[before] & 0xc0) == 0x80) --before;
  const size_t second = at + 1 < text.size() ? at + 1 + sequence_length(text[at + 1]) : at + 1;
  return is_letter_at(text, before) && is_letter_at(text, at + 1) &&
         (is_letter_at(text, second) || (second < text.size() && text[second] == '-'));
}

/// Alternating words and runs of white space; words are cut behind hyphens too.
std::vector<std::string_view> chunks_of(std::string_view text, bool break_on_hyphens) {
  std::vector<std::string_view> chunks;
  size_t start = 0;
  bool in_space = false;
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    const bool space = is_space(decode_utf8(text, at));
    if (before > start && space != in_space) {
      chunks.push_back(text.substr(start, before - start));
      start = before;
    }
    in_space = space;
    if (break_on_hyphens && breaks_behind(text, before)) {
      chunks.push_back(text.substr(start, at - start));
      start = at;
    }
  }
  if (start < text.size()) chunks.push_back(text.substr(start));
  return chunks;
}

bool is_blank(std::string_view chunk) { return strip_space(chunk).empty(); }

}  // namespace

std::vector<std::string> wrap_words(std::string_view line, size_t width, bool break_long_words,
                                    bool break_on_hyphens) {
  std::vector<std::string> lines;
  const std::vector<std::string_view> chunks = chunks_of(line, break_on_hyphens);
  size_t next = 0;
  std::string_view rest;  // what is left of a word that was broken
  while (next < chunks.size() || !rest.empty()) {
    std::vector<std::string_view> parts;
    size_t length = 0;
    if (rest.empty() && !lines.empty() && is_blank(chunks[next])) ++next;
    while (next < chunks.size() || !rest.empty()) {
      const std::string_view chunk = rest.empty() ? chunks[next] : rest;
      const size_t size = count_code_points(chunk);
      if (length + size <= width) {
        parts.push_back(chunk);
        length += size;
        rest = {};
        ++next;
        continue;
      }
      if (size > width && break_long_words) {
        const size_t cut = offset_of(chunk, width - length);
        parts.push_back(chunk.substr(0, cut));
        rest = chunk.substr(cut);
      } else if (size > width && parts.empty()) {
        parts.push_back(chunk);
        rest = {};
        ++next;
      }
      break;
    }
    if (!parts.empty() && is_blank(parts.back())) parts.pop_back();
    std::string out;
    for (const std::string_view p : parts) out += p;
    if (!parts.empty()) lines.push_back(std::move(out));
  }
  return lines;
}

}  // namespace rlx::text::jinja

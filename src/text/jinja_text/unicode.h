// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rlx::text::jinja {

// Character classes and case mappings as Python's str methods have them. Texts are valid UTF-8.

bool is_space(uint32_t c);
bool is_alpha(uint32_t c);
bool is_decimal(uint32_t c);
bool is_digit(uint32_t c);
bool is_numeric(uint32_t c);
bool is_upper(uint32_t c);
bool is_lower(uint32_t c);
bool is_cased(uint32_t c);
/// A letter, number or underscore: the \w of regular expressions.
bool is_word(uint32_t c);
/// Whether repr shows the character as it is.
bool is_printable(uint32_t c);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
/// Every run of cased characters starts with a title-case one.
std::string to_title(std::string_view text);
/// The first character in title case, the rest in lower case.
std::string to_capitalized(std::string_view text);
std::string to_swapped_case(std::string_view text);
std::string to_case_folded(std::string_view text);

/// Byte offset of code point `index`, or the end for larger ones.
size_t offset_of(std::string_view text, size_t index);
/// Number of code points.
size_t count_code_points(std::string_view text);
/// Bytes of the character that starts with byte `lead`.
inline size_t sequence_length(char lead) {
  const auto b = static_cast<unsigned char>(lead);
  return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

/// Byte offset of the first (last) `needle` in `text`, or npos, in linear time for any needle.
size_t find_text(std::string_view text, std::string_view needle, size_t from = 0);
size_t rfind_text(std::string_view text, std::string_view needle);

/// `text` without leading (`left`) and trailing (`right`) white space.
std::string_view strip_space(std::string_view text, bool left = true, bool right = true);
/// `text` without leading and trailing characters that occur in `chars`.
std::string_view strip_chars(std::string_view text, std::string_view chars, bool left, bool right);

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rlx {

/// The offset of the first byte that does not belong to valid UTF-8 (no overlong forms, surrogates
/// or code points over U+10FFFF; a sequence cut off at the end counts as invalid), or npos.
size_t find_invalid_utf8(std::string_view text);

/// How many leading bytes form whole valid characters, where the rest is a proper prefix of one
/// more character (0 to 3 bytes). Bytes that can never become valid count as whole.
size_t complete_utf8_prefix(std::string_view text);

/// `text` with each maximal invalid part replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// Appends the UTF-8 form of `code_point` (a Unicode scalar value) to `out`.
void append_utf8(std::string& out, uint32_t code_point);

/// Decodes the character at `text[at]` of valid UTF-8 and moves `at` behind it.
uint32_t decode_utf8(std::string_view text, size_t& at);

/// `text` with control bytes and invalid UTF-8 as \xNN, cut with "..." behind about `longest`
/// bytes.
std::string printable(std::string_view text, size_t longest);
/// printable() of about 80 bytes in quotes, for messages; the size follows where it was cut.
std::string quote(std::string_view text);

}  // namespace rlx

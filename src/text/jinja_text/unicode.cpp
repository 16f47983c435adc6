// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/utf8.h"
#include "text/jinja_text/case_table.h"

namespace rlx::text::jinja {
namespace {

struct CodeRange {
  uint32_t first, last;
};

template <size_t N>
bool in_ranges(const std::array<CodeRange, N>& ranges, uint32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](CodeRange r) { return c >= r.first && c <= r.last; });
}

// Numeric_Type=Digit of the Unicode Character Database.
constexpr std::array<CodeRange, 20> digit_ranges = {{
    {0xb2, 0xb3},       {0xb9, 0xb9},       {0x1369, 0x1371},   {0x19da, 0x19da},
    {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
    {0x2474, 0x247c},   {0x2488, 0x2490},   {0x24ea, 0x24ea},   {0x24f5, 0x24fd},
    {0x24ff, 0x24ff},   {0x2776, 0x277e},   {0x2780, 0x2788},   {0x278a, 0x2792},
    {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a},
}};

// Other_Uppercase and Other_Lowercase.
constexpr std::array<CodeRange, 5> other_upper = {{
    {0x2160, 0x216f},
    {0x24b6, 0x24cf},
    {0x1f130, 0x1f149},
    {0x1f150, 0x1f169},
    {0x1f170, 0x1f189},
}};
constexpr std::array<CodeRange, 24> other_lower = {{
    {0xaa, 0xaa},       {0xba, 0xba},       {0x2b0, 0x2b8},     {0x2c0, 0x2c1},
    {0x2e0, 0x2e4},     {0x345, 0x345},     {0x37a, 0x37a},     {0x1d2c, 0x1d6a},
    {0x1d78, 0x1d78},   {0x1d9b, 0x1dbf},   {0x2071, 0x2071},   {0x207f, 0x207f},
    {0x2090, 0x209c},   {0x2170, 0x217f},   {0x24d0, 0x24e9},   {0x2c7c, 0x2c7d},
    {0xa69c, 0xa69d},   {0xa770, 0xa770},   {0xa7f8, 0xa7f9},   {0xab5c, 0xab5f},
    {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba},
}};

utf8proc_category_t category(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

enum class Case { Upper, Lower, Title };

const SpecialCase* special_case(uint32_t c) {
  const auto* at =
      std::lower_bound(special_cases.begin(), special_cases.end(), c,
                       [](const SpecialCase& s, uint32_t code) { return s.code_point < code; });
  return at != special_cases.end() && at->code_point == c ? at : nullptr;
}

void append_mapped(std::string& out, uint32_t c, Case to) {
  const auto code = static_cast<utf8proc_int32_t>(c);
  if (c < 0x80) {
    const bool letter = to == Case::Lower ? (c >= 'A' && c <= 'Z') : (c >= 'a' && c <= 'z');
    out += static_cast<char>(letter ? c ^ 0x20 : c);
    return;
  }
  if (to == Case::Lower) {
    append_utf8(out, static_cast<uint32_t>(utf8proc_tolower(code)));
    if (c == 0x130) append_utf8(out, 0x307);  // the dot stays when I with dot becomes i
    return;
  }
  if (const SpecialCase* s = special_case(c)) {
    out += to == Case::Upper ? s->upper : s->title;
    return;
  }
  append_utf8(out, static_cast<uint32_t>(to == Case::Upper ? utf8proc_toupper(code)
                                                           : utf8proc_totitle(code)));
}

bool is_case_ignorable(uint32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return c == '\'' || c == '.' || c == ':' || c == 0xb7 || c == 0x2019;
  }
}

/// Whether the capital sigma at `at` ends a word, so that its small form is the final one.
bool is_final_sigma(std::string_view text, size_t at) {
  bool before = false;
  for (size_t i = 0; i < at;) {
    const uint32_t c = decode_utf8(text, i);
    if (!is_case_ignorable(c)) before = is_cased(c);
  }
  if (!before) return false;
  for (size_t i = at + sequence_length(text[at]); i < text.size();) {
    const uint32_t c = decode_utf8(text, i);
    if (!is_case_ignorable(c)) return !is_cased(c);
  }
  return true;
}

constexpr uint32_t capital_sigma = 0x3a3, final_sigma = 0x3c2;

void append_lower(std::string& out, std::string_view text, size_t at, uint32_t c) {
  if (c == capital_sigma && is_final_sigma(text.substr(0, at + 256), at))
    append_utf8(out, final_sigma);
  else
    append_mapped(out, c, Case::Lower);
}

}  // namespace

bool is_space(uint32_t c) {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_alpha(uint32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(uint32_t c) { return is_decimal(c) || in_ranges(digit_ranges, c); }

bool is_numeric(uint32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}

bool is_upper(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU || in_ranges(other_upper, c);
}

bool is_lower(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL || in_ranges(other_lower, c);
}

bool is_cased(uint32_t c) {
  return is_upper(c) || is_lower(c) || category(c) == UTF8PROC_CATEGORY_LT;
}

bool is_word(uint32_t c) { return c == '_' || is_alpha(c) || is_numeric(c); }

bool is_printable(uint32_t c) {
  if (c < 0x7f) return c >= 0x20;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) append_mapped(out, decode_utf8(text, i), Case::Upper);
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    append_lower(out, text, at, decode_utf8(text, i));
  }
  return out;
}

std::string to_title(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    const uint32_t c = decode_utf8(text, i);
    if (inside)
      append_lower(out, text, at, c);
    else
      append_mapped(out, c, Case::Title);
    inside = is_cased(c);
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    const uint32_t c = decode_utf8(text, i);
    if (at == 0)
      append_mapped(out, c, Case::Title);
    else
      append_lower(out, text, at, c);
  }
  return out;
}

std::string to_swapped_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    const uint32_t c = decode_utf8(text, i);
    if (is_upper(c))
      append_lower(out, text, at, c);
    else if (is_lower(c))
      append_mapped(out, c, Case::Upper);
    else
      append_utf8(out, c);
  }
  return out;
}

std::string to_case_folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<utf8proc_int32_t>(decode_utf8(text, i));
    std::array<utf8proc_int32_t, 8> folded{};
    const auto n =
        utf8proc_decompose_char(c, folded.data(), folded.size(), UTF8PROC_CASEFOLD, nullptr);
    for (utf8proc_ssize_t k = 0; k < n && k < 8; ++k)
      append_utf8(out, static_cast<uint32_t>(folded[static_cast<size_t>(k)]));
  }
  return out;
}

size_t offset_of(std::string_view text, size_t index) {
  size_t at = 0;
  while (index > 0 && at < text.size()) {
    at += sequence_length(text[at]);
    --index;
  }
  return std::min(at, text.size());
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

size_t find_text(std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  // std::string::find is quadratic at worst; memmem is not.
  const void* at = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return at ? static_cast<size_t>(static_cast<const char*>(at) - text.data())
            : std::string_view::npos;
}

size_t rfind_text(std::string_view text, std::string_view needle) {
  if (needle.size() <= 4) return text.rfind(needle);
  const std::string back(text.rbegin(), text.rend()), wanted(needle.rbegin(), needle.rend());
  const size_t at = find_text(back, wanted);
  return at == std::string::npos ? at : text.size() - at - needle.size();
}

namespace {

/// Strips characters for which `drop` holds.
template <typename Drop>
std::string_view strip_if(std::string_view text, bool left, bool right, Drop drop) {
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    size_t next = begin;
    if (!drop(decode_utf8(text, next))) break;
    begin = next;
  }
  while (right && end > begin) {
    size_t start = end - 1;
    while (start > begin && (text[start] & 0xc0) == 0x80) --start;
    size_t next = start;
    if (!drop(decode_utf8(text, next))) break;
    end = start;
  }
  return text.substr(begin, end - begin);
}

}  // namespace

std::string_view strip_space(std::string_view text, bool left, bool right) {
  return strip_if(text, left, right, is_space);
}

std::string_view strip_chars(std::string_view text, std::string_view chars, bool left, bool right) {
  std::u32string set;
  for (size_t i = 0; i < chars.size();) set += static_cast<char32_t>(decode_utf8(chars, i));
  return strip_if(text, left, right, [&](uint32_t c) {
    return set.find(static_cast<char32_t>(c)) != std::u32string::npos;
  });
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/wordpiece.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "text/tokenizers/special_tokens.h"

namespace rlx::text {
namespace {

constexpr size_t max_word_characters = 100;  ///< BERT's max_input_chars_per_word

utf8proc_category_t category(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_white_space(uint32_t c) {
  if (c == '\t' || c == '\n' || c == '\r' || c == ' ') return true;
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_ZL || k == UTF8PROC_CATEGORY_ZP;
}

bool is_dropped(uint32_t c) {
  if (c == 0 || c == 0xfffd) return true;
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CS ||
         k == UTF8PROC_CATEGORY_CO;
}

bool is_punctuation(uint32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

/// The blocks of ideographs that BERT sets apart; Japanese kana and Korean are not among them.
bool is_ideograph(uint32_t c) {
  constexpr std::array<std::array<uint32_t, 2>, 8> ranges = {{{0x3400, 0x4dbf},
                                                              {0x4e00, 0x9fff},
                                                              {0xf900, 0xfaff},
                                                              {0x20000, 0x2a6df},
                                                              {0x2a700, 0x2b73f},
                                                              {0x2b740, 0x2b81f},
                                                              {0x2b820, 0x2ceaf},
                                                              {0x2f800, 0x2fa1f}}};
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const auto& r) { return c >= r[0] && c <= r[1]; });
}

/// Calls `take` for each character of the canonical decomposition of `c`.
template <typename Take>
void decompose(uint32_t c, Take&& take) {
  std::array<utf8proc_int32_t, 32> parts{};
  int last_boundclass = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                             static_cast<utf8proc_ssize_t>(parts.size()),
                                             UTF8PROC_DECOMPOSE, &last_boundclass);
  if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) return take(c);
  for (utf8proc_ssize_t i = 0; i < count; ++i) take(static_cast<uint32_t>(parts[i]));
}

/// The word being collected, and the words handed on.
template <typename Emit>
class Words {
 public:
  Words(const Vocabulary& vocabulary, Emit emit) : vocabulary_(vocabulary), emit_(emit) {}

  void add(uint32_t c) {
    if (c < 0x80) return add_clean(c);
    if (is_dropped(c)) return;
    if (is_white_space(c)) return flush();
    const bool alone = is_ideograph(c);
    if (alone) flush();
    if (!vocabulary_.strip_accents) {
      append(c);
    } else {
      decompose(c, [&](uint32_t part) {
        if (category(part) != UTF8PROC_CATEGORY_MN) append(part);
      });
    }
    if (alone) flush();
  }

  void flush() {
    if (!word_.empty()) emit_(word_);
    word_.clear();
  }

 private:
  void add_clean(uint32_t c) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return flush();
    if (c < ' ' || c == 0x7f) return;
    append(c);
  }

  void append(uint32_t c) {
    if (vocabulary_.lower_case) c = static_cast<uint32_t>(utf8proc_tolower(static_cast<int>(c)));
    const bool alone = is_punctuation(c);
    if (alone) flush();
    append_utf8(word_, c);
    if (alone) flush();
  }

  const Vocabulary& vocabulary_;
  Emit emit_;
  std::string word_;
};

bool over_limit(std::string_view word) {
  if (word.size() <= max_word_characters) return false;
  const auto begins = std::count_if(word.begin(), word.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  return static_cast<size_t>(begins) > max_word_characters;
}

}  // namespace

bool marks_word_starts(const Vocabulary& vocabulary) {
  return std::any_of(vocabulary.tokens.begin(), vocabulary.tokens.end(),
                     [](const std::string& t) { return t.starts_with(blank_mark); });
}

WordPiece::WordPiece(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  const bool marked = marks_word_starts(vocabulary);
  starts_.reserve(vocabulary.tokens.size());
  parts_.reserve(vocabulary.tokens.size());
  for (uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (type_of(vocabulary, id) != TokenType::Normal) continue;
    std::string_view text = vocabulary.tokens[id];
    const std::string_view mark = marked ? blank_mark : "##";
    const bool has_mark = text.starts_with(mark) && text.size() > mark.size();
    if (has_mark) text.remove_prefix(mark.size());
    (has_mark == marked ? starts_ : parts_).add(text, id);
  }
}

void WordPiece::encode(std::string_view text, bool /*prefix*/, std::vector<uint32_t>& ids) const {
  Words words(vocabulary_, [&](std::string_view word) { encode_word(word, ids); });
  for (size_t at = 0; at < text.size();) words.add(decode_utf8(text, at));
  words.flush();
}

void WordPiece::encode_word(std::string_view word, std::vector<uint32_t>& ids) const {
  const size_t first = ids.size();
  bool known = !over_limit(word);
  for (size_t at = 0; known && at < word.size();) {
    const TokenMap& map = at == 0 ? starts_ : parts_;
    size_t size = std::min(word.size() - at, map.longest());
    uint32_t id = no_token;
    for (; size > 0 && id == no_token; --size) {
      id = map.find(word.substr(at, size));
      if (id != no_token) break;
    }
    known = id != no_token;
    if (known) {
      ids.push_back(id);
      at += size;
    }
  }
  if (!known) {
    ids.resize(first);
    if (vocabulary_.unk) ids.push_back(*vocabulary_.unk);
  }
}

}  // namespace rlx::text

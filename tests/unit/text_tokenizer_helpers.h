// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/tokenizers/byte_chars.h"

namespace rlx::text::test {

using Ids = std::vector<uint32_t>;

struct Token {
  std::string text;
  TokenType type = TokenType::Normal;
  float score = 0;
};

/// Appends tokens with their types and scores.
inline void add(Vocabulary& v, std::initializer_list<Token> tokens) {
  for (const Token& t : tokens) {
    v.tokens.push_back(t.text);
    v.types.push_back(t.type);
    v.scores.push_back(t.score);
  }
}

/// A byte-level vocabulary: ids 0 to 255 are the bytes in order, then `more`.
inline Vocabulary byte_vocabulary(std::string pre, std::initializer_list<Token> more = {},
                                  std::vector<std::string> merges = {}) {
  Vocabulary v;
  v.model = TokenizerModel::Bpe;
  v.pre = std::move(pre);
  for (uint32_t b = 0; b < 256; ++b) {
    add(v, {{std::string(ByteChars::instance().spelling(static_cast<uint8_t>(b)))}});
  }
  add(v, more);
  v.scores.clear();
  v.merges = std::move(merges);
  return v;
}

/// A SentencePiece vocabulary: 0 <unk>, 1 <s>, 2 </s>, 3 to 258 the byte tokens, then `more`.
inline Vocabulary spm_vocabulary(std::initializer_list<Token> more) {
  Vocabulary v;
  v.model = TokenizerModel::Spm;
  add(v,
      {{"<unk>", TokenType::Unknown}, {"<s>", TokenType::Control}, {"</s>", TokenType::Control}});
  for (uint32_t b = 0; b < 256; ++b) add(v, {{fmt::format("<0x{:02X}>", b), TokenType::Byte}});
  add(v, more);
  v.bos = 1;
  v.eos = 2;
  v.unk = 0;
  return v;
}

/// The ids of a text's bytes plus `first`.
inline Ids bytes_of(std::string_view text, uint32_t first) {
  Ids ids;
  for (const char c : text) ids.push_back(first + static_cast<uint8_t>(c));
  return ids;
}

/// The message of the Error that `call` throws, or "" when it throws none.
template <typename Call>
std::string error_of(Call&& call, ErrorCode code) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.message();
  }
  return "";
}

constexpr EncodeOptions plain{.add_special = false, .parse_special = false};
constexpr EncodeOptions parsed{.add_special = false, .parse_special = true};

}  // namespace rlx::text::test

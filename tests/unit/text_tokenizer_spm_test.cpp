// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

namespace {

constexpr uint32_t first = 259;  ///< of the tokens behind the byte tokens

}  // namespace

TEST_CASE("the first word carries a blank, rare characters become bytes (llm-bugs 004)") {
  const auto tokenizer =
      Tokenizer::create(spm_vocabulary({{"\u2581", TokenType::Normal, -9}, {"A"}, {"\u2581A"}}));
  Ids want = {1, first + 2, first};
  for (const uint32_t id : bytes_of("🦔", 3)) want.push_back(id);
  CHECK(tokenizer.encode("A 🦔") == want);
  CHECK(tokenizer.decode(want) == "A 🦔");
}

TEST_CASE("leading blanks are kept and decoding gives the text back (llm-bugs 005)") {
  const auto tokenizer = Tokenizer::create(spm_vocabulary({{"\u2581", TokenType::Normal, -9},
                                                           {"\u2581\u2581", TokenType::Normal, -1},
                                                           {"t"},
                                                           {"\u2581t", TokenType::Normal, -2}}));
  CHECK(tokenizer.encode("   t", plain) == Ids{first + 1, first + 1, first + 2});
  CHECK(tokenizer.encode("  t", plain) == Ids{first + 1, first + 3});
  for (const char* text : {"t", " t", "  t", "   t ", "\n\tt  t ", " "}) {
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
  // What follows other ids keeps its blank.
  CHECK(tokenizer.decode(Ids{first + 3}, {.continuation = true}) == " t");
  CHECK(tokenizer.decode(Ids{first + 3}) == "t");
}

TEST_CASE("the best score merges first, of equal ones the leftmost") {
  Vocabulary v = spm_vocabulary({{"a", TokenType::Normal, -9},
                                 {"b", TokenType::Normal, -9},
                                 {"c", TokenType::Normal, -9},
                                 {"ab", TokenType::Normal, -2},
                                 {"bc", TokenType::Normal, -1},
                                 {"aa", TokenType::Normal, -3}});
  v.add_space_prefix = false;
  v.add_bos = false;
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("abc") == Ids{first, first + 4});
  CHECK(tokenizer.encode("aaa") == Ids{first + 5, first});
  CHECK(tokenizer.encode("aab") == Ids{first, first + 3});
}

TEST_CASE("an unused token is taken apart again, a control token is never made") {
  Vocabulary v = spm_vocabulary({{"a"}, {"b"}, {"ab", TokenType::Unused}, {"<"}, {"s"}, {">"}});
  add(v, {{"<s", TokenType::Normal, 1}});
  v.add_space_prefix = false;
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("ab", plain) == Ids{first, first + 1});
  CHECK(tokenizer.encode("<s>", plain) == Ids{first + 6, first + 5});
  CHECK(tokenizer.encode("<s>", parsed) == Ids{1});
}

TEST_CASE("user-defined runs of blanks are taken longest first (llm-bugs 013)") {
  for (const char* two : {"  ", "\u2581\u2581"}) {
    Vocabulary v = spm_vocabulary({{"a"}, {two, TokenType::UserDefined}, {"\u2581"}});
    add(v, {{"   ", TokenType::UserDefined}});
    v.add_space_prefix = false;
    const auto tokenizer = Tokenizer::create(v);
    CHECK(tokenizer.encode("a     a a", plain) ==
          Ids{first, first + 3, first + 1, first, first + 2, first});
    CHECK(tokenizer.decode(tokenizer.encode("a     a a")) == "a     a a");
  }
}

TEST_CASE("tokens with a blank inside are found across words") {
  Vocabulary v = spm_vocabulary({{">"}, {"<"}, {"\u2581"}, {">\u2581"}, {">\u2581<"}});
  v.add_space_prefix = false;
  CHECK(Tokenizer::create(v).encode("> <", plain) == Ids{first + 4});
}

TEST_CASE("stripping behind Phi-3's control tokens") {
  Vocabulary v = spm_vocabulary({{"a"}, {"\u2581"}, {"\u2581a", TokenType::Normal, 1}});
  add(v, {{"<|end|>", TokenType::Control}});
  CHECK(Tokenizer::create(v).encode("<|end|>\n a", parsed).size() == 4);
  set_phi3_stripping(v);
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("<|end|>\n a", parsed) == Ids{first + 3, first + 2});
  CHECK(tokenizer.encode("<s> a", parsed) == Ids{1, first + 1, first + 2});
}

TEST_CASE("the blank of each part behind a shown token is taken away again") {
  Vocabulary v = spm_vocabulary({{"a"}, {"\u2581"}, {"\u2581a", TokenType::Normal, 1}});
  add(v, {{"<x>", TokenType::UserDefined}});
  const auto tokenizer = Tokenizer::create(v);
  for (const char* text : {"<x>a", "a<x> a", "<x><x>  a <x>"}) {
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
}

TEST_CASE("scores that are missing or no numbers are an error") {
  Vocabulary v = spm_vocabulary({{"a"}});
  v.scores.pop_back();
  CHECK(error_of([&] { Tokenizer::create(v); }, ErrorCode::InvalidFile) ==
        "tokenizer: 259 scores for 260 tokens, one each is needed");
  v.scores.push_back(std::numeric_limits<float>::quiet_NaN());
  CHECK(error_of([&] { Tokenizer::create(v); }, ErrorCode::InvalidFile) ==
        "tokenizer: the score of token 259 is not a number");
  v.scores.back() = 0;
  v.tokens[5] = "<0x0G>";
  CHECK(error_of([&] { Tokenizer::create(v); }, ErrorCode::InvalidFile).find("<0x0G>") !=
        std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

namespace {

/// BERT's vocabulary in small; `marked`: GGUF's spelling with U+2581 at word starts, else "##".
Vocabulary bert(bool marked) {
  Vocabulary v;
  v.model = TokenizerModel::WordPiece;
  const auto start = [&](std::string text) { return Token{(marked ? "\u2581" : "") + text}; };
  const auto part = [&](std::string text) { return Token{(marked ? "" : "##") + text}; };
  add(v, {{"[PAD]", TokenType::Control},
          {"[UNK]", TokenType::Control},
          {"[CLS]", TokenType::Control},
          {"[SEP]", TokenType::Control},
          start("cafe"),
          start("ete"),
          start("中"),
          start("文"),
          start("ab"),
          start("a"),
          part("b"),
          part("bc"),
          start(","),
          start("!"),
          start("ᄒ"),
          part("ᅡ")});
  v.scores.clear();
  return v;
}

}  // namespace

TEST_CASE("accents are stripped and letters made small (llm-bugs 007, 008)") {
  for (const bool marked : {true, false}) {
    const auto tokenizer = Tokenizer::create(bert(marked));
    CHECK(tokenizer.encode("CAFÉ, cafe\u0301!") == Ids{2, 4, 12, 4, 13, 3});
    CHECK(tokenizer.encode("e\u0301te\u0301 中文a\u00adb", plain) == Ids{5, 6, 7, 8});
    CHECK(tokenizer.encode("하", plain) == Ids{14, 15});
    // Format and control characters vanish inside a word, a no-break blank ends one.
    CHECK(tokenizer.encode("a\u200d\x01\u0301b\u00a0a", plain) == Ids{8, 9});
  }
}

TEST_CASE("the longest part is taken, a word with an unknown part is unknown") {
  const auto tokenizer = Tokenizer::create(bert(true));
  CHECK(tokenizer.encode("abb", plain) == Ids{8, 10});
  CHECK(tokenizer.encode("abx ab", plain) == Ids{1, 8});
  CHECK(tokenizer.encode("b", plain) == Ids{1});
  CHECK(tokenizer.decode(Ids{2, 4, 12, 8, 10, 3}) == "cafe , abb");
  CHECK(tokenizer.encode("[SEP]a", parsed) == Ids{3, 9});
}

TEST_CASE("a word over 100 characters is one unknown token (llm-bugs 017)") {
  Vocabulary v = bert(true);
  add(v, {{"a"}});
  v.scores.clear();
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode(std::string(100, 'a'), plain).size() == 100);
  CHECK(tokenizer.encode(std::string(101, 'a'), plain) == Ids{1});
  CHECK(tokenizer.encode(std::string(200000, 'a'), plain) == Ids{1});
}

TEST_CASE("letters and accents stay where the vocabulary says so") {
  Vocabulary v = bert(true);
  v.lower_case = false;
  v.strip_accents = false;
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("cafe Cafe café", plain) == Ids{4, 1, 1});
}

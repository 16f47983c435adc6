// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>

#include "../support/expect_error.h"
#include "text/tokenizers/merges.h"
#include "text/tokenizers/token_map.h"
#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

TEST_CASE("bytes are spelled as GPT-2 spells them") {
  const ByteChars& chars = ByteChars::instance();
  CHECK(chars.spelling('A') == "A");
  CHECK(chars.spelling(0) == "\u0100");
  CHECK(chars.spelling(' ') == "\u0120");
  CHECK(chars.spelling(0x7f) == "\u0121");
  CHECK(chars.spelling(0xad) == "\u0143");
  CHECK(chars.spelling(0xff) == "\u00ff");
  for (uint32_t b = 0; b < 256; ++b) {
    const auto byte = static_cast<uint8_t>(b);
    CHECK(chars.bytes(chars.spelling(byte)) == std::string(1, static_cast<char>(byte)));
  }
  CHECK(chars.bytes("\u0120中") == " 中");
}

TEST_CASE("merging equals the plain procedure, for short and for long words") {
  std::mt19937 random(1);
  MergeTable table;
  table.reserve(60);
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> merges;
  uint32_t next = 4;
  for (uint32_t rank = 0; rank < 60; ++rank) {
    const uint32_t left = random() % next, right = random() % next;
    table.add(left, right, rank, next);
    if (merges.emplace(std::pair{left, right}, std::pair{rank, next}).second) ++next;
  }
  const auto plain_procedure = [&](Ids s) {
    while (true) {
      uint32_t best = UINT32_MAX, result = 0;
      size_t place = 0;
      for (size_t i = 0; i + 1 < s.size(); ++i) {
        const auto found = merges.find({s[i], s[i + 1]});
        if (found == merges.end() || found->second.first >= best) continue;
        std::tie(best, result) = found->second;
        place = i;
      }
      if (best == UINT32_MAX) return s;
      s[place] = result;
      s.erase(s.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
  };
  size_t merged = 0;
  for (size_t trial = 0; trial < 600; ++trial) {
    Ids symbols(trial % 100);
    for (uint32_t& s : symbols) s = random() % 4;
    const Ids want = plain_procedure(symbols);
    merged += symbols.size() - want.size();
    table.apply(symbols);
    CHECK(symbols == want);
  }
  CHECK(merged > 1000);
}

TEST_CASE("a token map keeps the first id of a text and finds nothing else") {
  TokenMap map;
  map.reserve(300);
  std::vector<std::string> texts;
  for (int i = 0; i < 299; ++i) texts.push_back(fmt::format("{}-token", i));
  std::vector<TokenMap::Entry> entries;
  for (uint32_t i = 0; i < texts.size(); ++i) entries.push_back({texts[i], i});
  map.add_all(entries);
  CHECK_FALSE(map.add(texts[7], 1000));
  std::vector<std::string_view> asked(texts.begin(), texts.end());
  asked.push_back("299-token");
  Ids ids(asked.size());
  map.find_all(asked, ids);
  for (uint32_t i = 0; i < texts.size(); ++i) CHECK(ids[i] == i);
  CHECK(ids.back() == no_token);
  CHECK(TokenMap().find("x") == no_token);
}

TEST_CASE("merges go by rank, whatever the order in the text") {
  const auto tokenizer = Tokenizer::create(
      byte_vocabulary("gpt-2", {{"bc"}, {"ab"}, {"abc"}, {"aa"}}, {"b c", "a b", "ab c", "a a"}));
  CHECK(tokenizer.encode("abc") == Ids{'a', 256});
  CHECK(tokenizer.encode("aaa") == Ids{259, 'a'});
  CHECK(tokenizer.decode(Ids{258, 257}) == "abcab");
}

TEST_CASE("merges of what is no token are refused") {
  const auto error = [](const char* merge) {
    return rlx::test::message_of([&] {
      Tokenizer::create(byte_vocabulary("gpt-2", {{"bc"}, {"  "}}, {"b c", merge}));
    });
  };
  CHECK(error("b c") == "no error");
  CHECK(error("b bcd") == "tokenizer: merge 1 is \"b bcd\", but \"bcd\" is no token");
  CHECK(error("bc\xff a").find("is no token") != std::string::npos);
  CHECK(error("\u0120\u0120 \u0120") == "no error");  // stored as the two blanks it stands for
}

TEST_CASE("added tokens match from the left, the longest at each place (llm-bugs 014)") {
  Vocabulary v = byte_vocabulary("gpt-2", {}, {"x y"});
  for (const char* text : {"ab", "bcd", "cde", "e1", "12", "123", "231"}) {
    v.tokens.emplace_back(text);
    v.types.push_back(TokenType::UserDefined);
  }
  v.tokens.emplace_back("<end>");
  v.types.push_back(TokenType::Control);
  v.bos = v.eos = 263;
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("abcde12312abcd1231") == Ids{256, 258, 261, 260, 256, 'c', 'd', 261, '1'});
  CHECK(tokenizer.encode("<end>ab") == Ids{'<', 'e', 'n', 'd', '>', 256});
  CHECK(tokenizer.encode("x<end>ab", parsed) == Ids{'x', 263, 256});
}

TEST_CASE("a control token is never made by merging or by taking a word whole") {
  Vocabulary v = byte_vocabulary("llama-bpe", {{"ab", TokenType::Control}, {"cd"}}, {"a b"});
  v.bos = 256;
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("ab", plain) == Ids{'a', 'b'});
  CHECK(tokenizer.encode("ab", parsed) == Ids{256});
  // ignore_merges of this family: no merge makes "cd", yet the word is a token.
  CHECK(tokenizer.encode("cd", plain) == Ids{257});
  CHECK(tokenizer.encode("cdc", plain) == Ids{'c', 'd', 'c'});
  CHECK(tokenizer.adds_bos());
}

TEST_CASE("a merge without exactly one blank between two parts is an error with its number") {
  for (const char* merge : {"ab", "a  b", "a b c", " ab", "ab ", "", " "}) {
    CAPTURE(merge);
    const auto create = [&] { Tokenizer::create(byte_vocabulary("gpt-2", {}, {"a b", merge})); };
    CHECK(error_of(create, ErrorCode::InvalidFile).find("merge 1 ") != std::string::npos);
  }
}

TEST_CASE("a byte without a token yields nothing") {
  Vocabulary v = byte_vocabulary("gpt-2");
  v.tokens[7] = "<gone>";
  CHECK(Tokenizer::create(v).encode("a\ab") == Ids{'a', 'b'});
}

TEST_CASE("a character vocabulary merges characters, marks blanks and falls back to bytes") {
  Vocabulary v = spm_vocabulary({{"a"}, {"b"}, {"\u2581"}, {"\u2581a"}, {"ab"}, {"\u2581ab"}});
  v.model = TokenizerModel::Bpe;
  v.byte_level = false;
  v.scores.clear();
  v.merges = {"a b", "\u2581 ab", "\u2581 a"};
  v.add_space_prefix = true;
  v.add_bos = false;
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("ab a") == Ids{264, 262});
  CHECK(tokenizer.encode(" é") == Ids{261, 261, 3 + 0xc3, 3 + 0xa9});
  CHECK(tokenizer.decode(tokenizer.encode("  ab é a")) == "  ab é a");
}

TEST_CASE("form C is made first where the vocabulary says so") {
  Vocabulary v = byte_vocabulary("gpt-2");
  CHECK(Tokenizer::create(v).encode("e\u0301") == bytes_of("e\u0301", 0));
  v.nfc = true;
  CHECK(Tokenizer::create(v).encode("e\u0301") == bytes_of("\u00e9", 0));
}

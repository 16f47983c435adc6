// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "text/tokenizers/charsmap.h"
#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

namespace {

Vocabulary unigram(std::initializer_list<Token> more) {
  Vocabulary v;
  v.model = TokenizerModel::Unigram;
  add(v,
      {{"<pad>", TokenType::Control}, {"</s>", TokenType::Control}, {"<unk>", TokenType::Unknown}});
  add(v, more);
  return v;
}

void put(std::string& out, uint32_t value) {
  for (int k = 0; k < 4; ++k) out += static_cast<char>(value >> (8 * k) & 0xff);
}

/// A charsmap that maps "A" to "a" and "\t" to " ", laid out by hand.
std::string small_charsmap() {
  const std::string replacements("a\0 \0", 4);
  std::vector<uint32_t> units(0x200, 0);
  units[0] = 0x100u << 10;  // children at 0x100 ^ byte
  const auto leaf = [&](uint8_t byte, uint32_t value_at, uint32_t value) {
    const uint32_t at = 0x100u ^ byte;
    units[at] = (at ^ value_at) << 10 | 0x100u | byte;
    units[value_at] = 0x80000000u | value;
  };
  leaf('A', 0x180, 0);
  leaf('\t', 0x181, 2);
  std::string out;
  put(out, static_cast<uint32_t>(units.size() * 4));
  for (const uint32_t unit : units) put(out, unit);
  return out + replacements;
}

}  // namespace

TEST_CASE("the cut with the greatest sum of scores wins") {
  std::mt19937 random(3);
  std::vector<std::pair<std::string, float>> parts = {{"a", -3.5f}, {"b", -3.25f}, {"\u2581", -2}};
  for (const char* text : {"ab", "ba", "aab", "bb", "abab", "\u2581a", "\u2581ab", "bba"}) {
    parts.emplace_back(text, -1.0f - static_cast<float>(random() % 4096) / 512);
  }
  Vocabulary v = unigram({});
  for (const auto& [text, score] : parts) add(v, {{text, TokenType::Normal, score}});
  const auto tokenizer = Tokenizer::create(v);
  for (int trial = 0; trial < 200; ++trial) {
    std::string text;
    for (uint32_t n = 1 + random() % 12; n > 0; --n) text += random() % 2 != 0 ? 'a' : 'b';
    const std::string marked = "\u2581" + text;
    std::vector<double> best(marked.size() + 1, -1e30);
    best[0] = 0;
    for (size_t at = 0; at < marked.size(); ++at) {
      for (const auto& [part, score] : parts) {
        if (marked.compare(at, part.size(), part) != 0) continue;
        best[at + part.size()] = std::max(best[at + part.size()], best[at] + score);
      }
    }
    double sum = 0;
    const Ids ids = tokenizer.encode(text, plain);
    for (const uint32_t id : ids) sum += v.scores[id];
    CHECK(sum == doctest::Approx(best.back()));
    CHECK(tokenizer.decode(ids) == text);
  }
}

TEST_CASE("an end token is added, unknown runs are one token, extra blanks go") {
  const auto tokenizer =
      Tokenizer::create(unigram({{"\u2581", TokenType::Normal, -1}, {"a", TokenType::Normal, -1}}));
  CHECK(tokenizer.encode("a") == Ids{3, 4, 1});
  CHECK(tokenizer.encode("  a   a  ", plain) == Ids{3, 4, 3, 4});
  CHECK(tokenizer.encode("aéxa", plain) == Ids{3, 4, 2, 4});
  CHECK(tokenizer.encode("   ", plain).empty());
  CHECK(tokenizer.encode("", plain).empty());
}

TEST_CASE("blanks stay where the vocabulary keeps them; bytes stand in for unknown characters") {
  Vocabulary v = unigram({{"\u2581", TokenType::Normal, -1}, {"a", TokenType::Normal, -1}});
  v.remove_extra_whitespaces = false;
  for (uint32_t b = 0; b < 256; ++b) add(v, {{fmt::format("<0x{:02X}>", b), TokenType::Byte}});
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode(" a ", plain) == Ids{3, 3, 4, 3});
  CHECK(tokenizer.encode("é", plain) == Ids{3, 5 + 0xc3, 5 + 0xa9});
  CHECK(tokenizer.decode(tokenizer.encode("  aé ")) == "  aé ");
}

TEST_CASE("a charsmap replaces the longest sequence it knows") {
  Vocabulary v = unigram({{"\u2581", TokenType::Normal, -1}, {"a", TokenType::Normal, -1}});
  v.precompiled_charsmap = small_charsmap();
  const auto tokenizer = Tokenizer::create(v);
  CHECK(tokenizer.encode("Aa\tA", plain) == Ids{3, 4, 4, 3, 4});
  const CharsMap map(v.precompiled_charsmap);
  CHECK(map.longest_prefix("Ab").length == 1);
  CHECK(map.longest_prefix("Ab").replacement == "a");
  CHECK(map.longest_prefix("bA").length == 0);
}

TEST_CASE("a broken charsmap is an error or maps something, but reads no foreign memory") {
  const std::string good = small_charsmap();
  for (size_t size = 1; size < good.size(); ++size) {
    if (size == good.size() - 2) continue;  // the first replacement alone is well-formed
    CHECK_THROWS_AS(CharsMap(good.substr(0, size)), Error);
  }
  std::mt19937 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string bytes = good;
    for (int k = 0; k < 40; ++k)
      bytes[4 + random() % (bytes.size() - 5)] = static_cast<char>(random());
    try {
      const CharsMap map(bytes);
      for (int k = 0; k < 20; ++k) {
        const std::string text(3, static_cast<char>(random()));
        const size_t length = map.longest_prefix(text).length;
        CHECK(length <= 3);
      }
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::InvalidFile);
    }
  }
}

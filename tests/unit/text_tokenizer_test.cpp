// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "base/utf8.h"
#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

TEST_CASE("a text that spells the start token gets no second one (llm-bugs 019)") {
  const auto tokenizer =
      Tokenizer::create(spm_vocabulary({{"a"}, {"\u2581a", TokenType::Normal, 1}}));
  const EncodeOptions both{.add_special = true, .parse_special = true};
  CHECK(tokenizer.encode("a", both) == Ids{1, 260});
  CHECK(tokenizer.encode("<s>a", both) == Ids{1, 260});
  CHECK(tokenizer.encode("<s>a", parsed) == Ids{1, 260});
  CHECK(tokenizer.encode("", both) == Ids{1});
  CHECK(tokenizer.encode("<s><s>a", both) == Ids{1, 1, 260});
}

TEST_CASE("start and end tokens follow the model's default or the file") {
  Vocabulary v = spm_vocabulary({{"a"}, {"\u2581a", TokenType::Normal, 1}});
  v.add_bos = false;
  v.add_eos = true;
  CHECK(Tokenizer::create(v).encode("a") == Ids{260, 2});
  CHECK_FALSE(Tokenizer::create(byte_vocabulary("gpt-2")).adds_bos());
  Vocabulary b = byte_vocabulary("qwen2", {{"<|s|>", TokenType::Control}});
  b.bos = 256;
  CHECK(Tokenizer::create(b).encode("a") == Ids{'a'});
  b.add_bos = true;
  CHECK(Tokenizer::create(b).encode("a") == Ids{256, 'a'});
  b.pre = "llama-bpe";
  b.add_bos.reset();
  CHECK(Tokenizer::create(b).encode("a") == Ids{256, 'a'});
}

TEST_CASE("text that is not UTF-8 is an error that names the byte (llm-bugs 016)") {
  const auto tokenizer = Tokenizer::create(byte_vocabulary("gpt-2"));
  CHECK(error_of([&] { tokenizer.encode("hi\xe6\xad"); }, ErrorCode::InvalidArgument) ==
        "text is not valid UTF-8: byte 0xe6 at offset 2 of 4");
}

TEST_CASE("an id outside the vocabulary is an error that names both") {
  const auto tokenizer = Tokenizer::create(byte_vocabulary("gpt-2"));
  const std::string want = "token id 256 is outside the vocabulary of 256";
  CHECK(error_of([&] { tokenizer.decode(Ids{1, 256}); }, ErrorCode::InvalidArgument) == want);
  CHECK(error_of([&] { tokenizer.piece(256); }, ErrorCode::InvalidArgument) == want);
  CHECK(error_of([&] { tokenizer.text(256); }, ErrorCode::InvalidArgument) == want);
  CHECK(error_of([&] { tokenizer.type(256); }, ErrorCode::InvalidArgument) == want);
  CHECK(error_of([&] { StreamDecoder(tokenizer).push(256); }, ErrorCode::InvalidArgument) == want);
  CHECK_FALSE(tokenizer.is_end_of_generation(256));
}

TEST_CASE("streamed chunks are whole characters and equal decoding at once (llm-bugs 020)") {
  const auto tokenizer =
      Tokenizer::create(byte_vocabulary("gpt-2", {{"<|x|>", TokenType::Control}}));
  const auto stream = [&](const Ids& ids, std::vector<std::string>& chunks) {
    StreamDecoder decoder(tokenizer);
    for (const uint32_t id : ids) chunks.push_back(decoder.push(id));
    chunks.push_back(decoder.finish());
    std::string all;
    for (const std::string& chunk : chunks) {
      CHECK(find_invalid_utf8(chunk) == std::string::npos);
      all += chunk;
    }
    CHECK(decoder.finish().empty());
    return all;
  };
  std::vector<std::string> chunks;
  const std::string text = "👩\u200d🚀";
  CHECK(stream(bytes_of(text, 0), chunks) == text);
  CHECK(chunks[0].empty());
  CHECK(chunks[3] == "👩");
  for (const char* bytes : {"a\xe6\xad",
                            "\xe6\xad"
                            "a",
                            "\xff\xf0\x9f", "\xe6\xe6\xad\xa3\x80", "é"}) {
    chunks.clear();
    CHECK(stream(bytes_of(bytes, 0), chunks) == tokenizer.decode(bytes_of(bytes, 0)));
  }
  chunks.clear();
  CHECK(stream(bytes_of("a\xe6\xad", 0), chunks) == "a\ufffd");
  CHECK(chunks.back() == "\ufffd");
  chunks.clear();
  CHECK(stream(Ids{0xc3, 256, 0xa9}, chunks) == "é");
}

TEST_CASE("streaming takes away the first blank only") {
  const auto tokenizer =
      Tokenizer::create(spm_vocabulary({{"\u2581a"}, {"<x>", TokenType::Control}}));
  StreamDecoder decoder(tokenizer);
  CHECK(decoder.push(1).empty());
  CHECK(decoder.push(259) == "a");
  CHECK(decoder.push(259) == " a");
  StreamDecoder continued(tokenizer, {.show_special = true, .continuation = true});
  CHECK(continued.push(259) == " a");
  CHECK(continued.push(260) == "<x>");
}

TEST_CASE("special tokens are shown on request") {
  const auto tokenizer = Tokenizer::create(
      byte_vocabulary("gpt-2", {{"<|x|>", TokenType::Control}, {"<y>", TokenType::UserDefined}}));
  CHECK(tokenizer.decode(Ids{'a', 256, 257}) == "a<y>");
  CHECK(tokenizer.decode(Ids{'a', 256, 257}, {.show_special = true}) == "a<|x|><y>");
  CHECK(tokenizer.piece(0xe9) == "\xe9");
  CHECK(tokenizer.text(' ') == "\u0120");
  CHECK(tokenizer.find("<y>") == 257);
  CHECK_FALSE(tokenizer.find("<z>"));
}

TEST_CASE("the tokens that end a generation are found by id and by spelling") {
  Vocabulary v = byte_vocabulary("gpt-2", {{"<|im_end|>", TokenType::Control},
                                           {"</s>"},
                                           {"<|im_start|>", TokenType::Control},
                                           {"<|end|>", TokenType::Control},
                                           {"<|endoftext|>", TokenType::Control}});
  v.eos = 'q';
  v.extra_end_of_generation = {'z'};
  CHECK(Tokenizer::create(v).end_of_generation() == Ids{'q', 'z', 256, 257, 259, 260});
  add(v, {{"<|return|>", TokenType::Control}, {"<|call|>", TokenType::Control}});
  v.scores.clear();
  const auto harmony = Tokenizer::create(v);
  CHECK(harmony.is_end_of_generation(261));
  CHECK_FALSE(harmony.is_end_of_generation(259));
}

TEST_CASE("tokens may take the blanks around them along") {
  Vocabulary v = byte_vocabulary("gpt-2", {{"<m>", TokenType::UserDefined}});
  CHECK(Tokenizer::create(v).encode("a <m>\n b").size() == 6);
  v.strip_left = {256};
  CHECK(Tokenizer::create(v).encode("a <m>\n b") == Ids{'a', 256, '\n', ' ', 'b'});
  v.strip_right = {256};
  CHECK(Tokenizer::create(v).encode("a <m>\n b") == Ids{'a', 256, 'b'});
  CHECK(Tokenizer::create(v).encode("<m> <m> ") == Ids{256, 256});
}

TEST_CASE("contradicting vocabularies are errors that name the field") {
  const auto message = [](const Vocabulary& v) {
    return error_of([&] { Tokenizer::create(v); }, ErrorCode::InvalidFile);
  };
  CHECK(message(Vocabulary()) == "tokenizer: no tokens");
  Vocabulary v = byte_vocabulary("gpt-2");
  v.bos = 256;
  CHECK(message(v) == "tokenizer: bos_token_id is 256, allowed are ids below the 256 tokens");
  v.bos.reset();
  v.add_bos = true;
  CHECK(message(v) == "tokenizer: add_bos_token is true, but there is no bos_token_id");
  v.add_bos.reset();
  v.types.pop_back();
  CHECK(message(v) == "tokenizer: 255 token types for 256 tokens, one each is needed");
  v.types.push_back(static_cast<TokenType>(7));
  CHECK(message(v) == "tokenizer: token 255 has type 7, allowed are 0 to 6");
  v.types.back() = static_cast<TokenType>(0);
  CHECK(message(v).empty());
  v.extra_end_of_generation = {999};
  CHECK(message(v).find("999") != std::string::npos);
}

TEST_CASE("one long run takes time in proportion and decodes again (llm-bugs 017)") {
  const auto best_of_three = [](const Tokenizer& tokenizer, const std::string& text) {
    double best = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      const Ids ids = tokenizer.encode(text, plain);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      CHECK(tokenizer.decode(ids) == text);
      best = std::min(best, took.count());
    }
    return best;
  };
  std::vector<Tokenizer> tokenizers;
  tokenizers.push_back(Tokenizer::create(
      byte_vocabulary("gpt-2", {{"aa"}, {"aaaa"}, {"aaaaaaaa"}}, {"a a", "aa aa", "aaaa aaaa"})));
  tokenizers.push_back(Tokenizer::create(spm_vocabulary({{"a", TokenType::Normal, -4},
                                                         {"aa", TokenType::Normal, -1},
                                                         {"aaaa", TokenType::Normal, -2},
                                                         {"\u2581", TokenType::Normal, -9}})));
  Vocabulary u;
  u.model = TokenizerModel::Unigram;
  add(u, {{"<unk>", TokenType::Unknown}, {"a"}, {"aaa", TokenType::Normal, 1}, {"\u2581"}});
  tokenizers.push_back(Tokenizer::create(u));
  for (const Tokenizer& tokenizer : tokenizers) {
    const double one = best_of_three(tokenizer, std::string(100000, 'a'));
    const double two = best_of_three(tokenizer, std::string(200000, 'a'));
    CHECK(two < 2.0);
    CHECK(two < 3 * 2 * one + 0.01);
  }
}

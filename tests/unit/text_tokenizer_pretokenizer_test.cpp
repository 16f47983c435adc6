// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <numeric>

#include "text/tokenizers/pretokenizer.h"
#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

namespace {

using Words = std::vector<std::string>;

Words words(std::string_view pre, std::string_view text) {
  const PreTokenizer splitter(pre_tokenizer_family(pre).patterns);
  Words out;
  for (const auto piece : splitter.split(text))
    out.emplace_back(text.substr(piece.begin, piece.size));
  return out;
}

std::string repeated(std::string_view part, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += part;
  return out;
}

}  // namespace

TEST_CASE("gpt-2 keeps contractions and leaves one blank to the next word (llm-bugs 001, 002)") {
  CHECK(words("gpt-2", "we'll we'LL  they've\t\tit's'd 12abc  ") ==
        Words{"we", "'ll", " we", "'", "LL", " ", " they", "'ve", "\t", "\t", "it", "'s", "'d",
              " 12", "abc", "  "});
  CHECK(words("gpt-2", "a\r\nb\r\n\r\n c \n\n") ==
        Words{"a", "\r", "\n", "b", "\r\n\r\n", " c", " \n\n"});
  CHECK(words("gpt2", "été 中文!?") == Words{"été", " 中文", "!?"});
}

TEST_CASE("families group digits as their models do (llm-bugs 011)") {
  CHECK(words("smollm", "0042 3.14") == Words{"0", "0", "4", "2", " ", "3", ".", "1", "4"});
  CHECK(words("starcoder", " 12x") == Words{" ", "1", "2", "x"});
  CHECK(words("llama-bpe", "1234567 89") == Words{"123", "456", "7", " ", "89"});
  CHECK(words("qwen2", "12 3") == Words{"1", "2", " ", "3"});
  CHECK(words("deepseek-v3", "x1234") == Words{"x", "123", "4"});
  CHECK(words("falcon", "1234 x") == Words{"123", "4", " x"});
  CHECK(words("superbpe", "1234567 123456 x12") ==
        Words{"1", "234", "567", " ", "123", "456", " x", "12"});
  CHECK(words("superbpe", "a\u0661\u0662\u0663\u0664") ==
        Words{"a", "\u0661", "\u0662\u0663\u0664"});
}

TEST_CASE("families join letters as their models do") {
  CHECK(words("llama-bpe", "I'LL go\n\n x(y)") ==
        Words{"I", "'LL", " go", "\n\n", " x", "(y", ")"});
  CHECK(words("gpt-4o", "HelloWorld's a/b\n/") == Words{"Hello", "World's", " a", "/b", "\n", "/"});
  CHECK(words("gpt-4o", "ABCdef ABC") == Words{"ABCdef", " ABC"});
  CHECK(words("tekken", "HelloWorld's 12") == Words{"Hello", "World", "'s", " ", "1", "2"});
  CHECK(words("kimi-k2", "中文abc。's!x") == Words{"中文", "abc", "。'", "s", "!x"});
  CHECK(words("qwen35", "กำx") == Words{"กำx"});
  CHECK(words("qwen2", "ก\u0e31x") == Words{"ก", "\u0e31x"});
  CHECK(words("deepseek-llm", "Hi 中文 x\t  ") == Words{"Hi", " ", "中文", " x", "\t  "});
  CHECK(words("deepseek-llm", "\u01c5\u01bba") == Words{"\u01c5", "\u01bb", "a"});
  CHECK(words("deepseek-coder", "a_b c!?") == Words{"a", "_", "b", " c", "!?"});
  CHECK(words("deepseek-v3", "a.b 中x .!\n") == Words{"a", ".b", " ", "中", "x", " .!\n"});
  CHECK(words("falcon", "f(x)=`y`") == Words{"f", "(", "x", ")=`", "y", "`"});
  CHECK(words("default", "f(x)=`y`") == Words{"f", "(", "x", ")=", "`", "y", "`"});
  CHECK(words("poro-chat", "a b, c") == Words{"a", " b", ",", " c"});
}

TEST_CASE("white space is Unicode's: U+0085 and U+3000 are, U+180E is not") {
  CHECK(words("gpt-2", "a\u0085b") == Words{"a", "\u0085", "b"});
  CHECK(words("gpt-2", "a\u3000\u3000b") == Words{"a", "\u3000", "\u3000", "b"});
  CHECK(words("gpt-2", "a!\u180e!b") == Words{"a", "!\u180e!", "b"});
}

TEST_CASE("every known name compiles and loses no byte") {
  const std::string text = "It's 3.14159 (or 22/7)\r\n\n\tΩmega — 中文字 🦙  'LL  ";
  for (const char* name :
       {"default",   "gpt-2",        "gpt2",           "llama3",      "llama-v3",    "llama-bpe",
        "falcon3",   "deepseek-llm", "deepseek-coder", "deepseek-v3", "deepseek-r1", "falcon",
        "starcoder", "smollm",       "refact",         "command-r",   "codeshell",   "mpt",
        "olmo",      "dbrx",         "qwen2",          "qwen35",      "stablelm2",   "poro-chat",
        "gpt-4o",    "llama4",       "tekken",         "chatglm",     "chatglm-bpe", "smaug-bpe",
        "exaone",    "granite",      "jina-v2-es",     "superbpe",    "kimi-k2",     "seed-coder",
        "hunyuan",   "minimax",      "bailingmoe",     "jais-2",      "viking",      "chameleon",
        ""}) {
    CAPTURE(name);
    const Words parts = words(name, text);
    CHECK(parts.size() > 1);
    CHECK(std::accumulate(parts.begin(), parts.end(), std::string()) == text);
  }
}

TEST_CASE("an unknown name or a broken pattern is an error that quotes it") {
  const auto unknown = [] { pre_tokenizer_family("no-such-model"); };
  CHECK(error_of(unknown, ErrorCode::Unsupported).find("\"no-such-model\"") != std::string::npos);
  const auto compile = [](std::string_view pattern) {
    const std::string_view patterns[] = {pattern};
    const PreTokenizer splitter(patterns);
  };
  CHECK(error_of([&] { compile("a(b"); }, ErrorCode::Unsupported).find("a(b") != std::string::npos);
  CHECK(error_of([&] { compile("[a&&[b]]"); }, ErrorCode::Unsupported).find("&&") !=
        std::string::npos);
}

TEST_CASE("matches of nothing split and go on") {
  const std::string_view patterns[] = {"(?=b)"};
  const PreTokenizer splitter(patterns);
  CHECK(splitter.split("abéb").size() == 3);
  CHECK(splitter.split("bbb").size() == 3);
  CHECK(splitter.split("").empty());
}

TEST_CASE("one long run takes linear time and is no error, in every family (llm-bugs 017)") {
  const auto seconds = [](const PreTokenizer& splitter, const std::string& text) {
    double best = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      splitter.split(text);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  };
  for (const char* name : {"gpt-2", "llama-bpe", "gpt-4o", "tekken", "kimi-k2", "deepseek-llm",
                           "deepseek-v3", "falcon", "superbpe", "poro-chat", "jais-2"}) {
    const PreTokenizer splitter(pre_tokenizer_family(name).patterns);
    for (const char* part : {"a", "A", " ", "7", "\n", "!", "中", "\u0301", "'"}) {
      CAPTURE(name);
      CAPTURE(part);
      const std::string text = repeated(part, 100000) + "x";
      // The square of the length would be 10^10 steps.
      CHECK(seconds(splitter, text) < 1.0);
    }
  }
}

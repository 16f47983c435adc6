// SPDX-License-Identifier: Apache-2.0
// Pre-tokenizers of public models, from their tokenizer.json or tiktoken files.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "text/tokenizers/pretokenizer.h"

namespace rlx::text {
namespace {

using View = std::string_view;

#define RLX_LETTERS_AFTER_APOSTROPHE "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define RLX_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define RLX_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
// The same without Han, said by what is not in it: PCRE2 10.42 has no intersection of classes.
#define RLX_UPPER_NOT_HAN R"([^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}])"
#define RLX_LOWER_NOT_HAN R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{Han}])"
#define RLX_BLANKS R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"

constexpr View gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr View cl100k_words = RLX_LETTERS_AFTER_APOSTROPHE
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" RLX_BLANKS;
constexpr View qwen2_words = RLX_LETTERS_AFTER_APOSTROPHE
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" RLX_BLANKS;
constexpr View qwen35_words = RLX_LETTERS_AFTER_APOSTROPHE
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" RLX_BLANKS;
constexpr View o200k_words =
    R"([^\r\n\p{L}\p{N}]?)" RLX_UPPER "*" RLX_LOWER "+" RLX_LETTERS_AFTER_APOSTROPHE
    R"(?|[^\r\n\p{L}\p{N}]?)" RLX_UPPER "+" RLX_LOWER "*" RLX_LETTERS_AFTER_APOSTROPHE
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" RLX_BLANKS;
constexpr View tekken_words =
    R"([^\r\n\p{L}\p{N}]?)" RLX_UPPER "*" RLX_LOWER R"(+|[^\r\n\p{L}\p{N}]?)" RLX_UPPER
    "+" RLX_LOWER R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" RLX_BLANKS;
constexpr View kimi_words =
    R"(\p{Han}+|[^\r\n\p{L}\p{N}]?)" RLX_UPPER_NOT_HAN "*" RLX_LOWER_NOT_HAN
    "+" RLX_LETTERS_AFTER_APOSTROPHE R"(?|[^\r\n\p{L}\p{N}]?)" RLX_UPPER_NOT_HAN
    "+" RLX_LOWER_NOT_HAN "*" RLX_LETTERS_AFTER_APOSTROPHE
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" RLX_BLANKS;
constexpr View deepseek3_words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*)" RLX_BLANKS;
constexpr View seed_words = RLX_LETTERS_AFTER_APOSTROPHE
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)" RLX_BLANKS;
constexpr View bailing_words =
    R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr View jais2_words = RLX_LETTERS_AFTER_APOSTROPHE
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)"
    R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S))"
    R"(|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s)";
constexpr View bloom_words = R"( ?[^(\s|.,!?…。，、।۔،)]+)";

// The letters of deepseek-llm: scripts with upper and lower case, as its file lists them.
constexpr View deepseek_llm_letters =
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293})"
    R"(\x{295}-\x{2af}\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a})"
    R"(\x{38c}\x{38e}-\x{3a1}\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556})"
    R"(\x{10a0}-\x{10c5}\x{13a0}-\x{13f5}\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf})"
    R"(\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d})"
    R"(\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b}\x{1f5d})"
    R"(\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4})"
    R"(\x{1fc6}-\x{1fcc}\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4})"
    R"(\x{1ff6}-\x{1ffc}\x{2102}\x{2107}\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124})"
    R"(\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139}\x{213c}-\x{213f})"
    R"(\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f})"
    R"(\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17})"
    R"(\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3})"
    R"(\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df})"
    R"(\x{1e900}-\x{1e943}]+)";
constexpr View deepseek_cjk = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";

constexpr View one_digit = R"(\p{N})";
constexpr View ascii_triples = "[0-9][0-9][0-9]";

constexpr View gpt2[] = {gpt2_words};
constexpr View digits_gpt2[] = {one_digit, gpt2_words};
constexpr View fallback[] = {R"([\p{P}\$\+<=>\^~\|]+)", gpt2_words, R"(\p{N}+)", ascii_triples};
constexpr View falcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", gpt2_words, ascii_triples};
constexpr View cl100k[] = {cl100k_words};
constexpr View qwen2[] = {qwen2_words};
constexpr View qwen35[] = {qwen35_words};
constexpr View o200k[] = {o200k_words};
constexpr View tekken[] = {tekken_words};
constexpr View kimi[] = {kimi_words};
constexpr View seed[] = {seed_words};
constexpr View bailing[] = {bailing_words};
constexpr View jais2[] = {jais2_words};
constexpr View bloom[] = {bloom_words};
constexpr View viking[] = {bloom_words, one_digit};
constexpr View superbpe[] = {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"};
constexpr View deepseek_coder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", deepseek_cjk,
                                   one_digit};
constexpr View deepseek_llm[] = {
    R"([\r\n])",
    deepseek_llm_letters,
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)",
    R"(\s+$)",
    deepseek_cjk,
    one_digit};
constexpr View deepseek3[] = {
    R"(\p{N}{1,3})", R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)", deepseek3_words};
constexpr View chameleon[] = {"<sentinel:[0-9]+>",       "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                              R"(([\t\n]|    |  ))",     one_digit,
                              R"([\p{P}!-/:-@\[-`{-~])", gpt2_words};

struct Named {
  View name;
  PreTokenizerFamily family;
};

const Named table[] = {
    {"default", {fallback}},
    {"gpt-2", {gpt2}},
    {"gpt2", {gpt2}},
    {"gpt-neox", {gpt2}},
    {"phi-2", {gpt2}},
    {"mpt", {gpt2}},
    {"olmo", {gpt2}},
    {"jais", {gpt2}},
    {"trillion", {gpt2}},
    {"gigachat", {gpt2}},
    {"mellum", {gpt2}},
    {"modern-bert", {gpt2}},
    {"roberta-bpe", {gpt2}},
    {"exaone4", {gpt2}},
    {"a.x-4.0", {gpt2}},
    {"granite-docling", {gpt2}},
    {"jina-es", {gpt2}},
    {"jina-de", {gpt2}},
    {"jina-v1-en", {gpt2}},
    {"jina-v2-es", {gpt2}},
    {"jina-v2-de", {gpt2}},
    {"jina-v2-code", {gpt2}},
    {"starcoder", {digits_gpt2}},
    {"refact", {digits_gpt2}},
    {"granite", {digits_gpt2}},
    {"command-r", {digits_gpt2}},
    {"smollm", {digits_gpt2}},
    {"codeshell", {digits_gpt2}},
    {"exaone", {digits_gpt2}},
    {"minerva-7b", {digits_gpt2}},
    {"falcon", {falcon}},
    {"llama3", {cl100k, true, true}},
    {"llama-v3", {cl100k, true, true}},
    {"llama-bpe", {cl100k, true, true}},
    {"falcon3", {cl100k, true, true}},
    {"falcon-h1", {cl100k, true, true}},
    {"pixtral", {cl100k, true, true}},
    {"midm-2.0", {cl100k, true, true}},
    {"lfm2", {cl100k, true, true}},
    {"jina-v5-nano", {cl100k, true, true}},
    {"dbrx", {cl100k}},
    {"smaug-bpe", {cl100k}},
    {"chatglm-bpe", {cl100k}},
    {"chatglm", {cl100k}},
    {"glm4", {cl100k}},
    {"jais-2", {jais2}},
    {"qwen2", {qwen2}},
    {"stablelm2", {qwen2}},
    {"deepseek-r1-qwen", {qwen2}},
    {"megrez", {qwen2}},
    {"kormo", {qwen2}},
    {"hunyuan", {qwen2}},
    {"solar-open", {qwen2}},
    {"grok-2", {qwen2}},
    {"qwen35", {qwen35}},
    {"gpt-4o", {o200k}},
    {"llama4", {o200k}},
    {"kanana2", {o200k}},
    {"minimax-m2", {o200k}},
    {"minimax", {o200k}},
    {"tekken", {tekken, true, true}},
    {"kimi-k2", {kimi}},
    {"seed-coder", {seed}},
    {"bailingmoe", {bailing}},
    {"bailingmoe2", {bailing}},
    {"llada-moe", {bailing}},
    {"superbpe", {superbpe}},
    {"poro-chat", {bloom}},
    {"bloom", {bloom}},
    {"gpt3-finnish", {bloom}},
    {"viking", {viking}},
    {"deepseek-llm", {deepseek_llm}},
    {"deepseek-coder", {deepseek_coder}},
    {"deepseek-v3", {deepseek3}},
    {"deepseek-r1", {deepseek3}},
    {"hunyuan-dense", {deepseek3}},
    {"joyai-llm", {deepseek3}},
    {"chameleon", {chameleon, false, true}},
};

}  // namespace

const PreTokenizerFamily& pre_tokenizer_family(std::string_view name) {
  if (name.empty()) name = "default";
  const Named* found = std::find_if(std::begin(table), std::end(table),
                                    [&](const Named& n) { return n.name == name; });
  if (found == std::end(table)) {
    fail(ErrorCode::Unsupported,
         "tokenizer: pre-tokenizer \"{}\" (tokenizer.ggml.pre) is not known; {} names are, such as "
         "llama-bpe, qwen2, gpt-2",
         name, std::size(table));
  }
  return found->family;
}

}  // namespace rlx::text

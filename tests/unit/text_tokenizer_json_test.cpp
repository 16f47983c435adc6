// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_json.h"

#include "text_tokenizer_helpers.h"

using namespace rlx;
using namespace rlx::text;
using namespace rlx::text::test;

namespace {

std::string file(std::string_view parts, std::string_view model) {
  return fmt::format(R"({{"version":"1.0",{}{}"model":{}}})", parts, parts.empty() ? "" : ",",
                     model);
}

Tokenizer load(std::string_view parts, std::string_view model) {
  return Tokenizer::create(read_tokenizer_json(file(parts, model)));
}

const char* const byte_model =
    R"({"type":"BPE","vocab":{"a":0,"b":1,"1":2,"ab":3,"\u0120":4},"merges":["a b"]})";

}  // namespace

TEST_CASE("a byte-level BPE with a pattern of its own and added tokens") {
  const auto tokenizer = load(
      R"("added_tokens":[{"id":5,"content":"<s>","special":true},{"id":6,"content":"<x>","special":false,"lstrip":true}],
      "normalizer":{"type":"NFC"},
      "pre_tokenizer":{"type":"Sequence","pretokenizers":[
        {"type":"Split","pattern":{"Regex":"1|a"},"behavior":"Isolated","invert":false},
        {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},
      "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},
        {"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>","ids":[5],"tokens":["<s>"]}}})",
      byte_model);
  CHECK(tokenizer.encode("ab1") == Ids{5, 0, 1, 2});
  CHECK(tokenizer.encode("b <x>b", plain) == Ids{1, 6, 1});
  CHECK(tokenizer.encode("<s>", parsed) == Ids{5});
  CHECK(tokenizer.type(5) == TokenType::Control);
  CHECK(tokenizer.adds_bos());
  CHECK_FALSE(tokenizer.adds_eos());
}

TEST_CASE("ByteLevel alone uses GPT-2's pattern, or none") {
  CHECK(load(R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true})", byte_model)
            .encode("ab") == Ids{4, 3});
  const auto whole = load(
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":false})",
      R"({"type":"BPE","vocab":{"a":0,"1":1,"a1":2},"merges":[["a","1"]],"ignore_merges":true})");
  CHECK(whole.encode("a1") == Ids{2});
}

TEST_CASE("a BPE of characters with byte fallback (llama, gemma)") {
  const char* model =
      R"({"type":"BPE","unk_token":"<unk>","byte_fallback":true,"vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,
      "a":3,"\u2581":4,"\u2581a":5},"merges":["\u2581 a"]})";
  const auto llama = load(R"("normalizer":{"type":"Sequence","normalizers":[
      {"type":"Prepend","prepend":"\u2581"},
      {"type":"Replace","pattern":{"String":" "},"content":"\u2581"}]})",
                          model);
  CHECK(llama.encode("a a") == Ids{5, 5});
  CHECK(llama.encode(" a\u00e9x") == Ids{4, 5, 1, 2, 0});
  const auto gemma =
      load(R"("normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\u2581"},
      "pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious"})",
           model);
  CHECK(gemma.encode("a a") == Ids{3, 5});
  const auto first = load(R"("added_tokens":[{"id":6,"content":"<x>"}],
      "pre_tokenizer":{"type":"Metaspace","prepend_scheme":"first","split":false})",
                          model);
  CHECK(first.encode("a<x>a") == Ids{5, 6, 3});
  CHECK(first.encode(" a") == Ids{5});
}

TEST_CASE("Unigram") {
  // The charsmap is that of no entry: a trie of one unit and an empty replacement.
  const auto tokenizer = load(
      R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAAA"},
      "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},
        {"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"}]},
      "post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},
        {"SpecialToken":{"id":"</s>"}}],"special_tokens":{"</s>":{"ids":[1]}}})",
      R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["</s>",0],["\u2581a",-1],["b",-2]]})");
  CHECK(tokenizer.encode("a  ab") == Ids{2, 2, 3, 1});
  CHECK(tokenizer.encode("ax", plain) == Ids{2, 0});
}

TEST_CASE("WordPiece") {
  const auto tokenizer = load(
      R"("added_tokens":[{"id":1,"content":"[CLS]","special":true}],
      "normalizer":{"type":"BertNormalizer","lowercase":true,"strip_accents":null},
      "pre_tokenizer":{"type":"BertPreTokenizer"},
      "post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]})",
      R"({"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"e":3,"##t":4}})");
  CHECK(tokenizer.encode("\u00c9t x") == Ids{1, 3, 4, 0, 2});
  CHECK(tokenizer.decode(Ids{3, 4, 3}) == "et e");
}

TEST_CASE("what is not handled is named, what is broken is an error") {
  const auto unsupported = [](std::string_view parts, std::string_view model) {
    return error_of([&] { load(parts, model); }, ErrorCode::Unsupported);
  };
  CHECK(unsupported(R"("normalizer":{"type":"NFKD"})", byte_model).find("NFKD") !=
        std::string::npos);
  CHECK(unsupported(R"("pre_tokenizer":{"type":"UnicodeScripts"})", byte_model)
            .find("UnicodeScripts") != std::string::npos);
  CHECK(unsupported("", R"({"type":"WordLevel","vocab":{}})").find("WordLevel") !=
        std::string::npos);
  CHECK(unsupported("", byte_model).find("neither byte-level") != std::string::npos);
  const auto broken = [](std::string_view text) {
    return error_of([&] { read_tokenizer_json(text); }, ErrorCode::InvalidFile);
  };
  for (const char* text : {"", "{", "[]", "{}", "7", "{\"model\":7}",
                           R"({"model":{"type":"BPE"},"pre_tokenizer":{"type":"ByteLevel"}})"}) {
    CAPTURE(text);
    CHECK_FALSE(broken(text).empty());
  }
  CHECK_FALSE(broken(file(R"("pre_tokenizer":{"type":"Metaspace"})",
                          R"({"type":"Unigram","vocab":[["a"]]})"))
                  .empty());
  const std::string far = file(R"("pre_tokenizer":{"type":"ByteLevel"})",
                               R"({"type":"BPE","vocab":{"a":4000000000},"merges":[]})");
  CHECK(broken(far).find("4000000000") != std::string::npos);
}

TEST_CASE("tokenizer.json: what is wrong is told in our words") {
  const auto error = [](const std::string& text) {
    try {
      read_tokenizer_json(text);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("none");
  };
  const auto bpe = [&](const std::string& vocab) {
    return error(R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
                     "model": {"type": "BPE", "merges": [], "vocab": )" +
                 vocab + "}}");
  };
  CHECK(error("{\"model\": ") == "tokenizer.json: not JSON at byte 10");
  CHECK(error("{}") == "tokenizer.json: key 'model' not found");
  CHECK(bpe(R"({"a": 0})") == "none");
  CHECK(bpe(R"({"a": 0.5})") ==
        "tokenizer.json: token \"a\" has id 0.5, allowed here are ids below 4100");
  CHECK(bpe(R"({"a": -1})") ==
        "tokenizer.json: token \"a\" has id -1, allowed here are ids below 4100");
}

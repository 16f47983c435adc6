// SPDX-License-Identifier: Apache-2.0
#include "models/vocabulary.h"

#include <doctest/doctest.h>

#include "../support/expect_error.h"
#include "../support/gguf_writer.h"
#include "../support/safetensors_writer.h"
#include "../support/temp_folder.h"
#include "import/gguf.h"

using namespace rlx;
using rlx::test::GgufWriter;
using rlx::test::message_of;
using text::TokenizerModel;
using text::TokenType;

namespace {

std::optional<text::Vocabulary> read(const GgufWriter& writer) {
  const std::string bytes = writer.bytes();
  return models::vocabulary_from_gguf(parse_gguf(std::as_bytes(std::span(bytes)), "f").metadata);
}

GgufWriter bpe() {
  GgufWriter w("llama");
  w.add("tokenizer.ggml.model", "gpt2");
  w.add("tokenizer.ggml.pre", "qwen2");
  w.add_array("tokenizer.ggml.tokens",
              std::vector<std::string>{"a", "b", "ab", "<|im_end|>", "<|im_start|>"});
  w.add_array("tokenizer.ggml.token_type", std::vector<int32_t>{1, 1, 0, 3, 3});
  w.add_array("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
  return w;
}

std::string error_of(const GgufWriter& writer) {
  return message_of([&] { read(writer); });
}

}  // namespace

TEST_CASE("vocabulary: the contents of the keys") {
  GgufWriter w = bpe();
  w.add("tokenizer.ggml.bos_token_id", uint32_t{4});
  w.add("tokenizer.ggml.eos_token_id", int32_t{3});
  w.add("tokenizer.ggml.padding_token_id", int32_t{-1});
  w.add("tokenizer.ggml.unknown_token_id", ~uint32_t{0});
  w.add("tokenizer.ggml.add_bos_token", false);
  w.add_array("tokenizer.ggml.scores", std::vector<float>{0, -1, -2, -3, -4});
  w.add_array("tokenizer.ggml.precompiled_charsmap", std::vector<int8_t>{1, -1});
  const auto v = read(w);
  REQUIRE(v.has_value());
  CHECK(v->model == TokenizerModel::Bpe);
  CHECK(v->pre == "qwen2");
  CHECK(v->tokens.size() == 5);
  CHECK(v->tokens[2] == "ab");
  CHECK(v->types[2] == TokenType::Normal);
  CHECK(v->types[3] == TokenType::Control);
  CHECK(v->scores[4] == -4);
  CHECK(v->merges == std::vector<std::string>{"a b"});
  CHECK(v->bos == 4u);
  CHECK(v->eos == 3u);
  CHECK_FALSE(v->pad.has_value());
  CHECK_FALSE(v->unk.has_value());
  CHECK(v->add_bos == false);
  CHECK_FALSE(v->add_eos.has_value());
  CHECK(v->precompiled_charsmap == "\x01\xff");
  CHECK(v->extra_end_of_generation.empty());  // the tokenizer finds those by their texts
}

TEST_CASE("vocabulary: files without a tokenizer") {
  GgufWriter w("llama");
  CHECK_FALSE(read(w).has_value());
  w.add("tokenizer.ggml.model", "none");
  CHECK_FALSE(read(w).has_value());
}

TEST_CASE("vocabulary: what does not fit is refused by key") {
  GgufWriter w("llama");
  w.add("tokenizer.ggml.model", "rwkv");
  CHECK(
      error_of(w) ==
      "f: tokenizer.ggml.model is 'rwkv'; supported are 'llama' (SentencePiece BPE), 'gpt2' (byte "
      "BPE), 'bert' (WordPiece) and 't5' (Unigram)");
  w = GgufWriter("llama");
  w.add("tokenizer.ggml.model", "llama");
  CHECK(error_of(w) == "f: key 'tokenizer.ggml.tokens' is missing");
  w.add_array("tokenizer.ggml.tokens", std::vector<std::string>{});
  CHECK(error_of(w) == "f: key 'tokenizer.ggml.tokens' is empty");
  w = GgufWriter("llama");
  w.add("tokenizer.ggml.model", "llama");
  w.add_array("tokenizer.ggml.tokens", std::vector<int32_t>{1});
  CHECK(error_of(w) == "f: element 0 of key 'tokenizer.ggml.tokens' is i32 (1); wanted string");
  w = bpe();
  w.add_array("tokenizer.ggml.scores", std::vector<float>{1});
  CHECK(error_of(w) == "f: key 'tokenizer.ggml.scores' has 1 elements; there are 5 tokens");
  w = bpe();
  w.add("tokenizer.ggml.bos_token_id", uint32_t{5});
  CHECK(error_of(w) == "f: key 'tokenizer.ggml.bos_token_id' is 5; the 5 tokens have ids 0 to 4");
  w = GgufWriter("llama");
  w.add("tokenizer.ggml.model", "llama");
  w.add_array("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
  w.add_array("tokenizer.ggml.token_type", std::vector<int32_t>{1, 7});
  CHECK(error_of(w) == "f: element 1 of key 'tokenizer.ggml.token_type' is 7; 0 to 6 are allowed");
}

TEST_CASE("vocabulary: a folder's tokenizer.json, special tokens and ends of generation") {
  const rlx::test::TempFolder folder;
  folder.write("config.json",
               R"({"model_type":"llama","num_hidden_layers":1,"hidden_size":8,"intermediate_size":8,
                   "num_attention_heads":2,"max_position_embeddings":8})");
  folder.write("model.safetensors", rlx::test::SafetensorsWriter().bytes());
  const auto read_folder = [&] {
    return models::read_vocabulary(*Checkpoint::open(folder.path()));
  };
  CHECK_FALSE(read_folder().has_value());
  folder.write("tokenizer.json",
               R"({"version":"1.0","pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
                   "added_tokens":[{"id":3,"content":"<s>","special":true},
                                   {"id":4,"content":"<|im_end|>","special":true},
                                   {"id":5,"content":"</s>","special":true}],
                   "model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})");
  auto v = read_folder();
  REQUIRE(v.has_value());
  CHECK(v->tokens.size() == 6);
  CHECK_FALSE(v->eos.has_value());
  CHECK(v->extra_end_of_generation.empty());
  folder.write("tokenizer_config.json",
               R"({"bos_token":{"content":"<s>"},"eos_token":"</s>","pad_token":null})");
  folder.write("generation_config.json", R"({"eos_token_id":[5,4]})");
  v = read_folder();
  CHECK(v->bos == 3u);
  CHECK(v->eos == 5u);
  CHECK_FALSE(v->pad.has_value());
  CHECK(v->extra_end_of_generation == std::vector<uint32_t>{5, 4});
  folder.write("generation_config.json", R"({"eos_token_id":6})");
  CHECK(message_of(read_folder) == folder.path("generation_config.json") +
                                       ": eos_token_id is 6; the 6 tokens have ids 0 to 5");
}

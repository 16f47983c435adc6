// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "../support/expect_error.h"
#include "../support/temp_folder.h"
#include "models/rope_frequencies.h"
#include "models/vocabulary.h"
#include "models_runner.h"

using namespace rlx;
using namespace rlx::test;

namespace {

using Change = std::function<void(GgufWriter&)>;

/// The message for a copy of `name`.gguf without the key or tensor `dropped`, changed by `change`;
/// the folder's part of the path is cut.
std::string error_of(const std::string& name, const std::string& dropped, const Change& change = {},
                     const LanguageModelOptions& options = {}) {
  const TempFolder folder;
  const auto source = Checkpoint::open(model_path(name + ".gguf"));
  GgufWriter copy = copy_of(*source, [&](std::string_view key) { return key == dropped; });
  if (change) change(copy);
  copy.write(folder.path("m"));
  const auto checkpoint = Checkpoint::open(folder.path("m"));
  std::string message = message_of([&] { build_language_model(checkpoint, options); });
  for (size_t at; (at = message.find(folder.path() + "/")) != std::string::npos;) {
    message.erase(at, folder.path().size() + 1);
  }
  return message;
}

/// The same with one key set to another number.
template <typename T>
std::string with_key(const std::string& key, T value, const std::string& name = "llama") {
  return error_of(name, name + "." + key, [&](GgufWriter& w) { w.add(name + "." + key, value); });
}

Change tensor_of(const std::string& name, std::vector<uint64_t> shape, uint32_t type = 0) {
  return [=](GgufWriter& w) {
    uint64_t bytes = type == 0 ? 4 : 1;
    for (const uint64_t d : shape) bytes *= d;
    w.add_tensor(name, shape, type, std::string(bytes, '\0'));
  };
}

}  // namespace

TEST_CASE("models: an unknown architecture names the known ones") {
  CHECK(
      error_of("llama", "general.architecture",
               [](GgufWriter& w) { w.add("general.architecture", "rwkv6"); }) ==
      "m: architecture 'rwkv6' is not supported; supported are gemma, gemma2, gemma3, gpt2, llama, "
      "phi3, qwen2, qwen3, qwen3moe");
}

// Cases llm-bugs/091 and 092.
TEST_CASE("models: missing and odd keys are named") {
  CHECK(error_of("llama", "llama.attention.head_count").find("llama.attention.head_count") !=
        std::string::npos);
  CHECK(error_of("llama", "llama.block_count").find("llama.block_count") != std::string::npos);
  CHECK(with_key("rope.dimension_count", uint32_t{7}) ==
        "m: llama.rope.dimension_count is 7; an even number from 2 to 8 (a head) is needed");
  CHECK(with_key("rope.dimension_count", uint32_t{10}) ==
        "m: llama.rope.dimension_count is 10; an even number from 2 to 8 (a head) is needed");
}

TEST_CASE("models: absurd numbers are refused at once") {
  CHECK(with_key("block_count", uint32_t{1000000000}) ==
        "m: llama.block_count is 1000000000; the file has tensors of 2 blocks");
  CHECK(error_of("llama", "llama.block_count", [](GgufWriter& w) {
          w.add("llama.block_count", 1000000000u);
          tensor_of("blk.999999999.attn_norm.weight", {32})(w);
        }).find("llama.block_count is 1000000000; the file has tensors of 22 blocks") == 3);
  CHECK(with_key("attention.key_length", uint32_t{1} << 24) ==
        "m: llama.attention.key_length is 16777216; 1 to 65536 is allowed");
  CHECK(with_key("block_count", uint32_t{0}).find("llama.block_count is 0; 1 to ") == 3);
  CHECK(with_key("attention.head_count", uint32_t{0}) ==
        "m: llama.attention.head_count is 0; 1 to 65536 is allowed");
  CHECK(with_key("attention.head_count", uint32_t{5}) ==
        "m: llama.attention.head_count_kv is 2 in layer 0; attention.head_count 5 is no multiple");
  CHECK(with_key("attention.head_count_kv", uint32_t{3}).find("head_count_kv is 3") !=
        std::string::npos);
  CHECK(with_key("embedding_length", ~uint64_t{0}) ==
        "m: llama.embedding_length is 18446744073709551615; 1 to 16777216 is allowed");
  CHECK(with_key("embedding_length", uint32_t{34}) ==
        "m: llama.attention.head_count is 4; embedding_length 34 is no multiple of it");
  CHECK(with_key("context_length", uint32_t{0}) ==
        "m: llama.context_length is 0; 1 to 2147483647 is allowed");
  CHECK(with_key("feed_forward_length", uint64_t{1} << 40).find("1 to 16777216 is allowed") !=
        std::string::npos);
  CHECK(with_key("rope.freq_base", -1.0f) ==
        "m: llama.rope.freq_base is -1; a finite number above 0 is needed");
  CHECK(with_key("attention.layer_norm_rms_epsilon", std::nan("")).find("finite number above 0") !=
        std::string::npos);
  CHECK(with_key("expert_used_count", uint32_t{9}, "qwen3moe") ==
        "m: qwen3moe.expert_used_count is 9; 1 to 5 is allowed");
}

TEST_CASE("models: numbers per layer") {
  const auto kv = [](std::vector<uint32_t> counts) {
    return error_of("llama", "llama.attention.head_count_kv",
                    [&](GgufWriter& w) { w.add_array("llama.attention.head_count_kv", counts); });
  };
  CHECK(kv({2, 2}) == "no error");
  CHECK(kv({2, 4}) ==
        "m: blk.1.attn_k.weight: [16, 32] found, [head_count_kv * key_length, embedding_length] = "
        "[32, 32] expected");
  CHECK(kv({2, 0}) == "m: llama.attention.head_count_kv is 0; 1 to 65536 is allowed");
  CHECK(kv({2}).find("llama.attention.head_count_kv") != std::string::npos);
}

TEST_CASE("models: tensors are checked against the keys") {
  CHECK(error_of("llama", "blk.1.ffn_down.weight") ==
        "m: tensor 'blk.1.ffn_down.weight' is missing");
  CHECK(error_of("llama", "token_embd.weight") == "m: tensor 'token_embd.weight' is missing");
  CHECK(error_of("llama", "blk.0.attn_q.weight", tensor_of("blk.0.attn_q.weight", {32, 16})) ==
        "m: blk.0.attn_q.weight: [32, 16] found, [head_count * key_length, embedding_length] = "
        "[32, 32] expected");
  CHECK(error_of("llama", "blk.0.attn_norm.weight", tensor_of("blk.0.attn_norm.weight", {1, 32})) ==
        "m: blk.0.attn_norm.weight: [1, 32] found, [embedding_length] = [32] expected");
  CHECK(error_of("llama", "blk.0.ffn_up.weight", tensor_of("blk.0.ffn_up.weight", {48, 32}, 24)) ==
        "m: blk.0.ffn_up.weight has type i8; a float or packed type is needed");
  CHECK(error_of("phi3", "blk.0.attn_qkv.weight", tensor_of("blk.0.attn_qkv.weight", {62, 32})) ==
        "m: blk.0.attn_qkv.weight: [62, 32] found, [head_count * key_length + head_count_kv * "
        "key_length + head_count_kv * key_length, embedding_length] = [64, 32] expected");
  CHECK(error_of("llama_factors", "rope_freqs.weight", tensor_of("rope_freqs.weight", {3})) ==
        "m: rope_freqs.weight: [3] found, [rope.dimension_count / 2] = [4] expected");
  CHECK(error_of("llama_factors", "rope_freqs.weight", tensor_of("rope_freqs.weight", {4})) ==
        "m: rope_freqs.weight[0] is 0; a finite number above 0 is needed");
}

TEST_CASE("models: what a file has too little or too much of is named") {
  const auto missing = [](const std::string& name, const std::string& tensor) {
    CHECK(error_of(name, tensor) == "m: tensor '" + tensor + "' is missing");
  };
  // Each is a matrix that stands for others, or one half of a pair.
  missing("llama", "blk.0.ffn_gate.weight");
  missing("gpt2", "blk.1.attn_qkv.weight");
  missing("phi3", "blk.1.attn_qkv.weight");
  missing("phi3", "blk.0.ffn_up.weight");
  missing("phi3", "rope_factors_long.weight");
  missing("phi3", "rope_factors_short.weight");
  missing("qwen3moe", "blk.0.ffn_down_exps.weight");
  // Biases that these architectures always have: without them the answers are silently wrong.
  for (const char* bias : {"attn_q", "attn_k", "attn_v"}) {
    missing("qwen2", std::string("blk.1.") + bias + ".bias");
  }
  for (const char* bias : {"attn_qkv", "attn_output", "ffn_up", "ffn_down"}) {
    missing("gpt2", std::string("blk.1.") + bias + ".bias");
  }
  CHECK(with_key("block_count", uint32_t{1}).find(" is of block 1, but llama.block_count is 1") !=
        std::string::npos);
  CHECK(with_key("vocab_size", uint32_t{65}) ==
        "m: llama.vocab_size is 65; token_embd.weight has 64 rows");
  CHECK(with_key("vocab_size", uint32_t{64}) == "no error");
  CHECK(with_key("attention.value_length", uint32_t{16}) ==
        "m: llama.attention.value_length is 16 and attention.key_length (missing, so "
        "embedding_length / head_count) 8; they must be equal");
}

TEST_CASE("models: a tokenizer without its model is refused") {
  const TempFolder folder;
  GgufWriter file("llama");
  file.add_array("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
  file.write(folder.path("m"));
  const auto checkpoint = Checkpoint::open(folder.path("m"));
  CHECK(message_of([&] {
          models::read_vocabulary(*checkpoint);
        }).find("key 'tokenizer.ggml.model' is missing") != std::string::npos);
}

// GGUF's first name of the factor, and a factor without a type, both mean linear scaling.
TEST_CASE("models: linear rope scaling under its older names") {
  const auto frequency = [](const std::string& key, double factor) {
    const TempFolder folder;
    const auto source = Checkpoint::open(model_path("llama.gguf"));
    GgufWriter copy = copy_of(*source, [](std::string_view) { return false; });
    copy.add(key, factor);
    copy.write(folder.path("m"));
    return read_rope(*Checkpoint::open(folder.path("m")), 8, 64).inv_freq[0];
  };
  CHECK(frequency("llama.rope.scaling.factor", 4) == 0.25);
  CHECK(frequency("llama.rope.scale_linear", 2) == 0.5);
}

TEST_CASE("models: features a graph lacks are refused by name") {
  CHECK(error_of("llama", "", tensor_of("blk.1.attn_sinks.weight", {4})) ==
        "m: tensor 'blk.1.attn_sinks.weight' has no place in the llama graph");
  CHECK(error_of("llama", "", tensor_of("blk.0.rope_freqs.weight", {4})) == "no error");
  CHECK(error_of("llama", "", [](GgufWriter& w) {
          w.add("llama.attention.max_alibi_bias", 8.0f);
        }) == "m: llama.attention.max_alibi_bias is 8; only 0 is supported for llama");
  CHECK(error_of("llama", "", [](GgufWriter& w) { w.add("llama.attention.causal", false); }) ==
        "m: llama.attention.causal is 0; only 1 is supported for llama");
  CHECK(error_of("llama", "", [](GgufWriter& w) { w.add("llama.rope.scaling.type", "su"); }) ==
        "m: llama.rope.scaling.type is 'su'; supported are none, linear, yarn and, with "
        "rope_factors tensors, longrope");
  const Change window = [](GgufWriter& w) { w.add("qwen2.attention.sliding_window", 16u); };
  CHECK(error_of("qwen2", "", window, {.context = 16}) == "no error");
  CHECK(
      error_of("qwen2", "", window, {.context = 17}) ==
      "m: qwen2.attention.sliding_window is 16; windowed layers of qwen2 are supported up to that "
      "context");
}

TEST_CASE("models: options are checked") {
  CHECK(error_of("llama", "", {}, {.context = 65}) ==
        "a context of 65 tokens is asked for; llama.context_length allows 1 to 64");
  CHECK(error_of("llama", "", {}, {.context = -1}).find("a context of -1 tokens") == 0);
  CHECK(error_of("llama", "", {}, {.max_batch = 0}) ==
        "max_batch is 0; 1 to 2147483647 is allowed");
  CHECK(error_of("llama", "", {}, {.kv = DType::Q4_0}) ==
        "kv type q4_0 is not supported; f32, f16, bf16 and q8_0 are");
  // Case llm-bugs/061: heads whose width the cache's blocks do not divide.
  CHECK(error_of("llama", "", {}, {.kv = DType::Q8_0}) ==
        "a KV cache of type q8_0 needs heads of a multiple of 32 channels; m has 8");
}

TEST_CASE("models: support says why not") {
  CHECK(support_of(*Checkpoint::open(model_path("gemma3.gguf"))).supported);
  CHECK(support_of(*Checkpoint::open(model_path("llama_moe"))).supported);
  const TempFolder folder;
  GgufWriter("mamba").write(folder.path("m"));
  const Support support = support_of(*Checkpoint::open(folder.path("m")));
  CHECK_FALSE(support.supported);
  CHECK(support.reason.find("architecture 'mamba' is not supported; supported are gemma, ") !=
        std::string::npos);
}

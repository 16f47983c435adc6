// SPDX-License-Identifier: Apache-2.0
#include "import/checkpoint.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numbers>

#include "../support/expect_error.h"
#include "../support/gguf_writer.h"
#include "../support/safetensors_writer.h"
#include "../support/temp_folder.h"
#include "import/hf_config.h"

using namespace rlx;
using nlohmann::json;
using rlx::test::GgufWriter;
using rlx::test::message_of;
using rlx::test::SafetensorsWriter;
using rlx::test::TempFolder;

namespace {

json llama_config() {
  return {{"model_type", "llama"},
          {"num_hidden_layers", 2},
          {"hidden_size", 8},
          {"intermediate_size", 16},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 1},
          {"max_position_embeddings", 128},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 500000},
          {"vocab_size", 10},
          {"hidden_act", "silu"},
          {"tie_word_embeddings", false}};
}

/// Writes a folder with this config and zeros for the named tensors.
void write_model(const TempFolder& folder, const json& config,
                 const std::vector<std::pair<std::string, std::vector<uint64_t>>>& tensors) {
  folder.write("config.json", config.dump());
  SafetensorsWriter w;
  for (const auto& [name, shape] : tensors) w.add_zeros(name, shape);
  folder.write("model.safetensors", w.bytes());
}

std::string config_error(const TempFolder& folder, const json& config) {
  write_model(folder, config, {});
  return message_of([&] { Checkpoint::open(folder.path()); });
}

std::vector<float> values(const CheckpointTensor& tensor) {
  std::vector<float> out(tensor.bytes.size() / 4);
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}

}  // namespace

TEST_CASE("checkpoint: a GGUF file gives its own keys, names and logical shapes") {
  const TempFolder folder;
  GgufWriter w("llama");
  w.add("llama.block_count", uint32_t{2});
  w.add("llama.rope.freq_base", 10000.0f);
  w.add("tokenizer.chat_template", "{{ messages }}");
  w.add_tensor_f32("blk.0.attn_q.weight", {4, 2}, std::vector<float>(8, 1.0f));
  w.add_tensor("odd", {32}, 9999, std::string(32, '\0'));
  w.write(folder.path("m.gguf"));
  const auto c = Checkpoint::open(folder.path("m.gguf"));
  CHECK(c->source() == Checkpoint::Source::Gguf);
  CHECK(c->architecture() == "llama");
  CHECK(c->key("block_count") == "llama.block_count");
  CHECK(c->u64(c->key("block_count")) == 2);
  CHECK(c->f64("llama.rope.freq_base") == 10000.0);
  CHECK(c->chat_template() == "{{ messages }}");
  CHECK(c->tensor("blk.0.attn_q.weight").shape == std::vector<int64_t>{4, 2});
  CHECK(c->tensor("blk.0.attn_q.weight").dtype == DType::F32);
  CHECK_FALSE(c->layout().rope_pairs_are_halves);
  CHECK(c->find_tensor("absent") == nullptr);
  CHECK(message_of([&] { c->tensor("absent"); }) ==
        folder.path("m.gguf") + ": tensor 'absent' is missing");
  CHECK(c->has_tensor("odd"));
  CHECK(message_of([&] { c->tensor("odd"); }) ==
        folder.path("m.gguf") +
            ": tensor 'odd' has unknown type 9999, which this build cannot read");
  CHECK(message_of([&] { c->u64("llama.context_length"); }) ==
        folder.path("m.gguf") + ": key 'llama.context_length' is missing");
}

TEST_CASE("checkpoint: single experts of old GGUF files are noticed") {
  const TempFolder folder;
  GgufWriter w("llama");
  w.add_tensor_f32("blk.0.ffn_gate.0.weight", {8}, std::vector<float>(8));
  w.write(folder.path("m.gguf"));
  CHECK(Checkpoint::open(folder.path("m.gguf"))->layout().separate_experts);
}

TEST_CASE("checkpoint: a llama folder speaks GGUF") {
  const TempFolder folder;
  write_model(folder, llama_config(),
              {{"model.embed_tokens.weight", {10, 8}},
               {"model.layers.1.self_attn.q_proj.weight", {8, 8}},
               {"model.layers.1.self_attn.o_proj.weight", {8, 8}},
               {"model.layers.1.post_attention_layernorm.weight", {8}},
               {"model.layers.1.mlp.down_proj.weight", {8, 16}},
               {"model.layers.1.self_attn.rotary_emb.inv_freq", {2}},
               {"model.norm.weight", {8}},
               {"lm_head.weight", {10, 8}}});
  const auto c = Checkpoint::open(folder.path());
  CHECK(c->source() == Checkpoint::Source::HuggingFace);
  CHECK(c->architecture() == "llama");
  CHECK(c->u64("llama.block_count") == 2);
  CHECK(c->u64("llama.context_length") == 128);
  CHECK(c->u64("llama.embedding_length") == 8);
  CHECK(c->u64("llama.feed_forward_length") == 16);
  CHECK(c->u64("llama.attention.head_count") == 2);
  CHECK(c->u64("llama.attention.head_count_kv") == 1);
  CHECK(c->u64("llama.attention.key_length") == 4);
  CHECK(c->u64("llama.rope.dimension_count") == 4);
  CHECK(c->u64("llama.vocab_size") == 10);
  CHECK(c->f64("llama.rope.freq_base") == 500000);
  CHECK(c->f64("llama.attention.layer_norm_rms_epsilon") == 1e-5);
  CHECK_FALSE(c->has("llama.attention.sliding_window"));
  CHECK(c->layout().rope_pairs_are_halves);
  CHECK_FALSE(c->layout().norm_weights_lack_one);
  std::string names;
  for (const auto& tensor : c->tensors()) names += tensor.name + " ";
  CHECK(names ==
        "token_embd.weight blk.1.attn_q.weight blk.1.attn_output.weight blk.1.ffn_norm.weight "
        "blk.1.ffn_down.weight output_norm.weight output.weight ");
  CHECK(c->tensor("blk.1.ffn_down.weight").shape == std::vector<int64_t>{8, 16});
  CHECK(Checkpoint::open(folder.path("model.safetensors"))->u64("llama.block_count") == 2);
}

TEST_CASE("checkpoint: tied embeddings leave the second copy out") {
  const TempFolder folder;
  json config = llama_config();
  config["tie_word_embeddings"] = true;
  write_model(folder, config,
              {{"model.embed_tokens.weight", {10, 8}}, {"lm_head.weight", {10, 8}}});
  CHECK_FALSE(Checkpoint::open(folder.path())->has_tensor("output.weight"));
}

TEST_CASE("checkpoint: llama 3 rope scaling becomes rope_freqs.weight") {
  const TempFolder folder;
  json config = llama_config();
  config["head_dim"] = 64;
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 8192}};
  write_model(folder, config, {});
  const auto c = Checkpoint::open(folder.path());
  const std::vector<float> factors = values(c->tensor("rope_freqs.weight"));
  REQUIRE(factors.size() == 32);
  CHECK(factors.front() == 1.0f);
  CHECK(factors.back() == 8.0f);
  // Between the two: the frequency is a mean of the slowed and the old one, weighted by where its
  // wave lies.
  const double wave = 2 * std::numbers::pi * std::pow(500000.0, 30.0 / 64);
  const double smooth = (8192 / wave - 1) / 3;
  REQUIRE(smooth > 0);
  REQUIRE(smooth < 1);
  CHECK(1 / factors[15] == doctest::Approx((1 - smooth) / 8 + smooth).epsilon(1e-6));
  CHECK_FALSE(c->has("llama.rope.scaling.type"));
}

TEST_CASE("checkpoint: other rope scalings keep their keys") {
  const TempFolder folder;
  json config = llama_config();
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 4}};
  write_model(folder, config, {});
  auto c = Checkpoint::open(folder.path());
  CHECK(c->str("llama.rope.scaling.type") == "linear");
  CHECK(c->f64("llama.rope.scaling.factor") == 4);
  config["rope_scaling"] = {
      {"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 64}};
  write_model(folder, config, {});
  c = Checkpoint::open(folder.path());
  CHECK(c->str("llama.rope.scaling.type") == "yarn");
  CHECK(c->u64("llama.rope.scaling.original_context_length") == 64);
  config["rope_scaling"] = {{"rope_type", "dynamic"}, {"factor", 4}};
  CHECK(config_error(folder, config) ==
        folder.path("config.json") +
            ": rope_scaling: rope type 'dynamic' is not supported; supported are default, linear, "
            "llama3, longrope and yarn");
}

TEST_CASE("checkpoint: phi3 longrope gives two factor tensors and the magnitude") {
  const TempFolder folder;
  json config = llama_config();
  config["model_type"] = "phi3";
  config["max_position_embeddings"] = 131072;
  config["original_max_position_embeddings"] = 4096;
  config["rope_scaling"] = {
      {"type", "longrope"}, {"short_factor", {1.0, 1.5}}, {"long_factor", {2.0, 3.0}}};
  write_model(folder, config,
              {{"model.layers.0.self_attn.qkv_proj.weight", {16, 8}},
               {"model.layers.0.mlp.gate_up_proj.weight", {32, 8}}});
  const auto c = Checkpoint::open(folder.path());
  CHECK(values(c->tensor("rope_factors_short.weight")) == std::vector<float>{1.0f, 1.5f});
  CHECK(values(c->tensor("rope_factors_long.weight")) == std::vector<float>{2.0f, 3.0f});
  CHECK(c->u64("phi3.rope.scaling.original_context_length") == 4096);
  CHECK(c->f64("phi3.rope.scaling.attn_factor") ==
        doctest::Approx(std::sqrt(1 + std::log(32.0) / std::log(4096.0))));
  CHECK(c->has_tensor("blk.0.attn_qkv.weight"));
  CHECK(c->has_tensor("blk.0.ffn_up.weight"));
  config["rope_scaling"]["long_factor"] = {2.0};
  CHECK(config_error(folder, config) ==
        folder.path("config.json") +
            ": rope_scaling: key 'long_factor' is array of 1; wanted an array of 2 numbers");
}

TEST_CASE("checkpoint: gemma3, its two rope bases and its norms") {
  const TempFolder folder;
  json config = llama_config();
  config["model_type"] = "gemma3_text";
  config["hidden_activation"] = "gelu_pytorch_tanh";
  config.erase("hidden_act");
  config.erase("tie_word_embeddings");
  config["head_dim"] = 256;
  config["sliding_window"] = 512;
  config["rope_local_base_freq"] = 10000.0;
  config["query_pre_attn_scalar"] = 256;
  config["rope_theta"] = 1000000.0;
  write_model(folder, config,
              {{"model.layers.0.post_attention_layernorm.weight", {8}},
               {"model.layers.0.pre_feedforward_layernorm.weight", {8}},
               {"model.layers.0.post_feedforward_layernorm.weight", {8}},
               {"model.layers.0.self_attn.q_norm.weight", {256}},
               {"lm_head.weight", {10, 8}}});
  auto c = Checkpoint::open(folder.path());
  CHECK(c->architecture() == "gemma3");
  CHECK(c->layout().norm_weights_lack_one);
  CHECK(c->u64("gemma3.attention.key_length") == 256);
  CHECK(c->u64("gemma3.attention.sliding_window") == 512);
  CHECK(c->f64("gemma3.rope.freq_base_swa") == 10000);
  CHECK(c->f64("gemma3.attention.scale") == 1.0 / 16);
  CHECK(c->has_tensor("blk.0.post_attention_norm.weight"));
  CHECK(c->has_tensor("blk.0.ffn_norm.weight"));
  CHECK(c->has_tensor("blk.0.post_ffw_norm.weight"));
  CHECK(c->has_tensor("blk.0.attn_q_norm.weight"));
  CHECK_FALSE(c->has_tensor("output.weight"));  // tied unless the file says otherwise

  config.erase("rope_local_base_freq");
  config.erase("rope_theta");
  config["rope_parameters"] = {
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 20000.0}}},
      {"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 3e6}}}};
  write_model(folder, config, {});
  c = Checkpoint::open(folder.path());
  CHECK(c->f64("gemma3.rope.freq_base") == 3e6);
  CHECK(c->f64("gemma3.rope.freq_base_swa") == 20000);
  CHECK(c->f64("gemma3.rope.scaling.factor") == 8);
}

TEST_CASE("checkpoint: mixture models have one matrix per expert") {
  const TempFolder folder;
  json config = llama_config();
  config["model_type"] = "mixtral";
  config["num_local_experts"] = 4;
  config["num_experts_per_tok"] = 2;
  write_model(folder, config,
              {{"model.layers.0.block_sparse_moe.gate.weight", {4, 8}},
               {"model.layers.0.block_sparse_moe.experts.3.w1.weight", {16, 8}},
               {"model.layers.0.block_sparse_moe.experts.3.w2.weight", {8, 16}},
               {"model.layers.0.block_sparse_moe.experts.3.w3.weight", {16, 8}}});
  auto c = Checkpoint::open(folder.path());
  CHECK(c->architecture() == "llama");
  CHECK(c->layout().separate_experts);
  CHECK(c->u64("llama.expert_count") == 4);
  CHECK(c->u64("llama.expert_used_count") == 2);
  CHECK(c->boolean("llama.expert_weights_norm"));
  CHECK(c->has_tensor("blk.0.ffn_gate_inp.weight"));
  CHECK(c->tensor("blk.0.ffn_down.3.weight").shape == std::vector<int64_t>{8, 16});
  CHECK(c->tensor("blk.0.ffn_gate.3.weight").shape == std::vector<int64_t>{16, 8});
  CHECK(c->has_tensor("blk.0.ffn_up.3.weight"));

  config["model_type"] = "qwen3_moe";
  config.erase("num_local_experts");
  config["num_experts"] = 8;
  config["moe_intermediate_size"] = 6;
  write_model(folder, config,
              {{"model.layers.0.mlp.gate.weight", {8, 8}},
               {"model.layers.0.mlp.experts.7.up_proj.weight", {6, 8}}});
  c = Checkpoint::open(folder.path());
  CHECK(c->architecture() == "qwen3moe");
  CHECK(c->u64("qwen3moe.expert_count") == 8);
  CHECK(c->u64("qwen3moe.expert_feed_forward_length") == 6);
  CHECK_FALSE(c->boolean("qwen3moe.expert_weights_norm"));
  CHECK(c->has_tensor("blk.0.ffn_up.7.weight"));
  config["mlp_only_layers"] = {1};
  CHECK(config_error(folder, config) ==
        folder.path("config.json") +
            ": layers without experts (decoder_sparse_step, mlp_only_layers) are not supported");
}

TEST_CASE("checkpoint: gpt2 keeps its [in, out] matrices and loses its masks") {
  const TempFolder folder;
  const json config = {{"model_type", "gpt2"}, {"n_layer", 1},
                       {"n_embd", 8},          {"n_head", 2},
                       {"n_positions", 32},    {"vocab_size", 10},
                       {"n_inner", nullptr},   {"activation_function", "gelu_new"}};
  write_model(folder, config,
              {{"wte.weight", {10, 8}},
               {"wpe.weight", {32, 8}},
               {"h.0.ln_1.bias", {8}},
               {"h.0.attn.bias", {1, 1, 32, 32}},
               {"h.0.attn.masked_bias", {}},
               {"h.0.attn.c_attn.weight", {8, 24}},
               {"h.0.attn.c_proj.bias", {8}},
               {"h.0.mlp.c_fc.weight", {8, 32}},
               {"transformer.ln_f.weight", {8}}});
  const auto c = Checkpoint::open(folder.path());
  CHECK(c->layout().linear_is_in_out);
  CHECK(c->u64("gpt2.feed_forward_length") == 32);
  CHECK(c->u64("gpt2.context_length") == 32);
  CHECK(c->f64("gpt2.attention.layer_norm_epsilon") == 1e-5);
  std::string names;
  for (const auto& tensor : c->tensors()) names += tensor.name + " ";
  CHECK(names ==
        "token_embd.weight position_embd.weight blk.0.attn_norm.bias blk.0.attn_qkv.weight "
        "blk.0.attn_output.bias blk.0.ffn_up.weight output_norm.weight ");
}

TEST_CASE("checkpoint: windows that are switched off are not there") {
  const TempFolder folder;
  json config = llama_config();
  config["model_type"] = "qwen2";
  config["sliding_window"] = 4096;
  config["use_sliding_window"] = false;
  write_model(folder, config, {});
  CHECK_FALSE(Checkpoint::open(folder.path())->has("qwen2.attention.sliding_window"));
  config["model_type"] = "mistral";
  config.erase("use_sliding_window");
  write_model(folder, config, {});
  CHECK(Checkpoint::open(folder.path())->u64("llama.attention.sliding_window") == 4096);
}

TEST_CASE("checkpoint: a config.json that does not fit is refused by key") {
  const TempFolder folder;
  const std::string path = folder.path("config.json");
  json config = llama_config();
  config["model_type"] = "mamba";
  CHECK(config_error(folder, config) ==
        path +
            ": model_type 'mamba' is not supported; supported are gemma3_text, gpt2, llama, "
            "mistral, mixtral, phi3, qwen2, qwen3, qwen3_moe");
  config = llama_config();
  config.erase("hidden_size");
  CHECK(config_error(folder, config) == path + ": key 'hidden_size' is missing");
  config["hidden_size"] = -8;
  CHECK(config_error(folder, config) ==
        path + ": key 'hidden_size' is -8; wanted an integer from 0 to 2^32 - 1");
  config = llama_config();
  config["num_attention_heads"] = 0;
  CHECK(config_error(folder, config) == path + ": num_attention_heads is 0; at least 1 is needed");
  config = llama_config();
  config["hidden_act"] = "relu";
  CHECK(config_error(folder, config) ==
        path + ": hidden_act is 'relu'; only 'silu' is supported for llama");
  config = llama_config();
  config["head_dim"] = 4294967295u;
  CHECK(config_error(folder, config) ==
        path + ": rope would turn 4294967295 dimensions of a head; at most 65536 are read");
  CHECK(config_error(folder, json::array()) == path + ": the document is no object");
}

TEST_CASE("checkpoint: folders and files that are no model are named") {
  const TempFolder folder;
  CHECK(message_of([&] { Checkpoint::open(folder.path()); }) ==
        "'" + folder.path() +
            "' is a folder without config.json; a GGUF file or a Hugging Face folder is needed");
  const std::string lonely = folder.write("x.safetensors", "");
  CHECK(message_of([&] { Checkpoint::open(lonely); }) ==
        lonely + ": there is no '" + folder.path() + "/config.json' beside it");
  CHECK(message_of([&] { Checkpoint::open(folder.path("none.gguf")); }) ==
        "cannot open '" + folder.path("none.gguf") + "': No such file or directory");
  CHECK(message_of([&] { Checkpoint::open(folder.path("none.safetensors")); }) ==
        "cannot open '" + folder.path("none.safetensors") + "': No such file or directory");
}

TEST_CASE("checkpoint: the chat template of a folder") {
  const TempFolder folder;
  write_model(folder, llama_config(), {});
  CHECK(Checkpoint::open(folder.path())->chat_template() == std::nullopt);
  folder.write("tokenizer_config.json", R"({"chat_template":"one"})");
  CHECK(Checkpoint::open(folder.path())->chat_template() == "one");
  folder.write(
      "tokenizer_config.json",
      R"({"chat_template":[{"name":"rag","template":"r"},{"name":"default","template":"d"}]})");
  CHECK(Checkpoint::open(folder.path())->chat_template() == "d");
  folder.write("chat_template.jinja", "own");
  CHECK(Checkpoint::open(folder.path())->chat_template() == "own");
}

TEST_CASE("checkpoint: data that is not aligned in the file is aligned in memory") {
  const TempFolder folder;
  folder.write("config.json", llama_config().dump());
  SafetensorsWriter w;
  w.add("flag", "U8", {1}, "x");
  w.add("model.norm.weight", "F32", {2}, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  folder.write("model.safetensors", w.bytes());
  const auto c = Checkpoint::open(folder.path());
  const CheckpointTensor& norm = c->tensor("output_norm.weight");
  CHECK(reinterpret_cast<uintptr_t>(norm.bytes.data()) % 4 == 0);
  CHECK(values(norm) == std::vector<float>{1.0f, 2.0f});
}

TEST_CASE("checkpoint: unknown names stay what they are") {
  CHECK(gguf_tensor_name("model.layers.12.self_attn.k_proj.bias", "qwen2") == "blk.12.attn_k.bias");
  CHECK(gguf_tensor_name("vision.patch.weight", "gemma3") == "vision.patch.weight");
  CHECK(gguf_tensor_name("weight", "llama") == "weight");
  CHECK(gguf_tensor_name("", "llama") == "");
}

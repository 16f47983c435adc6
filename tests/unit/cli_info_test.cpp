// SPDX-License-Identifier: Apache-2.0
#include "cli/info.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "../support/expect_error.h"
#include "../support/gguf_writer.h"
#include "../support/safetensors_writer.h"
#include "../support/temp_folder.h"

using namespace rlx;
using nlohmann::json;
using rlx::test::GgufWriter;
using rlx::test::message_of;
using rlx::test::SafetensorsWriter;
using rlx::test::TempFolder;

namespace {

/// Writes a whole llama of one layer; keys in `without` are left out.
std::string write_llama(const TempFolder& folder, std::string_view without = "",
                        uint32_t rotary = 4) {
  GgufWriter w("llama");
  const auto count = [&](std::string_view key, uint32_t value) {
    if (key != without) w.add(key, value);
  };
  count("llama.block_count", 1);
  count("llama.context_length", 64);
  count("llama.embedding_length", 8);
  count("llama.feed_forward_length", 16);
  count("llama.attention.head_count", 2);
  count("llama.rope.dimension_count", rotary);
  w.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto tensor = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t elements = 1;
    for (const uint64_t dim : shape) elements *= dim;
    if (name != without) w.add_tensor_f32(name, shape, std::vector<float>(elements, 0.5f));
  };
  tensor("token_embd.weight", {10, 8});
  tensor("output_norm.weight", {8});
  tensor("blk.0.attn_norm.weight", {8});
  for (const char* name : {"q", "k", "v", "output"}) {
    tensor(std::string("blk.0.attn_") + name + ".weight", {8, 8});
  }
  tensor("blk.0.ffn_norm.weight", {8});
  tensor("blk.0.ffn_gate.weight", {16, 8});
  tensor("blk.0.ffn_up.weight", {16, 8});
  tensor("blk.0.ffn_down.weight", {8, 16});
  w.write(folder.path("m.gguf"));
  return folder.path("m.gguf");
}

std::string error_of(const std::string& path) {
  return message_of([&] { cli::gather_info(path); });
}

}  // namespace

TEST_CASE("info: a whole model is supported, with its totals") {
  const TempFolder folder;
  const cli::ModelInfo info = cli::gather_info(write_llama(folder));
  CHECK(info.reason == "");
  CHECK(info.is_supported);
  CHECK(info.architecture == "llama");
  CHECK(info.parameters == 80 + 3 * 8 + 4 * 64 + 3 * 128);
  REQUIRE(info.types.size() == 1);
  CHECK(info.types[0].tensors == 11);
  CHECK(info.types[0].bytes == info.parameters * 4);
  const json document = json::parse(cli::info_json(info));
  CHECK(document["format"] == "gguf");
  CHECK(document["version"] == 3);
  CHECK(document["supported"] == true);
  CHECK(document["reason"].is_null());
  CHECK(document["tokenizer"].is_null());
  CHECK(document["metadata"]["llama.block_count"] == json({{"type", "u32"}, {"value", 1}}));
  CHECK(document["tensors"][0]["name"] == "token_embd.weight");
  CHECK(document["tensors"][0]["shape"] == json({10, 8}));
  CHECK(document["tensors"][0]["bytes"] == 320);
  CHECK(document["files"][0]["bytes"].get<uint64_t>() ==
        document["tensors"][10]["offset"].get<uint64_t>() + 512);
}

TEST_CASE("info: a broken model of a known architecture is an error (llm-bugs 091, 092)") {
  const TempFolder folder;
  const std::string path = folder.path("m.gguf");
  write_llama(folder, "llama.attention.head_count");
  CHECK(error_of(path).find("'llama.attention.head_count' is missing") != std::string::npos);
  write_llama(folder, "blk.0.ffn_up.weight");
  CHECK(error_of(path).find("blk.0.ffn_up.weight") != std::string::npos);
  write_llama(folder, "", 3);
  CHECK(error_of(path).find("llama.rope.dimension_count") != std::string::npos);
}

TEST_CASE("info: what is no model of a known architecture is shown with the reason") {
  const TempFolder folder;
  GgufWriter w("mamba");
  w.add("last", "seen");
  w.add_tensor("w", {32}, 9999, std::string(32, '\0'));
  w.add_tensor_f32("v", {4}, std::vector<float>(4));
  w.write(folder.path("m.gguf"));
  cli::ModelInfo info = cli::gather_info(folder.path("m.gguf"));
  CHECK_FALSE(info.is_supported);
  CHECK(info.reason == "there are no 'mamba.*' keys");
  std::string text = cli::info_text(info);
  CHECK(text.find("last                  string  seen") != std::string::npos);
  CHECK(text.find("w     unknown type 9999  [32]       ?") != std::string::npos);
  CHECK(json::parse(cli::info_json(info))["tensors"][0]["bytes"].is_null());

  w.add("mamba.block_count", uint32_t{1});
  w.write(folder.path("m.gguf"));
  info = cli::gather_info(folder.path("m.gguf"));
  CHECK(info.reason.find("'mamba'") != std::string::npos);

  w = GgufWriter();
  w.add_tensor_f32("v", {4}, std::vector<float>(4));
  w.write(folder.path("m.gguf"));
  info = cli::gather_info(folder.path("m.gguf"));
  CHECK(info.reason == "general.architecture is missing");
}

TEST_CASE("info: long arrays are cut, short ones whole, bad text made printable") {
  const TempFolder folder;
  GgufWriter w("x");
  w.add_array("long", std::vector<uint32_t>(1000, 5));
  w.add_array("short", std::vector<float>{0.5f, 2});
  w.add("text", "\xff\n");
  w.write(folder.path("m.gguf"));
  const cli::ModelInfo info = cli::gather_info(folder.path("m.gguf"));
  const json metadata = json::parse(cli::info_json(info))["metadata"];
  CHECK(metadata["long"] == json({{"type", "array"},
                                  {"element_type", "u32"},
                                  {"size", 1000},
                                  {"first", std::vector<int>(8, 5)}}));
  CHECK(metadata["short"]["value"] == json({0.5, 2.0}));
  const std::string text = cli::info_text(info);
  CHECK(text.find("array of 1000 u32  [5, 5, 5, 5, 5, 5, ...]") != std::string::npos);
  CHECK(text.find("string             \\xff\\x0a") != std::string::npos);
}

TEST_CASE("info: the tokenizer in a line, and why it is unusable") {
  const TempFolder folder;
  GgufWriter w("x");
  w.add("tokenizer.ggml.model", "gpt2");
  w.add("tokenizer.ggml.pre", "qwen2");
  w.add_array("tokenizer.ggml.tokens", std::vector<std::string>{"a", "<eos>"});
  w.add("tokenizer.ggml.eos_token_id", uint32_t{1});
  w.add("tokenizer.chat_template", "{{ x }}");
  w.write(folder.path("m.gguf"));
  cli::ModelInfo info = cli::gather_info(folder.path("m.gguf"));
  CHECK(cli::info_text(info).find("byte BPE (qwen2), 2 tokens, eos 1 '<eos>'") !=
        std::string::npos);
  json tokenizer = json::parse(cli::info_json(info))["tokenizer"];
  CHECK(tokenizer["eos"] == 1);
  CHECK(tokenizer["bos"].is_null());
  CHECK(tokenizer["chat_template"] == true);
  w.add("tokenizer.ggml.bos_token_id", uint32_t{2});
  w.write(folder.path("m.gguf"));
  info = cli::gather_info(folder.path("m.gguf"));
  tokenizer = json::parse(cli::info_json(info))["tokenizer"];
  CHECK(tokenizer["error"].get<std::string>().ends_with(
      "key 'tokenizer.ggml.bos_token_id' is 2; the 2 tokens have ids 0 to 1"));
}

TEST_CASE("info: safetensors alone and in a folder") {
  const TempFolder folder;
  SafetensorsWriter w;
  w.add_zeros("model.norm.weight", {8});
  const std::string path = folder.write("model.safetensors", w.bytes());
  cli::ModelInfo info = cli::gather_info(path);
  CHECK(info.format == "safetensors");
  CHECK(info.reason == "there is no config.json beside the file");
  CHECK(json::parse(cli::info_json(info))["tensors"][0]["type"] == "f32");
  CHECK(error_of(folder.path()).find("is a folder without config.json") != std::string::npos);
  folder.write("config.json", R"({"model_type":"bert"})");
  info = cli::gather_info(folder.path());
  CHECK(info.reason.find("model_type 'bert' is not supported") != std::string::npos);
  CHECK(cli::info_text(info).find("model.norm.weight") != std::string::npos);
  folder.write("config.json", "{");
  CHECK(error_of(folder.path()) == folder.path("config.json") + ": not JSON at byte 1");
}

TEST_CASE("info: files that are no models are named (llm-bugs 106, 107)") {
  const TempFolder folder;
  const std::string path = folder.write("notes.txt", "hello");
  CHECK(error_of(path) ==
        "'" + path + "' is no model file: it starts like neither GGUF nor safetensors");
  CHECK(error_of(folder.path("none")) ==
        "cannot open '" + folder.path("none") + "': No such file or directory");
  CHECK(error_of(folder.write("empty.gguf", "")) ==
        folder.path("empty.gguf") + ": not a GGUF file: it starts with '', not with 'GGUF'");
}

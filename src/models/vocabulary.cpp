// SPDX-License-Identifier: Apache-2.0
#include "models/vocabulary.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/mapped_file.h"
#include "import/json_file.h"
#include "import/paths.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace rlx::models {
namespace {

using nlohmann::json;
using text::TokenizerModel;
using text::TokenType;
using text::Vocabulary;

constexpr size_t largest_tokenizer = size_t{256} << 20;

TokenizerModel model_of(const Metadata& metadata, std::string_view name) {
  if (name == "llama") return TokenizerModel::Spm;
  if (name == "gpt2") return TokenizerModel::Bpe;
  if (name == "bert") return TokenizerModel::WordPiece;
  if (name == "t5") return TokenizerModel::Unigram;
  fail(ErrorCode::Unsupported,
       "{}: tokenizer.ggml.model is {}; supported are 'llama' (SentencePiece BPE), 'gpt2' (byte "
       "BPE), 'bert' (WordPiece) and 't5' (Unigram)",
       metadata.source(), quote(name));
}

void check_size(const Metadata& metadata, std::string_view key, size_t size, size_t tokens) {
  if (size == tokens) return;
  fail(ErrorCode::InvalidFile, "{}: key '{}' has {} elements; there are {} tokens",
       metadata.source(), key, size, tokens);
}

/// A token's id, where the key is there and not the "none" of some writers, all bits set.
std::optional<uint32_t> read_id(const Metadata& metadata, std::string_view key, size_t tokens) {
  const auto id = metadata.find_i64(key);
  if (!id || *id == -1 || *id == std::numeric_limits<uint32_t>::max()) return std::nullopt;
  if (*id < 0 || static_cast<uint64_t>(*id) >= tokens) {
    fail(ErrorCode::InvalidFile, "{}: key '{}' is {}; the {} tokens have ids 0 to {}",
         metadata.source(), key, *id, tokens, static_cast<int64_t>(tokens) - 1);
  }
  return static_cast<uint32_t>(*id);
}

void read_tokens(const Metadata& metadata, Vocabulary& vocabulary) {
  const auto tokens = metadata.string_array("tokenizer.ggml.tokens");
  if (tokens.empty()) {
    fail(ErrorCode::InvalidFile, "{}: key 'tokenizer.ggml.tokens' is empty", metadata.source());
  }
  vocabulary.tokens.assign(tokens.begin(), tokens.end());
  if (metadata.has("tokenizer.ggml.scores")) {
    const auto scores = metadata.f64_array("tokenizer.ggml.scores");
    check_size(metadata, "tokenizer.ggml.scores", scores.size(), tokens.size());
    vocabulary.scores.assign(scores.begin(), scores.end());
  }
  if (metadata.has("tokenizer.ggml.token_type")) {
    const auto types = metadata.i64_array("tokenizer.ggml.token_type");
    check_size(metadata, "tokenizer.ggml.token_type", types.size(), tokens.size());
    for (const int64_t type : types) {
      if (type < 0 || type > static_cast<int64_t>(TokenType::Byte)) {
        fail(ErrorCode::InvalidFile,
             "{}: element {} of key 'tokenizer.ggml.token_type' is {}; 0 to 6 are allowed",
             metadata.source(), vocabulary.types.size(), type);
      }
      // 0 says nothing of the token.
      vocabulary.types.push_back(type == 0 ? TokenType::Normal : static_cast<TokenType>(type));
    }
  }
  if (metadata.has("tokenizer.ggml.merges")) {
    const auto merges = metadata.string_array("tokenizer.ggml.merges");
    vocabulary.merges.assign(merges.begin(), merges.end());
  }
}

void read_special_ids(const Metadata& metadata, Vocabulary& vocabulary) {
  const size_t count = vocabulary.tokens.size();
  vocabulary.bos = read_id(metadata, "tokenizer.ggml.bos_token_id", count);
  vocabulary.eos = read_id(metadata, "tokenizer.ggml.eos_token_id", count);
  vocabulary.eot = read_id(metadata, "tokenizer.ggml.eot_token_id", count);
  vocabulary.eom = read_id(metadata, "tokenizer.ggml.eom_token_id", count);
  vocabulary.unk = read_id(metadata, "tokenizer.ggml.unknown_token_id", count);
  vocabulary.sep = read_id(metadata, "tokenizer.ggml.seperator_token_id", count);  // sic
  vocabulary.pad = read_id(metadata, "tokenizer.ggml.padding_token_id", count);
  vocabulary.cls = read_id(metadata, "tokenizer.ggml.cls_token_id", count);
  vocabulary.mask = read_id(metadata, "tokenizer.ggml.mask_token_id", count);
}

void read_charsmap(const Metadata& metadata, Vocabulary& vocabulary) {
  constexpr std::string_view key = "tokenizer.ggml.precompiled_charsmap";
  if (!metadata.has(key)) return;
  for (const int64_t byte : metadata.i64_array(key)) {
    if (byte < -128 || byte > 255) {
      fail(ErrorCode::InvalidFile, "{}: key '{}' holds {}; bytes are allowed", metadata.source(),
           key, byte);
    }
    vocabulary.precompiled_charsmap += static_cast<char>(byte);
  }
}

std::optional<uint32_t> id_of(const Vocabulary& vocabulary, std::string_view token) {
  for (uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.tokens[id] == token) return id;
  }
  return std::nullopt;
}

/// The special tokens that a tokenizer_config.json names, as text or as {"content": text}.
void read_token_names(const std::string& path, Vocabulary& vocabulary) {
  if (!file_exists(path)) return;
  const json config = read_json_file(path);
  if (!config.is_object()) return;
  const auto set = [&](const char* key, std::optional<uint32_t>& id) {
    auto found = config.find(key);
    if (found == config.end()) return;
    const json& named =
        found->is_object() && found->contains("content") ? (*found)["content"] : *found;
    if (named.is_string()) id = id_of(vocabulary, named.get_ref<const std::string&>());
  };
  set("bos_token", vocabulary.bos);
  set("eos_token", vocabulary.eos);
  set("pad_token", vocabulary.pad);
}

/// The ids that end a generation: "eos_token_id", a number or several.
void read_generation_config(const std::string& path, Vocabulary& vocabulary) {
  if (!file_exists(path)) return;
  const json config = read_json_file(path);
  if (!config.is_object() || !config.contains("eos_token_id")) return;
  const json& found = config["eos_token_id"];
  const json ids = found.is_array() ? found : json::array({found});
  for (const json& id : ids) {
    if (id.is_null()) continue;
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= vocabulary.tokens.size()) {
      fail(ErrorCode::InvalidFile, "{}: eos_token_id is {}; the {} tokens have ids 0 to {}", path,
           printable(id.dump(-1, ' ', true), 80), vocabulary.tokens.size(),
           vocabulary.tokens.size() - 1);
    }
    vocabulary.extra_end_of_generation.push_back(id.get<uint32_t>());
  }
}

}  // namespace

std::optional<Vocabulary> vocabulary_from_gguf(const Metadata& metadata) {
  const auto model = metadata.has("tokenizer.ggml.tokens")
                         ? std::optional(metadata.string("tokenizer.ggml.model"))
                         : metadata.find_string("tokenizer.ggml.model");
  if (!model || *model == "none" || *model == "no_vocab") return std::nullopt;
  Vocabulary vocabulary;
  vocabulary.model = model_of(metadata, *model);
  vocabulary.pre = metadata.find_string("tokenizer.ggml.pre").value_or("");
  read_tokens(metadata, vocabulary);
  read_special_ids(metadata, vocabulary);
  read_charsmap(metadata, vocabulary);
  vocabulary.add_bos = metadata.find_boolean("tokenizer.ggml.add_bos_token");
  vocabulary.add_eos = metadata.find_boolean("tokenizer.ggml.add_eos_token");
  vocabulary.add_sep = metadata.find_boolean("tokenizer.ggml.add_sep_token");
  vocabulary.add_space_prefix = metadata.find_boolean("tokenizer.ggml.add_space_prefix");
  vocabulary.remove_extra_whitespaces =
      metadata.find_boolean("tokenizer.ggml.remove_extra_whitespaces");
  const bool is_phi3 = metadata.find_string("general.architecture") == "phi3";
  if (is_phi3 && vocabulary.model == TokenizerModel::Spm) text::set_phi3_stripping(vocabulary);
  return vocabulary;
}

std::optional<Vocabulary> read_vocabulary(const Checkpoint& checkpoint) {
  if (checkpoint.source() == Checkpoint::Source::Gguf) {
    return vocabulary_from_gguf(checkpoint.metadata());
  }
  const std::string path = checkpoint.folder() + "/tokenizer.json";
  if (!file_exists(path)) return std::nullopt;
  Vocabulary vocabulary = text::read_tokenizer_json(read_text_file(path, largest_tokenizer));
  read_token_names(checkpoint.folder() + "/tokenizer_config.json", vocabulary);
  read_generation_config(checkpoint.folder() + "/generation_config.json", vocabulary);
  return vocabulary;
}

}  // namespace rlx::models

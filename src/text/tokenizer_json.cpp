// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/tokenizers/json_parts.h"
#include "text/tokenizers/special_tokens.h"

namespace rlx::text {
namespace {

using Json = nlohmann::json;

/// Puts a token at its id. Ids far above the number of entries would only make the file cost more
/// memory than it has bytes.
void place(Vocabulary& v, const Json& number, const std::string& text, TokenType type,
           uint64_t limit) {
  const uint64_t id = number.is_number_unsigned() ? number.get<uint64_t>() : UINT64_MAX;
  if (id >= limit) {
    fail(ErrorCode::InvalidFile,
         "tokenizer.json: token \"{}\" has id {}, allowed here are ids below {}",
         text.substr(0, 80), number.dump(-1, ' ', true).substr(0, 80), limit);
  }
  if (id >= v.tokens.size()) {
    v.tokens.resize(id + 1);
    v.types.resize(id + 1, TokenType::Unused);
  }
  v.tokens[id] = text;
  v.types[id] = type;
}

uint64_t id_limit(const Json& file) {
  const size_t added = file.contains("added_tokens") ? file.at("added_tokens").size() : 0;
  return 4 * (file.at("model").at("vocab").size() + added) + 4096;
}

void read_vocab_object(const Json& file, bool byte_tokens, Vocabulary& v) {
  const uint64_t limit = id_limit(file);
  for (const auto& [text, id] : file.at("model").at("vocab").items()) {
    const bool byte = byte_tokens && byte_of_token(text);
    place(v, id, text, byte ? TokenType::Byte : TokenType::Normal, limit);
  }
}

void read_merges(const Json& model, Vocabulary& v) {
  for (const Json& merge : model.at("merges")) {
    if (merge.is_string()) {
      v.merges.push_back(merge.get<std::string>());
      continue;
    }
    const auto left = merge.at(0).get<std::string>();
    const auto right = merge.at(1).get<std::string>();
    if ((left + right).find(' ') != std::string::npos) {
      fail(ErrorCode::Unsupported, "tokenizer.json: merge {} joins tokens that hold a blank",
           v.merges.size());
    }
    v.merges.push_back(left + " " + right);
  }
}

void set_unknown(const Json& model, Vocabulary& v) {
  const auto token = model.find("unk_token");
  if (token == model.end() || token->is_null()) return;
  const auto vocab = model.at("vocab").find(token->get<std::string>());
  if (vocab != model.at("vocab").end()) v.unk = vocab->get<uint32_t>();
}

void need_empty(const Json& model, const char* field) {
  const auto found = model.find(field);
  if (found == model.end() || found->is_null() || *found == "" || *found == false) return;
  fail(ErrorCode::Unsupported, "tokenizer.json: model.{} {} is not handled", field, found->dump());
}

void read_bpe(const Json& file, const JsonPipeline& pipeline, Vocabulary& v) {
  const Json& model = file.at("model");
  v.model = TokenizerModel::Bpe;
  need_empty(model, "continuing_subword_prefix");
  need_empty(model, "end_of_word_suffix");
  v.byte_level = pipeline.byte_level;
  if (!v.byte_level && !pipeline.marks_blanks) {
    fail(ErrorCode::Unsupported,
         "tokenizer.json: a BPE that is neither byte-level nor spells blanks as U+2581");
  }
  read_vocab_object(file, model.value("byte_fallback", false), v);
  read_merges(model, v);
  set_unknown(model, v);
  v.ignore_merges = model.value("ignore_merges", false);
  v.pre_patterns = pipeline.patterns;
  // Without a pattern a text is one piece; an empty list would mean the default patterns.
  if (v.byte_level && v.pre_patterns.empty()) v.pre_patterns.emplace_back("(?s:.+)");
}

void read_unigram(const Json& file, const JsonPipeline& pipeline, Vocabulary& v) {
  const Json& model = file.at("model");
  v.model = TokenizerModel::Unigram;
  if (!pipeline.marks_blanks) {
    fail(ErrorCode::Unsupported, "tokenizer.json: a Unigram model without Metaspace");
  }
  const bool bytes = model.value("byte_fallback", false);
  for (const Json& entry : model.at("vocab")) {
    const auto text = entry.at(0).get<std::string>();
    const bool byte = bytes && byte_of_token(text);
    v.tokens.push_back(text);
    v.scores.push_back(entry.at(1).get<float>());
    v.types.push_back(byte ? TokenType::Byte : TokenType::Normal);
  }
  if (const auto unk = model.find("unk_id"); unk != model.end() && !unk->is_null()) {
    v.unk = unk->get<uint32_t>();
  }
  v.remove_extra_whitespaces = pipeline.remove_extra;
  v.precompiled_charsmap = pipeline.charsmap;
}

void read_word_piece(const Json& file, const JsonPipeline& pipeline, Vocabulary& v) {
  const Json& model = file.at("model");
  v.model = TokenizerModel::WordPiece;
  const bool usual = model.value("continuing_subword_prefix", "##") == "##" &&
                     model.value("max_input_chars_per_word", 100) == 100 &&
                     pipeline.bert_normalizer && pipeline.bert_words;
  if (!usual) {
    fail(ErrorCode::Unsupported,
         "tokenizer.json: a WordPiece model other than BERT's (\"##\", words up to 100 characters, "
         "BertNormalizer, BertPreTokenizer)");
  }
  read_vocab_object(file, false, v);
  set_unknown(model, v);
  v.lower_case = pipeline.lower_case;
  v.strip_accents = pipeline.strip_accents;
}

void read_added_tokens(const Json& file, Vocabulary& v) {
  if (!file.contains("added_tokens")) return;
  const uint64_t limit = id_limit(file);
  for (const Json& token : file.at("added_tokens")) {
    const auto text = token.at("content").get<std::string>();
    const auto id = token.at("id").get<uint64_t>();
    if (token.value("single_word", false)) {
      fail(ErrorCode::Unsupported, "tokenizer.json: added token \"{}\" has single_word",
           text.substr(0, 80));
    }
    const bool special = token.value("special", false);
    place(v, token.at("id"), text, special ? TokenType::Control : TokenType::UserDefined, limit);
    if (token.value("lstrip", false)) v.strip_left.push_back(static_cast<uint32_t>(id));
    if (token.value("rstrip", false)) v.strip_right.push_back(static_cast<uint32_t>(id));
  }
  if (v.unk && *v.unk < v.types.size()) v.types[*v.unk] = TokenType::Unknown;
  if (!v.scores.empty()) v.scores.resize(v.tokens.size(), 0.0f);
}

Vocabulary read(const Json& file) {
  const JsonPipeline pipeline = read_json_pipeline(file);
  Vocabulary v;
  const auto type =
      file.at("model").value("type", file.at("model").contains("merges") ? "BPE" : "");
  if (type == "BPE") {
    read_bpe(file, pipeline, v);
  } else if (type == "Unigram") {
    read_unigram(file, pipeline, v);
  } else if (type == "WordPiece") {
    read_word_piece(file, pipeline, v);
  } else {
    fail(ErrorCode::Unsupported,
         "tokenizer.json: model type \"{}\", handled are BPE, Unigram and WordPiece", type);
  }
  read_added_tokens(file, v);
  v.nfc = pipeline.nfc;
  v.add_space_prefix = pipeline.prefixes_blank;
  // Where doubled blanks go, so do leading ones, and every text begins with none.
  v.space_prefix_if_missing = pipeline.prefix_if_missing && !pipeline.remove_extra;
  v.space_prefix_once = pipeline.prefix_once;
  read_json_post_processor(file, v);
  return v;
}

}  // namespace

Vocabulary read_tokenizer_json(std::string_view text) {
  try {
    return read(Json::parse(text));
  } catch (const Json::parse_error& error) {
    fail(ErrorCode::InvalidFile, "tokenizer.json: not JSON at byte {}",
         error.byte > 0 ? error.byte - 1 : 0);
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();  // "[json.exception.…] key 'model' not found"
    fail(ErrorCode::InvalidFile, "tokenizer.json: {}", what.substr(what.find("] ") + 2));
  }
}

}  // namespace rlx::text

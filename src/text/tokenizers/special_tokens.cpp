// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/special_tokens.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "base/error.h"
#include "text/tokenizers/pretokenizer.h"
#include "text/tokenizers/token_map.h"

namespace rlx::text {
namespace {

using View = std::string_view;

/// Spellings of tokens that end an answer, a message or, in code models, a file.
constexpr View end_spellings[] = {
    "</s>",
    "<eos>",
    "[EOS]",
    "<EOT>",
    "<|EOT|>",
    "_<EOT>",
    "[EOT]",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<end_of_turn>",
    "<|end_of_turn|>",
    "<turn|>",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<reponame>",
    "<REPO>",
    "<|file_sep|>",
    "<end_of_utterance>",
    "<\xef\xbd\x9c"
    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
};

void check_id(const Vocabulary& vocabulary, View name, std::optional<uint32_t> id) {
  if (!id || *id < vocabulary.tokens.size()) return;
  fail(ErrorCode::InvalidFile, "tokenizer: {} is {}, allowed are ids below the {} tokens", name,
       *id, vocabulary.tokens.size());
}

void check_ids(const Vocabulary& v) {
  check_id(v, "bos_token_id", v.bos);
  check_id(v, "eos_token_id", v.eos);
  check_id(v, "eot_token_id", v.eot);
  check_id(v, "eom_token_id", v.eom);
  check_id(v, "unknown_token_id", v.unk);
  check_id(v, "seperator_token_id", v.sep);
  check_id(v, "padding_token_id", v.pad);
  check_id(v, "cls_token_id", v.cls);
  check_id(v, "mask_token_id", v.mask);
  for (const uint32_t id : v.extra_end_of_generation) {
    check_id(v, "an end-of-generation token id", id);
  }
}

void check_types(const Vocabulary& v) {
  for (uint32_t id = 0; id < v.types.size(); ++id) {
    if (v.types[id] > TokenType::Byte) {
      fail(ErrorCode::InvalidFile, "tokenizer: token {} has type {}, allowed are 0 to 6", id,
           static_cast<unsigned>(v.types[id]));
    }
    if (v.types[id] == TokenType::Byte && !byte_of_token(v.tokens[id])) {
      fail(ErrorCode::InvalidFile,
           "tokenizer: byte token {} is spelled \"{}\", allowed is <0x00> to <0xFF>", id,
           View(v.tokens[id]).substr(0, 80));
    }
  }
}

void check_scores(const Vocabulary& v) {
  const bool needed = v.model == TokenizerModel::Spm || v.model == TokenizerModel::Unigram;
  const bool allowed = v.scores.size() == v.tokens.size() || (!needed && v.scores.empty());
  if (!allowed) {
    fail(ErrorCode::InvalidFile, "tokenizer: {} scores for {} tokens, one each is needed",
         v.scores.size(), v.tokens.size());
  }
  const auto bad =
      std::find_if(v.scores.begin(), v.scores.end(), [](float score) { return std::isnan(score); });
  if (bad != v.scores.end()) {
    fail(ErrorCode::InvalidFile, "tokenizer: the score of token {} is not a number",
         bad - v.scores.begin());
  }
}

void find_missing(Vocabulary& v, std::optional<uint32_t>& id, std::initializer_list<View> names) {
  for (const View name : names) {
    if (id) return;
    const auto found = std::find(v.tokens.begin(), v.tokens.end(), name);
    if (found != v.tokens.end()) id = static_cast<uint32_t>(found - v.tokens.begin());
  }
}

void set_special_ids(Vocabulary& v) {
  switch (v.model) {
    case TokenizerModel::Bpe: break;
    case TokenizerModel::Spm:
      find_missing(v, v.bos, {"<s>", "<bos>"});
      find_missing(v, v.eos, {"</s>", "<eos>"});
      find_missing(v, v.unk, {"<unk>"});
      break;
    case TokenizerModel::Unigram:
      find_missing(v, v.eos, {"</s>"});
      find_missing(v, v.unk, {"<unk>"});
      break;
    case TokenizerModel::WordPiece:
      find_missing(v, v.cls, {"[CLS]"});
      find_missing(v, v.sep, {"[SEP]"});
      find_missing(v, v.unk, {"[UNK]"});
      if (!v.bos) v.bos = v.cls;
      if (!v.eos) v.eos = v.sep;
      break;
  }
}

void set_types(Vocabulary& v) {
  if (!v.types.empty()) {
    std::replace(v.types.begin(), v.types.end(), TokenType{0}, TokenType::Normal);
    return;
  }
  v.types.assign(v.tokens.size(), TokenType::Normal);
  if (v.model == TokenizerModel::Spm || v.model == TokenizerModel::Unigram) {
    for (size_t id = 0; id < v.tokens.size(); ++id) {
      if (byte_of_token(v.tokens[id])) v.types[id] = TokenType::Byte;
    }
  }
  for (const auto& id : {v.bos, v.eos, v.eot, v.eom, v.sep, v.pad, v.cls, v.mask}) {
    if (id) v.types[*id] = TokenType::Control;
  }
  if (v.unk) v.types[*v.unk] = TokenType::Unknown;
}

void need_id(View flag, View name, std::optional<bool> wanted, std::optional<uint32_t> id) {
  if (wanted.value_or(false) && !id) {
    fail(ErrorCode::InvalidFile, "tokenizer: {} is true, but there is no {}", flag, name);
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::optional<uint8_t> byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const int high = hex_digit(text[3]), low = hex_digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}

std::array<uint32_t, 256> byte_token_ids(const Vocabulary& vocabulary) {
  std::array<uint32_t, 256> ids;
  ids.fill(no_token);
  for (uint32_t id = 0; id < vocabulary.types.size(); ++id) {
    if (vocabulary.types[id] != TokenType::Byte) continue;
    uint32_t& slot = ids[*byte_of_token(vocabulary.tokens[id])];
    if (slot == no_token) slot = id;
  }
  return ids;
}

void check_vocabulary(const Vocabulary& vocabulary) {
  if (vocabulary.tokens.empty()) fail(ErrorCode::InvalidFile, "tokenizer: no tokens");
  if (!vocabulary.types.empty() && vocabulary.types.size() != vocabulary.tokens.size()) {
    fail(ErrorCode::InvalidFile, "tokenizer: {} token types for {} tokens, one each is needed",
         vocabulary.types.size(), vocabulary.tokens.size());
  }
  check_types(vocabulary);
  check_scores(vocabulary);
  check_ids(vocabulary);
}

void set_defaults(Vocabulary& v) {
  need_id("add_bos_token", "bos_token_id", v.add_bos, v.bos ? v.bos : v.cls);
  set_special_ids(v);
  need_id("add_eos_token", "eos_token_id", v.add_eos, v.eos);
  set_types(v);
  const bool pieces = v.model == TokenizerModel::Spm || v.model == TokenizerModel::Unigram;
  if (!v.add_space_prefix) v.add_space_prefix = pieces;
  bool bos = v.model == TokenizerModel::Spm || v.model == TokenizerModel::WordPiece;
  if (v.model == TokenizerModel::Bpe && v.byte_level && v.pre_patterns.empty()) {
    bos = pre_tokenizer_family(v.pre).add_bos;
  }
  const bool eos = v.model == TokenizerModel::Unigram || v.model == TokenizerModel::WordPiece;
  if (!v.add_bos) v.add_bos = bos && v.bos;
  if (!v.add_eos) v.add_eos = eos && v.eos;
}

std::vector<uint32_t> end_of_generation_ids(const Vocabulary& v) {
  TokenMap spellings;
  spellings.reserve(std::size(end_spellings));
  for (uint32_t i = 0; i < std::size(end_spellings); ++i) spellings.add(end_spellings[i], i);
  std::vector<uint32_t> ids, ends_message, returns, calls;
  for (uint32_t id = 0; id < v.tokens.size(); ++id) {
    const View text = v.tokens[id];
    if (spellings.find(text) == no_token) continue;
    if (text == "<|return|>") returns.push_back(id);
    if (text == "<|call|>") calls.push_back(id);
    (text == "<|end|>" ? ends_message : ids).push_back(id);
  }
  // Where <|return|> and <|call|> exist, <|end|> ends only one of several messages of an answer.
  if (returns.empty() || calls.empty()) {
    ids.insert(ids.end(), ends_message.begin(), ends_message.end());
  }
  for (const auto& id : {v.eos, v.eot, v.eom}) {
    if (id) ids.push_back(*id);
  }
  ids.insert(ids.end(), v.extra_end_of_generation.begin(), v.extra_end_of_generation.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace rlx::text

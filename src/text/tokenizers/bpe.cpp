// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/bpe.h"

#include <algorithm>

#include "base/error.h"
#include "text/tokenizers/byte_chars.h"
#include "text/tokenizers/special_tokens.h"

namespace rlx::text {
namespace {

std::vector<std::string_view> patterns_of(const Vocabulary& vocabulary) {
  if (!vocabulary.pre_patterns.empty()) {
    return {vocabulary.pre_patterns.begin(), vocabulary.pre_patterns.end()};
  }
  if (!vocabulary.byte_level) return {};
  const auto patterns = pre_tokenizer_family(vocabulary.pre).patterns;
  return {patterns.begin(), patterns.end()};
}

bool ignores_merges(const Vocabulary& vocabulary) {
  if (vocabulary.ignore_merges) return *vocabulary.ignore_merges;
  const bool named = vocabulary.byte_level && vocabulary.pre_patterns.empty();
  return named && pre_tokenizer_family(vocabulary.pre).ignore_merges;
}

/// GGUF files of byte-level vocabularies carry add_space_prefix without a meaning.
bool prefixes_blank(const Vocabulary& vocabulary) {
  const bool means_it = !vocabulary.byte_level || !vocabulary.pre_patterns.empty();
  return means_it && vocabulary.add_space_prefix.value_or(false);
}

/// Where the one blank of a merge is.
size_t blank_of_merge(std::string_view merge, size_t rank) {
  const size_t blank = merge.find(' ');
  if (blank == 0 || blank >= merge.size() - 1 || merge.find(' ', blank + 1) != merge.npos) {
    fail(ErrorCode::InvalidFile,
         "tokenizer: merge {} is \"{}\", allowed is two tokens with one blank between", rank,
         merge.substr(0, 80));
  }
  return blank;
}

std::string with_marks(std::string_view text, bool prefix) {
  std::string out;
  out.reserve(text.size() + text.size() / 2 + blank_mark.size());
  if (prefix) out += blank_mark;
  for (const char c : text) {
    if (c == ' ') {
      out += blank_mark;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary, const TokenMap& map)
    : vocabulary_(vocabulary),
      map_(map),
      pre_tokenizer_(patterns_of(vocabulary)),
      ignore_merges_(ignores_merges(vocabulary)),
      add_space_prefix_(prefixes_blank(vocabulary)),
      byte_ids_(byte_token_ids(vocabulary)) {
  if (vocabulary.byte_level) {
    for (uint32_t b = 0; b < 256; ++b) {
      byte_ids_[b] = map.find(ByteChars::instance().spelling(static_cast<uint8_t>(b)));
    }
  }
  add_merges();
  all_tokens_ = {};
}

/// Refuses a merge of what is no token at all. Some merges are right and not needed:
/// those of control tokens, and of added tokens (runs of blanks, say) that a converter stored as
/// the bytes they stand for.
void Bpe::check_merge(std::string_view left, std::string_view right, size_t rank) {
  if (!vocabulary_.byte_level) return;
  if (all_tokens_.empty()) {
    all_tokens_.insert(vocabulary_.tokens.begin(), vocabulary_.tokens.end());
  }
  for (const std::string_view text : {left, right}) {
    if (all_tokens_.contains(text)) continue;
    if (all_tokens_.contains(ByteChars::instance().bytes(text))) continue;
    fail(ErrorCode::InvalidFile, "tokenizer: merge {} is \"{} {}\", but \"{}\" is no token", rank,
         left.substr(0, 80), right.substr(0, 80), text.substr(0, 80));
  }
}

void Bpe::add_merges() {
  constexpr size_t block = 64;
  merges_.reserve(vocabulary_.merges.size());
  std::array<std::string, block> joined;
  std::array<std::string_view, 3 * block> texts;
  std::array<uint32_t, 3 * block> ids;
  for (size_t first = 0; first < vocabulary_.merges.size(); first += block) {
    const size_t count = std::min(block, vocabulary_.merges.size() - first);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view merge = vocabulary_.merges[first + i];
      const size_t blank = blank_of_merge(merge, first + i);
      joined[i].assign(merge, 0, blank);
      joined[i].append(merge, blank + 1);
      texts[3 * i] = merge.substr(0, blank);
      texts[3 * i + 1] = merge.substr(blank + 1);
      texts[3 * i + 2] = joined[i];
    }
    map_.find_all(std::span(texts).first(3 * count), ids);
    for (size_t i = 0; i < count; ++i) {
      const auto known = std::span(ids).subspan(3 * i, 3);
      if (std::find(known.begin(), known.end(), no_token) != known.end()) {
        check_merge(texts[3 * i], texts[3 * i + 1], first + i);
        continue;
      }
      merges_.add(known[0], known[1], static_cast<uint32_t>(first + i), known[2]);
    }
  }
}

void Bpe::encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const {
  std::string marked;
  if (!vocabulary_.byte_level) {
    marked = with_marks(text, prefix && add_space_prefix_);
    text = marked;
  } else if (prefix && add_space_prefix_) {
    marked = fmt::format(" {}", text);
    text = marked;
  }
  std::vector<uint32_t> symbols;
  for (const PreTokenizer::Piece piece : pre_tokenizer_.split(text)) {
    encode_piece(text.substr(piece.begin, piece.size), symbols, ids);
  }
}

/// The token that is all of `piece`, or no_token.
uint32_t Bpe::whole(std::string_view piece) const {
  if (!vocabulary_.byte_level) return map_.find(piece);
  if (piece.size() > map_.longest()) return no_token;
  std::string spelled;
  for (const char c : piece) spelled += ByteChars::instance().spelling(static_cast<uint8_t>(c));
  return map_.find(spelled);
}

void Bpe::encode_piece(std::string_view piece, std::vector<uint32_t>& symbols,
                       std::vector<uint32_t>& ids) const {
  if (ignore_merges_) {
    const uint32_t id = whole(piece);
    if (id != no_token) {
      ids.push_back(id);
      return;
    }
  }
  symbols.clear();
  append_symbols(piece, symbols);
  merges_.apply(symbols);
  std::copy_if(symbols.begin(), symbols.end(), std::back_inserter(ids),
               [](uint32_t id) { return id != no_token; });
}

void Bpe::append_symbols(std::string_view piece, std::vector<uint32_t>& symbols) const {
  if (vocabulary_.byte_level) {
    for (const char c : piece) symbols.push_back(byte_ids_[static_cast<uint8_t>(c)]);
    return;
  }
  for (size_t at = 0; at < piece.size();) {
    const std::string_view character = piece.substr(at, utf8_length(piece[at]));
    at += character.size();
    const uint32_t id = map_.find(character);
    if (id != no_token) {
      symbols.push_back(id);
    } else {
      append_bytes(character, symbols);
    }
  }
}

void Bpe::append_bytes(std::string_view character, std::vector<uint32_t>& symbols) const {
  const auto known = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)] != no_token; };
  if (std::all_of(character.begin(), character.end(), known)) {
    for (const char c : character) symbols.push_back(byte_ids_[static_cast<uint8_t>(c)]);
  } else {
    symbols.push_back(vocabulary_.unk.value_or(no_token));
  }
}

}  // namespace rlx::text

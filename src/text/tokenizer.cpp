// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/utf8.h"
#include "text/tokenizers/added_tokens.h"
#include "text/tokenizers/bpe.h"
#include "text/tokenizers/byte_chars.h"
#include "text/tokenizers/special_tokens.h"
#include "text/tokenizers/spm.h"
#include "text/tokenizers/unigram.h"
#include "text/tokenizers/wordpiece.h"

namespace rlx::text {
namespace {

constexpr size_t max_text_bytes = size_t{1} << 30;  ///< places in a text are kept in 32 bits

/// The tokens that stretches of text may become; control tokens never do.
TokenMap plain_tokens(const Vocabulary& vocabulary) {
  std::vector<TokenMap::Entry> entries;
  entries.reserve(vocabulary.tokens.size());
  const bool unused = vocabulary.model == TokenizerModel::Spm;
  for (uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const TokenType type = vocabulary.types[id];
    if (type == TokenType::Normal || type == TokenType::UserDefined ||
        (unused && type == TokenType::Unused)) {
      entries.push_back({vocabulary.tokens[id], id});
    }
  }
  TokenMap map;
  map.reserve(entries.size());
  map.add_all(entries);
  return map;
}

std::unique_ptr<const Algorithm> make_algorithm(const Vocabulary& vocabulary, const TokenMap& map) {
  switch (vocabulary.model) {
    case TokenizerModel::Spm: return std::make_unique<Spm>(vocabulary, map);
    case TokenizerModel::Bpe: return std::make_unique<Bpe>(vocabulary, map);
    case TokenizerModel::WordPiece: return std::make_unique<WordPiece>(vocabulary);
    case TokenizerModel::Unigram: return std::make_unique<Unigram>(vocabulary);
  }
  fail(ErrorCode::InvalidFile, "tokenizer: model {} is not known",
       static_cast<unsigned>(vocabulary.model));
}

bool needs_map(const Vocabulary& vocabulary) {
  return vocabulary.model == TokenizerModel::Spm || vocabulary.model == TokenizerModel::Bpe;
}

/// Whether tokens spell blanks as U+2581 wherever they are.
bool marks_blanks(const Vocabulary& vocabulary) {
  return vocabulary.model == TokenizerModel::Spm || vocabulary.model == TokenizerModel::Unigram ||
         (vocabulary.model == TokenizerModel::Bpe && !vocabulary.byte_level);
}

std::string composed(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &out,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) {
    fail(ErrorCode::LimitExceeded, "tokenizer: normalizing {} bytes of text: {}", text.size(),
         utf8proc_errmsg(size));
  }
  std::string result(reinterpret_cast<const char*>(out), static_cast<size_t>(size));
  std::free(out);
  return result;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// `text` without white space (of ASCII) at one end.
std::string_view without_trailing(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\n\v\f\r");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

size_t after_leading(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(" \t\n\v\f\r", at), text.size());
}

void append_with_blanks(std::string_view text, std::string& out) {
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at, blank_mark.size()) == blank_mark) {
      out += ' ';
      at += blank_mark.size();
    } else {
      out += text[at++];
    }
  }
}

}  // namespace

struct Tokenizer::Impl {
  explicit Impl(Vocabulary v)
      : vocabulary(std::move(v)),
        ends(end_of_generation_ids(vocabulary)),
        added(vocabulary, marks_blanks(vocabulary)),
        word_start_marks(vocabulary.model == TokenizerModel::WordPiece &&
                         marks_word_starts(vocabulary)) {
    if (needs_map(vocabulary)) map = plain_tokens(vocabulary);
    algorithm = make_algorithm(vocabulary, map);
  }

  void check_id(uint32_t id) const {
    if (id < vocabulary.tokens.size()) return;
    fail(ErrorCode::InvalidArgument, "token id {} is outside the vocabulary of {}", id,
         vocabulary.tokens.size());
  }

  void encode_plain(std::string_view text, bool first, std::vector<uint32_t>& ids) const {
    if (text.empty()) return;
    const bool prefix = (first || !vocabulary.space_prefix_once) &&
                        !(vocabulary.space_prefix_if_missing && text.starts_with(' '));
    if (vocabulary.nfc && !is_ascii(text)) {
      algorithm->encode(composed(text), prefix, ids);
    } else {
      algorithm->encode(text, prefix, ids);
    }
  }

  /// Appends what a token of running text stands for, with the blank of its word's start.
  void append_plain(std::string_view text, std::string& out) const {
    if (vocabulary.model == TokenizerModel::Bpe && vocabulary.byte_level) {
      out += ByteChars::instance().bytes(text);
    } else if (vocabulary.model != TokenizerModel::WordPiece || word_start_marks) {
      append_with_blanks(text, out);
    } else if (text.starts_with("##")) {
      out += text.substr(2);
    } else {
      out += ' ';
      out += text;
    }
  }

  Vocabulary vocabulary;
  std::vector<uint32_t> ends;
  AddedTokens added;
  bool word_start_marks;
  TokenMap map;
  std::unique_ptr<const Algorithm> algorithm;
};

void set_phi3_stripping(Vocabulary& vocabulary) {
  const size_t count = std::min(vocabulary.tokens.size(), vocabulary.types.size());
  for (uint32_t id = 0; id < count; ++id) {
    const std::string& text = vocabulary.tokens[id];
    const bool keeps = text == "<s>" || text == "<unk>" || text == "<|endoftext|>";
    if (text == "</s>" || (vocabulary.types[id] == TokenType::Control && !keeps)) {
      vocabulary.strip_right.push_back(id);
    }
  }
}

Tokenizer Tokenizer::create(Vocabulary vocabulary) {
  check_vocabulary(vocabulary);
  set_defaults(vocabulary);
  return Tokenizer(std::make_shared<const Impl>(std::move(vocabulary)));
}

const Vocabulary& Tokenizer::vocabulary() const { return impl_->vocabulary; }

std::vector<uint32_t> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  if (text.size() > max_text_bytes) {
    fail(ErrorCode::LimitExceeded, "tokenizer: {} bytes of text, allowed are {}", text.size(),
         max_text_bytes);
  }
  if (const size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    fail(ErrorCode::InvalidArgument, "text is not valid UTF-8: byte 0x{:02x} at offset {} of {}",
         static_cast<unsigned char>(text[bad]), bad, text.size());
  }
  std::vector<uint32_t> ids;
  const bool add_bos = options.add_special && adds_bos();
  if (add_bos) ids.push_back(*bos());
  for (size_t at = 0; at < text.size();) {
    const AddedTokens::Match match = impl_->added.find(text, at, options.parse_special);
    const bool found = match.begin != std::string_view::npos;
    std::string_view plain = text.substr(at, found ? match.begin - at : text.size() - at);
    if (found && impl_->added.strips_left(match.id)) plain = without_trailing(plain);
    impl_->encode_plain(plain, at == 0, ids);
    if (!found) break;
    // A text that spells the start token itself has one already.
    if (!(add_bos && match.begin == 0 && match.id == *bos())) ids.push_back(match.id);
    at = match.begin + match.length;
    if (impl_->added.strips_right(match.id)) at = after_leading(text, at);
  }
  if (options.add_special && adds_eos()) ids.push_back(*eos());
  return ids;
}

std::string Tokenizer::decode(std::span<const uint32_t> ids, DecodeOptions options) const {
  std::string out;
  bool at_start = prefixes_blank() && !options.continuation;
  for (const uint32_t id : ids) append_piece(id, options.show_special, at_start, out);
  return replace_invalid_utf8(out);
}

std::string Tokenizer::piece(uint32_t id, bool show_special) const {
  std::string out;
  bool at_start = false;
  append_piece(id, show_special, at_start, out);
  return out;
}

bool Tokenizer::prefixes_blank() const {
  const Vocabulary& v = vocabulary();
  return v.model == TokenizerModel::WordPiece || (marks_blanks(v) && *v.add_space_prefix);
}

void Tokenizer::append_piece(uint32_t id, bool show_special, bool& at_start,
                             std::string& out) const {
  impl_->check_id(id);
  const std::string& text = impl_->vocabulary.tokens[id];
  switch (impl_->vocabulary.types[id]) {
    case TokenType::Control:
    case TokenType::Unknown:
    case TokenType::Unused:
      if (!show_special) return;
      out += text;
      at_start = prefixes_blank() && !impl_->vocabulary.space_prefix_once;
      return;
    case TokenType::UserDefined:
      if (marks_blanks(impl_->vocabulary)) {
        append_with_blanks(text, out);
      } else {
        out += text;
      }
      at_start = prefixes_blank() && !impl_->vocabulary.space_prefix_once;
      return;
    case TokenType::Byte: out += static_cast<char>(*byte_of_token(text)); break;
    case TokenType::Normal: {
      const size_t begin = out.size();
      impl_->append_plain(text, out);
      if (at_start && out.size() > begin && out[begin] == ' ') out.erase(begin, 1);
      break;
    }
  }
  at_start = false;
}

const std::string& Tokenizer::text(uint32_t id) const {
  impl_->check_id(id);
  return impl_->vocabulary.tokens[id];
}

TokenType Tokenizer::type(uint32_t id) const {
  impl_->check_id(id);
  return impl_->vocabulary.types[id];
}

std::optional<uint32_t> Tokenizer::find(std::string_view text) const {
  const auto& tokens = impl_->vocabulary.tokens;
  const auto found = std::find(tokens.begin(), tokens.end(), text);
  if (found == tokens.end()) return std::nullopt;
  return static_cast<uint32_t>(found - tokens.begin());
}

const std::vector<uint32_t>& Tokenizer::end_of_generation() const { return impl_->ends; }

bool Tokenizer::is_end_of_generation(uint32_t id) const {
  return std::binary_search(impl_->ends.begin(), impl_->ends.end(), id);
}

StreamDecoder::StreamDecoder(Tokenizer tokenizer, DecodeOptions options)
    : tokenizer_(std::move(tokenizer)),
      options_(options),
      at_start_(tokenizer_.prefixes_blank() && !options.continuation) {}

std::string StreamDecoder::push(uint32_t id) {
  tokenizer_.append_piece(id, options_.show_special, at_start_, pending_);
  const size_t whole = complete_utf8_prefix(pending_);
  std::string out = replace_invalid_utf8(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = replace_invalid_utf8(pending_);
  pending_.clear();
  at_start_ = tokenizer_.prefixes_blank() && !options_.continuation;
  return out;
}

}  // namespace rlx::text

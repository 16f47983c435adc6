// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace rlx::text {

struct EncodeOptions {
  bool add_special = true;     ///< start and end tokens, as the vocabulary says
  bool parse_special = false;  ///< control tokens spelled out in the text become their ids
};

struct DecodeOptions {
  bool show_special = false;  ///< spell control and unknown tokens instead of leaving them out
  /// The ids follow others: a leading blank belongs to the text and is kept.
  bool continuation = false;
};

/// Makes the control tokens and </s> of a Phi-3 vocabulary (Spm) take the white space behind them
/// along, as that model's tokenizer does though its GGUF files do not say so; <s>, <unk> and
/// <|endoftext|> do not.
void set_phi3_stripping(Vocabulary& vocabulary);

/// Text to token ids and back, by the rules of one vocabulary. Immutable, cheap to copy, and usable
/// from any number of threads at once.
class Tokenizer {
 public:
  /// Builds the tokenizer of a vocabulary. InvalidFile where its fields contradict each other,
  /// Unsupported for a pre-tokenizer that is not known.
  static Tokenizer create(Vocabulary vocabulary);

  /// The ids of `text`. Where control tokens are parsed and the text itself begins with the start
  /// token, no second one is added. InvalidArgument naming the byte where `text` is not UTF-8.
  std::vector<uint32_t> encode(std::string_view text, EncodeOptions options = {}) const;
  /// The text of `ids`, valid UTF-8: parts of no character become U+FFFD. The blank that encode()
  /// puts before a text is taken away. InvalidArgument for an id outside the vocabulary.
  std::string decode(std::span<const uint32_t> ids, DecodeOptions options = {}) const;
  /// The bytes of one token, maybe not valid UTF-8 by themselves; empty for a token not shown.
  std::string piece(uint32_t id, bool show_special = false) const;

  size_t size() const { return vocabulary().tokens.size(); }
  /// The token as its vocabulary spells it. InvalidArgument for an id outside the vocabulary.
  const std::string& text(uint32_t id) const;
  TokenType type(uint32_t id) const;
  /// The first id spelled like this, by a look at every token.
  std::optional<uint32_t> find(std::string_view text) const;

  /// Whether a generation is over with this token.
  bool is_end_of_generation(uint32_t id) const;
  /// All such ids, ascending.
  const std::vector<uint32_t>& end_of_generation() const;
  std::optional<uint32_t> bos() const { return vocabulary().bos; }
  std::optional<uint32_t> eos() const { return vocabulary().eos; }
  bool adds_bos() const { return *vocabulary().add_bos; }
  bool adds_eos() const { return *vocabulary().add_eos; }
  /// What it was built from, with every default filled in.
  const Vocabulary& vocabulary() const;

 private:
  friend class StreamDecoder;
  struct Impl;
  explicit Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  /// Appends the bytes of a token. `at_start` says whether encode() would have put a blank here.
  void append_piece(uint32_t id, bool show_special, bool& at_start, std::string& out) const;
  /// Whether a text's first token carries a blank that is not of the text.
  bool prefixes_blank() const;

  std::shared_ptr<const Impl> impl_;
};

/// Decodes token by token, handing out whole characters only. The chunks together equal decode() of
/// all ids, and each is valid UTF-8.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, DecodeOptions options = {});
  /// What became complete with this token, maybe nothing.
  std::string push(uint32_t id);
  /// What is left: U+FFFD for an unfinished character, else nothing. The next push starts anew.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  DecodeOptions options_;
  bool at_start_;
  std::string pending_;  ///< first bytes of a character
};

}  // namespace rlx::text

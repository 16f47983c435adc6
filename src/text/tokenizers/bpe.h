// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>
#include <unordered_set>

#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/merges.h"
#include "text/tokenizers/pretokenizer.h"
#include "text/tokenizers/token_map.h"
#include "text/vocabulary.h"

namespace rlx::text {

/// Byte-pair encoding: a text is cut into pieces by patterns, and the symbols of each piece (its
/// bytes, or its characters where the vocabulary is not byte-level) are merged by rank. A symbol
/// without a token and without byte tokens yields the unknown token of a character vocabulary and
/// nothing in a byte-level one.
class Bpe final : public Algorithm {
 public:
  /// `vocabulary` and `map` (of its tokens that text may become) must outlive this. InvalidFile for
  /// a malformed merge and, in a byte-level vocabulary, one of what is no token; one into what is
  /// no token is left out.
  Bpe(const Vocabulary& vocabulary, const TokenMap& map);
  void encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const override;

 private:
  void add_merges();
  void check_merge(std::string_view left, std::string_view right, size_t rank);
  void append_symbols(std::string_view piece, std::vector<uint32_t>& symbols) const;
  void append_bytes(std::string_view character, std::vector<uint32_t>& symbols) const;
  void encode_piece(std::string_view piece, std::vector<uint32_t>& symbols,
                    std::vector<uint32_t>& ids) const;
  uint32_t whole(std::string_view piece) const;

  const Vocabulary& vocabulary_;
  const TokenMap& map_;
  PreTokenizer pre_tokenizer_;
  bool ignore_merges_;
  bool add_space_prefix_;
  std::array<uint32_t, 256> byte_ids_;
  MergeTable merges_;
  std::unordered_set<std::string_view> all_tokens_;  ///< for check_merge() only
};

}  // namespace rlx::text

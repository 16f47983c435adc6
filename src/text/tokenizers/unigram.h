// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>

#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/charsmap.h"
#include "text/tokenizers/prefix_index.h"
#include "text/vocabulary.h"

namespace rlx::text {

/// SentencePiece's unigram model: of all ways to cut the normalized text into tokens, the one with
/// the greatest sum of scores (Viterbi). A run of characters without a token is one unknown token,
/// or bytes where the vocabulary has them all.
class Unigram final : public Algorithm {
 public:
  /// `vocabulary` must outlive this; its scores must be as many as its tokens.
  explicit Unigram(const Vocabulary& vocabulary);
  void encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const override;

 private:
  std::string normalized(std::string_view text, bool prefix) const;
  void append_unknown(std::string_view text, std::vector<uint32_t>& ids) const;

  const Vocabulary& vocabulary_;
  CharsMap chars_map_;
  PrefixIndex index_;
  bool add_space_prefix_;
  bool remove_extra_;
  std::array<uint32_t, 256> byte_ids_;
  double unknown_score_ = 0;
  bool has_all_bytes_ = false;
};

}  // namespace rlx::text

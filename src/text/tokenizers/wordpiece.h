// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/token_map.h"
#include "text/vocabulary.h"

namespace rlx::text {

/// BERT's tokenizer: control characters dropped, accents stripped, lower case, words at blanks,
/// punctuation and Chinese characters, each word cut into the longest known parts from its start.
/// A word of over 100 characters or with an unknown part is one unknown token.
class WordPiece final : public Algorithm {
 public:
  /// `vocabulary` must outlive this. Word starts are the tokens spelled with a leading U+2581 and
  /// parts of words the others; a vocabulary without that mark uses "##" for parts instead.
  explicit WordPiece(const Vocabulary& vocabulary);
  void encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const override;

 private:
  void encode_word(std::string_view word, std::vector<uint32_t>& ids) const;

  const Vocabulary& vocabulary_;
  TokenMap starts_, parts_;
};

/// Whether a WordPiece vocabulary marks word starts with U+2581 (GGUF's way).
bool marks_word_starts(const Vocabulary& vocabulary);

}  // namespace rlx::text

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/special_tokens.h"
#include "text/tokenizers/token_map.h"
#include "text/vocabulary.h"

namespace rlx::text {

/// SentencePiece's BPE: characters are merged into tokens, the token with the best score first, of
/// equal scores the leftmost; what stays without a token becomes the bytes <0xNN>.
class Spm final : public Algorithm {
 public:
  /// `vocabulary` and `map` (of its tokens that text may become, Unused ones too) must outlive
  /// this; its scores must be as many as its tokens.
  Spm(const Vocabulary& vocabulary, const TokenMap& map);
  void encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const override;

 private:
  struct Run;
  void encode_word(std::string_view word, Run& run, std::vector<uint32_t>& ids) const;
  void append(std::string_view symbol, const Run& run, std::vector<uint32_t>& ids) const;
  bool is_unused(uint32_t id) const { return type_of(vocabulary_, id) == TokenType::Unused; }

  const Vocabulary& vocabulary_;
  const TokenMap& map_;
  bool add_space_prefix_;
  std::array<uint32_t, 256> byte_ids_;
  bool blanks_only_lead_;  ///< no token has a blank after another character
};

}  // namespace rlx::text

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizers/prefix_index.h"
#include "text/vocabulary.h"

namespace rlx::text {

/// Finds the tokens of a vocabulary that are matched in raw text before its algorithm sees it:
/// UserDefined ones always, Control and Unknown ones on request.
class AddedTokens {
 public:
  struct Match {
    size_t begin;  ///< npos when nothing matched
    size_t length;
    uint32_t id;
  };

  /// `vocabulary` must outlive this. With `marks_blanks`, U+2581 in a token stands for a blank.
  AddedTokens(const Vocabulary& vocabulary, bool marks_blanks);

  /// The first place at or after `from` where a token begins, and the longest token there.
  Match find(std::string_view text, size_t from, bool parse_special) const;
  /// Whether blanks of the text before (after) this token belong to it.
  bool strips_left(uint32_t id) const { return has_flag(id, 1); }
  bool strips_right(uint32_t id) const { return has_flag(id, 2); }

 private:
  bool has_flag(uint32_t id, uint8_t bit) const { return id < flags_.size() && (flags_[id] & bit); }

  std::deque<std::string> respelled_;
  PrefixIndex always_, on_request_;
  std::vector<uint8_t> flags_;
};

}  // namespace rlx::text

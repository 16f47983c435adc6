// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::text {

/// SentencePiece's precompiled_charsmap: a map of character sequences to what replaces them.
///
/// Its bytes are the size of a double-array trie (Darts-clone, little-endian 32-bit units), the
/// trie, and the replacements, each ended by a zero byte; a trie value is a replacement's offset.
class CharsMap {
 public:
  struct Match {
    size_t length = 0;  ///< bytes of the text that are replaced, 0 for none
    std::string_view replacement;
  };

  CharsMap() = default;
  /// InvalidFile where sizes or offsets contradict each other; empty bytes map nothing.
  explicit CharsMap(std::string_view bytes);
  bool empty() const { return units_.empty(); }
  /// The longest known sequence that `text` begins with. The replacement lives as long as this.
  Match longest_prefix(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace rlx::text

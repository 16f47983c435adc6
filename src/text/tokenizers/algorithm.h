// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace rlx::text {

/// One way of cutting plain text into tokens. Immutable after construction, so usable from any
/// number of threads at once.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Appends the ids of `text`, valid UTF-8 that holds no added token. With `prefix`, the blank
  /// that the vocabulary puts before a text is wanted, where it puts one.
  virtual void encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const = 0;
};

/// U+2581, how SentencePiece and GGUF's WordPiece vocabularies spell a blank.
constexpr std::string_view blank_mark = "\xe2\x96\x81";

/// Bytes of the character that begins with `lead`, in valid UTF-8.
inline size_t utf8_length(char lead) {
  const auto b = static_cast<unsigned char>(lead);
  return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

}  // namespace rlx::text

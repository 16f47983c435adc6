// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace rlx::text {

/// The characters that byte-level vocabularies spell bytes with: printable Latin-1 bytes stand for
/// themselves, the 68 others are U+0100 and on, in order (GPT-2's encoder).
class ByteChars {
 public:
  static const ByteChars& instance();
  /// The UTF-8 spelling of `byte`, one or two bytes.
  std::string_view spelling(uint8_t byte) const { return {spelling_[byte].data(), size_[byte]}; }
  /// The bytes that `token` spells; characters that spell none stay as they are.
  std::string bytes(std::string_view token) const;

 private:
  ByteChars();
  std::array<std::array<char, 2>, 256> spelling_{};
  std::array<uint8_t, 256> size_{};
  std::array<int16_t, 0x144> byte_{};  ///< by code point, -1 for none
};

}  // namespace rlx::text

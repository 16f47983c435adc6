// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/byte_chars.h"

#include "base/utf8.h"

namespace rlx::text {

const ByteChars& ByteChars::instance() {
  static const ByteChars chars;
  return chars;
}

ByteChars::ByteChars() {
  byte_.fill(-1);
  uint32_t next = 0x100;
  for (uint32_t b = 0; b < 256; ++b) {
    const bool itself = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    const uint32_t code_point = itself ? b : next++;
    std::string utf8;
    append_utf8(utf8, code_point);
    size_[b] = static_cast<uint8_t>(utf8.size());
    for (size_t k = 0; k < utf8.size(); ++k) spelling_[b][k] = utf8[k];
    byte_[code_point] = static_cast<int16_t>(b);
  }
}

std::string ByteChars::bytes(std::string_view token) const {
  if (find_invalid_utf8(token) != std::string_view::npos) return std::string(token);
  std::string out;
  out.reserve(token.size());
  for (size_t at = 0; at < token.size();) {
    const size_t begin = at;
    const uint32_t code_point = decode_utf8(token, at);
    if (code_point < byte_.size() && byte_[code_point] >= 0) {
      out += static_cast<char>(byte_[code_point]);
    } else {
      out += token.substr(begin, at - begin);
    }
  }
  return out;
}

}  // namespace rlx::text

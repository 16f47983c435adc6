// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/charsmap.h"

#include "base/error.h"

namespace rlx::text {
namespace {

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t k = 0; k < 4; ++k) {
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
  }
  return value;
}

// Bits of a unit: 0-7 the label and 31 set for a value's unit; 8 says that a value hangs below; 9
// shifts the offset in 10-30 by eight more.
uint32_t label(uint32_t unit) { return unit & 0x800000ffu; }
bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value(uint32_t unit) { return unit & 0x7fffffffu; }
uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }

}  // namespace

CharsMap::CharsMap(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() < 4) {
    fail(ErrorCode::InvalidFile, "precompiled_charsmap: {} bytes, at least 4 needed", bytes.size());
  }
  const uint32_t size = little_endian(bytes, 0);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4) {
    fail(ErrorCode::InvalidFile,
         "precompiled_charsmap: trie of {} bytes, allowed are multiples of 4 up to {}", size,
         bytes.size() - 4);
  }
  if (bytes.size() == 4 + size_t{size} || bytes.back() != '\0') {
    fail(ErrorCode::InvalidFile,
         "precompiled_charsmap: the replacements do not end with a zero byte");
  }
  units_.resize(size / 4);
  for (size_t i = 0; i < units_.size(); ++i) units_[i] = little_endian(bytes, 4 + 4 * i);
  replacements_ = bytes.substr(4 + size_t{size});
}

CharsMap::Match CharsMap::longest_prefix(std::string_view text) const {
  Match best;
  if (units_.empty()) return best;
  size_t at = offset(units_[0]);
  for (size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    if (byte == 0) break;
    at ^= byte;
    if (at >= units_.size() || label(units_[at]) != byte) break;
    const uint32_t unit = units_[at];
    at ^= offset(unit);
    if (!has_value(unit)) continue;
    if (at >= units_.size() || value(units_[at]) >= replacements_.size()) {
      fail(ErrorCode::InvalidFile,
           "precompiled_charsmap: a value lies outside the {} units and {} bytes", units_.size(),
           replacements_.size());
    }
    best = {k + 1, replacements_.c_str() + value(units_[at])};
  }
  return best;
}

}  // namespace rlx::text

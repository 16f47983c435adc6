// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <fmt/format.h>

namespace rlx {
namespace {

struct Scan {
  size_t length;  ///< bytes of the maximal part looked at (at least 1)
  bool valid;     ///< they are one whole character
  bool cut;       ///< they are a proper prefix of one, cut off by the end of the text
};

/// Looks at the character that starts at `at`, by Table 3-7 of the Unicode standard.
Scan scan(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {1, true, false};
  size_t length = 0;
  unsigned char low = 0x80, high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {1, false, false};
  }
  for (size_t k = 1; k < length; ++k) {
    if (at + k >= text.size()) return {k, false, true};
    const unsigned char next = byte(at + k);
    if (next < low || next > high) return {k, false, false};
    low = 0x80;
    high = 0xbf;
  }
  return {length, true, false};
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Scan s = scan(text, at);
    if (!s.valid) return at;
    at += s.length;
  }
  return std::string_view::npos;
}

size_t complete_utf8_prefix(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const size_t at = text.size() - back;
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    const Scan s = scan(text, at);
    return s.cut && s.length == back ? at : text.size();
  }
  return text.size();
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Scan s = scan(text, at);
    if (s.valid) {
      out += text.substr(at, s.length);
    } else {
      out += "\xef\xbf\xbd";
    }
    at += s.length;
  }
  return out;
}

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&](uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | (c >> 6));
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3f));
    put(0x80 | ((c >> 6) & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

uint32_t decode_utf8(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t lead = byte(at);
  if (lead < 0x80) return byte(at++);
  if (lead < 0xe0) {
    at += 2;
    return ((lead & 0x1f) << 6) | (byte(at - 1) & 0x3f);
  }
  if (lead < 0xf0) {
    at += 3;
    return ((lead & 0x0f) << 12) | ((byte(at - 2) & 0x3f) << 6) | (byte(at - 1) & 0x3f);
  }
  at += 4;
  return ((lead & 0x07) << 18) | ((byte(at - 3) & 0x3f) << 12) | ((byte(at - 2) & 0x3f) << 6) |
         (byte(at - 1) & 0x3f);
}

std::string printable(std::string_view text, size_t longest) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (at >= longest) return out + "...";
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      const bool control = byte < 0x20 || byte == 0x7f;
      out += control ? fmt::format("\\x{:02x}", byte) : std::string(1, text[at]);
      ++at;
    } else if (find_invalid_utf8(text.substr(at, 4)) == 0) {
      out += fmt::format("\\x{:02x}", byte);
      ++at;
    } else {
      const size_t start = at;
      decode_utf8(text, at);
      out += text.substr(start, at - start);
    }
  }
  return out;
}

std::string quote(std::string_view text) {
  constexpr size_t longest = 80;
  if (text.size() <= longest) return fmt::format("'{}'", printable(text, longest));
  return fmt::format("'{}' ({} bytes)", printable(text, longest), text.size());
}

}  // namespace rlx

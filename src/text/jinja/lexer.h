// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::text::jinja {

enum class TokenKind : uint8_t {
  Text,  ///< template text between tags, white space control applied
  PrintBegin,
  PrintEnd,
  BlockBegin,
  BlockEnd,
  Name,
  String,  ///< text is the decoded contents
  Integer,
  Float,
  Operator,
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  int line = 1;
  std::string text;
};

/// The tokens of a template, the last of kind End: line ends become \n and one at the very end is
/// dropped; trim_blocks and lstrip_blocks are on; comments are gone and raw blocks are Text. Error
/// InvalidFile names the line.
std::vector<Token> tokenize(std::string_view source);

/// Throws the InvalidFile error of a template that cannot be read.
[[noreturn]] void fail_syntax(int line, std::string_view message);

}  // namespace rlx::text::jinja

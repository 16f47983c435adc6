// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/jinja/parser.h"

namespace rlx::text::jinja {

/// How deep brackets and blocks may nest in a template.
constexpr int max_nesting = 150;

/// One level of recursion of the parser; LimitExceeded past max_nesting.
struct Parser::Nesting {
  explicit Nesting(Parser& p) : parser(p) {
    if (++parser.nesting_ > max_nesting)
      fail(ErrorCode::LimitExceeded, "template line {}: brackets or blocks nest deeper than {}",
           parser.peek().line, max_nesting);
  }
  ~Nesting() { --parser.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  Parser& parser;
};

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/added_tokens.h"

#include "text/tokenizers/algorithm.h"

namespace rlx::text {
namespace {

std::string with_blanks(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at, blank_mark.size()) == blank_mark) {
      out += ' ';
      at += blank_mark.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace

AddedTokens::AddedTokens(const Vocabulary& vocabulary, bool marks_blanks) {
  std::vector<PrefixIndex::Entry> always, on_request;
  for (uint32_t id = 0; id < vocabulary.types.size(); ++id) {
    const TokenType type = vocabulary.types[id];
    std::string_view text = vocabulary.tokens[id];
    if (type == TokenType::UserDefined) {
      if (marks_blanks && text.find(blank_mark) != std::string_view::npos) {
        text = respelled_.emplace_back(with_blanks(text));
      }
      always.push_back({text, id});
    } else if (type == TokenType::Control || type == TokenType::Unknown) {
      on_request.push_back({text, id});
    }
  }
  always_ = PrefixIndex(std::move(always));
  on_request_ = PrefixIndex(std::move(on_request));
  const auto mark = [&](const std::vector<uint32_t>& ids, uint8_t bit) {
    for (const uint32_t id : ids) {
      if (id >= vocabulary.tokens.size()) continue;
      if (flags_.empty()) flags_.resize(vocabulary.tokens.size());
      flags_[id] |= bit;
    }
  };
  mark(vocabulary.strip_left, 1);
  mark(vocabulary.strip_right, 2);
}

AddedTokens::Match AddedTokens::find(std::string_view text, size_t from, bool parse_special) const {
  if (always_.empty() && (!parse_special || on_request_.empty())) {
    return {std::string_view::npos, 0, 0};
  }
  for (size_t at = from; at < text.size(); ++at) {
    Match best{at, 0, 0};
    const auto take = [&](size_t length, uint32_t id) {
      if (length > best.length) best = {at, length, id};
    };
    if (always_.may_start(text[at])) always_.for_each_prefix(text.substr(at), take);
    if (parse_special && on_request_.may_start(text[at])) {
      on_request_.for_each_prefix(text.substr(at), take);
    }
    if (best.length > 0) return best;
  }
  return {std::string_view::npos, 0, 0};
}

}  // namespace rlx::text

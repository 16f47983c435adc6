// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/tokenizers/special_tokens.h"
#include "text/tokenizers/token_map.h"

namespace rlx::text {
namespace {

constexpr double unknown_penalty = 10.0;  ///< SentencePiece: below the worst score of a token

/// Collects normalized text: blanks become U+2581, and of a run of them one stays on request.
class Collector {
 public:
  Collector(bool prefix, bool remove_extra) : remove_extra_(remove_extra) {
    if (prefix) out_ += blank_mark;
    after_blank_ = remove_extra;
  }
  void add(std::string_view text) {
    for (const char c : text) {
      if (c != ' ') {
        if (pending_) out_ += blank_mark;
        pending_ = false;
        after_blank_ = false;
        out_ += c;
      } else if (!remove_extra_) {
        out_ += blank_mark;
      } else if (!after_blank_) {
        after_blank_ = true;
        pending_ = true;  // dropped where nothing follows
      }
    }
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool remove_extra_;
  bool after_blank_;
  bool pending_ = false;
};

struct Step {
  double score = -std::numeric_limits<double>::infinity();
  uint32_t begin = 0;
  uint32_t id = no_token;
};

}  // namespace

Unigram::Unigram(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      chars_map_(vocabulary.precompiled_charsmap),
      add_space_prefix_(vocabulary.add_space_prefix.value_or(true)),
      remove_extra_(vocabulary.remove_extra_whitespaces.value_or(true)),
      byte_ids_(byte_token_ids(vocabulary)) {
  std::vector<PrefixIndex::Entry> entries;
  double worst = std::numeric_limits<double>::infinity();
  for (uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const TokenType type = type_of(vocabulary, id);
    if (type != TokenType::Normal && type != TokenType::UserDefined) continue;
    if (vocabulary.unk == id) continue;
    entries.push_back({vocabulary.tokens[id], id});
    if (type != TokenType::Normal || !std::isfinite(vocabulary.scores[id])) continue;
    worst = std::min(worst, static_cast<double>(vocabulary.scores[id]));
  }
  index_ = PrefixIndex(std::move(entries));
  unknown_score_ = (std::isfinite(worst) ? worst : 0) - unknown_penalty;
  has_all_bytes_ = std::find(byte_ids_.begin(), byte_ids_.end(), no_token) == byte_ids_.end();
}

std::string Unigram::normalized(std::string_view text, bool prefix) const {
  Collector out(prefix && add_space_prefix_, remove_extra_);
  while (!text.empty()) {
    const CharsMap::Match match = chars_map_.longest_prefix(text);
    const size_t size = match.length > 0 ? match.length : utf8_length(text[0]);
    out.add(match.length > 0 ? match.replacement : text.substr(0, size));
    text.remove_prefix(size);
  }
  return out.take();
}

void Unigram::encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const {
  const std::string normal = normalized(text, prefix);
  const std::string_view view = normal;
  if (view == blank_mark && prefix && add_space_prefix_ && remove_extra_) return;
  std::vector<Step> steps(view.size() + 1);
  steps[0].score = 0;
  for (size_t at = 0; at < view.size(); at += utf8_length(view[at])) {
    const double score = steps[at].score;
    const size_t one = std::min(utf8_length(view[at]), view.size() - at);
    const auto offer = [&](size_t size, uint32_t id, double token_score) {
      Step& step = steps[at + size];
      if (score + token_score <= step.score) return;
      step = {score + token_score, static_cast<uint32_t>(at), id};
    };
    bool single = false;
    index_.for_each_prefix(view.substr(at), [&](size_t size, uint32_t id) {
      single |= size == one;
      offer(size, id, vocabulary_.scores[id]);
    });
    if (!single) offer(one, no_token, unknown_score_);
  }
  std::vector<Step> path;
  std::vector<size_t> ends;
  for (size_t at = view.size(); at > 0; at = steps[at].begin) {
    path.push_back(steps[at]);
    ends.push_back(at);
  }
  for (size_t k = path.size(); k > 0;) {
    --k;
    if (path[k].id != no_token) {
      ids.push_back(path[k].id);
      continue;
    }
    const size_t begin = path[k].begin;
    while (k > 0 && path[k - 1].id == no_token) --k;
    append_unknown(view.substr(begin, ends[k] - begin), ids);
  }
}

void Unigram::append_unknown(std::string_view text, std::vector<uint32_t>& ids) const {
  if (has_all_bytes_) {
    for (const char c : text) ids.push_back(byte_ids_[static_cast<uint8_t>(c)]);
  } else if (vocabulary_.unk) {
    ids.push_back(*vocabulary_.unk);
  }
}

}  // namespace rlx::text

// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/spm.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "text/tokenizers/special_tokens.h"

namespace rlx::text {
namespace {

constexpr uint32_t nothing = UINT32_MAX;

struct Symbol {
  uint32_t begin, size;  ///< bytes of the word; size 0: merged into the one before
  uint32_t before, after;
};

struct Candidate {
  float score;
  uint32_t left, right;  ///< places of the two symbols
  uint32_t size;         ///< bytes of both together
  /// For a heap with the best on top: a higher score, then a smaller place, is better.
  bool operator<(const Candidate& o) const {
    return score != o.score ? score < o.score : left > o.left;
  }
};

bool has_blank_inside(std::string_view token) {
  while (token.starts_with(blank_mark)) token.remove_prefix(blank_mark.size());
  return token.find(blank_mark) != std::string_view::npos;
}

}  // namespace

/// Scratch of one encode call, kept from word to word.
struct Spm::Run {
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  /// How an Unused token was put together, to take it apart again: bytes of its left half.
  std::unordered_map<uint32_t, uint32_t> halves;
};

Spm::Spm(const Vocabulary& vocabulary, const TokenMap& map)
    : vocabulary_(vocabulary),
      map_(map),
      add_space_prefix_(vocabulary.add_space_prefix.value_or(true)),
      byte_ids_(byte_token_ids(vocabulary)) {
  blanks_only_lead_ =
      std::none_of(vocabulary.tokens.begin(), vocabulary.tokens.end(), has_blank_inside);
}

void Spm::encode(std::string_view text, bool prefix, std::vector<uint32_t>& ids) const {
  std::string marked;
  marked.reserve(text.size() + text.size() / 2 + blank_mark.size());
  if (prefix && add_space_prefix_) marked += blank_mark;
  for (const char c : text) {
    if (c == ' ') {
      marked += blank_mark;
    } else {
      marked += c;
    }
  }
  Run run;
  std::string_view left = marked;
  while (!left.empty()) {
    size_t end = left.size();
    if (blanks_only_lead_) {
      size_t at = 0;
      while (left.substr(at, blank_mark.size()) == blank_mark) at += blank_mark.size();
      end = std::min(end, left.find(blank_mark, at));
    }
    encode_word(left.substr(0, end), run, ids);
    left.remove_prefix(end);
  }
}

void Spm::encode_word(std::string_view word, Run& run, std::vector<uint32_t>& ids) const {
  auto& symbols = run.symbols;
  symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const size_t size = utf8_length(word[at]);
    const auto place = static_cast<uint32_t>(symbols.size());
    symbols.push_back(
        {static_cast<uint32_t>(at), static_cast<uint32_t>(size), place - 1, place + 1});
    at += size;
  }
  symbols.front().before = nothing;
  symbols.back().after = nothing;

  auto& heap = run.heap;
  heap.clear();
  const auto consider = [&](uint32_t left, uint32_t right) {
    if (left == nothing || right == nothing) return;
    const uint32_t size = symbols[left].size + symbols[right].size;
    const uint32_t id = map_.find(word.substr(symbols[left].begin, size));
    if (id == no_token) return;
    heap.push_back({vocabulary_.scores[id], left, right, size});
    std::push_heap(heap.begin(), heap.end());
    if (is_unused(id)) run.halves[id] = symbols[left].size;
  };
  for (uint32_t i = 0; i < symbols.size(); ++i) consider(i, symbols[i].after);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate c = heap.back();
    heap.pop_back();
    Symbol& left = symbols[c.left];
    Symbol& right = symbols[c.right];
    // A candidate is stale once either symbol was merged meanwhile.
    if (left.size == 0 || right.size == 0 || left.size + right.size != c.size) continue;
    left.size = c.size;
    right.size = 0;
    left.after = right.after;
    if (left.after != nothing) symbols[left.after].before = c.left;
    consider(left.before, c.left);
    consider(c.left, left.after);
  }
  for (const Symbol& s : symbols) {
    if (s.size > 0) append(word.substr(s.begin, s.size), run, ids);
  }
}

void Spm::append(std::string_view symbol, const Run& run, std::vector<uint32_t>& ids) const {
  const uint32_t id = map_.find(symbol);
  if (id != no_token && !is_unused(id)) {
    ids.push_back(id);
    return;
  }
  const auto half = id == no_token ? run.halves.end() : run.halves.find(id);
  if (half != run.halves.end()) {
    append(symbol.substr(0, half->second), run, ids);
    append(symbol.substr(half->second), run, ids);
    return;
  }
  const auto known = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)] != no_token; };
  if (std::all_of(symbol.begin(), symbol.end(), known)) {
    for (const char c : symbol) ids.push_back(byte_ids_[static_cast<uint8_t>(c)]);
  } else if (vocabulary_.unk) {
    ids.push_back(*vocabulary_.unk);
  }
}

}  // namespace rlx::text

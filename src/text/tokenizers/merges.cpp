// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/merges.h"

#include <array>
#include <queue>
#include <utility>

namespace rlx::text {
namespace {

constexpr size_t short_word = 32;  ///< up to here a scan per merge beats a heap
constexpr uint32_t nothing = UINT32_MAX;

struct Candidate {
  uint32_t rank;
  uint32_t left, right;  ///< places of the two symbols
  uint32_t left_id, right_id;
  /// For a heap with the best on top: a lower rank, then a smaller place, is better.
  bool operator<(const Candidate& o) const {
    return rank != o.rank ? rank > o.rank : left > o.left;
  }
};

}  // namespace

void MergeTable::reserve(size_t count) {
  size_t slots = 16;
  while (slots < count * 2) slots *= 2;
  slots_.assign(slots, Slot{});
  mask_ = slots - 1;
}

size_t MergeTable::position(uint64_t pair) const {
  uint64_t hash = pair * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
    if (slots_[at].pair == pair || slots_[at].pair == UINT64_MAX) return at;
  }
}

void MergeTable::add(uint32_t left, uint32_t right, uint32_t rank, uint32_t result) {
  const uint64_t pair = static_cast<uint64_t>(left) << 32 | right;
  Slot& slot = slots_[position(pair)];
  if (slot.pair == UINT64_MAX) slot = {pair, rank, result};
}

void MergeTable::apply(std::vector<uint32_t>& symbols) const {
  if (symbols.size() < 2) return;
  if (symbols.size() <= short_word) {
    apply_short(symbols);
  } else {
    apply_long(symbols);
  }
}

void MergeTable::apply_short(std::vector<uint32_t>& symbols) const {
  std::array<Slot, short_word> next;  // next[i]: the merge of symbols i and i + 1
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) next[i] = find(symbols[i], symbols[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (next[i].rank < next[best].rank) best = i;
    }
    if (next[best].rank == UINT32_MAX) break;
    symbols[best] = next[best].result;
    for (size_t i = best + 1; i + 1 < count; ++i) {
      symbols[i] = symbols[i + 1];
      next[i] = next[i + 1];
    }
    --count;
    if (best > 0) next[best - 1] = find(symbols[best - 1], symbols[best]);
    if (best + 1 < count) next[best] = find(symbols[best], symbols[best + 1]);
  }
  symbols.resize(count);
}

void MergeTable::apply_long(std::vector<uint32_t>& symbols) const {
  const auto count = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> before(count), after(count);
  std::vector<Candidate> first;
  first.reserve(count);
  const auto candidate = [&](uint32_t left, uint32_t right, auto&& take) {
    if (left == nothing || right == nothing) return;
    const Slot& slot = find(symbols[left], symbols[right]);
    if (slot.rank != UINT32_MAX) take({slot.rank, left, right, symbols[left], symbols[right]});
  };
  for (uint32_t i = 0; i < count; ++i) {
    before[i] = i == 0 ? nothing : i - 1;
    after[i] = i + 1 == count ? nothing : i + 1;
    candidate(i, after[i], [&](const Candidate& c) { first.push_back(c); });
  }
  std::vector<bool> gone(count);
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(first));
  while (!queue.empty()) {
    const Candidate c = queue.top();
    queue.pop();
    // A candidate is stale once either symbol was merged meanwhile.
    if (gone[c.left] || gone[c.right] || symbols[c.left] != c.left_id ||
        symbols[c.right] != c.right_id) {
      continue;
    }
    symbols[c.left] = find(c.left_id, c.right_id).result;
    gone[c.right] = true;
    after[c.left] = after[c.right];
    if (after[c.left] != nothing) before[after[c.left]] = c.left;
    const auto push = [&](const Candidate& n) { queue.push(n); };
    candidate(before[c.left], c.left, push);
    candidate(c.left, after[c.left], push);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!gone[i]) symbols[kept++] = symbols[i];
  }
  symbols.resize(kept);
}

}  // namespace rlx::text

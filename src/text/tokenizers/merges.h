// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rlx::text {

/// The merges of a BPE vocabulary and the procedure that applies them.
class MergeTable {
 public:
  /// Makes room for `count` merges; no more may be added.
  void reserve(size_t count);
  /// Says that `left` next to `right` makes `result`; lower ranks go first. The first merge of a
  /// pair stays.
  void add(uint32_t left, uint32_t right, uint32_t rank, uint32_t result);
  /// Merges inside `symbols` (token ids; no_token merges with nothing) until no merge applies:
  /// always the lowest rank, of equal ranks the leftmost. Time n log n.
  void apply(std::vector<uint32_t>& symbols) const;

 private:
  struct Slot {
    uint64_t pair = UINT64_MAX;
    uint32_t rank = UINT32_MAX;
    uint32_t result = UINT32_MAX;
  };

  size_t position(uint64_t pair) const;
  const Slot& find(uint32_t left, uint32_t right) const {
    return slots_[position(static_cast<uint64_t>(left) << 32 | right)];
  }
  void apply_short(std::vector<uint32_t>& symbols) const;
  void apply_long(std::vector<uint32_t>& symbols) const;

  std::vector<Slot> slots_{Slot{}};
  size_t mask_ = 0;
};

}  // namespace rlx::text

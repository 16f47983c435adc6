// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rlx::text {

/// Finds every known text that begins at a place of another text: a sorted array searched as a
/// trie. It keeps views: the texts must outlive it.
class PrefixIndex {
 public:
  struct Entry {
    std::string_view text;
    uint32_t id;
  };

  PrefixIndex() = default;
  /// Empty texts are left out; of equal texts the smallest id stays.
  explicit PrefixIndex(std::vector<Entry> entries);

  bool empty() const { return entries_.empty(); }
  /// Whether some text begins with this byte.
  bool may_start(char byte) const {
    const auto b = static_cast<unsigned char>(byte);
    return first_[b] != first_[b + 1];
  }
  /// Calls `found(length, id)` for each known text that `text` begins with, shortest first.
  template <typename Found>
  void for_each_prefix(std::string_view text, Found&& found) const {
    if (text.empty() || entries_.empty()) return;
    const auto lead = static_cast<unsigned char>(text[0]);
    uint32_t low = first_[lead], high = first_[lead + 1u];
    for (size_t depth = 1; low < high; ++depth) {
      if (entries_[low].text.size() == depth) {
        found(depth, entries_[low].id);
        ++low;
      }
      if (depth >= text.size()) return;
      narrow(static_cast<unsigned char>(text[depth]), depth, low, high);
    }
  }

 private:
  void narrow(unsigned char byte, size_t depth, uint32_t& low, uint32_t& high) const;

  std::vector<Entry> entries_;
  std::vector<uint32_t> first_ = std::vector<uint32_t>(257, 0);  ///< range of each first byte
};

}  // namespace rlx::text

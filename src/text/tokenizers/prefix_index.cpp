// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/prefix_index.h"

#include <algorithm>

namespace rlx::text {

PrefixIndex::PrefixIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& e) { return e.text.empty(); });
  // string_view compares bytes as unsigned, as narrow() does.
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    const int order = a.text.compare(b.text);
    return order != 0 ? order < 0 : a.id < b.id;
  });
  const auto same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  entries_.shrink_to_fit();
  for (const Entry& e : entries_) ++first_[static_cast<unsigned char>(e.text[0]) + 1u];
  for (size_t b = 0; b < 256; ++b) first_[b + 1] += first_[b];
}

void PrefixIndex::narrow(unsigned char byte, size_t depth, uint32_t& low, uint32_t& high) const {
  const auto at = [&](uint32_t i) { return static_cast<unsigned char>(entries_[i].text[depth]); };
  // Every entry left in the range is longer than `depth`: a shorter one sorts first and was taken.
  uint32_t begin = low, end = high;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (at(middle) < byte) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  low = begin;
  end = high;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (at(middle) <= byte) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  high = begin;
}

}  // namespace rlx::text

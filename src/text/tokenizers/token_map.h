// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace rlx::text {

constexpr uint32_t no_token = UINT32_MAX;

/// A 64-bit hash of `text`, eight bytes a step (multiply and fold, for tables in memory only).
inline uint64_t hash_text(std::string_view text) {
  constexpr uint64_t factor = 0x9e3779b97f4a7c15ull;
  uint64_t hash = text.size() * factor;
  const char* p = text.data();
  size_t left = text.size();
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * factor;
    hash ^= hash >> 32;
  };
  for (; left >= 8; left -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    mix(word);
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, p, left);
    mix(word);
  }
  return hash;
}

/// Texts to token ids in one flat table. It keeps views: the texts must outlive it.
class TokenMap {
 public:
  struct Entry {
    std::string_view text;
    uint32_t id;
  };

  /// Makes room for `count` texts; no more than that may be added.
  void reserve(size_t count) {
    size_t slots = 16;
    while (slots < count * 2) slots *= 2;
    slots_.assign(slots, Slot{});
    mask_ = slots - 1;
  }

  /// Adds a text; the first id of a text stays. Returns whether it was new.
  bool add(std::string_view text, uint32_t id) { return add(text, id, hash_text(text)); }

  /// Adds many texts in order. The table is far larger than the caches, so the slots of a block are
  /// asked for before the first is used.
  void add_all(std::span<const Entry> entries) {
    std::array<uint64_t, block> hashes;
    while (!entries.empty()) {
      const auto now = entries.first(std::min(block, entries.size()));
      for (size_t i = 0; i < now.size(); ++i) {
        hashes[i] = hash_text(now[i].text);
        __builtin_prefetch(&slots_[hashes[i] & mask_], 1);
      }
      for (size_t i = 0; i < now.size(); ++i) add(now[i].text, now[i].id, hashes[i]);
      entries = entries.subspan(now.size());
    }
  }

  /// The id of `text`, or no_token.
  uint32_t find(std::string_view text) const { return find(text, hash_text(text)); }

  /// find() for each text, in the manner of add_all(); `ids` must be as long as `texts`.
  void find_all(std::span<const std::string_view> texts, std::span<uint32_t> ids) const {
    std::array<uint64_t, block> hashes;
    for (size_t first = 0; first < texts.size(); first += block) {
      const size_t count = std::min(block, texts.size() - first);
      for (size_t i = 0; i < count; ++i) {
        hashes[i] = hash_text(texts[first + i]);
        __builtin_prefetch(&slots_[hashes[i] & mask_]);
      }
      for (size_t i = 0; i < count; ++i) __builtin_prefetch(slots_[hashes[i] & mask_].data);
      for (size_t i = 0; i < count; ++i) ids[first + i] = find(texts[first + i], hashes[i]);
    }
  }

  /// Bytes of the longest text.
  size_t longest() const { return longest_; }

 private:
  static constexpr size_t block = 64;

  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0;
    uint32_t check = 0;
    uint32_t id = no_token;
    uint32_t padding = 0;
  };

  bool add(std::string_view text, uint32_t id, uint64_t hash) {
    Slot& slot = slots_[position(text, hash)];
    if (slot.id != no_token) return false;
    slot = {text.data(), static_cast<uint32_t>(text.size()), static_cast<uint32_t>(hash >> 32), id,
            0};
    longest_ = std::max(longest_, text.size());
    return true;
  }

  uint32_t find(std::string_view text, uint64_t hash) const {
    return text.size() > longest_ ? no_token : slots_[position(text, hash)].id;
  }

  size_t position(std::string_view text, uint64_t hash) const {
    const auto check = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.id == no_token) return at;
      if (slot.check == check && slot.size == text.size() &&
          std::memcmp(slot.data, text.data(), text.size()) == 0) {
        return at;
      }
    }
  }

  std::vector<Slot> slots_{Slot{}};
  size_t mask_ = 0;
  size_t longest_ = 0;
};

}  // namespace rlx::text

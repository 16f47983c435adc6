// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "plan/plan.h"

namespace rlx {
namespace {

/// Peak over time of the bytes live at once, each rounded to the alignment.
int64_t peak_live(const std::vector<Interval>& intervals, int64_t alignment) {
  std::vector<std::pair<uint64_t, int64_t>> events;  // ends sort before starts of the next step
  for (const Interval& i : intervals) {
    const int64_t bytes = round_up(i.bytes, alignment);
    events.emplace_back(uint64_t{i.first} * 2 + 1, bytes);
    events.emplace_back(uint64_t{i.last} * 2 + 2, -bytes);
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, peak = 0;
  for (const auto& [time, bytes] : events) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

/// Places intervals in the given order, each at the lowest gap it fits; returns the peak.
int64_t place(std::vector<Interval>& intervals, const std::vector<size_t>& order,
              int64_t alignment) {
  int64_t peak = 0;
  std::vector<size_t> placed;  // by offset
  for (const size_t i : order) {
    Interval& cur = intervals[i];
    const int64_t bytes = round_up(cur.bytes, alignment);
    int64_t offset = 0;
    for (const size_t k : placed) {
      const Interval& other = intervals[k];
      if (other.last < cur.first || cur.last < other.first) continue;
      if (other.offset >= offset + bytes) break;
      offset = std::max(offset, round_up(other.offset + other.bytes, alignment));
    }
    cur.offset = offset;
    peak = std::max(peak, offset + bytes);
    const auto at = std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) {
      return intervals[a].offset < intervals[b].offset;
    });
    placed.insert(at, i);
  }
  return peak;
}

}  // namespace

Packing pack_intervals(std::vector<Interval>& intervals, int64_t alignment) {
  Packing best;
  best.lower_bound = peak_live(intervals, alignment);
  best.strategy = "none";
  if (intervals.empty()) return best;
  const auto area = [](const Interval& i) { return i.bytes * (int64_t{i.last} - i.first + 1); };
  struct Strategy {
    const char* name;
    int64_t (*key)(const Interval&, int64_t);
  };
  const Strategy strategies[] = {
      {"size", [](const Interval& i, int64_t) { return i.bytes; }},
      {"area", [](const Interval&, int64_t a) { return a; }},
      {"lifetime", [](const Interval& i, int64_t) { return int64_t{i.last} - i.first; }},
      {"order", [](const Interval& i, int64_t) { return -int64_t{i.first}; }},
  };
  std::vector<int64_t> offsets;
  for (const Strategy& s : strategies) {
    std::vector<size_t> order(intervals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const int64_t ka = s.key(intervals[a], area(intervals[a]));
      const int64_t kb = s.key(intervals[b], area(intervals[b]));
      if (ka != kb) return ka > kb;
      if (intervals[a].bytes != intervals[b].bytes) return intervals[a].bytes > intervals[b].bytes;
      return intervals[a].first < intervals[b].first;
    });
    const int64_t peak = place(intervals, order, alignment);
    if (offsets.empty() || peak < best.peak) {
      best.peak = peak;
      best.strategy = s.name;
      offsets.clear();
      for (const Interval& i : intervals) offsets.push_back(i.offset);
    }
    if (best.peak == best.lower_bound) break;
  }
  for (size_t i = 0; i < intervals.size(); ++i) intervals[i].offset = offsets[i];
  return best;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/params.h"
#include "backends/cpu/kernels/shapes.h"

// How attention is cut into items and what scratch an item needs; shared by the kernel and its row.
// A row below is one query of one head. Query heads that share a key head sit in one item, so that
// its keys and values are read once for all of them.
namespace rlx::cpu {

/// Keys per tile. Tiles start at multiples of it, wherever a query is, so that a position's result
/// hardly depends on which other positions are computed with it.
inline constexpr int64_t attention_keys = 64;
/// Rows per item when there are many, and the fewest for which tiles of keys are transposed.
inline constexpr int64_t attention_rows = 128;
inline constexpr int64_t attention_blocked_rows = 9;
/// Rows that read keys straight from the cache together.
inline constexpr int64_t attention_direct_rows = 4;
/// Widths in scratch are multiples of this, the widest panel of any level.
inline constexpr int64_t attention_pad = 32;

[[maybe_unused]] static int64_t padded(int64_t n) {
  return ceil_div(n, attention_pad) * attention_pad;
}

struct AttentionPlan {
  int64_t queries;      ///< T
  int64_t keys;         ///< S
  int64_t group;        ///< query heads per key head
  int64_t width;        ///< channels of a head of q and k
  int64_t v_width;      ///< channels of a head of v
  int64_t block;        ///< queries per item
  int64_t blocks;       ///< items along the queries
  int64_t group_part;   ///< query heads of a group per item
  int64_t group_parts;  ///< items per group
  int64_t items;
  bool blocked;  ///< through transposed tiles, else straight from the cache
};

/// Everything follows from extents, nothing from the number of workers.
[[maybe_unused]] static AttentionPlan plan_attention(const AttentionParams& p, int64_t queries,
                                                     int64_t keys, int64_t q_width,
                                                     int64_t v_width) {
  AttentionPlan a{};
  a.queries = queries;
  a.keys = keys;
  a.group = p.heads / p.kv_heads;
  a.width = q_width / p.heads;
  a.v_width = v_width / p.kv_heads;
  a.blocked = queries * a.group >= attention_blocked_rows && queries > 1;
  if (a.blocked) {
    a.group_part = a.group < attention_rows ? a.group : attention_rows;
    // About 16 items over all heads, each of 32 to 128 rows.
    const int64_t wanted = ceil_div(queries * p.kv_heads, 16);
    const int64_t least = ceil_div(32, a.group_part), most = attention_rows / a.group_part;
    a.block = wanted < least ? least : wanted > most ? most : wanted;
  } else {
    // With few key heads, the query heads of a group are spread over several items.
    const int64_t wanted =
        p.kv_heads >= 4 ? attention_direct_rows : ceil_div(attention_direct_rows, 2);
    a.group_part = a.group < wanted ? a.group : wanted;
    a.block = 1;
  }
  if (a.block > queries && queries > 0) a.block = queries;
  a.blocks = ceil_div(queries, a.block);
  a.group_parts = ceil_div(a.group, a.group_part);
  a.items = a.blocks * a.group_parts * p.kv_heads;
  return a;
}

/// The most rows an item has while queries stay at or below the bound.
[[maybe_unused]] static int64_t attention_most_rows(const AttentionParams& p, int64_t queries) {
  const int64_t all = queries * (p.heads / p.kv_heads);
  const int64_t least = attention_direct_rows;
  return all > attention_rows ? attention_rows : all < least ? least : all;
}

/// Floats of one worker's scratch: queries, tiles of keys and values, scores, results, and two
/// numbers per row.
[[maybe_unused]] static int64_t attention_scratch(int64_t rows, int64_t width, int64_t v_width) {
  const int64_t w = padded(width), v = padded(v_width);
  return rows * (w + v + attention_keys) + padded(2 * rows) + attention_keys * (w + v);
}

}  // namespace rlx::cpu

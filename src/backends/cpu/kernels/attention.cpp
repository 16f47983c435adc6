// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/attention_plan.h"
#include "backends/cpu/kernels/cache.h"
#include "backends/cpu/kernels/elementwise.h"

// Attention without a score matrix: tiles of 64 keys pass by, and each row keeps its running
// maximum, sum and weighted values (Milakov and Gimelshein 2018, Dao et al. 2022). Many rows go
// through register-blocked products with tiles of keys and values that were widened to f32 and
// packed; few rows read the cache directly.

namespace rlx::cpu::RLX_ISA {
namespace {

/// Columns of a packed panel: two vectors.
constexpr int64_t panel = 2 * lanes;
/// Rows of a register block: as many accumulators as the level's registers hold.
constexpr int block_rows = lanes == 16 ? 8 : lanes == 8 ? 6 : 4;

/// One item's view of the call and its scratch.
struct Item {
  AttentionPlan plan;
  AttentionParams params;
  const std::byte* k;
  const std::byte* v;
  int64_t k_stride, v_stride;    ///< bytes from one key's row to the next
  int64_t k_at, v_at;            ///< first element of the key head in a row
  int64_t first_query, queries;  ///< of this item
  int64_t first_head, heads;     ///< query heads of this item
  int64_t rows;                  ///< queries * heads, row = query * heads + head
  int64_t width, v_width;        ///< padded
  float* q;                      ///< [rows, width], scaled
  float* acc;                    ///< [rows, v_width]
  float* scores;                 ///< [rows, attention_keys]
  float* largest;                ///< [rows]
  float* sum;                    ///< [rows]
  float* k_tile;                 ///< panels of keys: [key / panel][channel][key % panel]
  float* v_tile;                 ///< panels of channels: [channel / panel][key][channel % panel]

  /// Keys that a query (counted in the whole call) sees: [begin, end).
  int64_t begin_of(int64_t query) const {
    const int64_t end = end_of(query);
    return params.window > 0 && end > params.window ? end - params.window : 0;
  }
  int64_t end_of(int64_t query) const {
    return params.causal ? plan.keys - plan.queries + query + 1 : plan.keys;
  }
};

Item make_item(const KernelCall& call, const AttentionPlan& plan, int64_t index, float* scratch) {
  Item it{};
  it.plan = plan;
  it.params = *static_cast<const AttentionParams*>(call.params);
  // Later queries see more keys, so they come first.
  const int64_t block = plan.blocks - 1 - index % plan.blocks;
  const int64_t part = index / plan.blocks % plan.group_parts;
  const int64_t kv_head = index / plan.blocks / plan.group_parts;
  it.first_query = block * plan.block;
  it.queries =
      plan.queries - it.first_query < plan.block ? plan.queries - it.first_query : plan.block;
  const int64_t first = part * plan.group_part;
  it.first_head = kv_head * plan.group + first;
  it.heads = plan.group - first < plan.group_part ? plan.group - first : plan.group_part;
  it.rows = it.queries * it.heads;
  it.k = call.operands[1].data;
  it.v = call.operands[2].data;
  it.k_at = kv_head * plan.width;
  it.v_at = kv_head * plan.v_width;
  it.width = padded(plan.width);
  it.v_width = padded(plan.v_width);
  it.q = scratch;
  it.acc = it.q + it.rows * it.width;
  it.scores = it.acc + it.rows * it.v_width;
  it.largest = it.scores + it.rows * attention_keys;
  it.sum = it.largest + it.rows;
  it.k_tile = it.largest + padded(2 * it.rows);
  it.v_tile = it.k_tile + attention_keys * it.width;
  return it;
}

void clear(float* p, int64_t n) { __builtin_memset(p, 0, static_cast<size_t>(n) * 4); }

void start_rows(const Item& it, const float* q) {
  const int64_t stride = it.params.heads * it.plan.width;
  for (int64_t r = 0; r < it.rows; ++r) {
    const int64_t query = it.first_query + r / it.heads, head = it.first_head + r % it.heads;
    const float* from = q + query * stride + head * it.plan.width;
    float* to = it.q + r * it.width;
    const float scale = it.params.scale;
    map_row(from, to, it.plan.width, [scale](VecF x) { return x * scale; });
    clear(to + it.plan.width, it.width - it.plan.width);
    it.largest[r] = -__builtin_inff();
    it.sum[r] = 0;
  }
  clear(it.acc, it.rows * it.v_width);
}

void finish_rows(const Item& it, float* y) {
  const int64_t stride = it.params.heads * it.plan.v_width;
  for (int64_t r = 0; r < it.rows; ++r) {
    const int64_t query = it.first_query + r / it.heads, head = it.first_head + r % it.heads;
    // Without any key the result is zero; where all scores are -inf it is NaN.
    const bool sees = it.begin_of(query) < it.end_of(query);
    const float nothing = sees ? __builtin_nanf("") : 0.0f;
    const float factor = it.sum[r] == 0 ? nothing : 1.0f / it.sum[r];
    map_row(it.acc + r * it.v_width, y + query * stride + head * it.plan.v_width, it.plan.v_width,
            [factor](VecF x) { return x * factor; });
  }
}

/// Turns a row's scores of keys [first, first + 64) into weights relative to its new maximum, and
/// moves what the row has so far to it.
void weigh_row(const Item& it, int64_t r, int64_t first) {
  const int64_t query = it.first_query + r / it.heads;
  const int64_t begin = it.begin_of(query) - first, end = it.end_of(query) - first;
  float* s = it.scores + r * attention_keys;
  if (begin >= attention_keys || end <= 0) return clear(s, attention_keys);
  if (it.params.softcap > 0) {
    const float cap = it.params.softcap;
    map_row(s, s, attention_keys, [cap](VecF x) { return tanh(x / cap) * cap; });
  }
  const float hidden = -__builtin_inff();
  for (int64_t i = 0; i < begin; ++i) s[i] = hidden;
  for (int64_t i = end > 0 ? end : 0; i < attention_keys; ++i) s[i] = hidden;

  VecF m = splat(it.largest[r]);
  for (int64_t i = 0; i < attention_keys; i += lanes) m = vmax(load(s + i), m);
  const float largest = reduce_max(m);
  // All scores -inf or NaN so far: exp(x - 0) keeps -inf at zero and NaN visible.
  const float base = largest == hidden ? 0.0f : largest;
  VecF total{};
  for (int64_t i = 0; i < attention_keys; i += lanes) {
    const VecF e = exp(load(s + i) - base);
    store(s + i, e);
    total += e;
  }
  if (largest != it.largest[r]) {
    const float factor = exp(splat(it.largest[r] - base))[0];
    it.largest[r] = largest;
    it.sum[r] *= factor;
    float* acc = it.acc + r * it.v_width;
    for (int64_t i = 0; i < it.v_width; i += lanes) store(acc + i, load(acc + i) * factor);
  }
  it.sum[r] += reduce_add(total);
}

// Many rows.

/// c[m][panel] = (add ? c : 0) + a[m][depth] * b[depth][panel] for `m` rows.
template <int m, bool add>
RLX_INLINE void block_product(const float* a, int64_t a_stride, const float* b, int64_t depth,
                              float* c, int64_t c_stride) {
  VecF left[m], right[m];
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) {
    left[i] = add ? load(c + i * c_stride) : VecF{};
    right[i] = add ? load(c + i * c_stride + lanes) : VecF{};
  }
  for (int64_t d = 0; d < depth; ++d) {
    const VecF b0 = load(b + d * panel), b1 = load(b + d * panel + lanes);
#pragma GCC unroll 8
    for (int i = 0; i < m; ++i) {
      const VecF x = splat(a[i * a_stride + d]);
      left[i] += x * b0;
      right[i] += x * b1;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) {
    store(c + i * c_stride, left[i]);
    store(c + i * c_stride + lanes, right[i]);
  }
}

/// The same for any number of rows.
template <bool add>
void panel_product(const float* a, int64_t a_stride, const float* b, int64_t depth, float* c,
                   int64_t c_stride, int64_t rows) {
  int64_t r = 0;
  for (; r + block_rows <= rows; r += block_rows) {
    block_product<block_rows, add>(a + r * a_stride, a_stride, b, depth, c + r * c_stride,
                                   c_stride);
  }
  for (; r + 2 <= rows; r += 2) {
    block_product<2, add>(a + r * a_stride, a_stride, b, depth, c + r * c_stride, c_stride);
  }
  if (r < rows) {
    block_product<1, add>(a + r * a_stride, a_stride, b, depth, c + r * c_stride, c_stride);
  }
}

/// Four rows of four floats, columns become rows.
RLX_INLINE void transpose4(const float* rows, int64_t row_stride, float* out, int64_t out_stride) {
  Vec4 r[4];
  for (int i = 0; i < 4; ++i) __builtin_memcpy(&r[i], rows + i * row_stride, sizeof r[i]);
  const Vec4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  const Vec4 b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Vec4 c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  const Vec4 d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  const Vec4 columns[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) __builtin_memcpy(out + i * out_stride, &columns[i], sizeof r[i]);
}

/// Widens `n` channels of a row from element `at` on into `to`, zeros up to `padded_n`.
template <typename Rows>
RLX_INLINE void widen_row(const std::byte* row, int64_t at, int64_t n, float* to,
                          int64_t padded_n) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(to + i, Rows::get(row, at + i));
  if (i < n) {
    store(to + i, Rows::get_part(row, at + i, n - i));
    i += lanes;
  }
  for (; i < padded_n; i += lanes) store(to + i, VecF{});
}

/// Keys [first, first + count) into k_tile; keys behind them are zeros. Channels are padded to
/// whole groups of `attention_pad`, so a group of rows can be widened on the stack.
template <typename Rows>
void pack_keys(const Item& it, int64_t first, int64_t count) {
  constexpr int64_t part = 128;
  float wide[4 * part];
  const int64_t n = it.plan.width;
  for (int64_t key = 0; key < attention_keys; key += 4) {
    float* out = it.k_tile + key / panel * it.width * panel + key % panel;
    for (int64_t c = 0; c < n; c += part) {
      const int64_t left = n - c < part ? n - c : part;
      const int64_t whole = ceil_div(left, 4) * 4;
      for (int64_t i = 0; i < 4; ++i) {
        if (key + i < count) {
          widen_row<Rows>(it.k + (first + key + i) * it.k_stride, it.k_at + c, left,
                          wide + i * part, 0);
        } else {
          clear(wide + i * part, part);
        }
      }
      for (int64_t d = 0; d < whole; d += 4) {
        transpose4(wide + d, part, out + (c + d) * panel, panel);
      }
    }
  }
}

template <typename Rows>
void pack_values(const Item& it, int64_t first, int64_t count) {
  const int64_t n = it.plan.v_width;
  const int64_t columns = ceil_div(n, panel) * panel;
  for (int64_t key = 0; key < attention_keys; ++key) {
    const std::byte* row = it.v + (first + key) * it.v_stride;
    for (int64_t c = 0; c < columns; c += panel) {
      float* to = it.v_tile + c * attention_keys + key * panel;
      const int64_t left = n - c < panel ? n - c : panel;
      if (key < count) {
        widen_row<Rows>(row, it.v_at + c, left, to, panel);
      } else {
        clear(to, panel);
      }
    }
  }
}

template <typename KRows, typename VRows>
void blocked_tile(const Item& it, int64_t first, int64_t count) {
  pack_keys<KRows>(it, first, count);
  pack_values<VRows>(it, first, count);
  // Channels are a multiple of 4 in the tile; the queries' padding is zero.
  const int64_t depth = ceil_div(it.plan.width, 4) * 4;
  for (int64_t key = 0; key < attention_keys; key += panel) {
    panel_product<false>(it.q, it.width, it.k_tile + key * it.width, depth, it.scores + key,
                         attention_keys, it.rows);
  }
  for (int64_t r = 0; r < it.rows; ++r) weigh_row(it, r, first);
  for (int64_t c = 0; c < it.plan.v_width; c += panel) {
    panel_product<true>(it.scores, attention_keys, it.v_tile + c * attention_keys, count,
                        it.acc + c, it.v_width, it.rows);
  }
}

// Few rows.

/// Scores of `m` rows with four keys.
template <typename Rows, int m>
RLX_INLINE void score_keys(const Item& it, int64_t row, int64_t first, int64_t key, int64_t count) {
  const std::byte* k[4];
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = key + i < count ? key + i : count - 1;
    k[i] = it.k + (first + at) * it.k_stride;
  }
  const float* q = it.q + row * it.width;
  VecF acc[m][4] = {};
  const int64_t n = it.plan.width;
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const VecF x = Rows::get(k[i], it.k_at + c);
#pragma GCC unroll 4
      for (int r = 0; r < m; ++r) acc[r][i] += load(q + r * it.width + c) * x;
    }
  }
  if (c < n) {
    for (int i = 0; i < 4; ++i) {
      const VecF x = Rows::get_part(k[i], it.k_at + c, n - c);
      for (int r = 0; r < m; ++r) acc[r][i] += load(q + r * it.width + c) * x;
    }
  }
  for (int r = 0; r < m; ++r) {
    const Vec4 sums = reduce_add4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    __builtin_memcpy(it.scores + (row + r) * attention_keys + key, &sums, sizeof sums);
  }
}

/// Adds the weighted values of `m` rows for `vectors` vectors of channels from `c` on.
template <typename Rows, int m, int vectors>
RLX_INLINE void mix_values(const Item& it, int64_t row, int64_t first, int64_t begin, int64_t end,
                           int64_t c) {
  float* acc = it.acc + row * it.v_width + c;
  const float* weights = it.scores + row * attention_keys;
  VecF sum[m][vectors];
  for (int r = 0; r < m; ++r) {
    for (int v = 0; v < vectors; ++v) sum[r][v] = load(acc + r * it.v_width + v * lanes);
  }
  for (int64_t key = begin; key < end; ++key) {
    const std::byte* values = it.v + (first + key) * it.v_stride;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const VecF x = Rows::get(values, it.v_at + c + v * lanes);
#pragma GCC unroll 4
      for (int r = 0; r < m; ++r) sum[r][v] += weights[r * attention_keys + key] * x;
    }
  }
  for (int r = 0; r < m; ++r) {
    for (int v = 0; v < vectors; ++v) store(acc + r * it.v_width + v * lanes, sum[r][v]);
  }
}

template <typename Rows, int m>
void mix_rows(const Item& it, int64_t row, int64_t first, int64_t begin, int64_t end) {
  const int64_t n = it.plan.v_width;
  int64_t c = 0;
  for (; c + 4 * lanes <= n; c += 4 * lanes) mix_values<Rows, m, 4>(it, row, first, begin, end, c);
  for (; c + lanes <= n; c += lanes) mix_values<Rows, m, 1>(it, row, first, begin, end, c);
  if (c == n) return;
  for (int r = 0; r < m; ++r) {
    float* acc = it.acc + (row + r) * it.v_width + c;
    VecF sum = load(acc);
    for (int64_t key = begin; key < end; ++key) {
      const float weight = it.scores[(row + r) * attention_keys + key];
      sum += weight * Rows::get_part(it.v + (first + key) * it.v_stride, it.v_at + c, n - c);
    }
    store(acc, sum);
  }
}

template <typename KRows, typename VRows, int m>
void direct_rows(const Item& it, int64_t row, int64_t first, int64_t begin, int64_t end) {
  for (int64_t key = begin / 4 * 4; key < end; key += 4) {
    score_keys<KRows, m>(it, row, first, key, end);
  }
  for (int r = 0; r < m; ++r) weigh_row(it, row + r, first);
  mix_rows<VRows, m>(it, row, first, begin, end);
}

/// `begin` is the first key in the tile that any row sees, `count` the end of the keys.
template <typename KRows, typename VRows>
void direct_tile(const Item& it, int64_t first, int64_t begin, int64_t count) {
  // Scores outside [begin, count) are not computed, only masked: they must be numbers.
  clear(it.scores, it.rows * attention_keys);
  int64_t r = 0;
  for (; r + 4 <= it.rows; r += 4) direct_rows<KRows, VRows, 4>(it, r, first, begin, count);
  for (; r + 2 <= it.rows; r += 2) direct_rows<KRows, VRows, 2>(it, r, first, begin, count);
  if (r < it.rows) direct_rows<KRows, VRows, 1>(it, r, first, begin, count);
}

template <typename KRows, typename VRows>
void run_item(const KernelCall& call, Item& it) {
  it.k_stride = KRows::row_bytes(call.operands[1].dims[1]);
  it.v_stride = VRows::row_bytes(call.operands[2].dims[1]);
  start_rows(it, floats(call.operands[0]));
  const int64_t begin = it.begin_of(it.first_query);
  const int64_t end = it.end_of(it.first_query + it.queries - 1);
  for (int64_t first = begin / attention_keys * attention_keys; first < end;
       first += attention_keys) {
    const int64_t count = end - first < attention_keys ? end - first : attention_keys;
    if (it.plan.blocked) {
      blocked_tile<KRows, VRows>(it, first, count);
    } else {
      direct_tile<KRows, VRows>(it, first, begin > first ? begin - first : 0, count);
    }
  }
  finish_rows(it, floats(call.results[0]));
}

template <typename KRows>
void run_with_keys(const KernelCall& call, Item& it) {
  switch (call.operands[2].dtype) {
    case DType::F16: return run_item<KRows, HalfRows<false>>(call, it);
    case DType::BF16: return run_item<KRows, HalfRows<true>>(call, it);
    case DType::Q8_0: return run_item<KRows, Q8Rows>(call, it);
    default: return run_item<KRows, F32Rows>(call, it);
  }
}

}  // namespace

void attention(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept {
  const auto& p = *static_cast<const AttentionParams*>(call.params);
  const AttentionPlan plan = plan_attention(p, call.operands[0].dims[0], call.operands[1].dims[0],
                                            call.operands[0].dims[1], call.operands[2].dims[1]);
  auto* scratch = reinterpret_cast<float*>(call.scratch + worker * call.scratch_stride);
  for (int64_t i = begin; i < end; ++i) {
    Item it = make_item(call, plan, i, scratch);
    switch (call.operands[1].dtype) {
      case DType::F16: run_with_keys<HalfRows<false>>(call, it); break;
      case DType::BF16: run_with_keys<HalfRows<true>>(call, it); break;
      case DType::Q8_0: run_with_keys<Q8Rows>(call, it); break;
      default: run_with_keys<F32Rows>(call, it); break;
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear.h"
#include "backends/cpu/kernels/linear/linear_transpose.h"
#include "quant/dequantize.h"

// Products with f32 activations. Dense weights are converted on the way, packed ones expanded to
// floats in scratch first.
namespace rlx::cpu::RLX_ISA {
namespace {

struct F32Weights {
  static constexpr int bytes = 4;
  RLX_INLINE static VecF get(const uint8_t* p) { return load(reinterpret_cast<const float*>(p)); }
  RLX_INLINE static VecF get_part(const uint8_t* p, int64_t n) {
    VecF v{};
    __builtin_memcpy(&v, p, static_cast<size_t>(4 * n));
    return v;
  }
};
template <VecF convert(VecU16)>
struct Weights16 {
  static constexpr int bytes = 2;
  RLX_INLINE static VecF get(const uint8_t* p) { return convert(load_u16(p)); }
  RLX_INLINE static VecF get_part(const uint8_t* p, int64_t n) {
    VecU16 v{};
    __builtin_memcpy(&v, p, static_cast<size_t>(2 * n));
    return convert(v);
  }
};
using F16Weights = Weights16<f16_to_f32>;
using BF16Weights = Weights16<bf16_to_f32>;

void expand_packed(const LinearJob& job, const uint8_t* row, int64_t k0, int64_t n, float* out) {
  dequantize(
      job.type.weight,
      reinterpret_cast<const std::byte*>(row + k0 / job.type.block_elements * job.type.block_bytes),
      out, static_cast<size_t>(n));
}

// Few activation rows: every weight row is read once.

template <typename Weights, int cols, int rows>
RLX_INLINE void stream_block(const LinearJob& job, const uint8_t* w, int64_t row_bytes,
                             const float* const* x, float* const* y, int64_t n) {
  VecF sums[rows][cols] = {};
  const int64_t whole = job.k / lanes * lanes;
  // Addresses behind the weights may come up; a prefetch of those does nothing.
  const int64_t ahead = rows * row_bytes > 4096 ? rows * row_bytes : 4096;
  for (int64_t k = 0; k < whole; k += lanes) {
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      __builtin_prefetch(w + r * row_bytes + k * Weights::bytes + ahead, 0, 3);
      const VecF v = Weights::get(w + r * row_bytes + k * Weights::bytes);
#pragma GCC unroll 4
      for (int c = 0; c < cols; ++c) sums[r][c] = fma(v, load(x[c] + k), sums[r][c]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      VecF sum = sums[r][c];
      if (whole != job.k) {
        const VecF v = Weights::get_part(w + r * row_bytes + whole * Weights::bytes, job.k - whole);
        sum = fma(v, load_part(x[c] + whole, job.k - whole), sum);
      }
      const float total = reduce_add(sum);
      y[c][n + r] = job.bias != nullptr ? total + job.bias[n + r] : total;
    }
  }
}

template <typename Weights, int cols>
void stream_rows(const LinearJob& job, int64_t n0, int64_t n1, float* expanded) {
  const float* x[cols];
  float* y[cols];
  for (int c = 0; c < cols; ++c) {
    x[c] = reinterpret_cast<const float*>(job.x_row(c));
    y[c] = job.y_row(c);
  }
  const bool packed = job.type.block_elements > 1;
  const int64_t row_bytes = packed ? job.k * 4 : job.row_bytes;
  constexpr int together = cols == 1 ? 4 : 2;
  for (int64_t n = n0; n < n1;) {
    const int64_t rows = n + together <= n1 ? together : 1;
    const uint8_t* w = job.w + n * job.row_bytes;
    if (packed) {
      expand_packed(job, w, 0, rows * job.k, expanded);
      w = reinterpret_cast<const uint8_t*>(expanded);
    }
    if (rows == together) {
      stream_block<Weights, cols, together>(job, w, row_bytes, x, y, n);
    } else {
      stream_block<Weights, cols, 1>(job, w, row_bytes, x, y, n);
    }
    n += rows;
  }
}

// Many activation rows: panels of weight rows as [k][panel_rows] floats.

constexpr int panel_rows = 2 * lanes;
#if defined(__AVX512F__)
constexpr int x_rows = 8;
#elif defined(__AVX__)
constexpr int x_rows = 6;
#else
constexpr int x_rows = 4;
#endif
static_assert(linear_tile % panel_rows == 0);

/// Elements k0 … k0 + n - 1 of a weight row as floats, zeros up to a multiple of `lanes`.
template <typename Weights>
void expand_row(const LinearJob& job, int64_t row, int64_t k0, int64_t n, float* out) {
  const uint8_t* w = job.w + row * job.row_bytes;
  if (job.type.block_elements > 1) {
    expand_packed(job, w, k0, n, out);
    for (int64_t i = n; i % lanes != 0; ++i) out[i] = 0.0f;
    return;
  }
  const uint8_t* from = w + k0 * Weights::bytes;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(out + i, Weights::get(from + i * Weights::bytes));
  if (i < n) store(out + i, Weights::get_part(from + i * Weights::bytes, n - i));
}

/// `lanes` rows of floats that lie linear_panel_f32 apart into half of a panel's columns.
RLX_INLINE void pack_columns(const float* rows, int64_t n, float* out) {
  for (int64_t k = 0; k < n; k += lanes) {
#if defined(__AVX512F__)
    VecI v[16];
#pragma GCC unroll 16
    for (int r = 0; r < 16; ++r) v[r] = load_lanes(rows + r * linear_panel_f32 + k);
    transpose(v);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) store_lanes(out + (k + i) * panel_rows, v[i]);
#else
    for (int i = 0; i < lanes; ++i) {
      VecF v{};
      for (int r = 0; r < lanes; ++r) v[r] = rows[r * linear_panel_f32 + k + i];
      store(out + (k + i) * panel_rows, v);
    }
#endif
  }
}

template <typename Weights>
void fill_panel(const LinearJob& job, int64_t n0, int64_t n1, int64_t k0, int64_t n, float* rows,
                float* panel) {
  for (int half = 0; half < 2; ++half) {
    for (int r = 0; r < lanes; ++r) {
      const int64_t row = n0 + half * lanes + r;
      float* out = rows + r * linear_panel_f32;
      if (row < n1) {
        expand_row<Weights>(job, row, k0, n, out);
      } else {
        __builtin_memset(out, 0, static_cast<size_t>(round_up(n, lanes) * 4));
      }
    }
    pack_columns(rows, n, panel + half * lanes);
  }
}

struct PanelCall {
  const LinearJob* job;
  const float* panel;
  int64_t n0, columns;  ///< result columns n0 …, at most panel_rows
  int64_t k0, k1;
};

template <int rows>
void multiply_rows(const PanelCall& call, int64_t i) {
  const LinearJob& job = *call.job;
  const int64_t n_low = call.columns < lanes ? call.columns : lanes;
  const int64_t n_high = call.columns - n_low;
  const float* x[rows];
  float* y[rows];
  VecF sums[rows][2] = {};
  for (int m = 0; m < rows; ++m) {
    x[m] = reinterpret_cast<const float*>(job.x_row(i + m)) + call.k0;
    y[m] = job.y_row(i + m) + call.n0;
    if (call.k0 == 0) continue;
    sums[m][0] = load_part(y[m], n_low);
    sums[m][1] = load_part(y[m] + n_low, n_high);
  }
  const float* panel = call.panel;
  for (int64_t k = 0; k < call.k1 - call.k0; ++k, panel += panel_rows) {
    const VecF w0 = load(panel), w1 = load(panel + lanes);
#pragma GCC unroll 8
    for (int m = 0; m < rows; ++m) {
      const VecF v = splat(x[m][k]);
      sums[m][0] = fma(w0, v, sums[m][0]);
      sums[m][1] = fma(w1, v, sums[m][1]);
    }
  }
  const bool last = call.k1 == job.k && job.bias != nullptr;
  const VecF b0 = last ? load_part(job.bias + call.n0, n_low) : VecF{};
  const VecF b1 = last ? load_part(job.bias + call.n0 + n_low, n_high) : VecF{};
  for (int m = 0; m < rows; ++m) {
    store_part(y[m], last ? sums[m][0] + b0 : sums[m][0], n_low);
    store_part(y[m] + n_low, last ? sums[m][1] + b1 : sums[m][1], n_high);
  }
}

void multiply_panel(const PanelCall& call) {
  const int64_t count = call.job->count;
  int64_t i = 0;
  for (; i + x_rows <= count; i += x_rows) multiply_rows<x_rows>(call, i);
  for (; i + 4 <= count; i += 4) multiply_rows<4>(call, i);
  for (; i < count; ++i) multiply_rows<1>(call, i);
}

template <typename Weights>
void multiply_tiles(const LinearJob& job, int64_t n0, int64_t n1, float* scratch) {
  float* panel = scratch + lanes * linear_panel_f32;
  for (int64_t n = n0; n < n1; n += panel_rows) {
    for (int64_t k0 = 0; k0 < job.k; k0 += linear_panel_f32) {
      const int64_t k1 = job.k - k0 < linear_panel_f32 ? job.k : k0 + linear_panel_f32;
      fill_panel<Weights>(job, n, n1, k0, k1 - k0, scratch, panel);
      multiply_panel({&job, panel, n, n1 - n < panel_rows ? n1 - n : panel_rows, k0, k1});
    }
  }
}

template <typename Weights>
void product(const LinearJob& job, int64_t n0, int64_t n1, float* scratch) {
  switch (job.count) {
    case 0: break;
    case 1: stream_rows<Weights, 1>(job, n0, n1, scratch); break;
    case 2: stream_rows<Weights, 2>(job, n0, n1, scratch); break;
    case 3: stream_rows<Weights, 3>(job, n0, n1, scratch); break;
    case 4: stream_rows<Weights, 4>(job, n0, n1, scratch); break;
    default: multiply_tiles<Weights>(job, n0, n1, scratch);
  }
}

}  // namespace

void linear_f32(const LinearJob& job, int64_t n0, int64_t n1, uint8_t* scratch) noexcept {
  float* floats = reinterpret_cast<float*>(scratch);
  switch (job.type.weight) {
    case DType::F16: product<F16Weights>(job, n0, n1, floats); break;
    case DType::BF16: product<BF16Weights>(job, n0, n1, floats); break;
    default: product<F32Weights>(job, n0, n1, floats);
  }
}

int64_t linear_f32_scratch(int64_t, int64_t k) noexcept {
  constexpr int64_t panel_bytes = (lanes + panel_rows) * linear_panel_f32 * 4;
  const int64_t streamed = linear_stream_rows * k * 4;
  return panel_bytes > streamed ? panel_bytes : streamed;
}

}  // namespace rlx::cpu::RLX_ISA

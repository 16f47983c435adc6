// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear_q15.h"
#include "backends/cpu/kernels/linear_transpose.h"

#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {
namespace {

/// A panel of 32 weight rows: 16-bit codes less their offset in pairs [k / 2][32][2], and scales
/// and mins as [group][32].
struct Panel {
  int16_t* pairs;
  float* scales;
  float* mins;
};

/// Block b (32 elements) of 16 staged rows into the panel's column half.
RLX_INLINE void pack_codes(const StagedStep* staged, int block, int32_t offset, int16_t* out) {
  VecI v[16];
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) {
    const __m256i codes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(staged[r].codes + 32 * block));
    const Codes16 wide = reinterpret_cast<Codes16>(_mm512_maskz_cvtepu8_epi16(~0u, codes));
    v[r] = reinterpret_cast<VecI>(wide - static_cast<uint16_t>(offset));
  }
  transpose(v);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) store_lanes(out + i * linear_tile * 2, v[i]);
}

/// The first `groups` of 16 staged rows' scales or mins (floats as lanes of any kind).
void pack_floats(const float* first_row, int groups, float* out) {
  VecI v[16];
  for (int r = 0; r < 16; ++r) v[r] = load_lanes(first_row + r * (sizeof(StagedStep) / 4));
  transpose(v);
  for (int g = 0; g < groups; ++g) store_lanes(out + g * linear_tile, v[g]);
}

void fill_panel(const TileCall& call, int64_t k0, int64_t k1, StagedStep* staged,
                const Panel& panel) {
  const LinearJob& job = *call.job;
  const int groups_per_step = 256 / call.type->group;
  for (int64_t k = k0; k < k1; k += 256) {
    const int elements = job.k - k < 256 ? static_cast<int>(job.k - k) : 256;
    const int64_t step = (k - k0) / 256;
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < 16; ++r) {
        const int64_t row = call.n0 + 16 * half + r;
        if (row < call.n1) {
          call.type->unpack(job.type, job.w + row * job.row_bytes, k / 256, elements, staged[r]);
        } else {
          __builtin_memset(&staged[r], 0, sizeof(StagedStep));
        }
      }
      for (int b = 0; b < elements / 32; ++b) {
        pack_codes(staged, b, job.type.offset,
                   panel.pairs + ((step * 128 + b * 16) * linear_tile + 16 * half) * 2);
      }
      const int64_t at = step * groups_per_step * linear_tile + 16 * half;
      pack_floats(staged->scale, groups_per_step, panel.scales + at);
      if (call.type->has_min) pack_floats(staged->min, groups_per_step, panel.mins + at);
    }
  }
}

RLX_INLINE VecI dot_pairs(VecI sum, VecI w, VecI x) {
  return reinterpret_cast<VecI>(_mm512_dpwssd_epi32(
      reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(w), reinterpret_cast<__m512i>(x)));
}
RLX_INLINE VecI splat_pair(const int16_t* p) {
  int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return splat_i(pair);
}

/// Adds the products of `blocks` blocks of 32 to sums, for `rows` activation rows that lie
/// x_stride blocks apart.
template <int rows, int group, bool has_min>
RLX_INLINE void multiply(const Panel& panel, const TileX* x, int64_t x_stride, int64_t blocks,
                         VecF (&sums)[rows][2]) {
  constexpr int halves = 32 / group;
  for (int64_t b = 0; b < blocks; ++b) {
#pragma GCC unroll 2
    for (int h = 0; h < halves; ++h) {
      VecI acc[rows][2] = {};
      const int16_t* pairs = panel.pairs + (b * 32 + h * group) * linear_tile;
#pragma GCC unroll 16
      for (int i = 0; i < group / 2; ++i) {
        const VecI w0 = load_lanes(pairs + i * linear_tile * 2);
        const VecI w1 = load_lanes(pairs + i * linear_tile * 2 + 32);
#pragma GCC unroll 8
        for (int m = 0; m < rows; ++m) {
          const VecI pair = splat_pair(x[m * x_stride + b].q + h * group + 2 * i);
          acc[m][0] = dot_pairs(acc[m][0], w0, pair);
          acc[m][1] = dot_pairs(acc[m][1], w1, pair);
        }
      }
      const int64_t at = (b * halves + h) * linear_tile;
      const VecF s0 = load(panel.scales + at), s1 = load(panel.scales + at + 16);
#pragma GCC unroll 8
      for (int m = 0; m < rows; ++m) {
        const VecF scale = splat(x[m * x_stride + b].scale);
        sums[m][0] = fma(s0 * scale, to_f32(acc[m][0]), sums[m][0]);
        sums[m][1] = fma(s1 * scale, to_f32(acc[m][1]), sums[m][1]);
      }
      if constexpr (has_min) {
        const VecF m0 = load(panel.mins + at), m1 = load(panel.mins + at + 16);
#pragma GCC unroll 8
        for (int m = 0; m < rows; ++m) {
          const VecF sum = splat(x[m * x_stride + b].sums[h]);
          sums[m][0] = fma(m0, sum, sums[m][0]);
          sums[m][1] = fma(m1, sum, sums[m][1]);
        }
      }
    }
  }
}

/// A panel times `rows` prepared rows from row i on, into (first panel) or onto the results.
template <int rows, int group, bool has_min>
void multiply_rows(const TileCall& call, const Panel& panel, int64_t i, int64_t k0, int64_t k1) {
  const LinearJob& job = *call.job;
  const int64_t stride = job.k / 32;
  const int64_t n = call.n1 - call.n0;
  const int64_t n_low = n < 16 ? n : 16, n_high = n - n_low;
  float* y[rows];
  VecF sums[rows][2] = {};
  for (int m = 0; m < rows; ++m) {
    y[m] = job.y_row(call.first_row + i + m) + call.n0;
    if (k0 == 0) continue;
    sums[m][0] = load_part(y[m], n_low);
    sums[m][1] = load_part(y[m] + n_low, n_high);
  }
  multiply<rows, group, has_min>(panel, call.x + i * stride + k0 / 32, stride, (k1 - k0) / 32,
                                 sums);
  if (k1 == job.k && job.bias != nullptr) {
    const VecF b0 = load_part(job.bias + call.n0, n_low);
    const VecF b1 = load_part(job.bias + call.n0 + n_low, n_high);
    for (int m = 0; m < rows; ++m) {
      sums[m][0] = sums[m][0] + b0;
      sums[m][1] = sums[m][1] + b1;
    }
  }
  for (int m = 0; m < rows; ++m) {
    store_part(y[m], sums[m][0], n_low);
    store_part(y[m] + n_low, sums[m][1], n_high);
  }
}

template <int group, bool has_min>
void multiply_panel(const TileCall& call, const Panel& panel, int64_t k0, int64_t k1) {
  int64_t i = 0;
  for (; i + 6 <= call.count; i += 6) multiply_rows<6, group, has_min>(call, panel, i, k0, k1);
  switch (call.count - i) {
    case 1: multiply_rows<1, group, has_min>(call, panel, i, k0, k1); break;
    case 2: multiply_rows<2, group, has_min>(call, panel, i, k0, k1); break;
    case 3: multiply_rows<3, group, has_min>(call, panel, i, k0, k1); break;
    case 4: multiply_rows<4, group, has_min>(call, panel, i, k0, k1); break;
    case 5: multiply_rows<5, group, has_min>(call, panel, i, k0, k1); break;
    default: break;
  }
}

}  // namespace

void run_tile(const TileCall& call) {
  StagedStep* staged = reinterpret_cast<StagedStep*>(call.scratch);
  float* floats = reinterpret_cast<float*>(staged + 16);
  constexpr int64_t panel_floats = linear_panel_q15 / 16 * linear_tile;
  const Panel panel{reinterpret_cast<int16_t*>(floats + 2 * panel_floats), floats,
                    floats + panel_floats};
  const int64_t k = call.job->k;
  for (int64_t k0 = 0; k0 < k; k0 += linear_panel_q15) {
    const int64_t k1 = k - k0 < linear_panel_q15 ? k : k0 + linear_panel_q15;
    fill_panel(call, k0, k1, staged, panel);
    if (call.type->group == 16) {
      if (call.type->has_min) {
        multiply_panel<16, true>(call, panel, k0, k1);
      } else {
        multiply_panel<16, false>(call, panel, k0, k1);
      }
    } else if (call.type->has_min) {
      multiply_panel<32, true>(call, panel, k0, k1);
    } else {
      multiply_panel<32, false>(call, panel, k0, k1);
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

#endif

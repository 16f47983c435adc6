// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear_q15.h"
#include "backends/cpu/kernels/linear/linear_transpose.h"

#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {
namespace {

/// A tile's part of the elements of one panel: codes less their offset in pairs [k / 2][32][2], and
/// by group of 16 or 32 elements [group][32] the scales and mins.
struct Tile {
  alignas(64) int16_t pairs[linear_panel_q15 * linear_tile];
  float scales[linear_panel_q15 / 16 * linear_tile];
  float mins[linear_panel_q15 / 16 * linear_tile];
};

/// 32 activations as 16-bit integers; `sums` is their sum times `scale` by group of the weights.
struct alignas(16) WideX {
  int16_t q[32];
  float scale;
  float sums[2];
};

/// Tiles that are unpacked at a time, to share the work on activations.
constexpr int tiles_at_once = 4;
/// Activation rows that go through a tile together.
constexpr int rows_at_once = 6;
constexpr int panel_blocks = linear_panel_q15 / 32;

struct Scratch {
  Tile tiles[tiles_at_once];
  StagedStep staged[16];
  WideX x[rows_at_once][panel_blocks];
};

/// A panel of elements k0 … k1 - 1 of weight rows n0 … n1 - 1.
struct Part {
  const LinearJob* job;
  const VnniType* type;
  int64_t n0, n1;
  int64_t k0, k1;
};

/// Block b (32 elements) of 16 staged rows into the tile's columns of one half.
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

/// The first `groups` of 16 staged rows' scales or mins into the tile's columns of one half.
void pack_groups(const float* first_row, int groups, float* out) {
  VecI v[16];
  for (int r = 0; r < 16; ++r) v[r] = load_lanes(first_row + r * (sizeof(StagedStep) / 4));
  transpose(v);
  for (int g = 0; g < groups; ++g) store_lanes(out + g * linear_tile, v[g]);
}

void fill_tile(const Part& part, int64_t n0, StagedStep* staged, Tile& tile) {
  const LinearJob& job = *part.job;
  const int groups = 256 / part.type->group;
  for (int64_t k = part.k0; k < part.k1; k += 256) {
    const int elements = job.k - k < 256 ? static_cast<int>(job.k - k) : 256;
    const int64_t step = (k - part.k0) / 256;
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < 16; ++r) {
        const int64_t row = n0 + 16 * half + r;
        if (row < part.n1) {
          part.type->unpack(job.type, job.w + row * job.row_bytes, k / 256, elements, staged[r]);
        } else {
          __builtin_memset(&staged[r], 0, sizeof(StagedStep));
        }
      }
      for (int b = 0; b < elements / 32; ++b) {
        pack_codes(staged, b, job.type.offset,
                   tile.pairs + ((step * 128 + b * 16) * linear_tile + 16 * half) * 2);
      }
      const int64_t at = step * groups * linear_tile + 16 * half;
      pack_groups(staged->scale, groups, tile.scales + at);
      if (part.type->has_min) pack_groups(staged->min, groups, tile.mins + at);
    }
  }
}

/// Activation rows i … i + rows - 1 as 16-bit integers.
void widen_rows(const Part& part, int64_t i, int rows, Scratch& s) {
  const bool halves = part.type->has_min && part.type->group == 16;
  for (int m = 0; m < rows; ++m) {
    const Q15Block* x = q15_row(*part.job, i + m) + part.k0 / 32;
    for (int64_t b = 0; b < (part.k1 - part.k0) / 32; ++b) {
      const auto widen = [](const int8_t* p) {
        return reinterpret_cast<Codes16>(_mm512_maskz_cvtepi8_epi16(
            ~0u, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
      };
      const Codes16 q = (widen(x[b].hi) << 7) + widen(x[b].lo);
      WideX& out = s.x[m][b];
      __builtin_memcpy(out.q, &q, sizeof q);
      out.scale = x[b].scale;
      if (!part.type->has_min) continue;
      const HalfSums sums = halves ? sum_halves(x[b]) : HalfSums{{x[b].sum, 0}};
      out.sums[0] = x[b].scale * static_cast<float>(sums.of[0]);
      out.sums[1] = x[b].scale * static_cast<float>(sums.of[1]);
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

/// Adds a tile's products with `blocks` blocks of 32 of `rows` activation rows. Meanwhile the same
/// blocks of the rows in `next` travel to the second-level cache.
template <int rows, int group, bool has_min>
RLX_INLINE void multiply(const Tile& tile, const WideX (*x)[panel_blocks],
                         const Q15Block* const (&next)[rows], int64_t blocks,
                         VecF (&sums)[rows][2]) {
  constexpr int halves = 32 / group;
  for (int64_t b = 0; b < blocks; ++b) {
    for (int m = 0; m < rows; ++m) __builtin_prefetch(next[m] + b, 0, 2);
#pragma GCC unroll 2
    for (int h = 0; h < halves; ++h) {
      VecI acc[rows][2] = {};
      const int16_t* pairs = tile.pairs + (b * 32 + h * group) * linear_tile;
#pragma GCC unroll 16
      for (int i = 0; i < group / 2; ++i) {
        const VecI w0 = load_lanes(pairs + i * linear_tile * 2);
        const VecI w1 = load_lanes(pairs + i * linear_tile * 2 + 32);
#pragma GCC unroll 8
        for (int m = 0; m < rows; ++m) {
          const VecI pair = splat_pair(x[m][b].q + h * group + 2 * i);
          acc[m][0] = dot_pairs(acc[m][0], w0, pair);
          acc[m][1] = dot_pairs(acc[m][1], w1, pair);
        }
      }
      const int64_t at = (b * halves + h) * linear_tile;
      const VecF scale0 = load(tile.scales + at), scale1 = load(tile.scales + at + 16);
#pragma GCC unroll 8
      for (int m = 0; m < rows; ++m) {
        const VecF scale = splat(x[m][b].scale);
        sums[m][0] = fma(scale0 * scale, to_f32(acc[m][0]), sums[m][0]);
        sums[m][1] = fma(scale1 * scale, to_f32(acc[m][1]), sums[m][1]);
      }
      if constexpr (has_min) {
        const VecF min0 = load(tile.mins + at), min1 = load(tile.mins + at + 16);
#pragma GCC unroll 8
        for (int m = 0; m < rows; ++m) {
          const VecF sum = splat(x[m][b].sums[h]);
          sums[m][0] = fma(min0, sum, sums[m][0]);
          sums[m][1] = fma(min1, sum, sums[m][1]);
        }
      }
    }
  }
}

/// A tile times activation rows i … i + rows - 1, into (first panel) or onto the results.
template <int rows, int group, bool has_min>
void multiply_rows(const Part& part, int64_t n0, const Tile& tile, int64_t i, const Scratch& s) {
  const LinearJob& job = *part.job;
  const int64_t n = part.n1 - n0 < linear_tile ? part.n1 - n0 : linear_tile;
  const int64_t n_low = n < 16 ? n : 16, n_high = n - n_low;
  float* y[rows];
  const Q15Block* next[rows];
  VecF sums[rows][2] = {};
  for (int m = 0; m < rows; ++m) {
    y[m] = job.y_row(i + m) + n0;
    const int64_t later = i + m + rows_at_once;
    next[m] = q15_row(job, later < job.count ? later : i + m) + part.k0 / 32;
    if (part.k0 == 0) continue;
    sums[m][0] = load_part(y[m], n_low);
    sums[m][1] = load_part(y[m] + n_low, n_high);
  }
  multiply<rows, group, has_min>(tile, s.x, next, (part.k1 - part.k0) / 32, sums);
  if (part.k1 == job.k && job.bias != nullptr) {
    const VecF b0 = load_part(job.bias + n0, n_low);
    const VecF b1 = load_part(job.bias + n0 + n_low, n_high);
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
void multiply_tiles(const Part& part, int64_t i, int rows, const Scratch& s) {
  using Multiply = void (*)(const Part&, int64_t, const Tile&, int64_t, const Scratch&);
  constexpr Multiply by_rows[rows_at_once] = {
      multiply_rows<1, group, has_min>, multiply_rows<2, group, has_min>,
      multiply_rows<3, group, has_min>, multiply_rows<4, group, has_min>,
      multiply_rows<5, group, has_min>, multiply_rows<6, group, has_min>};
  for (int t = 0; t * linear_tile < part.n1 - part.n0; ++t) {
    by_rows[rows - 1](part, part.n0 + t * linear_tile, s.tiles[t], i, s);
  }
}

void run_part(const Part& part, Scratch& s) {
  for (int t = 0; t * linear_tile < part.n1 - part.n0; ++t) {
    fill_tile(part, part.n0 + t * linear_tile, s.staged, s.tiles[t]);
  }
  const auto multiply =
      part.type->group == 16
          ? (part.type->has_min ? multiply_tiles<16, true> : multiply_tiles<16, false>)
          : (part.type->has_min ? multiply_tiles<32, true> : multiply_tiles<32, false>);
  for (int64_t i = 0; i < part.job->count; i += rows_at_once) {
    const int64_t left = part.job->count - i;
    const int rows = left < rows_at_once ? static_cast<int>(left) : rows_at_once;
    widen_rows(part, i, rows, s);
    multiply(part, i, rows, s);
  }
}

}  // namespace

const int64_t tile_scratch_bytes = sizeof(Scratch);

void run_tiles(const LinearJob& job, const VnniType& type, int64_t n0, int64_t n1,
               uint8_t* scratch) {
  Scratch& s = *reinterpret_cast<Scratch*>(scratch);
  constexpr int64_t most = tiles_at_once * linear_tile;
  for (int64_t n = n0; n < n1; n += most) {
    for (int64_t k0 = 0; k0 < job.k; k0 += linear_panel_q15) {
      const int64_t k1 = job.k - k0 < linear_panel_q15 ? job.k : k0 + linear_panel_q15;
      run_part({&job, &type, n, n1 - n < most ? n1 : n + most, k0, k1}, s);
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

#endif

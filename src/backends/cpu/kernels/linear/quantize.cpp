// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear.h"
#include "backends/cpu/kernels/vec.h"
#include "quant/q15.h"

namespace rlx::cpu::RLX_ISA {
namespace {

constexpr int parts = 32 / lanes;

/// v with neighbouring runs of `width` lanes exchanged.
template <int width>
RLX_INLINE VecI swap_runs(VecI v) {
  VecI from{};
  for (int i = 0; i < lanes; ++i) from[i] = i ^ width;
  return __builtin_shuffle(v, from);
}
RLX_INLINE VecI larger(VecI a, VecI b) { return a > b ? a : b; }
RLX_INLINE int32_t largest_lane(VecI v) {
  if constexpr (lanes > 8) v = larger(v, swap_runs<8 % lanes>(v));
  if constexpr (lanes > 4) v = larger(v, swap_runs<4 % lanes>(v));
  v = larger(v, swap_runs<2>(v));
  return larger(v, swap_runs<1>(v))[0];
}
RLX_INLINE int32_t lane_sum(VecI v) {
  if constexpr (lanes > 8) v = v + swap_runs<8 % lanes>(v);
  if constexpr (lanes > 4) v = v + swap_runs<4 % lanes>(v);
  v = v + swap_runs<2>(v);
  return (v + swap_runs<1>(v))[0];
}

/// The same numbers as quantize_q15 of quant/q15.h, bit for bit.
RLX_INLINE void quantize_block(const float* x, Q15Block& out) {
  VecF v[parts];
  VecI largest{};
  for (int i = 0; i < parts; ++i) {
    v[i] = load(x + i * lanes);
    // Magnitudes order as their bits do, NaN above infinity.
    largest = larger(largest, bits_of(v[i]) & 0x7fffffff);
  }
  const int32_t bits = largest_lane(largest);
  if (bits == 0 || bits >= 0x7f800000) {
    __builtin_memset(&out, 0, sizeof out);
    if (bits != 0) out.scale = __builtin_nanf("");
    return;
  }
  float amax;
  __builtin_memcpy(&amax, &bits, sizeof amax);
  const float share = amax / static_cast<float>(q15_max);
  out.scale = share < q15_min_scale ? q15_min_scale : share;
  VecI sum{};
  for (int i = 0; i < parts; ++i) {
    // Adding 1.5 * 2^23 leaves the quotient, rounded half to even, in the low mantissa bits.
    const VecF magic = splat(0x1.8p23f);
    const VecI q = bits_of(v[i] / splat(out.scale) + magic) - bits_of(magic);
    const VecI hi = (q + 64) >> 7;
    const VecI8 hi8 = __builtin_convertvector(hi, VecI8);
    const VecI8 lo8 = __builtin_convertvector(q - hi * 128, VecI8);
    __builtin_memcpy(out.hi + i * lanes, &hi8, sizeof hi8);
    __builtin_memcpy(out.lo + i * lanes, &lo8, sizeof lo8);
    sum = sum + q;
  }
  out.sum = lane_sum(sum);
}

}  // namespace

void run_quantize_q15(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const TensorView& x = call.operands[0];
  int64_t blocks = 1;
  for (int i = 0; i < x.rank; ++i) blocks *= x.dims[i];
  blocks /= static_cast<int64_t>(q15_block_elements);
  const float* from = reinterpret_cast<const float*>(x.data);
  Q15Block* to = reinterpret_cast<Q15Block*>(call.results[0].data);
  const int64_t last = end * quantize_item_blocks;
  for (int64_t b = begin * quantize_item_blocks; b < (last < blocks ? last : blocks); ++b) {
    quantize_block(from + b * static_cast<int64_t>(q15_block_elements), to[b]);
  }
}

}  // namespace rlx::cpu::RLX_ISA

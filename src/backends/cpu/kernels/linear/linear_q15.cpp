// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear_q15.h"

#include "backends/cpu/kernels/linear/linear.h"

#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {
namespace {

RLX_INLINE Codes load_32_or_zero(const int8_t* p, bool present) {
  const __mmask64 mask = present ? 0xffffffffu : 0;
  return as_codes(_mm512_maskz_loadu_epi8(mask, p));
}
RLX_INLINE Codes join_halves(Codes low, Codes high) {
  return reinterpret_cast<Codes>(__builtin_shufflevector(
      reinterpret_cast<Words64>(low), reinterpret_cast<Words64>(high), 0, 1, 2, 3, 8, 9, 10, 11));
}

void prepare_quarters(float factor, const Q15Block* x, int64_t blocks, QuarterX* out) {
  const Codes ones = Codes{} + 1;
  for (int64_t b = 0; b < blocks; b += 4, ++out) {
    const int n = blocks - b < 4 ? static_cast<int>(blocks - b) : 4;
    const auto gather = [&](const int8_t* p) {
      return load_quarters(reinterpret_cast<const uint8_t*>(p), sizeof(Q15Block), n);
    };
    out->hi[0] = gather(x[b].hi);
    out->hi[1] = gather(x[b].hi + 16);
    out->lo[0] = gather(x[b].lo);
    out->lo[1] = gather(x[b].lo + 16);
    VecI sum = dot_bytes(dot_bytes(VecI{}, ones, out->hi[0]), ones, out->hi[1]) << 7;
    sum = dot_bytes(dot_bytes(sum, ones, out->lo[0]), ones, out->lo[1]);
    VecF scale{};
    for (int i = 0; i < n; ++i) {
      scale = select(quarter_shifts(1) == i, splat(x[b + i].scale), scale);
    }
    out->scale = scale;
    out->aux = to_f32(sum) * out->scale * factor;
  }
}

void prepare_halves(const VnniType& type, float factor, const Q15Block* x, int64_t blocks,
                    HalfX* out) {
  for (int64_t b = 0; b < blocks; b += 8, ++out) {
    const int n = blocks - b < 8 ? static_cast<int>(blocks - b) : 8;
    float aux[16] = {}, scale[16] = {};
    for (int i = 0; i < n; ++i) {
      const Q15Block& block = x[b + i];
      const float unit = block.scale * factor;
      if (type.group == 32) {
        scale[i] = block.scale;
        (type.min_lane == 8 ? scale + 8 : aux)[i] = unit * static_cast<float>(block.sum);
      } else {
        const HalfSums sums = sum_halves(block);
        scale[2 * i] = scale[2 * i + 1] = block.scale;
        aux[2 * i] = unit * static_cast<float>(sums.of[0]);
        aux[2 * i + 1] = unit * static_cast<float>(sums.of[1]);
      }
    }
    out->scale = load(scale);
    out->aux = load(aux);
    for (int j = 0; j < 4; ++j) {
      const int first = type.order.run[j][0], second = type.order.run[j][1];
      out->hi[j] = join_halves(load_32_or_zero(x[b + first].hi, first < n),
                               load_32_or_zero(x[b + second].hi, second < n));
      out->lo[j] = join_halves(load_32_or_zero(x[b + first].lo, first < n),
                               load_32_or_zero(x[b + second].lo, second < n));
    }
  }
}

void stream(const LinearJob& job, const VnniType& type, int64_t n0, int64_t n1, uint8_t* scratch) {
  const int64_t steps = round_up(job.k, 256) / 256;
  StreamCall call{};
  call.type = &job.type;
  call.w = job.w + n0 * job.row_bytes;
  call.row_bytes = job.row_bytes;
  call.rows = n1 - n0;
  call.k = job.k;
  call.bias = job.bias != nullptr ? job.bias + n0 : nullptr;
  call.x = scratch;
  call.x_stride = steps * prepared_bytes_256;
  call.staging = reinterpret_cast<StagedStep*>(scratch + linear_stream_rows * call.x_stride);
  // While the activations are prepared the first weights travel.
  const int64_t first_bytes = call.rows * call.row_bytes;
  for (int64_t i = 0; i < (first_bytes < 8192 ? first_bytes : 8192); i += 64) {
    __builtin_prefetch(call.w + i, 0, 3);
  }
  for (int64_t c = 0; c < job.count; ++c) {
    uint8_t* out = scratch + c * call.x_stride;
    const float factor = type.has_min ? type.min_sign : -static_cast<float>(job.type.offset);
    if (type.quarter) {
      prepare_quarters(factor, q15_row(job, c), job.k / 32, reinterpret_cast<QuarterX*>(out));
    } else {
      prepare_halves(type, factor, q15_row(job, c), job.k / 32, reinterpret_cast<HalfX*>(out));
    }
    call.y[c] = job.y_row(c) + n0;
  }
  type.stream[job.count - 1](call);
}

}  // namespace

void linear_q15(const LinearJob& job, int64_t n0, int64_t n1, uint8_t* scratch) noexcept {
  const VnniType& type = vnni_type(job.type);
  if (job.count <= linear_stream_rows) {
    if (job.count > 0) stream(job, type, n0, n1, scratch);
    return;
  }
  run_tiles(job, type, n0, n1, scratch);
}

int64_t linear_q15_scratch(int64_t rows, int64_t k) noexcept {
  const int64_t steps = round_up(k, 256) / 256;
  const int64_t streamed =
      steps * (linear_stream_rows * prepared_bytes_256 + static_cast<int64_t>(sizeof(StagedStep)));
  if (rows <= linear_stream_rows) return streamed;
  return streamed > tile_scratch_bytes ? streamed : tile_scratch_bytes;
}

}  // namespace rlx::cpu::RLX_ISA

#else

namespace rlx::cpu::RLX_ISA {

// Rows that need VNNI are only offered at levels that have it.
void linear_q15(const LinearJob&, int64_t, int64_t, uint8_t*) noexcept { __builtin_trap(); }
int64_t linear_q15_scratch(int64_t, int64_t) noexcept { return 0; }

}  // namespace rlx::cpu::RLX_ISA

#endif

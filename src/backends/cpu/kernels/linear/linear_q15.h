// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/linear/linear_job.h"
#include "backends/cpu/kernels/linear/linear_vnni.h"
#include "quant/q15.h"

// The parts of the Q15 linear kernel: prepared activations, streamed rows, unpacked tiles.
#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {

/// Up to 256 elements of a weight row in natural order, zeros behind the row's end.
struct StagedStep {
  alignas(64) uint8_t codes[256];
  float scale[16];  ///< by group, of 16 or 32 elements
  float min[16];    ///< zeros for types without
};

/// 128 activations in the order of a QuarterStep; `aux` is what a group's offset (times scale) or
/// min contributes per lane.
struct QuarterX {
  Codes hi[2], lo[2];
  VecF scale, aux;
};
/// 256 activations in the order of a HalfStep. `scale` is by group and may have in its upper half
/// what the mins there are multiplied with; otherwise `aux` is what offsets (times scale) or mins
/// contribute by group.
struct HalfX {
  Codes hi[4], lo[4];
  VecF scale, aux;
};

/// Streams `rows` weight rows against one to four prepared activation rows.
struct StreamCall {
  const LinearParams* type;
  const uint8_t* w;
  int64_t row_bytes;
  int64_t rows;
  int64_t k;
  const uint8_t* x;  ///< QuarterX or HalfX
  int64_t x_stride;  ///< bytes from one prepared row to the next
  float* y[linear_stream_rows];
  const float* bias;    ///< of the first row, or null
  StagedStep* staging;  ///< room for one row, for types without a vector form
};

/// How the kernels treat a weight type.
struct VnniType {
  bool quarter;  ///< prepared as QuarterX, otherwise as HalfX in this order:
  HalfOrder order;
  int group;
  bool has_min;
  int min_lane;
  float min_sign;  ///< of the mins as `load` gives them
  void (*unpack)(const LinearParams&, const uint8_t* row, int64_t step, int elements,
                 StagedStep& out) noexcept;
  void (*stream[linear_stream_rows])(const StreamCall&) noexcept;
};

/// The entry of a Packed type other than Q15.
const VnniType& vnni_type(const LinearParams& params);

/// Bytes of a prepared row per 256 elements.
inline constexpr int64_t prepared_bytes_256 = 2 * sizeof(QuarterX);
static_assert(sizeof(HalfX) <= prepared_bytes_256);

/// Sums of the first and last 16 integers of a block.
struct HalfSums {
  int32_t of[2];
};
RLX_INLINE HalfSums sum_halves(const Q15Block& block) {
  const __m512i weights = _mm512_inserti64x4(_mm512_set1_epi8(1), _mm256_set1_epi8(-128), 0);
  const VecI lanes_of_4 = dot_bytes(VecI{}, as_codes(weights), load64(block.hi));
  typedef int32_t Eight __attribute__((vector_size(32)));
  Eight s = __builtin_shufflevector(lanes_of_4, lanes_of_4, 0, 1, 2, 3, 4, 5, 6, 7) +
            __builtin_shufflevector(lanes_of_4, lanes_of_4, 8, 9, 10, 11, 12, 13, 14, 15);
  s = s + __builtin_shufflevector(s, s, 2, 3, 0, 1, 6, 7, 4, 5);
  s = s + __builtin_shufflevector(s, s, 1, 0, 3, 2, 5, 4, 7, 6);
  return {{s[0], s[4]}};
}

RLX_INLINE const Q15Block* q15_row(const LinearJob& job, int64_t i) {
  return reinterpret_cast<const Q15Block*>(job.x_row(i));
}

/// Weight rows n0 … n1 - 1 (any number) times all rows of the job, unpacked into tiles in scratch.
void run_tiles(const LinearJob& job, const VnniType& type, int64_t n0, int64_t n1,
               uint8_t* scratch);
/// Bytes of `scratch`.
extern const int64_t tile_scratch_bytes;

}  // namespace rlx::cpu::RLX_ISA

#endif

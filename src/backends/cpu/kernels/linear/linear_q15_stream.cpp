// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear_q15.h"
#include "backends/cpu/kernels/linear/linear_vnni_types.h"
#include "quant/codes.h"

#if defined(__AVX512VNNI__)

namespace rlx::cpu::RLX_ISA {
namespace {

/// A step that `stage_codes` has unpacked.
template <int group_, bool has_min_>
struct VnniStaged {
  static constexpr int step_bytes = 0;
  static constexpr int group = group_;
  static constexpr bool has_min = has_min_;
  static constexpr int min_lane = 0;
  static constexpr HalfOrder order = natural_order;
  RLX_INLINE static HalfStep load(const uint8_t* row, int64_t step) {
    const StagedStep& s = reinterpret_cast<const StagedStep*>(row)[step];
    HalfStep out{};
    for (int j = 0; j < 4; ++j) out.codes[j] = load64(s.codes + 64 * j);
    out.scale = cpu::RLX_ISA::load(s.scale);
    out.min = cpu::RLX_ISA::load(s.min);
    return out;
  }
};

void stage_codes(const LinearParams& params, const uint8_t* row, int64_t step, int elements,
                 StagedStep& out) noexcept {
  if (elements < 256) __builtin_memset(&out, 0, sizeof out);
  const int64_t bytes = linear_unpack_elements / params.block_elements * params.block_bytes;
  unpack_codes(params.weight, reinterpret_cast<const std::byte*>(row + step * bytes),
               static_cast<size_t>(elements), out.codes, out.scale, out.min);
  if (params.group == 32) {
    __builtin_memset(out.scale + 8, 0, sizeof out.scale / 2);
    __builtin_memset(out.min + 8, 0, sizeof out.min / 2);
  }
}

// Unpacking of the vector forms to natural order.

RLX_INLINE void store_half(uint8_t* p, Codes v, int half) {
  const auto words = reinterpret_cast<Words64>(v);
  const auto low = __builtin_shufflevector(words, words, 0, 1, 2, 3);
  const auto high = __builtin_shufflevector(words, words, 4, 5, 6, 7);
  __builtin_memcpy(p, half == 0 ? &low : &high, sizeof low);
}
RLX_INLINE void store_quarters(uint8_t* p, Codes v, int n) {
  alignas(64) uint8_t bytes[64];
  _mm512_store_si512(bytes, reinterpret_cast<__m512i>(v));
  for (int i = 0; i < n; ++i) __builtin_memcpy(p + 32 * i, bytes + 16 * i, 16);
}

template <typename Type>
RLX_INLINE void unpack_quarter_step(const uint8_t* row, int64_t step, int part, int n,
                                    StagedStep& out) {
  const QuarterStep s = Type::load(row, 2 * step + part, n);
  store_quarters(out.codes + 128 * part, s.low, n);
  store_quarters(out.codes + 128 * part + 16, s.high, n);
  for (int i = 0; i < n; ++i) {
    out.scale[4 * part + i] = s.scale[4 * i];
    out.min[4 * part + i] = s.min[4 * i];
  }
}

template <typename Type>
void unpack_quarters(const LinearParams&, const uint8_t* row, int64_t step, int elements,
                     StagedStep& out) noexcept {
  if (elements == 256) {
    unpack_quarter_step<Type>(row, step, 0, 4, out);
    unpack_quarter_step<Type>(row, step, 1, 4, out);
    return;
  }
  __builtin_memset(&out, 0, sizeof out);
  for (int part = 0; elements > 0; ++part, elements -= 128) {
    unpack_quarter_step<Type>(row, step, part, elements < 128 ? elements / 32 : 4, out);
  }
}

template <typename Type>
void unpack_halves(const LinearParams&, const uint8_t* row, int64_t step, int,
                   StagedStep& out) noexcept {
  const HalfStep s = Type::load(row, step);
  for (int j = 0; j < 4; ++j) {
    store_half(out.codes + 32 * Type::order.run[j][0], s.codes[j], 0);
    store_half(out.codes + 32 * Type::order.run[j][1], s.codes[j], 1);
  }
  store(out.scale, s.scale);
  if constexpr (Type::min_lane == 8) {
    store(out.min, -__builtin_shufflevector(s.scale, s.scale, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9,
                                            10, 11, 12, 13, 14, 15));
  } else {
    store(out.min, -s.min);
  }
}

/// Asks for a step's bytes that will be read some rows later. Addresses behind the weights may come
/// up; a prefetch of those does nothing.
template <int bytes>
RLX_INLINE void prefetch(const uint8_t* p) {
#pragma GCC unroll 4
  for (int i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 3);
}
/// How far ahead of a read to prefetch: a group of rows, but far enough for the memory's latency.
RLX_INLINE int64_t prefetch_distance(const StreamCall& call, int rows) {
  constexpr int64_t least = 4096;
  const int64_t group = rows * call.row_bytes;
  return group > least ? group : least;
}

// Streaming. Every weight row has its own accumulator and order of additions, however many rows
// are taken together.

template <typename Type>
RLX_INLINE VecF add_quarter_step(VecF sum, const QuarterStep& w, const QuarterX& x) {
  VecI acc{};
  acc = dot_bytes(acc, w.low, x.hi[0]);
  acc = dot_bytes(acc, w.high, x.hi[1]);
  acc = acc << 7;
  acc = dot_bytes(acc, w.low, x.lo[0]);
  acc = dot_bytes(acc, w.high, x.lo[1]);
  if constexpr (Type::has_min) {
    return fma(w.min, x.aux, fma(w.scale, to_f32(acc) * x.scale, sum));
  } else {
    return fma(w.scale, fma(to_f32(acc), x.scale, x.aux), sum);
  }
}

template <typename Type>
RLX_INLINE VecI lane_groups(int j) {
  VecI groups{};
  for (int lane = 0; lane < 16; ++lane) {
    const int run = Type::order.run[j][lane / 8];
    groups[lane] = Type::group == 32 ? run : 2 * run + lane / 4 % 2;
  }
  return groups;
}

template <typename Type>
RLX_INLINE VecF add_half_step(VecF sum, const HalfStep& w, const HalfX& x) {
  const VecF scale = w.scale * x.scale;
  for (int j = 0; j < 4; ++j) {
    VecI acc = dot_bytes(VecI{}, w.codes[j], x.hi[j]) << 7;
    acc = dot_bytes(acc, w.codes[j], x.lo[j]);
    sum = fma(pick_lanes(scale, lane_groups<Type>(j)), to_f32(acc), sum);
  }
  if constexpr (Type::min_lane == 8) {
    return _mm512_mask_add_ps(sum, 0xff00, sum, scale);
  } else {
    return fma(Type::has_min ? w.min : w.scale, x.aux, sum);
  }
}

template <typename Type, int cols, int rows>
RLX_INLINE void quarter_rows(const StreamCall& call, const uint8_t* w, VecF (&sums)[rows][cols]) {
  const int64_t full = call.k / 128;
  const int64_t ahead = prefetch_distance(call, rows);
  const auto step = [&](int64_t s, int n) {
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const uint8_t* row = w + r * call.row_bytes;
      prefetch<Type::step_bytes>(row + s * Type::step_bytes + ahead);
      const QuarterStep codes = Type::load(row, s, n);
#pragma GCC unroll 4
      for (int c = 0; c < cols; ++c) {
        const QuarterX* x = reinterpret_cast<const QuarterX*>(call.x + c * call.x_stride);
        sums[r][c] = add_quarter_step<Type>(sums[r][c], codes, x[s]);
      }
    }
  };
  for (int64_t s = 0; s < full; ++s) step(s, 4);
  const int rest = static_cast<int>(call.k % 128 / 32);
  if (rest != 0) step(full, rest);
}

template <typename Type, int cols, int rows>
RLX_INLINE void half_rows(const StreamCall& call, const uint8_t* w, VecF (&sums)[rows][cols]) {
  const int64_t ahead = prefetch_distance(call, rows);
  for (int64_t s = 0; s < (call.k + 255) / 256; ++s) {
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const uint8_t* row = w + r * call.row_bytes;
      prefetch<Type::step_bytes>(row + s * Type::step_bytes + ahead);
      const HalfStep codes = Type::load(row, s);
#pragma GCC unroll 4
      for (int c = 0; c < cols; ++c) {
        const HalfX* x = reinterpret_cast<const HalfX*>(call.x + c * call.x_stride);
        sums[r][c] = add_half_step<Type>(sums[r][c], codes, x[s]);
      }
    }
  }
}

template <typename Type>
concept InQuarters = requires(const uint8_t* row) {
  Type::load(row, 0, 4);
};

template <typename Type, int cols, int rows>
RLX_INLINE void stream_block(const StreamCall& call, int64_t row, const uint8_t* w) {
  VecF sums[rows][cols] = {};
  if constexpr (InQuarters<Type>) {
    quarter_rows<Type, cols, rows>(call, w, sums);
  } else {
    half_rows<Type, cols, rows>(call, w, sums);
  }
  for (int c = 0; c < cols; ++c) {
    float* y = call.y[c] + row;
    if constexpr (rows == 4) {
      const Vec4 four = reduce_add4(sums[0][c], sums[1][c], sums[2][c], sums[3][c]);
      __builtin_memcpy(y, &four, sizeof four);
    } else {
      for (int r = 0; r < rows; ++r) y[r] = reduce_add(sums[r][c]);
    }
    if (call.bias == nullptr) continue;
    for (int r = 0; r < rows; ++r) y[r] += call.bias[row + r];
  }
}

template <typename Type, int cols>
void stream_rows(const StreamCall& call) noexcept {
  constexpr int together = cols == 1 ? 4 : 2;
  int64_t row = 0;
  for (; row + together <= call.rows; row += together) {
    stream_block<Type, cols, together>(call, row, call.w + row * call.row_bytes);
  }
  for (; row < call.rows; ++row) {
    stream_block<Type, cols, 1>(call, row, call.w + row * call.row_bytes);
  }
}

template <int group, bool has_min, int cols>
void stream_staged_rows(const StreamCall& call) noexcept {
  for (int64_t row = 0; row < call.rows; ++row) {
    for (int64_t step = 0; step * 256 < call.k; ++step) {
      const int64_t left = call.k - step * 256;
      stage_codes(*call.type, call.w + row * call.row_bytes, step,
                  static_cast<int>(left < 256 ? left : 256), call.staging[step]);
    }
    stream_block<VnniStaged<group, has_min>, cols, 1>(
        call, row, reinterpret_cast<const uint8_t*>(call.staging));
  }
}

template <typename Type>
constexpr VnniType in_quarters{
    true,
    natural_order,
    32,
    Type::has_min,
    0,
    1.0f,
    unpack_quarters<Type>,
    {stream_rows<Type, 1>, stream_rows<Type, 2>, stream_rows<Type, 3>, stream_rows<Type, 4>}};
template <typename Type>
constexpr VnniType in_halves{
    false,
    Type::order,
    Type::group,
    Type::has_min,
    Type::min_lane,
    -1.0f,
    unpack_halves<Type>,
    {stream_rows<Type, 1>, stream_rows<Type, 2>, stream_rows<Type, 3>, stream_rows<Type, 4>}};
template <int group, bool has_min>
constexpr VnniType staged{
    false,
    natural_order,
    group,
    has_min,
    0,
    1.0f,
    stage_codes,
    {stream_staged_rows<group, has_min, 1>, stream_staged_rows<group, has_min, 2>,
     stream_staged_rows<group, has_min, 3>, stream_staged_rows<group, has_min, 4>}};

}  // namespace

const VnniType& vnni_type(const LinearParams& params) {
  switch (params.weight) {
    case DType::Q4_0: return in_quarters<VnniQ4_0>;
    case DType::Q4_1: return in_quarters<VnniQ4_1>;
    case DType::Q5_0: return in_quarters<VnniQ5_0>;
    case DType::Q5_1: return in_quarters<VnniQ5_1>;
    case DType::Q8_0: return in_quarters<VnniQ8_0>;
    case DType::IQ4_NL: return in_quarters<VnniIQ4_NL>;
    case DType::IQ4_XS: return in_quarters<VnniIQ4_XS>;
    case DType::MXFP4: return in_quarters<VnniMXFP4>;
    case DType::Q2_K: return in_halves<VnniQ2_K>;
    case DType::Q3_K: return in_halves<VnniQ3_K>;
    case DType::Q4_K: return in_halves<VnniQ4_K>;
    case DType::Q5_K: return in_halves<VnniQ5_K>;
    case DType::Q6_K: return in_halves<VnniQ6_K>;
    default: break;
  }
  if (params.has_min) return params.group == 16 ? staged<16, true> : staged<32, true>;
  return params.group == 16 ? staged<16, false> : staged<32, false>;
}

}  // namespace rlx::cpu::RLX_ISA

#endif

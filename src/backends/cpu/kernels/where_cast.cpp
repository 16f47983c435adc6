// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

namespace rlx::cpu::RLX_ISA {
namespace {

template <typename T>
void where_elements(const KernelCall& call, Range r) {
  const StridedSpace s = broadcast_space(call.results[0], call.operands, 3);
  const auto* condition = reinterpret_cast<const uint8_t*>(call.operands[0].data);
  const auto* a = reinterpret_cast<const T*>(call.operands[1].data);
  const auto* b = reinterpret_cast<const T*>(call.operands[2].data);
  auto* y = reinterpret_cast<T*>(call.results[0].data);
  const int last = s.rank - 1;
  const int64_t step_c = s.strides[0][last], step_a = s.strides[1][last];
  const int64_t step_b = s.strides[2][last];
  walk_rows(s, r.begin, r.end, [&](int64_t to, const int64_t* at, int64_t n) {
    if (step_c == 1 && step_a == 1 && step_b == 1) {
      for (int64_t i = 0; i < n; ++i) {
        const T x = a[at[1] + i], z = b[at[2] + i];
        y[to + i] = condition[at[0] + i] != 0 ? x : z;
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const T x = a[at[1] + i * step_a], z = b[at[2] + i * step_b];
      y[to + i] = condition[at[0] + i * step_c] != 0 ? x : z;
    }
  });
}

constexpr int64_t tile = 256;

/// Numbers between the element types: integers as int64, floats as double, neither of which loses
/// anything of the types that the cast rows accept.
template <typename Wide, typename T>
void widen(const std::byte* x, Wide* wide, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T v;
    __builtin_memcpy(&v, x + i * static_cast<int64_t>(sizeof(T)), sizeof v);
    wide[i] = static_cast<Wide>(v);
  }
}

/// Wraps around.
template <typename T>
T narrow_to(int64_t v) {
  return static_cast<T>(v);
}
/// Truncates toward zero and saturates; NaN gives 0.
template <typename T>
T narrow_to(double v) {
  constexpr int bits = sizeof(T) * 8;
  constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
  constexpr uint64_t beyond = uint64_t{1} << (is_signed ? bits - 1 : bits);
  constexpr double high = static_cast<double>(beyond);
  if (v != v) return 0;
  if (v >= high) return static_cast<T>(beyond - 1);
  if (v <= (is_signed ? -high : 0.0)) return is_signed ? static_cast<T>(beyond) : T{0};
  return static_cast<T>(v);
}

template <typename T, typename Wide>
void put_ints(const Wide* wide, std::byte* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = narrow_to<T>(wide[i]);
    __builtin_memcpy(y + i * static_cast<int64_t>(sizeof(T)), &v, sizeof v);
  }
}
template <typename T, typename Wide>
void put_floats(const Wide* wide, std::byte* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = static_cast<T>(wide[i]);
    __builtin_memcpy(y + i * static_cast<int64_t>(sizeof(T)), &v, sizeof v);
  }
}
/// 16-bit floats: what comes in fits f32 exactly, so there is one rounding.
template <bool bf16, typename Wide>
void put_halves(const Wide* wide, std::byte* y, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes) {
    VecF v{};
    const int64_t k = n - i < lanes ? n - i : lanes;
    for (int64_t j = 0; j < k; ++j) v[j] = static_cast<float>(wide[i + j]);
    const VecU16 h = bf16 ? f32_to_bf16(v) : f32_to_f16(v);
    __builtin_memcpy(y + i * 2, &h, static_cast<size_t>(k) * 2);
  }
}
template <bool bf16>
void widen_halves(const std::byte* x, double* wide, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes) {
    VecU16 h{};
    const int64_t k = n - i < lanes ? n - i : lanes;
    __builtin_memcpy(&h, x + i * 2, static_cast<size_t>(k) * 2);
    const VecF v = bf16 ? bf16_to_f32(h) : f16_to_f32(h);
    for (int64_t j = 0; j < k; ++j) wide[i + j] = static_cast<double>(v[j]);
  }
}

template <typename Wide>
void put(DType dtype, const Wide* wide, std::byte* y, int64_t n) {
  switch (dtype) {
    case DType::F64: return put_floats<double>(wide, y, n);
    case DType::F32: return put_floats<float>(wide, y, n);
    case DType::F16: return put_halves<false>(wide, y, n);
    case DType::BF16: return put_halves<true>(wide, y, n);
    case DType::I8: return put_ints<int8_t>(wide, y, n);
    case DType::I16: return put_ints<int16_t>(wide, y, n);
    case DType::I32: return put_ints<int32_t>(wide, y, n);
    case DType::I64: return put_ints<int64_t>(wide, y, n);
    case DType::U8: return put_ints<uint8_t>(wide, y, n);
    case DType::U16: return put_ints<uint16_t>(wide, y, n);
    case DType::U32: return put_ints<uint32_t>(wide, y, n);
    case DType::Bool:
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<std::byte>(wide[i] != 0);
      return;
    default: return;
  }
}

void cast_tile(DType from, DType to, const std::byte* x, std::byte* y, int64_t n) {
  int64_t ints[tile];
  double floats_of[tile];
  switch (from) {
    case DType::F64: widen<double, double>(x, floats_of, n); break;
    case DType::F32: widen<double, float>(x, floats_of, n); break;
    case DType::F16: widen_halves<false>(x, floats_of, n); break;
    case DType::BF16: widen_halves<true>(x, floats_of, n); break;
    case DType::I8: widen<int64_t, int8_t>(x, ints, n); break;
    case DType::I16: widen<int64_t, int16_t>(x, ints, n); break;
    case DType::I32: widen<int64_t, int32_t>(x, ints, n); break;
    case DType::I64: widen<int64_t, int64_t>(x, ints, n); break;
    case DType::U8:
    case DType::Bool: widen<int64_t, uint8_t>(x, ints, n); break;
    case DType::U16: widen<int64_t, uint16_t>(x, ints, n); break;
    case DType::U32: widen<int64_t, uint32_t>(x, ints, n); break;
    default: return;
  }
  const bool is_real =
      from == DType::F64 || from == DType::F32 || from == DType::F16 || from == DType::BF16;
  if (is_real) return put(to, floats_of, y, n);
  put(to, ints, y, n);
}

/// 16-bit floats to f32: one vector conversion per step.
template <bool bf16>
void halves_to_f32(const std::byte* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VecU16 h = load_u16(x + i * 2);
    store(y + i, bf16 ? bf16_to_f32(h) : f16_to_f32(h));
  }
  VecU16 h{};
  __builtin_memcpy(&h, x + i * 2, static_cast<size_t>(n - i) * 2);
  if (i < n) store_part(y + i, bf16 ? bf16_to_f32(h) : f16_to_f32(h), n - i);
}

}  // namespace

void where(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  switch (element_bytes(call.results[0].dtype)) {
    case 1: return where_elements<uint8_t>(call, r);
    case 2: return where_elements<uint16_t>(call, r);
    case 4: return where_elements<uint32_t>(call, r);
    case 8: return where_elements<uint64_t>(call, r);
    default: return;
  }
}

void cast(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  const DType from = call.operands[0].dtype, to = call.results[0].dtype;
  const std::byte* x = call.operands[0].data + r.begin * element_bytes(from);
  std::byte* y = call.results[0].data + r.begin * element_bytes(to);
  const int64_t n = r.end - r.begin;
  const auto* xf = reinterpret_cast<const float*>(x);
  auto* yf = reinterpret_cast<float*>(y);
  if (from == DType::F16 && to == DType::F32) return halves_to_f32<false>(x, yf, n);
  if (from == DType::BF16 && to == DType::F32) return halves_to_f32<true>(x, yf, n);
  if (from == DType::F32 && to == DType::F16) return f32_to_halves<false>(xf, y, n);
  if (from == DType::F32 && to == DType::BF16) return f32_to_halves<true>(xf, y, n);
  for (int64_t i = 0; i < n; i += tile) {
    cast_tile(from, to, x + i * element_bytes(from), y + i * element_bytes(to),
              n - i < tile ? n - i : tile);
  }
}

}  // namespace rlx::cpu::RLX_ISA

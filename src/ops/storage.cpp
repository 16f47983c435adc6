// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/float8.h"
#include "base/half.h"
#include "ops/oracle.h"

namespace rlx {
namespace {

/// x rounded once, half to even, to a float with `mantissa` stored bits and least exponent
/// `lowest`; what is beyond the format's range is left for the encoder to see.
double rounded(double x, int mantissa, int lowest) {
  if (!std::isfinite(x) || x == 0) return x;
  const int exponent = std::max(std::ilogb(x), lowest) - mantissa;
  return std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
}

uint16_t to_f16(double x) { return f32_to_f16(static_cast<float>(rounded(x, 10, -14))); }
uint16_t to_bf16(double x) { return f32_to_bf16(static_cast<float>(rounded(x, 7, -126))); }
uint8_t to_f8e4m3(double x) { return f32_to_f8e4m3(static_cast<float>(rounded(x, 3, -6))); }
uint8_t to_f8e5m2(double x) { return f32_to_f8e5m2(static_cast<float>(rounded(x, 2, -14))); }

struct IntRange {
  int bits;
  bool is_signed;
};

IntRange int_range(DType d) {
  return {static_cast<int>(dtype_info(d).block_bytes) * 8, dtype_name(d)[0] == 'i'};
}

/// Whole x modulo 2^bits, in the type's range.
double wrapped(DType d, double x) {
  const auto [bits, is_signed] = int_range(d);
  const double span = std::ldexp(1, bits);
  const double low = is_signed ? -span / 2 : 0;
  if (x >= low && x < low + span) return x;
  if (!std::isfinite(x)) return 0;
  double r = std::fmod(x - low, span);
  if (r < 0) r += span;
  return r + low;
}

double saturated(DType d, double x) {
  if (std::isnan(x)) return 0;
  const auto [bits, is_signed] = int_range(d);
  const double low = is_signed ? -std::ldexp(1, bits - 1) : 0;
  const double high = std::ldexp(1, is_signed ? bits - 1 : bits) - 1;
  return std::fmin(std::fmax(std::trunc(x), low), high);
}

template <typename T>
T load(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

template <typename T>
void store(std::byte* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

/// The nearest T; doubles of 2^63 and 2^64 stand for the largest one.
template <typename T>
T to_int(double x) {
  constexpr double beyond = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
  if (x >= beyond) return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

double read_number(DType d, const std::byte* at) {
  switch (d) {
    case DType::F64: return load<double>(at);
    case DType::F32: return load<float>(at);
    case DType::F16: return f16_to_f32(load<uint16_t>(at));
    case DType::BF16: return bf16_to_f32(load<uint16_t>(at));
    case DType::F8E4M3: return f8e4m3_to_f32(load<uint8_t>(at));
    case DType::F8E5M2: return f8e5m2_to_f32(load<uint8_t>(at));
    case DType::I8: return load<int8_t>(at);
    case DType::I16: return load<int16_t>(at);
    case DType::I32: return load<int32_t>(at);
    case DType::I64: return static_cast<double>(load<int64_t>(at));
    case DType::U8: return load<uint8_t>(at);
    case DType::U16: return load<uint16_t>(at);
    case DType::U32: return load<uint32_t>(at);
    case DType::U64: return static_cast<double>(load<uint64_t>(at));
    case DType::Bool: return load<uint8_t>(at) != 0 ? 1 : 0;
    default: fail(ErrorCode::Unsupported, "the oracle has no numbers of {}", dtype_name(d));
  }
}

void write_number(DType d, std::byte* at, double x) {
  switch (d) {
    case DType::F64: return store(at, x);
    case DType::F32: return store(at, static_cast<float>(x));
    case DType::F16: return store(at, to_f16(x));
    case DType::BF16: return store(at, to_bf16(x));
    case DType::F8E4M3: return store(at, to_f8e4m3(x));
    case DType::F8E5M2: return store(at, to_f8e5m2(x));
    case DType::I8: return store(at, to_int<int8_t>(x));
    case DType::I16: return store(at, to_int<int16_t>(x));
    case DType::I32: return store(at, to_int<int32_t>(x));
    case DType::I64: return store(at, to_int<int64_t>(x));
    case DType::U8: return store(at, to_int<uint8_t>(x));
    case DType::U16: return store(at, to_int<uint16_t>(x));
    case DType::U32: return store(at, to_int<uint32_t>(x));
    case DType::U64: return store(at, to_int<uint64_t>(x));
    case DType::Bool: return store(at, static_cast<uint8_t>(x != 0));
    default: fail(ErrorCode::Unsupported, "the oracle has no numbers of {}", dtype_name(d));
  }
}

}  // namespace

double storable(DType d, double x) {
  switch (d) {
    case DType::F16: return f16_to_f32(to_f16(x));
    case DType::BF16: return bf16_to_f32(to_bf16(x));
    case DType::F8E4M3: return f8e4m3_to_f32(to_f8e4m3(x));
    case DType::F8E5M2: return f8e5m2_to_f32(to_f8e5m2(x));
    default: return is_int(d) ? wrapped(d, x) : x;
  }
}

double convert_number(DType from, DType to, double x) {
  if (from == to) return x;
  if (to == DType::Bool) return x != 0 ? 1 : 0;
  if (is_int(to) && is_float(from)) return saturated(to, x);
  return storable(to, x);
}

int64_t OracleTensor::count() const {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

OracleTensor oracle_from_bytes(DType dtype, std::vector<int64_t> shape,
                               std::span<const std::byte> bytes) {
  const DTypeInfo& info = dtype_info(dtype);
  OracleTensor t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  const auto need = static_cast<size_t>(t.count()) / info.block_elements * info.block_bytes;
  if (bytes.size() != need) {
    fail(ErrorCode::InvalidArgument, "a {} tensor of {} elements needs {} bytes, found {}",
         info.name, t.count(), need, bytes.size());
  }
  if (is_packed(dtype)) {
    t.packed.assign(bytes.begin(), bytes.end());
    return t;
  }
  t.data.resize(static_cast<size_t>(t.count()));
  for (size_t i = 0; i < t.data.size(); ++i) {
    t.data[i] = read_number(dtype, bytes.data() + i * info.block_bytes);
  }
  return t;
}

std::vector<std::byte> oracle_to_bytes(const OracleTensor& tensor) {
  if (is_packed(tensor.dtype)) return tensor.packed;
  const DTypeInfo& info = dtype_info(tensor.dtype);
  std::vector<std::byte> bytes(tensor.data.size() * info.block_bytes);
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    write_number(tensor.dtype, bytes.data() + i * info.block_bytes, tensor.data[i]);
  }
  return bytes;
}

}  // namespace rlx

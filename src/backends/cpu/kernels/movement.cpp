// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

// Kernels that move elements without looking at them. Items: runs of `chunk_elements` elements of
// the result in row order, unless said otherwise.

namespace rlx::cpu::RLX_ISA {
namespace {

/// What RunExtent::at gives; here because that is an inline function all levels would share.
int64_t value_of(const RunExtent& extent, const KernelCall& call) {
  int64_t sum = extent.constant;
  for (int i = 0; i < extent.count; ++i) {
    sum += extent.factors[i] * call.symbols[extent.symbols[i]];
  }
  return sum;
}

struct Numbers {
  int64_t axis[TensorView::kMaxRank];
};
Numbers numbers_of(const AxisNumbers& numbers, const KernelCall& call) {
  Numbers n;
  for (int i = 0; i < TensorView::kMaxRank; ++i) {
    n.axis[i] = i == numbers.symbolic_axis ? value_of(numbers.symbolic, call) : numbers.numbers[i];
  }
  return n;
}

Range result_range(const KernelCall& call, int64_t begin, int64_t end) {
  return chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
}

template <typename T>
void copy_elements(const StridedSpace& s, const std::byte* from, std::byte* to, Range r) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  const int64_t stride = s.strides[0][s.rank - 1];
  walk_rows(s, r.begin, r.end, [&](int64_t first, const int64_t* at, int64_t n) {
    const T* row = x + at[0];
    if (stride == 1) {
      __builtin_memcpy(y + first, row, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) y[first + i] = row[i * stride];
    }
  });
}

/// y[i] = x[strided i]; `x` is the address of the first element read.
void copy_strided(const KernelCall& call, const StridedSpace& s, const std::byte* x, Range r) {
  std::byte* y = call.results[0].data;
  switch (element_bytes(call.results[0].dtype)) {
    case 1: return copy_elements<uint8_t>(s, x, y, r);
    case 2: return copy_elements<uint16_t>(s, x, y, r);
    case 4: return copy_elements<uint32_t>(s, x, y, r);
    case 8: return copy_elements<uint64_t>(s, x, y, r);
    default: return;
  }
}

int64_t storage_bytes(DType dtype, int64_t elements) {
  switch (dtype) {
#define X(name, text, type_class, block, bytes, id) \
  case DType::name: return elements / block * bytes;
    RLX_DTYPES(X)
#undef X
  }
  return 0;
}

int64_t index_at(const TensorView& t, int64_t i) {
  switch (t.dtype) {
    case DType::I64: return reinterpret_cast<const int64_t*>(t.data)[i];
    case DType::U32: return reinterpret_cast<const uint32_t*>(t.data)[i];
    default: return reinterpret_cast<const int32_t*>(t.data)[i];
  }
}

template <typename T>
void fill(std::byte* y, int64_t n, T value) {
  for (int64_t i = 0; i < n; ++i) {
    __builtin_memcpy(y + i * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
  }
}

/// The padding value in the element type, as bytes.
uint64_t pattern_of(DType dtype, double value) {
  uint64_t bits = 0;
  const auto f = static_cast<float>(value);
  VecF v{};
  v[0] = f;
  switch (dtype) {
    case DType::F64: __builtin_memcpy(&bits, &value, 8); return bits;
    case DType::F32: __builtin_memcpy(&bits, &f, 4); return bits;
    case DType::F16: return f32_to_f16(v)[0];
    case DType::BF16: return f32_to_bf16(v)[0];
    default: return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

void fill_elements(std::byte* y, int64_t n, int64_t width, uint64_t pattern) {
  switch (width) {
    case 1: return fill(y, n, static_cast<uint8_t>(pattern));
    case 2: return fill(y, n, static_cast<uint16_t>(pattern));
    case 4: return fill(y, n, static_cast<uint32_t>(pattern));
    case 8: return fill(y, n, pattern);
    default: return;
  }
}

}  // namespace

void slice(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const SliceParams*>(call.params);
  const TensorView& x = call.operands[0];
  const Numbers starts = numbers_of(p.starts, call);
  StridedSpace s{};
  s.rank = x.rank;
  s.operands = 1;
  int64_t base = 0;
  for (int i = 0; i < x.rank; ++i) {
    const int64_t step = extent_product(x, i + 1, x.rank);
    base += starts.axis[i] * step;
    s.dims[i] = call.results[0].dims[i];
    s.strides[0][i] = step * p.strides[i];
  }
  simplify(s);
  copy_strided(call, s, x.data + base * element_bytes(x.dtype), result_range(call, begin, end));
}

void transpose(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const TransposeParams*>(call.params);
  const TensorView& x = call.operands[0];
  StridedSpace s{};
  s.rank = x.rank;
  s.operands = 1;
  for (int i = 0; i < x.rank; ++i) {
    s.dims[i] = x.dims[p.perm[i]];
    s.strides[0][i] = extent_product(x, p.perm[i] + 1, x.rank);
  }
  simplify(s);
  copy_strided(call, s, x.data, result_range(call, begin, end));
}

void broadcast(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const StridedSpace s = broadcast_space(call.results[0], call.operands, 1);
  copy_strided(call, s, call.operands[0].data, result_range(call, begin, end));
}

void concat(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const int axis = static_cast<const AxisParams*>(call.params)->axis;
  const TensorView& y = call.results[0];
  const AxisSplit s = split_at(y, axis);
  const int64_t width = element_bytes(y.dtype);
  const int64_t row = s.n * s.inner;  // elements of the result per outer index
  const Range r = result_range(call, begin, end);
  for (int64_t to = r.begin; to < r.end;) {
    const int64_t outer = to / row;
    int64_t within = to % row;
    int k = 0;
    int64_t part = call.operands[0].dims[axis] * s.inner;
    while (within >= part) {
      within -= part;
      part = call.operands[++k].dims[axis] * s.inner;
    }
    const int64_t n = part - within < r.end - to ? part - within : r.end - to;
    __builtin_memcpy(y.data + to * width, call.operands[k].data + (outer * part + within) * width,
                     static_cast<size_t>(n * width));
    to += n;
  }
}

// Items: indices, for every outer position. Sessions check indices that come from outside; what is
// still out of range gives bytes of ones, NaN for floats, rather than a neighbour's data.
void gather(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const TensorView& table = call.operands[0];
  const AxisSplit s = split_at(table, static_cast<const AxisParams*>(call.params)->axis);
  const int64_t count = element_count(call.operands[1]);
  const int64_t bytes = storage_bytes(table.dtype, s.inner);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / count;
    const int64_t index = index_at(call.operands[1], item % count);
    std::byte* y = call.results[0].data + item * bytes;
    if (index < 0 || index >= s.n) {
      __builtin_memset(y, 0xff, static_cast<size_t>(bytes));
    } else {
      __builtin_memcpy(y, table.data + (outer * s.n + index) * bytes, static_cast<size_t>(bytes));
    }
  }
}

// Items: rows (runs of the last axis) of the result.
void pad(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const auto& p = *static_cast<const PadParams*>(call.params);
  const TensorView& x = call.operands[0];
  const TensorView& y = call.results[0];
  const Numbers low_of = numbers_of(p.low, call);
  const int64_t width = element_bytes(y.dtype);
  const uint64_t pattern = pattern_of(y.dtype, p.value);
  const int last = y.rank - 1;
  const int64_t n = row_width(y);
  for (int64_t item = begin; item < end; ++item) {
    std::byte* row = y.data + item * n * width;
    int64_t rest = item, source = 0, step = 1;
    bool inside = true;
    for (int i = last - 1; i >= 0; --i) {
      const int64_t at = rest % y.dims[i] - low_of.axis[i];
      rest /= y.dims[i];
      inside = inside && at >= 0 && at < x.dims[i];
      source += at * step;
      step *= x.dims[i];
    }
    if (!inside) {
      fill_elements(row, n, width, pattern);
      continue;
    }
    const int64_t low = last >= 0 ? low_of.axis[last] : 0, middle = row_width(x);
    fill_elements(row, low, width, pattern);
    if (middle > 0) {
      __builtin_memcpy(row + low * width, x.data + source * middle * width,
                       static_cast<size_t>(middle * width));
    }
    fill_elements(row + (low + middle) * width, n - low - middle, width, pattern);
  }
}

void iota(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const int64_t at = value_of(static_cast<const IotaParams*>(call.params)->at, call);
  const TensorView& y = call.results[0];
  const Range r = result_range(call, begin, end);
  for (int64_t i = r.begin; i < r.end; ++i) {
    switch (y.dtype) {
      case DType::I64: reinterpret_cast<int64_t*>(y.data)[i] = at + i; break;
      case DType::I32: reinterpret_cast<int32_t*>(y.data)[i] = static_cast<int32_t>(at + i); break;
      case DType::F32: floats(y)[i] = static_cast<float>(at + i); break;
      case DType::F64: reinterpret_cast<double*>(y.data)[i] = static_cast<double>(at + i); break;
      default: break;
    }
  }
}

}  // namespace rlx::cpu::RLX_ISA

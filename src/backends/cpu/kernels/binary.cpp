// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/params.h"

namespace rlx::cpu::RLX_ISA {
namespace {

VecF power(VecF a, VecF b) {
  for (int i = 0; i < lanes; ++i) a[i] = __builtin_powf(a[i], b[i]);
  return a;
}
VecF remainder_of(VecF a, VecF b) {
  for (int i = 0; i < lanes; ++i) a[i] = __builtin_fmodf(a[i], b[i]);
  return a;
}

template <typename F>
void each_row(const KernelCall& call, Range r, const F& f) {
  const StridedSpace space = broadcast_space(call.results[0], call.operands, 2);
  const float* a = floats(call.operands[0]);
  const float* b = floats(call.operands[1]);
  float* y = floats(call.results[0]);
  const int last = space.rank - 1;
  walk_rows(space, r.begin, r.end, [&](int64_t to, const int64_t* at, int64_t n) {
    float* row = y + to;
    zip_row(
        a + at[0], space.strides[0][last], b + at[1], space.strides[1][last], n,
        [row](int64_t i, VecF v, int64_t k) __attribute__((always_inline)) {
          if (k == lanes) return store(row + i, v);
          store_part(row + i, v, k);
        },
        f);
  });
}

template <typename F>
void each_comparison(const KernelCall& call, Range r, const F& f) {
  const StridedSpace space = broadcast_space(call.results[0], call.operands, 2);
  const float* a = floats(call.operands[0]);
  const float* b = floats(call.operands[1]);
  auto* y = reinterpret_cast<uint8_t*>(call.results[0].data);
  const int last = space.rank - 1;
  walk_rows(space, r.begin, r.end, [&](int64_t to, const int64_t* at, int64_t n) {
    uint8_t* row = y + to;
    zip_row(
        a + at[0], space.strides[0][last], b + at[1], space.strides[1][last], n,
        [row](int64_t i, VecI mask, int64_t k) __attribute__((always_inline)) {
          for (int64_t j = 0; j < k; ++j) row[i + j] = mask[j] != 0;
        },
        f);
  });
}

}  // namespace

void binary(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  switch (static_cast<const BinaryParams*>(call.params)->op) {
    case OpKind::Add: return each_row(call, r, [](VecF a, VecF b) { return a + b; });
    case OpKind::Sub: return each_row(call, r, [](VecF a, VecF b) { return a - b; });
    case OpKind::Mul: return each_row(call, r, [](VecF a, VecF b) { return a * b; });
    case OpKind::Div: return each_row(call, r, [](VecF a, VecF b) { return a / b; });
    case OpKind::Max: return each_row(call, r, [](VecF a, VecF b) { return larger(a, b); });
    case OpKind::Min: return each_row(call, r, [](VecF a, VecF b) { return smaller(a, b); });
    case OpKind::Pow: return each_row(call, r, [](VecF a, VecF b) { return power(a, b); });
    case OpKind::Mod: return each_row(call, r, [](VecF a, VecF b) { return remainder_of(a, b); });
    default: return;
  }
}

void compare(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  switch (static_cast<const BinaryParams*>(call.params)->op) {
    case OpKind::Equal: return each_comparison(call, r, [](VecF a, VecF b) { return a == b; });
    case OpKind::Less: return each_comparison(call, r, [](VecF a, VecF b) { return a < b; });
    case OpKind::LessEqual: return each_comparison(call, r, [](VecF a, VecF b) { return a <= b; });
    default: return;
  }
}

void logical(const KernelCall& call, int64_t begin, int64_t end, int) noexcept {
  const Range r = chunk_range(begin, end, chunk_elements, element_count(call.results[0]));
  const auto* a = reinterpret_cast<const uint8_t*>(call.operands[0].data);
  auto* y = reinterpret_cast<uint8_t*>(call.results[0].data);
  const OpKind op = static_cast<const BinaryParams*>(call.params)->op;
  if (op == OpKind::Not) {
    for (int64_t i = r.begin; i < r.end; ++i) y[i] = a[i] == 0;
    return;
  }
  const StridedSpace space = broadcast_space(call.results[0], call.operands, 2);
  const auto* b = reinterpret_cast<const uint8_t*>(call.operands[1].data);
  const int last = space.rank - 1;
  const int64_t step_a = space.strides[0][last], step_b = space.strides[1][last];
  walk_rows(space, r.begin, r.end, [&](int64_t to, const int64_t* at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const bool left = a[at[0] + i * step_a] != 0, right = b[at[1] + i * step_b] != 0;
      y[to + i] = op == OpKind::And ? left && right : left || right;
    }
  });
}

}  // namespace rlx::cpu::RLX_ISA

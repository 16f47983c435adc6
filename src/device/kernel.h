// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/dtype.h"

namespace rlx {

// Plain data only: kernel sources, built once per ISA, include this header and may pull in no
// inline code of the standard library.

/// A tensor as a kernel sees it: row-major and contiguous, extents of this run.
struct TensorView {
  static constexpr int kMaxRank = 6;
  std::byte* data;
  int64_t dims[kMaxRank];
  int32_t rank;
  DType dtype;
};

/// An extent whose number is known at run time: a constant plus multiples of symbols.
struct RunExtent {
  int64_t constant;
  int64_t factors[3];
  uint16_t symbols[3];
  uint16_t count;

  /// `values` are KernelCall::symbols.
  [[gnu::always_inline]] int64_t at(const int64_t* values) const {
    int64_t sum = constant;
    for (int i = 0; i < count; ++i) sum += factors[i] * values[symbols[i]];
    return sum;
  }
};

/// One step of a plan at this run's extents. Absent optional operands are beyond `operand_count`.
struct KernelCall {
  const TensorView* operands;
  const TensorView* results;
  int32_t operand_count;
  int32_t result_count;
  const void* params;      ///< what the row's `prepare` wrote
  const int64_t* symbols;  ///< values by SymbolId
  std::byte* workspace;    ///< shared by all workers: `shared_workspace` bytes, 64-byte aligned
  std::byte* scratch;      ///< of worker 0; worker w's lies w * scratch_stride behind
  int64_t scratch_stride;

  [[gnu::always_inline]] std::byte* scratch_of(int worker) const {
    return scratch + worker * scratch_stride;
  }
};

/// Number of independent items a call consists of. Item boundaries depend on extents only, never on
/// the number of threads, so results are the same bits for any team.
using KernelItems = int64_t (*)(const KernelCall&) noexcept;
/// Computes items [begin, end) on one worker.
using KernelRun = void (*)(const KernelCall&, int64_t begin, int64_t end, int worker) noexcept;

}  // namespace rlx

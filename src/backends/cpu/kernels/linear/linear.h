// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/linear/linear_job.h"

// What each ISA level offers to rows_linear.cpp.
namespace rlx::cpu {

#define RLX_DECLARE_LINEAR(isa)                                                                   \
  namespace isa {                                                                                 \
  /* Weight rows n0 … n1 - 1 of a job whose activations are Q15 blocks or floats. */            \
  void linear_q15(const LinearJob& job, int64_t n0, int64_t n1, uint8_t* scratch) noexcept;       \
  void linear_f32(const LinearJob& job, int64_t n0, int64_t n1, uint8_t* scratch) noexcept;       \
  /* Bytes of scratch such a job needs with at most `rows` rows of k elements. */                 \
  int64_t linear_q15_scratch(int64_t rows, int64_t k) noexcept;                                   \
  int64_t linear_f32_scratch(int64_t rows, int64_t k) noexcept;                                   \
  void run_linear_q15(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept;   \
  void run_linear_f32(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept;   \
  void run_expert_q15(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept;   \
  void run_expert_f32(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept;   \
  void run_quantize_q15(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept; \
  void run_embedding(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept;    \
  }

#if defined(__x86_64__)
RLX_DECLARE_LINEAR(isa_v2)
RLX_DECLARE_LINEAR(isa_v3)
RLX_DECLARE_LINEAR(isa_v4)
RLX_DECLARE_LINEAR(isa_v4_vnni)
#else
RLX_DECLARE_LINEAR(isa_generic)
#endif
#undef RLX_DECLARE_LINEAR

}  // namespace rlx::cpu

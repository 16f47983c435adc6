// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/linear/linear.h"
#include "backends/cpu/kernels/vec.h"

// From calls of linear and expert_linear to jobs.
namespace rlx::cpu::RLX_ISA {
namespace {

using Product = void (*)(const LinearJob&, int64_t n0, int64_t n1, uint8_t* scratch) noexcept;

/// A job over all rows of x; w is the first (or only) matrix.
RLX_INLINE LinearJob whole_job(const KernelCall& call) {
  const TensorView& x = call.operands[0];
  const TensorView& w = call.operands[1];
  LinearJob job{};
  job.type = *static_cast<const LinearParams*>(call.params);
  job.n = w.dims[w.rank - 2];
  job.k = w.dims[w.rank - 1];
  job.w = reinterpret_cast<const uint8_t*>(w.data);
  job.row_bytes = job.k / job.type.block_elements * job.type.block_bytes;
  job.x = reinterpret_cast<const uint8_t*>(x.data);
  job.x_stride = x.dtype == DType::Q15 ? job.k / 32 * 72 : job.k * 4;
  job.x_divisor = 1;
  job.y = reinterpret_cast<float*>(call.results[0].data);
  job.count = 1;
  for (int i = 0; i + 1 < x.rank; ++i) job.count *= x.dims[i];
  return job;
}

RLX_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

RLX_INLINE void run_linear(Product product, const KernelCall& call, int64_t begin, int64_t end,
                           int worker) {
  LinearJob job = whole_job(call);
  if (call.operand_count > 2) job.bias = reinterpret_cast<const float*>(call.operands[2].data);
  const int64_t item = linear_item_rows(job.count);
  product(job, begin * item, smaller(end * item, job.n),
          reinterpret_cast<uint8_t*>(call.scratch_of(worker)));
}

void fill_nan(const LinearJob& job, int64_t row, int64_t n0, int64_t n1) {
  for (int64_t n = n0; n < n1; ++n) job.y[row * job.n + n] = __builtin_nanf("");
}

/// Rows of the weights of the chosen expert times one token each.
void run_pairs(Product product, const KernelCall& call, LinearJob job, int64_t begin, int64_t end,
               uint8_t* scratch) {
  const int64_t tiles = round_up(job.n, expert_item_rows) / expert_item_rows;
  const uint8_t* experts = job.w;
  while (begin < end) {
    const int64_t pair = begin / tiles, tile = begin % tiles;
    const int64_t next = smaller(end, (pair + 1) * tiles);
    const int64_t n0 = tile * expert_item_rows;
    const int64_t n1 = smaller((next - pair * tiles) * expert_item_rows, job.n);
    const int64_t id = read_id(call.operands[2], pair, call.operands[1].dims[0]);
    if (id < 0) {
      fill_nan(job, pair, n0, n1);
    } else {
      const int32_t list[1] = {static_cast<int32_t>(pair)};
      job.list = list;
      job.count = 1;
      job.w = experts + id * job.n * job.row_bytes;
      product(job, n0, n1, scratch);
    }
    begin = next;
  }
}

/// Rows of every expert's weights times all tokens that chose it.
void run_grouped(Product product, const KernelCall& call, LinearJob job, int64_t pairs,
                 int64_t begin, int64_t end, uint8_t* scratch) {
  const int64_t tiles = round_up(job.n, expert_item_rows) / expert_item_rows;
  const uint8_t* experts = job.w;
  int32_t* ids = reinterpret_cast<int32_t*>(scratch);
  int32_t* list = ids + pairs;
  scratch += expert_list_bytes(pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    ids[i] = static_cast<int32_t>(read_id(call.operands[2], i, call.operands[1].dims[0]));
  }
  while (begin < end) {
    const int64_t expert = begin / tiles, tile = begin % tiles;
    const int64_t next = smaller(end, (expert + 1) * tiles);
    const int64_t n0 = tile * expert_item_rows;
    const int64_t n1 = smaller((next - expert * tiles) * expert_item_rows, job.n);
    job.list = list;
    job.count = 0;
    for (int64_t i = 0; i < pairs; ++i) {
      if (ids[i] == expert) list[job.count++] = static_cast<int32_t>(i);
      if (ids[i] < 0 && expert == 0) fill_nan(job, i, n0, n1);
    }
    job.w = experts + expert * job.n * job.row_bytes;
    if (job.count > 0) product(job, n0, n1, scratch);
    begin = next;
  }
}

RLX_INLINE void run_expert(Product product, const KernelCall& call, int64_t begin, int64_t end,
                           int worker) {
  LinearJob job = whole_job(call);
  const TensorView& ids = call.operands[2];
  const int64_t pairs = ids.dims[0] * ids.dims[1];
  job.x_divisor = call.operands[0].rank == 2 ? ids.dims[1] : 1;
  uint8_t* scratch = reinterpret_cast<uint8_t*>(call.scratch_of(worker));
  if (pairs <= expert_pair_limit) {
    run_pairs(product, call, job, begin, end, scratch);
  } else {
    run_grouped(product, call, job, pairs, begin, end, scratch);
  }
}

}  // namespace

void run_linear_q15(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept {
  run_linear(linear_q15, call, begin, end, worker);
}
void run_linear_f32(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept {
  run_linear(linear_f32, call, begin, end, worker);
}
void run_expert_q15(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept {
  run_expert(linear_q15, call, begin, end, worker);
}
void run_expert_f32(const KernelCall& call, int64_t begin, int64_t end, int worker) noexcept {
  run_expert(linear_f32, call, begin, end, worker);
}

}  // namespace rlx::cpu::RLX_ISA

// SPDX-License-Identifier: Apache-2.0
// Speed of the linear kernels on one thread: bytes of weights per second for one activation row,
// operations per second (two per weight and row) for many. Usage: bench_kernels [type] [f32|q15]
// [rows] [MiB of different weights to walk through, 0: always the same].
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "backends/cpu/rows_linear.h"
#include "quant/q15.h"

namespace rlx {
namespace {

struct Aligned {
  explicit Aligned(size_t size)
      : data(static_cast<std::byte*>(std::aligned_alloc(64, (size + 127) / 64 * 64)), std::free) {}
  std::unique_ptr<std::byte, decltype(&std::free)> data;
};

struct Shape2 {
  int64_t n, k;
};

/// A set of equal matrices that together do not fit a cache, and one call that runs them all.
class Bench {
 public:
  Bench(DType weight, DType x, Shape2 shape, int64_t rows, size_t pool_bytes)
      : shape_(shape), rows_(rows), matrix_bytes_(bytes_of(weight, shape.n * shape.k)) {
    copies_ = rows > 4 ? 1 : std::max<size_t>(1, pool_bytes / matrix_bytes_);
    weights_ = std::make_unique<Aligned>(copies_ * matrix_bytes_);
    fill_random(weights_->data.get(), copies_ * matrix_bytes_);
    x_ = std::make_unique<Aligned>(bytes_of(x, rows * shape.k));
    std::vector<float> values(static_cast<size_t>(rows * shape.k));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 37) - 18.0f;
    if (x == DType::Q15) {
      quantize_q15(values.data(), x_->data.get(), values.size());
    } else {
      std::memcpy(x_->data.get(), values.data(), values.size() * 4);
    }
    y_ = std::make_unique<Aligned>(static_cast<size_t>(rows * shape.n * 4));
    cpu::add_linear_rows(target_.kernels, cpu::detect_isa());
    operands_[0] = {x_->data.get(), {rows, shape.k}, 2, x};
    operands_[1] = {weights_->data.get(), {shape.n, shape.k}, 2, weight};
    result_ = {y_->data.get(), {rows, shape.n}, 2, DType::F32};
    prepare(weight, x);
  }

  bool available() const { return row_ != nullptr; }

  /// Processor seconds for one matrix: the best of many short stretches, so that other programs on
  /// the machine disturb little.
  double seconds() {
    double best = 1e9;
    size_t copy = 0;
    const size_t stretch =
        std::max<size_t>(1, std::min(copies_, (size_t{24} << 20) / matrix_bytes_));
    for (double spent = 0; spent < 0.3;) {
      const double start = thread_seconds();
      for (size_t i = 0; i < stretch; ++i) {
        operands_[1].data = weights_->data.get() + copy * matrix_bytes_;
        run_shares();
        copy = (copy + 1) % copies_;
      }
      const double t = thread_seconds() - start;
      best = std::min(best, t / static_cast<double>(stretch));
      spent += t;
    }
    return best;
  }
  double weight_bytes() const { return static_cast<double>(matrix_bytes_); }
  double operations() const { return 2.0 * static_cast<double>(shape_.n * shape_.k * rows_); }

 private:
  /// All items, in the shares in which a team of two would take them.
  void run_shares() {
    const int64_t items = row_->items(call_);
    for (int64_t begin = 0, end; begin < items; begin = end) {
      end = begin + std::max<int64_t>(1, (items - begin) / 8);
      row_->run(call_, begin, end, 0);
    }
  }
  static double thread_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  static size_t bytes_of(DType dtype, int64_t elements) {
    const DTypeInfo& info = dtype_info(dtype);
    return static_cast<size_t>(elements) / info.block_elements * info.block_bytes;
  }
  static void fill_random(std::byte* p, size_t n) {
    std::minstd_rand random(1);
    for (size_t i = 0; i + 4 <= n; i += 4) {
      // Bit 14 of every f16 clear: no scale is huge or infinite.
      const uint32_t word = static_cast<uint32_t>(random()) & 0xbfffbfffu;
      std::memcpy(p + i, &word, 4);
    }
  }
  void prepare(DType weight, DType x) {
    node_.op = OpKind::Linear;
    node_.types = {{DType::F32, {Dim(rows_), Dim(shape_.n)}}};
    const std::vector<TensorType> types{{x, {Dim(rows_), Dim(shape_.k)}},
                                        {weight, {Dim(shape_.n), Dim(shape_.k)}}};
    const KernelQuery query{node_, types, {}};
    row_ = select_kernel(target_, query, nullptr);
    if (row_ == nullptr) return;
    row_->prepare(query, params_);
    const int64_t scratch = row_->workspace(query).per_worker;
    scratch_ = std::make_unique<Aligned>(static_cast<size_t>(scratch));
    call_.operands = operands_;
    call_.results = &result_;
    call_.operand_count = 2;
    call_.result_count = 1;
    call_.params = params_;
    call_.scratch = scratch_->data.get();
    call_.scratch_stride = scratch;
  }

  Shape2 shape_;
  int64_t rows_;
  size_t matrix_bytes_, copies_ = 1;
  std::unique_ptr<Aligned> weights_, x_, y_, scratch_;
  Target target_;
  Node node_;
  TensorView operands_[2], result_;
  alignas(16) std::byte params_[KernelRow::kMaxParams];
  const KernelRow* row_ = nullptr;
  KernelCall call_{};
};

void report(DType weight, DType x, Shape2 shape, int64_t rows, size_t pool_bytes) {
  Bench bench(weight, x, shape, rows, pool_bytes);
  if (!bench.available()) return;
  const double t = bench.seconds();
  fmt::print("{:8} {:4} {:7} x {:5} rows {:4}  {:9.1f} us  {:6.1f} GB/s  {:7.1f} GOP/s\n",
             dtype_name(weight), dtype_name(x), shape.n, shape.k, rows, t * 1e6,
             bench.weight_bytes() / t / 1e9, bench.operations() / t / 1e9);
  std::fflush(stdout);
}

}  // namespace
}  // namespace rlx

int main(int argc, char** argv) {
  using rlx::DType;
  std::vector<DType> weights{DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q8_0, DType::Q4_K,
                             DType::Q5_K, DType::Q6_K, DType::F16,  DType::F32};
  std::vector<DType> xs{DType::Q15, DType::F32};
  std::vector<int64_t> row_counts{1, 4, 16, 512};
  if (argc > 1) weights = {rlx::dtype_from_name(argv[1]).value()};
  if (argc > 2) xs = {rlx::dtype_from_name(argv[2]).value()};
  if (argc > 3) row_counts = {std::atoll(argv[3])};
  const size_t pool_bytes = (argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 192) << 20;
  const rlx::Shape2 shapes[] = {{2048, 640}, {640, 2048}, {8960, 1536}, {1536, 8960}};
  for (const DType weight : weights) {
    for (const DType x : xs) {
      for (const int64_t rows : row_counts) {
        for (const rlx::Shape2 shape : shapes) {
          const bool partial_block = shape.k % rlx::dtype_info(weight).block_elements != 0;
          if (!partial_block) rlx::report(weight, x, shape, rows, pool_bytes);
        }
      }
    }
  }
}

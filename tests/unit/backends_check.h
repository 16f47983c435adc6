// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/cpu_target.h"
#include "backends/cpu/isa.h"
#include "base/half.h"
#include "ops/builder.h"

// Runs single kernels of every instruction set level that this processor has on buffers of exactly
// the size they may touch, in several divisions of their items, whose results must be the same
// bits. Expected numbers come from plain loops in double in the tests.
namespace rlx::test {

struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;

  int64_t count() const {
    int64_t n = 1;
    for (const int64_t d : dims) n *= d;
    return n;
  }
  template <typename T>
  T get(int64_t i) const {
    T v;
    std::memcpy(&v, bytes.data() + i * static_cast<int64_t>(sizeof(T)), sizeof v);
    return v;
  }
  template <typename T>
  void set(int64_t i, T v) {
    std::memcpy(bytes.data() + i * static_cast<int64_t>(sizeof(T)), &v, sizeof v);
  }
  template <typename T>
  std::vector<T> all() const {
    std::vector<T> v(bytes.size() / sizeof(T));
    if (!v.empty()) std::memcpy(v.data(), bytes.data(), bytes.size());
    return v;
  }
};

inline int64_t tensor_bytes(DType dtype, const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n / dtype_info(dtype).block_elements * dtype_info(dtype).block_bytes;
}

inline HostTensor make_tensor(DType dtype, std::vector<int64_t> dims) {
  HostTensor t{dtype, std::move(dims), {}};
  t.bytes.resize(static_cast<size_t>(tensor_bytes(dtype, t.dims)), std::byte{0xa5});
  return t;
}

template <typename T>
HostTensor tensor_of(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  HostTensor t = make_tensor(dtype, std::move(dims));
  REQUIRE(t.bytes.size() == values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}
inline HostTensor f32(std::vector<int64_t> dims, const std::vector<float>& values) {
  return tensor_of(DType::F32, std::move(dims), values);
}

inline std::vector<float> random_floats(int64_t n, uint32_t seed, float scale = 1.0f) {
  std::mt19937 gen(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = normal(gen) * scale;
  return v;
}
inline HostTensor random_f32(std::vector<int64_t> dims, uint32_t seed, float scale = 1.0f) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return f32(std::move(dims), random_floats(n, seed, scale));
}

/// A target per level.
inline const std::vector<Target>& cpu_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (int i = 0; i <= static_cast<int>(cpu::detect_isa()); ++i) {
      all.push_back(cpu_target({std::string(cpu::isa_name(static_cast<cpu::Isa>(i)))}));
    }
    return all;
  }();
  return targets;
}

struct RunOptions {
  /// Result 0 lies on the bytes of this operand; -1: on its own.
  int in_place = -1;
  /// Symbolic shapes of the operands instead of their extents, and what the symbols are.
  std::vector<Shape> shapes;
  std::vector<Symbol> symbols;
  std::vector<int64_t> values;
  /// Reference rows are taken too (they are not run: no results).
  bool allow_reference = false;
};

/// A kernel, prepared, with the buffers of one call.
class KernelRunner {
 public:
  KernelRunner(const Target& target, OpKind op, const Attrs& attrs,
               const std::vector<HostTensor>& operands, const RunOptions& options = {})
      : options_(options), operands_(operands) {
    for (const Symbol& s : options.symbols) graph_.add_symbol(s.name, s.bound);
    Builder b(graph_);
    std::vector<Value> values;
    for (size_t i = 0; i < operands.size(); ++i) {
      Shape shape(operands[i].dims.begin(), operands[i].dims.end());
      if (!options.shapes.empty()) shape = options.shapes[i];
      values.push_back(op == OpKind::Append && i == 0
                           ? graph_.add_state("s", {operands[i].dtype, shape})
                           : graph_.add_input("x" + std::to_string(i), {operands[i].dtype, shape}));
      types_.push_back(graph_.type(values.back()));
    }
    node_ = b.ops(op, values, attrs).front().node;
    const KernelQuery query{graph_.node(node_), types_, graph_.symbols()};
    row_ = select_kernel(target, query, &refusals);
    REQUIRE(row_ != nullptr);
    if (row_->by_reference) {
      CHECK_MESSAGE(options.allow_reference, row_->name, " was taken");
      return;
    }
    CHECK(row_->name.ends_with("." + target.isa));
    if (row_->prepare != nullptr) row_->prepare(query, params_);
    if (row_->workspace != nullptr) workspace_ = row_->workspace(query);
  }

  const KernelRow& row() const { return *row_; }

  /// Results with items taken `step` at a time by three workers in turn, last items first when
  /// `backwards`.
  std::vector<HostTensor> run(int64_t step, bool backwards = false) {
    std::vector<HostTensor> operands = operands_;
    std::vector<HostTensor> results;
    for (const TensorType& t : graph_.node(node_).types) {
      std::vector<int64_t> dims;
      for (const Dim& d : t.shape) dims.push_back(d.value(options_.values));
      results.push_back(make_tensor(t.dtype, dims));
    }
    std::vector<TensorView> ins, outs;
    for (HostTensor& t : operands) ins.push_back(view(t));
    for (HostTensor& t : results) outs.push_back(view(t));
    if (options_.in_place >= 0) outs[0].data = ins[static_cast<size_t>(options_.in_place)].data;
    constexpr int workers = 3;
    const int64_t stride = (workspace_.per_worker + 63) / 64 * 64;
    std::vector<std::byte> scratch(static_cast<size_t>(stride * workers + 64), std::byte{0xff});
    auto* aligned =
        reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    const KernelCall call{ins.data(),
                          outs.data(),
                          static_cast<int32_t>(ins.size()),
                          static_cast<int32_t>(outs.size()),
                          params_,
                          options_.values.data(),
                          nullptr,
                          aligned,
                          stride};
    const int64_t items = row_->items(call);
    const int64_t parts = (items + step - 1) / step;
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t part = backwards ? parts - 1 - i : i;
      row_->run(call, part * step, std::min(items, (part + 1) * step),
                static_cast<int>(i % workers));
    }
    if (options_.in_place >= 0) {
      HostTensor& from = operands[static_cast<size_t>(options_.in_place)];
      results[0].bytes.assign(from.bytes.begin(),
                              from.bytes.begin() + static_cast<int64_t>(results[0].bytes.size()));
    }
    return results;
  }

  std::vector<std::string> refusals;

 private:
  static TensorView view(HostTensor& t) {
    TensorView v{};
    v.data = t.bytes.data();
    v.rank = static_cast<int32_t>(t.dims.size());
    for (size_t i = 0; i < t.dims.size(); ++i) v.dims[i] = t.dims[i];
    v.dtype = t.dtype;
    return v;
  }

  RunOptions options_;
  std::vector<HostTensor> operands_;
  Graph graph_;
  std::vector<TensorType> types_;
  NodeId node_ = kNoNode;
  const KernelRow* row_ = nullptr;
  alignas(16) std::byte params_[KernelRow::kMaxParams] = {};
  Workspace workspace_;
};

/// Results of one kernel; other divisions of its items, and in-place operands where the row offers
/// them, must give the same bits.
inline std::vector<HostTensor> run_kernel(const Target& target, OpKind op, const Attrs& attrs,
                                          const std::vector<HostTensor>& operands,
                                          const RunOptions& options = {}) {
  KernelRunner runner(target, op, attrs, operands, options);
  std::vector<HostTensor> results = runner.run(INT64_MAX / 4);
  for (const int64_t step : {int64_t{1}, int64_t{3}}) {
    const std::vector<HostTensor> again = runner.run(step, true);
    for (size_t i = 0; i < results.size(); ++i) CHECK(again[i].bytes == results[i].bytes);
  }
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
    if (options.in_place >= 0 || (runner.row().in_place >> i & 1u) == 0) continue;
    if (operands[static_cast<size_t>(i)].bytes.size() != results[0].bytes.size()) continue;
    RunOptions shared = options;
    shared.in_place = i;
    KernelRunner over(target, op, attrs, operands, shared);
    CHECK(over.run(1)[0].bytes == results[0].bytes);
  }
  return results;
}

/// |got - want| <= absolute + relative * |want|; NaN and infinities must be the same.
struct Tolerance {
  double relative = 1e-6;
  double absolute = 1e-30;
};
inline void check_close(const std::vector<float>& got, const std::vector<double>& want,
                        Tolerance tolerance) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = got[i], w = want[i];
    // Beyond f32 an infinity is the right answer.
    const bool same =
        std::isnan(w)   ? std::isnan(g)
        : std::isinf(w) ? g == w
        : std::abs(w) > 3.4028235e38
            ? std::isinf(g) && std::signbit(g) == std::signbit(w)
            : std::abs(g - w) <= tolerance.absolute + tolerance.relative * std::abs(w);
    if (same) continue;
    FAIL_CHECK("element " << i << " of " << got.size() << " is " << g << ", not " << w);
    return;
  }
}

}  // namespace rlx::test

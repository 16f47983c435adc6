// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "backends/cpu/rows_linear.h"
#include "base/half.h"
#include "quant/codes.h"
#include "quant/dequantize.h"
#include "quant/q15.h"

namespace rlx {
namespace {

using cpu::Isa;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Bytes of exactly the size asked for, so that AddressSanitizer sees every byte read behind them.
struct Bytes {
  explicit Bytes(size_t size, size_t misalignment = 0)
      : base(new std::byte[size + misalignment]), data(base.get() + misalignment), size(size) {}
  float* floats() { return reinterpret_cast<float*>(data); }
  std::unique_ptr<std::byte[]> base;
  std::byte* data;
  size_t size;
};

size_t byte_size(DType dtype, int64_t elements) {
  const DTypeInfo& info = dtype_info(dtype);
  return static_cast<size_t>(elements) / info.block_elements * info.block_bytes;
}

struct Operand {
  DType dtype;
  std::vector<int64_t> dims;
  std::byte* data;
};

TensorView view_of(const Operand& o) {
  TensorView v{o.data, {}, static_cast<int32_t>(o.dims.size()), o.dtype};
  std::copy(o.dims.begin(), o.dims.end(), v.dims);
  return v;
}

TensorType type_of(const Operand& o) { return {o.dtype, Shape(o.dims.begin(), o.dims.end())}; }

/// The first row for `op` at that level that takes the operands; checks that there is one. Runs it
/// with its items split at `split` (of 8) between two workers.
std::string run_op(OpKind op, Isa isa, std::vector<Operand> operands, const Operand& result,
                   int split = 3) {
  Target target;
  cpu::add_linear_rows(target.kernels, isa);
  Node node;
  node.op = op;
  node.types = {type_of(result)};
  std::vector<TensorType> types;
  std::vector<TensorView> views;
  for (const Operand& o : operands) {
    types.push_back(type_of(o));
    views.push_back(view_of(o));
  }
  const KernelQuery query{node, types, {}};
  std::vector<std::string> refusals;
  const KernelRow* row = select_kernel(target, query, &refusals);
  if (row == nullptr) return {};
  alignas(16) std::byte params[KernelRow::kMaxParams] = {};
  if (row->prepare != nullptr) row->prepare(query, params);
  const Workspace workspace = row->workspace != nullptr ? row->workspace(query) : Workspace{};
  const int64_t stride = (workspace.per_worker + 63) / 64 * 64;
  std::vector<std::byte> scratch(static_cast<size_t>(2 * stride + 64), std::byte{0x7f});
  void* aligned = scratch.data();
  size_t space = scratch.size();
  std::align(64, static_cast<size_t>(2 * stride), aligned, space);
  const TensorView out = view_of(result);
  KernelCall call{};
  call.operands = views.data();
  call.results = &out;
  call.operand_count = static_cast<int32_t>(views.size());
  call.result_count = 1;
  call.params = params;
  call.scratch = static_cast<std::byte*>(aligned);
  call.scratch_stride = stride;
  const int64_t items = row->items(call);
  row->run(call, 0, items * split / 8, 1);
  row->run(call, items * split / 8, items, 0);
  return row->name;
}

std::vector<Isa> levels() {
  std::vector<Isa> all;
  for (int i = 0; i <= static_cast<int>(cpu::detect_isa()); ++i) all.push_back(Isa(i));
  return all;
}

std::vector<DType> packed_types() {
  std::vector<DType> all;
  for (const DTypeInfo& info : all_dtypes()) {
    if (code_format(info.dtype)) all.push_back(info.dtype);
  }
  return all;
}

/// Random blocks whose numbers are finite and of middling size, at an odd address.
Bytes random_blocks(DType dtype, int64_t elements, std::mt19937& random) {
  const DTypeInfo& info = dtype_info(dtype);
  Bytes blocks(byte_size(dtype, elements), 1);
  std::vector<float> values(info.block_elements);
  for (std::byte* p = blocks.data; p < blocks.data + blocks.size; p += info.block_bytes) {
    float largest;
    do {
      for (uint32_t i = 0; i < info.block_bytes; ++i) p[i] = std::byte(random());
      dequantize(dtype, p, values.data(), values.size());
      largest = 0;
      for (const float v : values)
        largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : 1e9f;
    } while (largest > 100 || largest < 1e-3f);
  }
  return blocks;
}

std::vector<float> random_floats(int64_t n, std::mt19937& random) {
  std::normal_distribution<float> normal(0.1f, 1.0f);
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = normal(random);
  return v;
}

Bytes bytes_of(const std::vector<float>& v) {
  Bytes bytes(v.size() * 4);
  std::memcpy(bytes.data, v.data(), bytes.size);
  return bytes;
}

Bytes to_q15(const std::vector<float>& v) {
  Bytes blocks(byte_size(DType::Q15, static_cast<int64_t>(v.size())));
  quantize_q15(v.data(), blocks.data, v.size());
  return blocks;
}

/// x[m, k] times w[n, k] in doubles, and what errors are measured by: the sum over k of |w| times
/// the largest |x| of the block.
struct Expected {
  std::vector<double> y, size;
  Expected(const std::vector<float>& x, const std::vector<float>& w, int64_t m, int64_t n,
           int64_t k)
      : y(static_cast<size_t>(m * n)), size(y.size()) {
    for (int64_t i = 0; i < m; ++i) {
      std::vector<double> wide(x.begin() + i * k, x.begin() + (i + 1) * k), peak(wide.size());
      for (int64_t b = 0; b < k; b += 32) {
        double largest = 0;
        const int64_t end = std::min(k, b + 32);
        for (int64_t j = b; j < end; ++j) largest = std::max(largest, std::fabs(wide[j]));
        std::fill(peak.begin() + b, peak.begin() + end, largest);
      }
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, weight = 0;
        for (int64_t c = 0; c < k; ++c) {
          sum += wide[c] * w[j * k + c];
          weight += peak[c] * std::fabs(w[j * k + c]);
        }
        y[i * n + j] = sum;
        size[i * n + j] = weight;
      }
    }
  }
  /// The largest error of the first `count` results in units of `size`; NaN gives infinity.
  double error(const float* given, size_t count) const {
    double worst = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!(std::fabs(given[i]) <= std::numeric_limits<float>::max())) return HUGE_VAL;
      worst = std::max(worst, std::fabs(given[i] - y[i]) / (size[i] + 1e-30));
    }
    return worst;
  }
};

std::vector<float> expand(DType dtype, const Bytes& blocks, int64_t elements) {
  std::vector<float> v(static_cast<size_t>(elements));
  dequantize(dtype, blocks.data, v.data(), v.size());
  return v;
}

// The type of the activations rounds each by half a step of its block's peak / 16256.
constexpr double q15_bound = 0.502 / 16256 + 2e-6;
constexpr double f32_bound = 2e-6;

/// One type and row length at all widths, levels and both activation types.
void check_packed_product(DType dtype, int64_t k, std::mt19937& random) {
  constexpr int64_t n = 37, most = 33;
  const Bytes w = random_blocks(dtype, n * k, random);
  const std::vector<float> x = random_floats(most * k, random);
  const Expected expected(x, expand(dtype, w, n * k), most, n, k);
  Bytes x32 = bytes_of(x), q15 = to_q15(x);
  for (const Isa isa : levels()) {
    for (const DType xtype : {DType::F32, DType::Q15}) {
      if (xtype == DType::Q15 && isa != Isa::V4Vnni) continue;
      for (const int64_t m : {1, 2, 7, 8, 31, 32, 33}) {
        Bytes y(static_cast<size_t>(m * n * 4)), again(y.size);
        const Operand xs{xtype, {m, k}, (xtype == DType::F32 ? x32 : q15).data};
        const std::string row = run_op(OpKind::Linear, isa, {xs, {dtype, {n, k}, w.data}},
                                       {DType::F32, {m, n}, y.data});
        CAPTURE(row);
        CAPTURE(dtype_name(dtype));
        CAPTURE(k);
        CAPTURE(m);
        REQUIRE(!row.empty());
        CHECK(expected.error(y.floats(), static_cast<size_t>(m * n)) <
              (xtype == DType::F32 ? f32_bound : q15_bound));
        run_op(OpKind::Linear, isa, {xs, {dtype, {n, k}, w.data}}, {DType::F32, {m, n}, again.data},
               8);
        CHECK(std::memcmp(y.data, again.data, y.size) == 0);
      }
    }
  }
}

}  // namespace

// llm-bugs/101-odd-block-count: every type, rows of these many blocks, these many columns.
TEST_CASE("linear with packed weights equals the dequantized product") {
  std::mt19937 random(11);
  for (const DType dtype : packed_types()) {
    for (const int64_t blocks : {1, 2, 3, 17, 18, 35}) {
      check_packed_product(dtype, blocks * dtype_info(dtype).block_elements, random);
    }
  }
}

TEST_CASE("a q15 product is closer to its own activations than their rounding") {
  if (cpu::detect_isa() != Isa::V4Vnni) return;
  std::mt19937 random(12);
  for (const DType dtype : packed_types()) {
    const int64_t k = 2304, n = 5, most = 9;
    const Bytes w = random_blocks(dtype, n * k, random);
    const Bytes x = to_q15(random_floats(most * k, random));
    std::vector<float> rounded(static_cast<size_t>(most * k));
    dequantize_q15(x.data, rounded.data(), rounded.size());
    const Expected expected(rounded, expand(dtype, w, n * k), most, n, k);
    for (const int64_t m : {int64_t{3}, most}) {
      Bytes y(static_cast<size_t>(m * n * 4));
      run_op(OpKind::Linear, Isa::V4Vnni, {{DType::Q15, {m, k}, x.data}, {dtype, {n, k}, w.data}},
             {DType::F32, {m, n}, y.data});
      CAPTURE(dtype_name(dtype));
      CHECK(expected.error(y.floats(), static_cast<size_t>(m * n)) < 2e-6);
    }
  }
}

// More rows than one chunk and longer rows than one panel, with bias.
TEST_CASE("linear in several chunks and panels") {
  std::mt19937 random(13);
  for (const DType dtype : {DType::Q4_K, DType::Q6_K, DType::Q5_0, DType::Q2_K, DType::IQ2_XS}) {
    const int64_t k = 4096 + 768, n = 33, m = 515;
    const Bytes w = random_blocks(dtype, n * k, random);
    const std::vector<float> x = random_floats(m * k, random);
    Expected expected(x, expand(dtype, w, n * k), m, n, k);
    std::vector<float> bias = random_floats(n, random);
    for (size_t i = 0; i < expected.y.size(); ++i) expected.y[i] += bias[i % n];
    Bytes x32 = bytes_of(x), q15 = to_q15(x), b = bytes_of(bias);
    Bytes y(static_cast<size_t>(m * n * 4));
    for (const Isa isa : levels()) {
      const Operand wide{DType::F32, {5, m / 5, k}, x32.data};
      run_op(OpKind::Linear, isa, {wide, {dtype, {n, k}, w.data}, {DType::F32, {n}, b.data}},
             {DType::F32, {5, m / 5, n}, y.data});
      CHECK(expected.error(y.floats(), expected.y.size()) < f32_bound);
      if (isa != Isa::V4Vnni) continue;
      const Operand packed{DType::Q15, {5, m / 5, k}, q15.data};
      run_op(OpKind::Linear, isa, {packed, {dtype, {n, k}, w.data}, {DType::F32, {n}, b.data}},
             {DType::F32, {5, m / 5, n}, y.data});
      CHECK(expected.error(y.floats(), expected.y.size()) < q15_bound);
    }
  }
}

TEST_CASE("linear with dense weights") {
  std::mt19937 random(14);
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    for (const int64_t k : {1, 7, 16, 100, 515, 1030}) {
      const int64_t n = 35, most = 33;
      std::vector<float> w = random_floats(n * k, random);
      Bytes bytes(byte_size(dtype, n * k), dtype == DType::F32 ? 4 : 2);
      for (size_t i = 0; i < w.size(); ++i) {
        if (dtype == DType::F32) std::memcpy(bytes.data + 4 * i, &w[i], 4);
        if (dtype == DType::F32) continue;
        const uint16_t half = dtype == DType::F16 ? f32_to_f16(w[i]) : f32_to_bf16(w[i]);
        std::memcpy(bytes.data + 2 * i, &half, 2);
        w[i] = dtype == DType::F16 ? f16_to_f32(half) : bf16_to_f32(half);
      }
      const std::vector<float> x = random_floats(most * k, random);
      Bytes x32 = bytes_of(x);
      const Expected expected(x, w, most, n, k);
      for (const Isa isa : levels()) {
        for (const int64_t m : {1, 2, 3, 4, 5, 8, 33}) {
          Bytes y(static_cast<size_t>(m * n * 4));
          run_op(OpKind::Linear, isa, {{DType::F32, {m, k}, x32.data}, {dtype, {n, k}, bytes.data}},
                 {DType::F32, {m, n}, y.data});
          CAPTURE(k);
          CAPTURE(m);
          CHECK(expected.error(y.floats(), static_cast<size_t>(m * n)) < f32_bound);
        }
      }
    }
  }
}

// llm-bugs/098-batch-invariance: a row's result hardly depends on how many rows are with it.
TEST_CASE("a row gives the same result alone and among others") {
  std::mt19937 random(15);
  const int64_t k = 2048, n = 64, most = 70;
  for (const DType dtype : {DType::Q4_K, DType::Q8_0, DType::Q6_K}) {
    const Bytes w = random_blocks(dtype, n * k, random);
    const std::vector<float> x = random_floats(most * k, random);
    const Expected expected(x, expand(dtype, w, n * k), most, n, k);
    for (const DType xtype : {DType::F32, DType::Q15}) {
      if (xtype == DType::Q15 && cpu::detect_isa() != Isa::V4Vnni) continue;
      Bytes xs = xtype == DType::F32 ? bytes_of(x) : to_q15(x);
      Bytes all(static_cast<size_t>(most * n * 4)), one(static_cast<size_t>(n * 4));
      run_op(OpKind::Linear, cpu::detect_isa(),
             {{xtype, {most, k}, xs.data}, {dtype, {n, k}, w.data}},
             {DType::F32, {most, n}, all.data});
      for (const int64_t row : {int64_t{0}, most - 1}) {
        run_op(OpKind::Linear, cpu::detect_isa(),
               {{xtype, {1, k}, xs.data + row * static_cast<int64_t>(byte_size(xtype, k))},
                {dtype, {n, k}, w.data}},
               {DType::F32, {1, n}, one.data});
        for (int64_t j = 0; j < n; ++j) {
          const double size = expected.size[static_cast<size_t>(row * n + j)];
          CHECK(std::fabs(one.floats()[j] - all.floats()[row * n + j]) <= 1e-6 * size);
        }
      }
    }
  }
}

TEST_CASE("a NaN or infinity in a row of x spoils that row only") {
  std::mt19937 random(16);
  for (const DType dtype : {DType::Q4_0, DType::Q4_K, DType::Q6_K, DType::IQ3_S}) {
    for (const int64_t m : {2, 9}) {
      for (const DType xtype : {DType::F32, DType::Q15}) {
        if (xtype == DType::Q15 && cpu::detect_isa() != Isa::V4Vnni) continue;
        const int64_t k = 512, n = 6;
        const Bytes w = random_blocks(dtype, n * k, random);
        std::vector<float> x = random_floats(m * k, random);
        x[static_cast<size_t>(k + 300)] = m == 2 ? nan_value : HUGE_VALF;
        Bytes xs = xtype == DType::F32 ? bytes_of(x) : to_q15(x);
        Bytes y(static_cast<size_t>(m * n * 4));
        run_op(OpKind::Linear, cpu::detect_isa(),
               {{xtype, {m, k}, xs.data}, {dtype, {n, k}, w.data}}, {DType::F32, {m, n}, y.data});
        for (int64_t i = 0; i < m * n; ++i) CHECK(std::isfinite(y.floats()[i]) == (i / n != 1));
      }
    }
  }
}

TEST_CASE("quantize gives the bytes of quantize_q15 at every level") {
  std::mt19937 random(17);
  for (const int64_t blocks : {1, 3, 64, 65, 200}) {
    std::vector<float> x = random_floats(blocks * 32, random);
    for (size_t i = 0; i < x.size(); ++i) {
      // Blocks of all magnitudes, subnormal ones and all-zero ones included.
      x[i] = std::ldexp(x[i], static_cast<int>(i / 32 * 37 % 260) - 150);
      if (i / 32 % 7 == 5) x[i] = 0.0f;
    }
    if (blocks > 60) {
      x[40] = nan_value;
      x[70] = -HUGE_VALF;
      x[100] = 3.4e38f;
      for (int i = 0; i < 32; ++i) x[static_cast<size_t>(128 + i)] = (i - 16) * 0.5f;
      x[128] = 16256.0f;  // scale 1: exact halves round to even
    }
    Bytes expected = to_q15(x), from = bytes_of(x);
    for (const Isa isa : levels()) {
      Bytes given(expected.size);
      const std::string row =
          run_op(OpKind::Quantize, isa, {{DType::F32, {blocks * 32}, from.data}},
                 {DType::Q15, {blocks * 32}, given.data});
      REQUIRE(!row.empty());
      for (size_t b = 0; b < static_cast<size_t>(blocks); ++b) {
        CAPTURE(row);
        CAPTURE(b);
        Q15Block a, c;
        std::memcpy(&a, expected.data + 72 * b, 72);
        std::memcpy(&c, given.data + 72 * b, 72);
        CHECK(std::isnan(a.scale) == std::isnan(c.scale));
        if (!std::isnan(a.scale)) CHECK(a.scale == c.scale);
        CHECK(std::memcmp(&a.sum, &c.sum, 68) == 0);
      }
    }
  }
}

TEST_CASE("embedding expands rows and gives NaN for ids outside the table") {
  std::mt19937 random(18);
  std::vector<DType> types = packed_types();
  for (const DType d : {DType::F32, DType::F16, DType::BF16}) types.push_back(d);
  for (const DType dtype : types) {
    const int64_t width = is_packed(dtype) ? 512 : 37, rows = 5;
    Bytes table(byte_size(dtype, rows * width));
    std::vector<float> values;
    if (is_packed(dtype)) {
      const Bytes blocks = random_blocks(dtype, rows * width, random);
      std::memcpy(table.data, blocks.data, table.size);
      values = expand(dtype, blocks, rows * width);
    } else {
      values = random_floats(rows * width, random);
      for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t half = dtype == DType::F16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
        if (dtype == DType::F32) std::memcpy(table.data + 4 * i, &values[i], 4);
        if (dtype == DType::F32) continue;
        std::memcpy(table.data + 2 * i, &half, 2);
        values[i] = dtype == DType::F16 ? f16_to_f32(half) : bf16_to_f32(half);
      }
    }
    std::vector<int64_t> ids{4, 0, -1, 2, 5, 2};
    std::vector<int32_t> narrow(ids.begin(), ids.end());
    for (const Isa isa : levels()) {
      for (const bool wide : {false, true}) {
        Bytes y(ids.size() * static_cast<size_t>(width) * 4);
        std::byte* id_bytes =
            reinterpret_cast<std::byte*>(wide ? (void*)ids.data() : narrow.data());
        run_op(
            OpKind::Embedding, isa,
            {{dtype, {rows, width}, table.data}, {wide ? DType::I64 : DType::I32, {6}, id_bytes}},
            {DType::F32, {6, width}, y.data});
        for (size_t t = 0; t < ids.size(); ++t) {
          const float* row = y.floats() + static_cast<int64_t>(t) * width;
          if (ids[t] < 0 || ids[t] >= rows) {
            CHECK(std::all_of(row, row + width, [](float v) { return std::isnan(v); }));
          } else {
            CHECK(std::memcmp(row, values.data() + ids[t] * width,
                              static_cast<size_t>(width) * 4) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("expert_linear gives each pair its expert's product, NaN for unknown experts") {
  std::mt19937 random(19);
  const int64_t experts = 5, n = 40, k = 512, per_token = 3;
  for (const DType dtype : {DType::Q4_K, DType::Q8_0, DType::IQ2_S, DType::MXFP4}) {
    const Bytes w = random_blocks(dtype, experts * n * k, random);
    const std::vector<float> weights = expand(dtype, w, experts * n * k);
    for (const int64_t tokens : {1, 4, 6, 40}) {
      for (const bool per_pair : {false, true}) {
        const int64_t pairs = tokens * per_token, rows = per_pair ? pairs : tokens;
        const std::vector<float> x = random_floats(rows * k, random);
        std::vector<int64_t> ids(static_cast<size_t>(pairs));
        for (int64_t& id : ids) id = static_cast<int64_t>(random() % experts);
        ids[1] = experts;
        ids[2] = -1;
        const Expected all(x, weights, rows, experts * n, k);
        for (const Isa isa : levels()) {
          for (const DType xtype : {DType::F32, DType::Q15}) {
            if (xtype == DType::Q15 && isa != Isa::V4Vnni) continue;
            Bytes xs = xtype == DType::F32 ? bytes_of(x) : to_q15(x);
            Bytes y(static_cast<size_t>(pairs * n * 4));
            const std::vector<int64_t> shape = per_pair ? std::vector<int64_t>{tokens, per_token, k}
                                                        : std::vector<int64_t>{tokens, k};
            run_op(OpKind::ExpertLinear, isa,
                   {{xtype, shape, xs.data},
                    {dtype, {experts, n, k}, w.data},
                    {DType::I64, {tokens, per_token}, reinterpret_cast<std::byte*>(ids.data())}},
                   {DType::F32, {tokens, per_token, n}, y.data});
            for (int64_t p = 0; p < pairs; ++p) {
              const int64_t id = ids[static_cast<size_t>(p)];
              for (int64_t j = 0; j < n; ++j) {
                const float given = y.floats()[p * n + j];
                if (id < 0 || id >= experts) {
                  CHECK(std::isnan(given));
                  continue;
                }
                const size_t at =
                    static_cast<size_t>((per_pair ? p : p / per_token) * experts * n + id * n + j);
                CHECK(std::fabs(given - all.y[at]) <= q15_bound * all.size[at]);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("rows say why they refuse") {
  Target target;
  cpu::add_linear_rows(target.kernels, Isa::V4Vnni);
  Node node;
  node.op = OpKind::Linear;
  node.types = {{DType::F32, {Dim(2), Dim(8)}}};
  const std::vector<TensorType> types{{DType::F64, {Dim(2), Dim(32)}},
                                      {DType::I8, {Dim(8), Dim(32)}}};
  std::vector<std::string> refusals;
  CHECK(select_kernel(target, {node, types, {}}, &refusals) == nullptr);
  REQUIRE(refusals.size() == 2);
  CHECK(refusals[0] == "linear.q15.v4_vnni: operand 0 is f64, this kernel reads q15");
  CHECK(refusals[1] == "linear.f32.v4_vnni: operand 0 is f64, this kernel reads f32");
}

TEST_CASE("levels have names") {
  for (const Isa isa : {Isa::V2, Isa::V3, Isa::V4, Isa::V4Vnni}) {
    CHECK(cpu::isa_from_name(cpu::isa_name(isa)) == isa);
  }
  CHECK(!cpu::isa_from_name("v5"));
}

}  // namespace rlx

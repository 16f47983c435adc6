// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backends_check.h"
#include "quant/q8_0.h"

using namespace rlx;
using namespace rlx::test;

namespace {

struct Shapes {
  int64_t queries, keys, heads, kv_heads, width, v_width;
};
struct Options {
  double softcap = 0;
  int64_t window = 0;
  bool causal = true;
  DType k = DType::F32, v = DType::F32;
};

/// The cache type's bytes for x, and in x what they read back as.
HostTensor stored(DType dtype, const std::vector<int64_t>& dims, std::vector<float>& x) {
  HostTensor t = make_tensor(dtype, dims);
  if (dtype == DType::Q8_0) {
    quantize_q8_0(x.data(), t.bytes.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const std::byte* block = t.bytes.data() + i / 32 * 34;
      uint16_t scale;
      std::memcpy(&scale, block, 2);
      x[i] = f16_to_f32(scale) * static_cast<float>(static_cast<int8_t>(block[2 + i % 32]));
    }
    return t;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (dtype == DType::F16) {
      t.set<uint16_t>(at, f32_to_f16(x[i]));
      x[i] = f16_to_f32(f32_to_f16(x[i]));
    } else if (dtype == DType::BF16) {
      t.set<uint16_t>(at, f32_to_bf16(x[i]));
      x[i] = bf16_to_f32(f32_to_bf16(x[i]));
    } else {
      t.set(at, x[i]);
    }
  }
  return t;
}

Attrs attention_attrs(const Shapes& s, const Options& o) {
  return {{AttrKey::Heads, AttrValue::of_int(s.heads)},
          {AttrKey::KvHeads, AttrValue::of_int(s.kv_heads)},
          {AttrKey::Scale, AttrValue::of_float(1 / std::sqrt(double(s.width)))},
          {AttrKey::Softcap, AttrValue::of_float(o.softcap)},
          {AttrKey::Window, AttrValue::of_int(o.window)},
          {AttrKey::Causal, AttrValue::of_bool(o.causal)}};
}

/// softmax(mask(softcap(scale q k^T))) v in double, one query and head at a time.
std::vector<double> expected(const Shapes& s, const Options& o, const std::vector<float>& q,
                             const std::vector<float>& k, const std::vector<float>& v) {
  std::vector<double> y(size_t(s.queries * s.heads * s.v_width));
  const double scale = 1 / std::sqrt(double(s.width));
  for (int64_t t = 0; t < s.queries; ++t) {
    const int64_t end = o.causal ? s.keys - s.queries + t + 1 : s.keys;
    const int64_t begin = o.window > 0 ? std::max<int64_t>(0, end - o.window) : 0;
    for (int64_t h = 0; h < s.heads; ++h) {
      const int64_t g = h / (s.heads / s.kv_heads);
      std::vector<double> p;
      double m = -HUGE_VAL, sum = 0;
      for (int64_t j = begin; j < end; ++j) {
        double dot = 0;
        for (int64_t d = 0; d < s.width; ++d) {
          dot += double(q[size_t((t * s.heads + h) * s.width + d)]) *
                 k[size_t((j * s.kv_heads + g) * s.width + d)];
        }
        dot *= scale;
        if (o.softcap > 0) dot = o.softcap * std::tanh(dot / o.softcap);
        p.push_back(dot);
        m = std::max(m, dot);
      }
      for (double& x : p) sum += x = std::exp(x - m);
      for (int64_t j = begin; j < end; ++j) {
        for (int64_t d = 0; d < s.v_width; ++d) {
          y[size_t((t * s.heads + h) * s.v_width + d)] +=
              p[size_t(j - begin)] / sum * v[size_t((j * s.kv_heads + g) * s.v_width + d)];
        }
      }
    }
  }
  return y;
}

struct Inputs {
  std::vector<float> q, k, v;
  std::vector<HostTensor> tensors;
};
Inputs make_inputs(const Shapes& s, const Options& o, uint32_t seed) {
  Inputs in{random_floats(s.queries * s.heads * s.width, seed, 2.0f),
            random_floats(s.keys * s.kv_heads * s.width, seed + 1, 2.0f),
            random_floats(s.keys * s.kv_heads * s.v_width, seed + 2),
            {}};
  const HostTensor k = stored(o.k, {s.keys, s.kv_heads * s.width}, in.k);
  const HostTensor v = stored(o.v, {s.keys, s.kv_heads * s.v_width}, in.v);
  in.tensors = {f32({s.queries, s.heads * s.width}, in.q), k, v};
  return in;
}

void check_attention(const Shapes& s, const Options& o, uint32_t seed) {
  const Inputs in = make_inputs(s, o, seed);
  const auto want = expected(s, o, in.q, in.k, in.v);
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    CAPTURE(s.queries);
    CAPTURE(s.keys);
    CAPTURE(s.heads);
    CAPTURE(s.kv_heads);
    CAPTURE(s.width);
    CAPTURE(s.v_width);
    CAPTURE(o.window);
    CAPTURE(dtype_name(o.k));
    const auto y = run_kernel(target, OpKind::Attention, attention_attrs(s, o), in.tensors);
    check_close(y[0].all<float>(), want, {2e-5, 5e-6});
  }
}

}  // namespace

TEST_CASE("cpu: attention with head widths from 1 to 256, odd ones included") {
  for (const int64_t width : {1, 3, 16, 33, 64, 80, 96, 128, 200, 256}) {
    check_attention({1, 70, 4, 2, width, width}, {}, 1);
    check_attention({13, 70, 4, 2, width, width}, {}, 2);
  }
  check_attention({9, 40, 2, 1, 64, 33}, {}, 3);
  check_attention({9, 40, 2, 2, 40, 128}, {}, 4);
  check_attention({1, 40, 2, 2, 576, 512}, {}, 5);
  check_attention({12, 40, 2, 1, 576, 512}, {}, 6);
}

TEST_CASE("cpu: attention at every number of queries and keys around the tiles") {
  for (const int64_t past : {0, 1, 3, 62, 63, 64, 65, 127, 200}) {
    for (const int64_t queries : {1, 2, 3, 4, 5, 8, 9, 31, 64, 65, 130}) {
      check_attention({queries, past + queries, 3, 1, 32, 32}, {}, uint32_t(past));
    }
  }
}

TEST_CASE("cpu: attention groups: one key head for all, one each, and more than a block of rows") {
  for (const auto& [heads, kv_heads] :
       {std::pair<int64_t, int64_t>{1, 1}, {9, 3}, {14, 2}, {16, 8}, {32, 32}, {71, 1}, {140, 1}}) {
    for (const int64_t queries : {1, 2, 7, 40}) {
      check_attention({queries, queries + 50, heads, kv_heads, 24, 24}, {}, 7);
    }
  }
}

TEST_CASE("cpu: attention windows of w keys, softcap, and no mask at all") {
  for (const int64_t queries : {1, 6, 40, 100}) {
    for (const int64_t window : {1, 2, 5, 63, 64, 65, 129, 1000}) {
      Options o;
      o.window = window;
      check_attention({queries, queries + 150, 4, 2, 20, 20}, o, 8);
      check_attention({queries, queries, 4, 2, 20, 20}, o, 9);
    }
    Options o;
    o.softcap = 3;
    check_attention({queries, queries + 75, 4, 2, 20, 20}, o, 10);
    o.softcap = 0;
    o.causal = false;
    check_attention({queries, 90, 4, 2, 20, 20}, o, 11);
    check_attention({queries, 3, 4, 2, 20, 20}, o, 12);
  }
}

TEST_CASE("cpu: attention reads caches of f32, f16, bf16 and q8_0, mixed too") {
  for (const DType k : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
    for (const DType v : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
      Options o;
      o.k = k;
      o.v = v;
      for (const int64_t queries : {1, 11}) {
        check_attention({queries, 100, 4, 2, 64, 64}, o, 13);
        // Heads that start and end within a block of 32.
        check_attention({queries, 100, 4, 2, 80, 48}, o, 14);
        check_attention({queries, 70, 8, 4, 24, 8}, o, 15);
      }
    }
  }
}

TEST_CASE("cpu: attention of a position agrees however its prompt is cut into runs") {
  const Shapes s{150, 150, 4, 1, 64, 64};
  const Inputs in = make_inputs(s, {}, 20);
  const auto rows_of = [&](const HostTensor& t, int64_t begin, int64_t end) {
    HostTensor part = t;
    part.dims[0] = end - begin;
    const auto row = static_cast<int64_t>(t.bytes.size()) / t.dims[0];
    part.bytes.assign(t.bytes.begin() + begin * row, t.bytes.begin() + end * row);
    return part;
  };
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    const auto whole = run_kernel(target, OpKind::Attention, attention_attrs(s, {}), in.tensors)[0];
    for (const int64_t chunk : {1, 2, 7, 64}) {
      CAPTURE(chunk);
      for (int64_t begin = 0; begin < s.queries; begin += chunk) {
        const int64_t end = std::min(begin + chunk, s.queries);
        const auto part =
            run_kernel(target, OpKind::Attention, attention_attrs(s, {}),
                       {rows_of(in.tensors[0], begin, end), rows_of(in.tensors[1], 0, end),
                        rows_of(in.tensors[2], 0, end)})[0];
        std::vector<double> want;
        for (const float x : rows_of(whole, begin, end).all<float>()) want.push_back(x);
        check_close(part.all<float>(), want, {1e-5, 5e-6});
      }
    }
  }
}

TEST_CASE("cpu: attention with infinities and NaN: they reach whoever sees them, and no other") {
  for (const Target& target : cpu_targets()) {
    for (const int64_t queries : {4, 40}) {
      CAPTURE(target.isa);
      const Shapes s{queries, queries, 2, 1, 16, 16};
      Inputs in = make_inputs(s, {}, 30);
      const int64_t bad = queries - 2;
      in.tensors[1].set(bad * 16, std::nanf(""));
      const auto y = run_kernel(target, OpKind::Attention, attention_attrs(s, {}), in.tensors)[0];
      for (int64_t t = 0; t < queries; ++t) {
        for (int64_t i = 0; i < 32; ++i) {
          CHECK(std::isnan(y.get<float>(t * 32 + i)) == (t >= bad));
        }
      }
      // A score of -inf has no weight; where there is no other, there is no distribution.
      Inputs low = make_inputs(s, {}, 31);
      for (int64_t i = 0; i < low.tensors[0].count(); ++i) low.tensors[0].set(i, 1.0f);
      low.tensors[1].set(0, -std::numeric_limits<float>::infinity());
      const auto z = run_kernel(target, OpKind::Attention, attention_attrs(s, {}), low.tensors)[0];
      CHECK(std::isnan(z.get<float>(0)));
      for (int64_t i = 0; i < 16; ++i) {
        CHECK(z.get<float>(32 + i) == doctest::Approx(low.v[size_t(16 + i)]).epsilon(1e-6));
      }
    }
    Options open;
    open.causal = false;
    const Shapes none{2, 0, 2, 1, 16, 16};
    const Inputs in = make_inputs(none, open, 32);
    const auto y =
        run_kernel(target, OpKind::Attention, attention_attrs(none, open), in.tensors)[0];
    for (const float x : y.all<float>()) CHECK(x == 0.0f);
  }
}

TEST_CASE("cpu: rope_table keeps its phase up to position 131072 and beyond") {
  std::vector<int32_t> positions = {0, 1, 2, 77, 4095, 100000, 131071, 131072, 2000000000, -5};
  std::vector<float> frequencies;
  for (int i = 0; i < 37; ++i) frequencies.push_back(float(std::pow(10000.0, -i / 37.0)));
  const auto rows = int64_t(positions.size()), half = int64_t(frequencies.size());
  const auto p32 = tensor_of(DType::I32, {rows}, positions);
  const auto p64 =
      tensor_of(DType::I64, {rows}, std::vector<int64_t>(positions.begin(), positions.end()));
  std::vector<double> c, s;
  for (const int32_t p : positions) {
    for (const float f : frequencies) {
      c.push_back(1.5 * std::cos(double(p) * double(f)));
      s.push_back(1.5 * std::sin(double(p) * double(f)));
    }
  }
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    for (const HostTensor& p : {p32, p64}) {
      const auto y =
          run_kernel(target, OpKind::RopeTable, {{AttrKey::Magnitude, AttrValue::of_float(1.5)}},
                     {p, f32({half}, frequencies)});
      check_close(y[0].all<float>(), c, {1e-7, 5e-9});
      check_close(y[1].all<float>(), s, {1e-7, 5e-9});
    }
  }
}

TEST_CASE("cpu: rope in both styles, whole heads and parts of them") {
  for (const Target& target : cpu_targets()) {
    for (const bool interleaved : {false, true}) {
      for (const auto& [width, half] :
           {std::pair<int64_t, int64_t>{2, 1}, {64, 32}, {80, 16}, {7, 3}, {256, 128}, {6, 0}}) {
        CAPTURE(target.isa);
        CAPTURE(width);
        const int64_t rows = 5, heads = 3;
        const auto x = random_floats(rows * heads * width, 40);
        const auto c = random_floats(rows * half, 41), s = random_floats(rows * half, 42);
        std::vector<double> want(x.begin(), x.end());
        for (int64_t t = 0; t < rows; ++t) {
          for (int64_t h = 0; h < heads; ++h) {
            const size_t at = size_t((t * heads + h) * width);
            for (int64_t i = 0; i < half; ++i) {
              const size_t a = at + size_t(interleaved ? 2 * i : i);
              const size_t b = interleaved ? a + 1 : a + size_t(half);
              const double cosine = c[size_t(t * half + i)], sine = s[size_t(t * half + i)];
              want[a] = x[a] * cosine - x[b] * sine;
              want[b] = x[b] * cosine + x[a] * sine;
            }
          }
        }
        const auto y = run_kernel(
            target, OpKind::Rope,
            {{AttrKey::Heads, AttrValue::of_int(heads)},
             {AttrKey::Style, AttrValue::of_string(interleaved ? "interleaved" : "neox")}},
            {f32({rows, heads * width}, x), f32({rows, half}, c), f32({rows, half}, s)});
        check_close(y[0].all<float>(), want, {1e-6, 1e-6});
      }
    }
  }
}

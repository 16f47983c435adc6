// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>

#include "backends_check.h"

using namespace rlx;
using namespace rlx::test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_value = std::nanf("");

std::vector<float> special_floats() {
  return {0.0f,    -0.0f,   1.0f,       -1.0f,      0.5f,   -0.5f,   1.5f,      2.5f,  -2.5f,
          3.7f,    inf,     -inf,       nan_value,  1e-40f, -1e-40f, 1e-45f,    88.7f, 89.5f,
          -87.3f,  -103.9f, -105.0f,    1e30f,      -1e30f, 3e38f,   1e-38f,    20.0f, -20.0f,
          0.0591f, 100.25f, 8388607.5f, 4194304.5f, 1e9f,   -3e10f,  0.7853982f};
}

struct UnaryCase {
  OpKind op;
  double (*f)(double);
  Tolerance tolerance;
  Attrs attrs = {};
};

double sign_of(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double relu(double x) { return std::isnan(x) ? x : x > 0 ? x : 0; }
double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double softcap_30(double x) { return 30 * std::tanh(x / 30); }

const std::vector<UnaryCase>& unary_cases() {
  const Tolerance exact{0, 0}, ulps{3e-7, 2e-45}, gate{5e-7, 2e-6};
  static const std::vector<UnaryCase> cases = {
      {OpKind::Neg, [](double x) { return -x; }, exact},
      {OpKind::Abs, [](double x) { return std::fabs(x); }, exact},
      {OpKind::Sign, sign_of, exact},
      {OpKind::Exp, [](double x) { return std::exp(x); }, ulps},
      {OpKind::Log, [](double x) { return std::log(x); }, ulps},
      {OpKind::Sqrt, [](double x) { return std::sqrt(x); }, ulps},
      {OpKind::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, ulps},
      {OpKind::Sin, [](double x) { return std::sin(x); }, {2e-7, 1e-9}},
      {OpKind::Cos, [](double x) { return std::cos(x); }, {2e-7, 1e-9}},
      {OpKind::Tanh, [](double x) { return std::tanh(x); }, ulps},
      {OpKind::Erf, [](double x) { return std::erf(x); }, ulps},
      {OpKind::Floor, [](double x) { return std::floor(x); }, exact},
      {OpKind::Ceil, [](double x) { return std::ceil(x); }, exact},
      {OpKind::Round, [](double x) { return std::nearbyint(x); }, exact},
      {OpKind::Sigmoid, sigmoid, {3e-7, 1e-38}},
      {OpKind::Relu, relu, exact},
      {OpKind::Silu, silu, {5e-7, 1e-36}},
      {OpKind::Gelu, gelu, gate},
      {OpKind::Gelu, gelu_tanh, gate, {{AttrKey::Approximate, AttrValue::of_string("tanh")}}},
      {OpKind::Softcap, softcap_30, {3e-7, 1e-38}, {{AttrKey::Softcap, AttrValue::of_float(30)}}}};
  return cases;
}

/// Offset of the operand's element that NumPy broadcasting puts at flat index `i` of the result.
int64_t source_of(int64_t i, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  int64_t at = 0, stride = 1;
  for (size_t a = 0; a < to.size(); ++a) {
    const size_t axis = to.size() - 1 - a;
    const int64_t index = i % to[axis];
    i /= to[axis];
    if (a >= from.size()) continue;
    const int64_t extent = from[from.size() - 1 - a];
    if (extent != 1) at += index * stride;
    stride *= extent;
  }
  return at;
}

using Dims = std::vector<int64_t>;
const std::vector<std::pair<Dims, Dims>>& broadcast_cases() {
  static const std::vector<std::pair<Dims, Dims>> cases = {{{1}, {1}},
                                                           {{}, {}},
                                                           {{37}, {37}},
                                                           {{5, 67}, {5, 67}},
                                                           {{5, 67}, {}},
                                                           {{}, {5, 67}},
                                                           {{5, 67}, {67}},
                                                           {{67}, {5, 67}},
                                                           {{5, 67}, {5, 1}},
                                                           {{5, 1}, {5, 67}},
                                                           {{5, 1}, {1, 67}},
                                                           {{3, 1, 5}, {4, 1}},
                                                           {{2, 3, 4, 5}, {3, 1, 5}},
                                                           {{130, 70}, {130, 70}},
                                                           {{130, 70}, {70}},
                                                           {{0, 3}, {3}}};
  return cases;
}

}  // namespace

TEST_CASE("cpu: unary kernels agree with the C library in double, NaN and infinities included") {
  for (const Target& target : cpu_targets()) {
    for (const UnaryCase& c : unary_cases()) {
      for (const int64_t n : {1, 2, 15, 16, 17, 33, 70, 4096, 9001}) {
        CAPTURE(target.isa);
        CAPTURE(op_name(c.op));
        CAPTURE(n);
        std::vector<float> x = random_floats(n, 7, 4.0f);
        const std::vector<float> special = special_floats();
        for (size_t i = 0; i < special.size() && i < x.size(); ++i) x[i] = special[i];
        std::vector<double> want;
        for (const float v : x) want.push_back(c.f(v));
        const auto y = run_kernel(target, c.op, c.attrs, {f32({n}, x)});
        check_close(y[0].all<float>(), want, c.tolerance);
      }
    }
  }
}

TEST_CASE("cpu: exp, log and tanh keep their accuracy over the whole of f32") {
  std::vector<float> x;
  for (uint64_t b = 0; b < 0x7f800000u; b += 40009) {
    const auto f = std::bit_cast<float>(static_cast<uint32_t>(b));
    x.push_back(f);
    x.push_back(-f);
  }
  const auto n = static_cast<int64_t>(x.size());
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    const std::pair<OpKind, double (*)(double)> cases[] = {
        {OpKind::Exp, [](double v) { return std::exp(v); }},
        {OpKind::Log, [](double v) { return std::log(v); }},
        {OpKind::Tanh, [](double v) { return std::tanh(v); }},
        {OpKind::Erf, [](double v) { return std::erf(v); }}};
    for (const auto& [op, f] : cases) {
      CAPTURE(op_name(op));
      std::vector<double> want;
      for (const float v : x) want.push_back(f(v));
      KernelRunner runner(target, op, {}, {f32({n}, x)});
      check_close(runner.run(1000)[0].all<float>(), want, {3e-7, 1.5e-45});
    }
  }
}

TEST_CASE("cpu: binary kernels broadcast as NumPy does") {
  const std::vector<std::pair<OpKind, double (*)(double, double)>> cases = {
      {OpKind::Add, [](double a, double b) { return a + b; }},
      {OpKind::Sub, [](double a, double b) { return a - b; }},
      {OpKind::Mul, [](double a, double b) { return a * b; }},
      {OpKind::Div, [](double a, double b) { return a / b; }},
      {OpKind::Max, [](double a, double b) { return std::isnan(a) || a > b ? a : b; }},
      {OpKind::Min, [](double a, double b) { return std::isnan(a) || a < b ? a : b; }},
      {OpKind::Pow, [](double a, double b) { return std::pow(a, b); }},
      {OpKind::Mod, [](double a, double b) { return std::fmod(a, b); }}};
  for (const Target& target : cpu_targets()) {
    for (const auto& [op, f] : cases) {
      for (const auto& [da, db] : broadcast_cases()) {
        CAPTURE(target.isa);
        CAPTURE(op_name(op));
        HostTensor a = random_f32(da, 1, 3.0f), b = random_f32(db, 2, 3.0f);
        for (HostTensor* t : {&a, &b}) {
          if (t->count() > 20) {
            t->set(3, nan_value);
            t->set(7, inf);
            t->set(9, -inf);
            t->set(11, 0.0f);
          }
        }
        const auto y = run_kernel(target, op, {}, {a, b});
        std::vector<double> want;
        for (int64_t i = 0; i < y[0].count(); ++i) {
          want.push_back(f(a.get<float>(source_of(i, da, y[0].dims)),
                           b.get<float>(source_of(i, db, y[0].dims))));
        }
        check_close(y[0].all<float>(), want, {2e-7, 1e-37});
      }
    }
  }
}

TEST_CASE("cpu: comparisons, logic and where") {
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    for (const auto& [da, db] : broadcast_cases()) {
      HostTensor a = random_f32(da, 3), b = random_f32(db, 4);
      for (HostTensor* t : {&a, &b}) {
        for (int64_t i = 0; i < t->count(); ++i) t->set(i, std::round(t->get<float>(i)));
        if (t->count() > 8) t->set(5, nan_value);
      }
      const std::pair<OpKind, bool (*)(float, float)> cases[] = {
          {OpKind::Equal, [](float p, float q) { return p == q; }},
          {OpKind::Less, [](float p, float q) { return p < q; }},
          {OpKind::LessEqual, [](float p, float q) { return p <= q; }}};
      for (const auto& [op, f] : cases) {
        const auto y = run_kernel(target, op, {}, {a, b});
        CHECK(y[0].dtype == DType::Bool);
        for (int64_t i = 0; i < y[0].count(); ++i) {
          const bool want = f(a.get<float>(source_of(i, da, y[0].dims)),
                              b.get<float>(source_of(i, db, y[0].dims)));
          if (y[0].get<uint8_t>(i) != (want ? 1 : 0)) FAIL_CHECK(op_name(op) << " at " << i);
        }
      }
      const HostTensor p = run_kernel(target, OpKind::Less, {}, {a, a})[0];
      const HostTensor q = run_kernel(target, OpKind::Equal, {}, {b, b})[0];
      const auto both = run_kernel(target, OpKind::And, {}, {p, q})[0];
      const auto either = run_kernel(target, OpKind::Or, {}, {p, q})[0];
      const auto neither = run_kernel(target, OpKind::Not, {}, {q})[0];
      for (int64_t i = 0; i < both.count(); ++i) {
        const int u = p.get<uint8_t>(source_of(i, da, both.dims));
        const int v = q.get<uint8_t>(source_of(i, db, both.dims));
        CHECK(both.get<uint8_t>(i) == (u & v));
        CHECK(either.get<uint8_t>(i) == (u | v));
      }
      for (int64_t i = 0; i < neither.count(); ++i) {
        CHECK(neither.get<uint8_t>(i) == 1 - q.get<uint8_t>(i));
      }
      const auto y = run_kernel(target, OpKind::Where, {}, {q, a, b})[0];
      for (int64_t i = 0; i < y.count(); ++i) {
        const bool taken = q.get<uint8_t>(source_of(i, db, y.dims)) != 0;
        const auto want = taken ? a.get<uint32_t>(source_of(i, da, y.dims))
                                : b.get<uint32_t>(source_of(i, db, y.dims));
        CHECK(y.get<uint32_t>(i) == want);
      }
    }
    const auto c = tensor_of<uint8_t>(DType::Bool, {3}, {1, 0, 1});
    const auto wide = run_kernel(target, OpKind::Where, {},
                                 {c, tensor_of<int64_t>(DType::I64, {3}, {1, 2, INT64_MAX}),
                                  tensor_of<int64_t>(DType::I64, {}, {-5})});
    CHECK(wide[0].all<int64_t>() == std::vector<int64_t>{1, -5, INT64_MAX});
  }
}

TEST_CASE("cpu: glu") {
  for (const Target& target : cpu_targets()) {
    for (const auto& [name, f] : {std::pair<const char*, double (*)(double)>{"silu", silu},
                                  {"gelu", gelu},
                                  {"gelu_tanh", gelu_tanh}}) {
      for (const int64_t n : {1, 31, 5000}) {
        CAPTURE(name);
        const auto g = random_floats(n, 5, 3.0f), u = random_floats(n, 6, 2.0f);
        std::vector<double> want;
        for (size_t i = 0; i < g.size(); ++i) want.push_back(f(g[i]) * u[i]);
        const auto y =
            run_kernel(target, OpKind::Glu, {{AttrKey::Activation, AttrValue::of_string(name)}},
                       {f32({n}, g), f32({n}, u)});
        check_close(y[0].all<float>(), want, {1e-6, 3e-6});
      }
    }
  }
}

namespace {

/// What a number of type `from` is in type `to`, as the catalogue defines casts.
double cast_number(DType to, double x) {
  const auto saturate = [&](double low, double high) {
    if (std::isnan(x)) return 0.0;
    return std::clamp(std::trunc(x), low, high);
  };
  switch (to) {
    case DType::F32: return static_cast<float>(x);
    case DType::F16: return f16_to_f32(f32_to_f16(static_cast<float>(x)));
    case DType::BF16: return bf16_to_f32(f32_to_bf16(static_cast<float>(x)));
    case DType::I8: return saturate(-128, 127);
    case DType::I32: return saturate(-2147483648.0, 2147483647.0);
    case DType::U8: return saturate(0, 255);
    case DType::U32: return saturate(0, 4294967295.0);
    case DType::Bool: return x != 0 ? 1 : 0;
    default: return x;
  }
}

double number_at(const HostTensor& t, int64_t i) {
  switch (t.dtype) {
    case DType::F64: return t.get<double>(i);
    case DType::F32: return t.get<float>(i);
    case DType::F16: return f16_to_f32(t.get<uint16_t>(i));
    case DType::BF16: return bf16_to_f32(t.get<uint16_t>(i));
    case DType::I8: return t.get<int8_t>(i);
    case DType::I32: return t.get<int32_t>(i);
    case DType::I64: return static_cast<double>(t.get<int64_t>(i));
    case DType::U8:
    case DType::Bool: return t.get<uint8_t>(i);
    case DType::U32: return t.get<uint32_t>(i);
    default: return 0;
  }
}

Attrs to(DType d) { return {{AttrKey::To, AttrValue::of_dtype(d)}}; }

}  // namespace

TEST_CASE("cpu: casts of floats round to even, truncate and saturate") {
  std::vector<float> x = special_floats();
  for (const float v : {65504.0f, 65519.9f, 65520.0f, 2147483648.0f, -2147483904.0f, 255.9f, -0.9f,
                        4294967296.0f, 127.5f, -128.5f, 6.1e-5f, 5.96e-8f, 2.9e-8f, 1.00390625f}) {
    x.push_back(v);
  }
  for (const float v : random_floats(300, 9, 100.0f)) x.push_back(v);
  const auto n = static_cast<int64_t>(x.size());
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    for (const DType from : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
      HostTensor source = f32({n}, x);
      if (from != DType::F32) source = run_kernel(target, OpKind::Cast, to(from), {source})[0];
      for (const DType d : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I8, DType::I32,
                            DType::U8, DType::U32, DType::Bool}) {
        if (from == DType::F64 && (d == DType::F16 || d == DType::BF16)) continue;
        CAPTURE(dtype_name(from));
        CAPTURE(dtype_name(d));
        const auto y = run_kernel(target, OpKind::Cast, to(d), {source})[0];
        for (int64_t i = 0; i < n; ++i) {
          const double want = cast_number(d, number_at(source, i)), got = number_at(y, i);
          const bool same = std::isnan(want) ? std::isnan(got) : got == want;
          if (!same) FAIL_CHECK(number_at(source, i) << " became " << got << ", not " << want);
        }
      }
    }
  }
}

TEST_CASE("cpu: casts of integers wrap around and keep 64 bits") {
  const std::vector<int64_t> x = {
      0, 1, -1, 300, -300, INT64_MAX, INT64_MIN, (1LL << 40) + 7, 16777217, 4294967295};
  const auto n = static_cast<int64_t>(x.size());
  for (const Target& target : cpu_targets()) {
    const auto source = tensor_of(DType::I64, {n}, x);
    const auto i32 = run_kernel(target, OpKind::Cast, to(DType::I32), {source})[0];
    const auto u8 = run_kernel(target, OpKind::Cast, to(DType::U8), {source})[0];
    const auto u32 = run_kernel(target, OpKind::Cast, to(DType::U32), {source})[0];
    const auto f = run_kernel(target, OpKind::Cast, to(DType::F32), {source})[0];
    const auto b = run_kernel(target, OpKind::Cast, to(DType::Bool), {source})[0];
    const auto back = run_kernel(target, OpKind::Cast, to(DType::I64), {u32})[0];
    for (int64_t i = 0; i < n; ++i) {
      const int64_t v = x[size_t(i)];
      CHECK(i32.get<int32_t>(i) == static_cast<int32_t>(v));
      CHECK(u8.get<uint8_t>(i) == static_cast<uint8_t>(v));
      CHECK(back.get<int64_t>(i) == static_cast<int64_t>(static_cast<uint32_t>(v)));
      CHECK(f.get<float>(i) == static_cast<float>(v));
      CHECK(b.get<uint8_t>(i) == (v != 0 ? 1 : 0));
    }
  }
}

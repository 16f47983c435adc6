// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <numeric>

#include "backends_check.h"

using namespace rlx;
using namespace rlx::test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_value = std::nanf("");
using Dims = std::vector<int64_t>;

Attrs eps_of(double eps) { return {{AttrKey::Eps, AttrValue::of_float(eps)}}; }
Attrs axis_of(int64_t axis) { return {{AttrKey::Axis, AttrValue::of_int(axis)}}; }

/// (x - mean) / sqrt(mean of squares + eps) * gamma + beta for one row; mean 0 for rms_norm.
std::vector<double> normalized(const std::vector<float>& x, int64_t n, double eps, bool center,
                               const std::vector<float>& gamma, const std::vector<float>& beta) {
  std::vector<double> y(x.size());
  for (size_t r = 0; r < x.size(); r += static_cast<size_t>(n)) {
    double mean = 0, power = 0;
    for (int64_t i = 0; i < n; ++i) mean += center ? x[r + size_t(i)] / double(n) : 0.0;
    for (int64_t i = 0; i < n; ++i) power += std::pow(x[r + size_t(i)] - mean, 2) / double(n);
    for (int64_t i = 0; i < n; ++i) {
      y[r + size_t(i)] = (x[r + size_t(i)] - mean) / std::sqrt(power + eps);
      if (!gamma.empty()) y[r + size_t(i)] *= gamma[size_t(i)];
      if (!beta.empty()) y[r + size_t(i)] += beta[size_t(i)];
    }
  }
  return y;
}

struct Split {
  int64_t outer = 1, n = 1, inner = 1;
  Split(const Dims& dims, size_t axis) : n(dims[axis]) {
    for (size_t i = 0; i < axis; ++i) outer *= dims[i];
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  }
  size_t at(int64_t o, int64_t i, int64_t in) const { return size_t((o * n + i) * inner + in); }
};

/// Calls f(indices) for every line along `axis`.
template <typename F>
void each_line(const Dims& dims, size_t axis, const F& f) {
  const Split s(dims, axis);
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t in = 0; in < s.inner; ++in) {
      std::vector<size_t> line;
      for (int64_t i = 0; i < s.n; ++i) line.push_back(s.at(o, i, in));
      f(line);
    }
  }
}

/// NaN first, then larger numbers; ties by index.
std::vector<size_t> ranked(const std::vector<float>& x, const std::vector<size_t>& line) {
  std::vector<size_t> order(line.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const float p = x[line[a]], q = x[line[b]];
    if (std::isnan(p) || std::isnan(q)) return std::isnan(p) && !std::isnan(q);
    return p > q;
  });
  return order;
}

}  // namespace

TEST_CASE("cpu: rms_norm and layer_norm over rows of any width") {
  for (const Target& target : cpu_targets()) {
    CAPTURE(target.isa);
    for (const int64_t n : {1, 3, 16, 31, 64, 80, 127, 640, 1153, 5000}) {
      CAPTURE(n);
      const auto x = random_floats(3 * n, 1, 5.0f);
      const auto g = random_floats(n, 2), b = random_floats(n, 3);
      const Tolerance close{2e-6, 2e-6};
      const HostTensor tx = f32({3, n}, x), tg = f32({n}, g), tb = f32({n}, b);
      auto y = run_kernel(target, OpKind::RmsNorm, eps_of(1e-6), {tx, tg});
      check_close(y[0].all<float>(), normalized(x, n, 1e-6, false, g, {}), close);
      y = run_kernel(target, OpKind::RmsNorm, eps_of(1e-2), {tx});
      check_close(y[0].all<float>(), normalized(x, n, 1e-2, false, {}, {}), close);
      y = run_kernel(target, OpKind::LayerNorm, eps_of(1e-3), {tx, tg, tb});
      check_close(y[0].all<float>(), normalized(x, n, 1e-3, true, g, b), {1e-5, 1e-5});
      y = run_kernel(target, OpKind::LayerNorm, eps_of(1e-3), {tx});
      check_close(y[0].all<float>(), normalized(x, n, 1e-3, true, {}, {}), {1e-5, 1e-5});
    }
    const auto y =
        run_kernel(target, OpKind::RmsNorm, eps_of(1e-6), {f32({1, 3}, {1, nan_value, 2})});
    for (int i = 0; i < 3; ++i) CHECK(std::isnan(y[0].get<float>(i)));
    const auto zero = run_kernel(target, OpKind::RmsNorm, eps_of(1e-6), {f32({1, 2}, {0, 0})});
    CHECK(zero[0].all<float>() == std::vector<float>{0, 0});
  }
}

TEST_CASE("cpu: softmax and log_softmax along any axis") {
  const std::pair<Dims, int64_t> cases[] = {{{7}, 0},        {{3, 1}, 1},    {{3, 17}, 1},
                                            {{3, 17}, 0},    {{2, 50}, -1},  {{2, 9, 35}, 1},
                                            {{2, 9, 35}, 0}, {{1, 4099}, 1}, {{5, 16, 16}, 2}};
  for (const Target& target : cpu_targets()) {
    for (const auto& [dims, axis] : cases) {
      CAPTURE(target.isa);
      HostTensor x = random_f32(dims, 4, 20.0f);
      if (x.count() > 100) {
        x.set(3, -inf);
        x.set(40, nan_value);
        x.set(60, inf);
      }
      const auto v = x.all<float>();
      std::vector<double> soft(v.size()), logs(v.size());
      each_line(dims, size_t(axis < 0 ? axis + int64_t(dims.size()) : axis),
                [&](const std::vector<size_t>& line) {
                  double m = -inf, sum = 0;
                  for (const size_t i : line) m = std::isnan(m) || m > v[i] ? m : v[i];
                  for (const size_t i : line) sum += std::exp(v[i] - m);
                  for (const size_t i : line) {
                    soft[i] = std::exp(v[i] - m) / sum;
                    logs[i] = v[i] - m - std::log(sum);
                  }
                });
      const auto y = run_kernel(target, OpKind::Softmax, axis_of(axis), {x});
      check_close(y[0].all<float>(), soft, {1e-5, 1e-37});
      const auto l = run_kernel(target, OpKind::LogSoftmax, axis_of(axis), {x});
      check_close(l[0].all<float>(), logs, {1e-6, 1e-6});
    }
    // Requirements: a row of -inf has no distribution.
    const auto y = run_kernel(target, OpKind::Softmax, axis_of(0), {f32({2}, {-inf, -inf})});
    CHECK(std::isnan(y[0].get<float>(0)));
    const auto far = run_kernel(target, OpKind::LogSoftmax, axis_of(0), {f32({2}, {0, -1000})});
    CHECK(far[0].all<float>() == std::vector<float>{0, -1000});
  }
}

TEST_CASE("cpu: reductions over any set of axes") {
  const std::pair<Dims, std::vector<int64_t>> cases[] = {
      {{7}, {0}},           {{3, 40}, {1}},         {{3, 40}, {0}},
      {{40, 3}, {0}},       {{2, 3, 37}, {0, 2}},   {{2, 3, 37}, {1}},
      {{2, 3, 37}, {0, 1}}, {{2, 3, 4, 5}, {1, 3}}, {{2, 3, 4, 5}, {0, 2}},
      {{6, 5}, {}},         {{0, 5}, {0}},          {{5, 0}, {1}},
      {{3, 1}, {1}},        {{2, 3, 4, 5}, {-1}},   {{1, 9000}, {1}}};
  const auto larger = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  const auto smaller = [](double a, double b) { return std::isnan(a) || a < b ? a : b; };
  for (const Target& target : cpu_targets()) {
    for (const bool with_nan : {false, true}) {
      for (const auto& [dims, axes] : cases) {
        CAPTURE(target.isa);
        HostTensor x = random_f32(dims, 5);
        if (with_nan && x.count() > 6) x.set(5, nan_value);
        std::vector<bool> reduced(dims.size(), axes.empty());
        for (const int64_t a : axes) reduced[size_t(a < 0 ? a + int64_t(dims.size()) : a)] = true;
        int64_t results = 1, elements = 1;
        for (size_t a = 0; a < dims.size(); ++a) (reduced[a] ? elements : results) *= dims[a];
        std::vector<double> sum(size_t(results), 0.0), product(size_t(results), 1.0);
        std::vector<double> high(size_t(results), -inf), low(size_t(results), inf);
        for (int64_t i = 0; i < x.count(); ++i) {
          int64_t rest = i, to = 0, stride = 1;
          for (size_t a = dims.size(); a-- > 0;) {
            if (!reduced[a]) {
              to += rest % dims[a] * stride;
              stride *= dims[a];
            }
            rest /= dims[a];
          }
          const double v = x.get<float>(i);
          const auto t = size_t(to);
          sum[t] += v;
          product[t] *= v;
          high[t] = larger(high[t], v);
          low[t] = smaller(low[t], v);
        }
        const auto run = [&](OpKind op) {
          return run_kernel(target, op,
                            {{AttrKey::Axes, AttrValue::of_ints(axes)},
                             {AttrKey::KeepDims, AttrValue::of_bool(false)}},
                            {x})[0]
              .all<float>();
        };
        check_close(run(OpKind::ReduceSum), sum, {1e-5, 1e-3});
        check_close(run(OpKind::ReduceMax), high, {0, 0});
        check_close(run(OpKind::ReduceMin), low, {0, 0});
        if (elements < 100) check_close(run(OpKind::ReduceProd), product, {1e-5, 1e-30});
        for (double& s : sum) s /= double(elements);
        check_close(run(OpKind::ReduceMean), sum, {1e-5, 1e-5});
      }
    }
  }
}

TEST_CASE(
    "cpu: arg_max, top_k and cumsum along any axis; ties go to the lower index, NaN is largest") {
  const std::pair<Dims, size_t> cases[] = {{{1}, 0},     {{9}, 0},       {{3, 40}, 1},
                                           {{3, 40}, 0}, {{2, 7, 5}, 1}, {{1, 5003}, 1}};
  for (const Target& target : cpu_targets()) {
    for (const int kind : {0, 1, 2}) {
      for (const auto& [dims, axis] : cases) {
        CAPTURE(target.isa);
        CAPTURE(kind);
        HostTensor x = random_f32(dims, 6, 3.0f);
        for (int64_t i = 0; i < x.count(); ++i) {
          if (kind == 1) x.set(i, std::round(x.get<float>(i)));  // many ties
          if (kind == 2) x.set(i, i % 11 == 3 ? nan_value : i % 7 == 2 ? -inf : x.get<float>(i));
        }
        const auto v = x.all<float>();
        const auto best = run_kernel(target, OpKind::ArgMax, axis_of(int64_t(axis)), {x})[0];
        size_t at = 0;
        const Split s(dims, axis);
        each_line(dims, axis, [&](const std::vector<size_t>& line) {
          CHECK(best.get<int64_t>(int64_t(at++)) == int64_t(ranked(v, line)[0]));
        });
        for (const int64_t k : {int64_t{0}, int64_t{1}, std::min<int64_t>(s.n, 5), s.n}) {
          Attrs attrs = axis_of(int64_t(axis));
          attrs.set(AttrKey::K, AttrValue::of_int(k));
          const auto top = run_kernel(target, OpKind::TopK, attrs, {x});
          CHECK(top[1].dtype == DType::I64);
          int64_t line_number = 0;
          each_line(dims, axis, [&](const std::vector<size_t>& line) {
            const auto order = ranked(v, line);
            const int64_t base = line_number / s.inner * k * s.inner + line_number % s.inner;
            ++line_number;
            for (int64_t i = 0; i < k; ++i) {
              const size_t want = order[size_t(i)];
              if (top[1].get<int64_t>(base + i * s.inner) != int64_t(want)) {
                FAIL_CHECK("rank " << i << " of " << k << ": index "
                                   << top[1].get<int64_t>(base + i * s.inner) << ", not " << want);
                return;
              }
              CHECK(top[0].get<uint32_t>(base + i * s.inner) ==
                    x.get<uint32_t>(int64_t(line[want])));
            }
          });
        }
        for (const bool exclusive : {false, true}) {
          std::vector<double> want(v.size());
          each_line(dims, axis, [&](const std::vector<size_t>& line) {
            double sum = 0;
            for (const size_t i : line) {
              want[i] = exclusive ? sum : sum + v[i];
              sum += v[i];
            }
          });
          Attrs attrs = axis_of(int64_t(axis));
          attrs.set(AttrKey::Exclusive, AttrValue::of_bool(exclusive));
          const auto y = run_kernel(target, OpKind::CumSum, attrs, {x});
          check_close(y[0].all<float>(), want, {1e-7, 1e-12});
        }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "backends_check.h"
#include "quant/q8_0.h"

using namespace rlx;
using namespace rlx::test;

namespace {

using Dims = std::vector<int64_t>;

AttrValue dims_of(const Dims& v) { return AttrValue::of_dims(Shape(v.begin(), v.end())); }

int64_t width_of(const HostTensor& t) { return dtype_info(t.dtype).block_bytes; }

/// Elements 1, 2, 3, ... as bytes that differ in every position of an element.
HostTensor counted(DType dtype, const Dims& dims) {
  HostTensor t = make_tensor(dtype, dims);
  for (size_t i = 0; i < t.bytes.size(); ++i) {
    t.bytes[i] = static_cast<std::byte>(i * 131 + i / 256 * 7 + 1);
  }
  return t;
}

bool same_element(const HostTensor& y, int64_t i, const HostTensor& x, int64_t j) {
  const auto w = static_cast<size_t>(width_of(x));
  return std::memcmp(y.bytes.data() + size_t(i) * w, x.bytes.data() + size_t(j) * w, w) == 0;
}

Dims index_of(int64_t flat, const Dims& dims) {
  Dims index(dims.size());
  for (size_t a = dims.size(); a-- > 0;) {
    index[a] = flat % dims[a];
    flat /= dims[a];
  }
  return index;
}
int64_t flat_of(const Dims& index, const Dims& dims) {
  int64_t at = 0;
  for (size_t a = 0; a < dims.size(); ++a) at = at * dims[a] + index[a];
  return at;
}

const DType moved_types[] = {DType::U8, DType::Bool, DType::F16, DType::F32, DType::I64};

}  // namespace

TEST_CASE("cpu: slice with strides, of elements of 1, 2, 4 and 8 bytes") {
  struct Case {
    Dims dims, starts, sizes, strides;
  };
  const Case cases[] = {{{7}, {2}, {4}, {}},
                        {{5, 33}, {1, 0}, {3, 33}, {}},
                        {{5, 33}, {1, 4}, {3, 20}, {}},
                        {{5, 33}, {0, 1}, {5, 11}, {1, 3}},
                        {{9, 4, 6}, {1, 0, 2}, {4, 4, 2}, {2, 1, 3}},
                        {{300, 40}, {3, 1}, {290, 39}, {}},
                        {{4, 3}, {4, 0}, {0, 3}, {}}};
  for (const Target& target : cpu_targets()) {
    for (const DType dtype : moved_types) {
      for (const Case& c : cases) {
        CAPTURE(target.isa);
        const HostTensor x = counted(dtype, c.dims);
        Attrs attrs{{AttrKey::Starts, dims_of(c.starts)}, {AttrKey::Sizes, dims_of(c.sizes)}};
        if (!c.strides.empty()) attrs.set(AttrKey::Strides, AttrValue::of_ints(c.strides));
        const auto y = run_kernel(target, OpKind::Slice, attrs, {x})[0];
        for (int64_t i = 0; i < y.count(); ++i) {
          Dims index = index_of(i, c.sizes);
          for (size_t a = 0; a < index.size(); ++a) {
            index[a] = c.starts[a] + index[a] * (c.strides.empty() ? 1 : c.strides[a]);
          }
          if (!same_element(y, i, x, flat_of(index, c.dims))) FAIL_CHECK("element " << i);
        }
      }
    }
  }
}

TEST_CASE("cpu: one start of a slice, the pads of an axis and iota's start may be symbolic") {
  const Dim t = Dim::of_symbol(0), p = Dim::of_symbol(1);
  const Dim nothing(0), all(2);
  for (const Target& target : cpu_targets()) {
    RunOptions options;
    options.symbols = {{"T", 16}, {"P", 16}};
    options.values = {5, 1};
    options.shapes = {{t, all}};
    const HostTensor x = f32({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    const auto slice = [&](Shape starts) {
      return Attrs{{AttrKey::Starts, AttrValue::of_dims(std::move(starts))},
                   {AttrKey::Sizes, AttrValue::of_dims({Dim(1), Dim(1)})}};
    };
    const auto last = run_kernel(target, OpKind::Slice, slice({t - Dim(1), nothing}), {x}, options);
    CHECK(last[0].all<float>() == std::vector<float>{8});
    const auto pth = run_kernel(target, OpKind::Slice, slice({p + p, Dim(1)}), {x}, options);
    CHECK(pth[0].all<float>() == std::vector<float>{5});
    const auto padded = run_kernel(target, OpKind::Pad,
                                   {{AttrKey::Low, AttrValue::of_dims({p, nothing})},
                                    {AttrKey::High, AttrValue::of_dims({nothing, nothing})}},
                                   {x}, options);
    CHECK(padded[0].all<float>() == std::vector<float>{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    const auto positions =
        run_kernel(target, OpKind::Iota,
                   {{AttrKey::Shape, AttrValue::of_dims({t})}, {AttrKey::At, AttrValue::of_dim(p)}},
                   {}, options);
    CHECK(positions[0].all<int32_t>() == std::vector<int32_t>{1, 2, 3, 4, 5});

    options.allow_reference = true;
    KernelRunner refused(target, OpKind::Slice, slice({t - Dim(1), p}), {x}, options);
    CHECK(refused.row().by_reference);
    REQUIRE(refused.refusals.size() == 1);
    CHECK(refused.refusals[0] ==
          "slice." + target.isa + ": [T-1, P] depends on symbols on more than one axis");
  }
}

TEST_CASE("cpu: transpose and broadcast") {
  const std::pair<Dims, std::vector<int64_t>> transposes[] = {{{5, 7}, {1, 0}},
                                                              {{2, 3, 4}, {2, 0, 1}},
                                                              {{2, 3, 4}, {0, 2, 1}},
                                                              {{2, 3, 4, 5}, {0, 2, 1, 3}},
                                                              {{70, 90}, {1, 0}},
                                                              {{1, 5, 1, 3}, {3, 2, 1, 0}},
                                                              {{4}, {0}},
                                                              {{3, 0}, {1, 0}}};
  const std::pair<Dims, Dims> broadcasts[] = {{{2, 1}, {2, 2, 3}}, {{}, {4}},
                                              {{1}, {3, 5}},       {{3, 1, 70}, {3, 4, 70}},
                                              {{6}, {6}},          {{1, 90}, {80, 90}}};
  for (const Target& target : cpu_targets()) {
    for (const DType dtype : moved_types) {
      for (const auto& [dims, perm] : transposes) {
        const HostTensor x = counted(dtype, dims);
        const auto y = run_kernel(target, OpKind::Transpose,
                                  {{AttrKey::Perm, AttrValue::of_ints(perm)}}, {x})[0];
        for (int64_t i = 0; i < y.count(); ++i) {
          const Dims to = index_of(i, y.dims);
          Dims from(to.size());
          for (size_t a = 0; a < to.size(); ++a) from[size_t(perm[a])] = to[a];
          if (!same_element(y, i, x, flat_of(from, dims))) FAIL_CHECK("element " << i);
        }
      }
      for (const auto& [dims, to] : broadcasts) {
        const HostTensor x = counted(dtype, dims);
        const auto y =
            run_kernel(target, OpKind::Broadcast, {{AttrKey::Shape, dims_of(to)}}, {x})[0];
        for (int64_t i = 0; i < y.count(); ++i) {
          const Dims index = index_of(i, to);
          Dims from(index.end() - int64_t(dims.size()), index.end());
          for (size_t a = 0; a < dims.size(); ++a) from[a] = dims[a] == 1 ? 0 : from[a];
          if (!same_element(y, i, x, flat_of(from, dims))) FAIL_CHECK("element " << i);
        }
      }
    }
  }
}

TEST_CASE("cpu: concat and pad") {
  for (const Target& target : cpu_targets()) {
    for (const DType dtype : moved_types) {
      for (const int64_t axis : {0, 1, 2}) {
        Dims a{3, 4, 5}, b{3, 4, 5}, c{3, 4, 5};
        b[size_t(axis)] = 0;
        c[size_t(axis)] = 61;
        const std::vector<HostTensor> parts = {counted(dtype, a), counted(dtype, b),
                                               counted(dtype, c), counted(dtype, a)};
        const auto y = run_kernel(target, OpKind::Concat,
                                  {{AttrKey::Axis, AttrValue::of_int(axis)}}, parts)[0];
        for (int64_t i = 0; i < y.count(); ++i) {
          Dims index = index_of(i, y.dims);
          size_t part = 0;
          while (index[size_t(axis)] >= parts[part].dims[size_t(axis)]) {
            index[size_t(axis)] -= parts[part++].dims[size_t(axis)];
          }
          if (!same_element(y, i, parts[part], flat_of(index, parts[part].dims))) {
            FAIL_CHECK("element " << i << " on axis " << axis);
          }
        }
      }
      if (dtype == DType::Bool) continue;
      const Dims dims{2, 3, 40}, low{1, 0, 2}, high{0, 2, 3};
      const HostTensor x = counted(dtype, dims);
      const auto y = run_kernel(target, OpKind::Pad,
                                {{AttrKey::Low, dims_of(low)},
                                 {AttrKey::High, dims_of(high)},
                                 {AttrKey::Value, AttrValue::of_float(3)}},
                                {x})[0];
      HostTensor three = make_tensor(dtype, {1});
      if (dtype == DType::U8) three.set<uint8_t>(0, 3);
      if (dtype == DType::F16) three.set<uint16_t>(0, 0x4200);
      if (dtype == DType::F32) three.set<float>(0, 3);
      if (dtype == DType::I64) three.set<int64_t>(0, 3);
      CHECK(y.dims == Dims{3, 5, 45});
      for (int64_t i = 0; i < y.count(); ++i) {
        Dims index = index_of(i, y.dims);
        bool inside = true;
        for (size_t k = 0; k < 3; ++k) {
          index[k] -= low[k];
          inside = inside && index[k] >= 0 && index[k] < dims[k];
        }
        const bool same =
            inside ? same_element(y, i, x, flat_of(index, dims)) : same_element(y, i, three, 0);
        if (!same) FAIL_CHECK("element " << i);
      }
    }
    const auto none = run_kernel(target, OpKind::Pad,
                                 {{AttrKey::Low, dims_of({1})},
                                  {AttrKey::High, dims_of({1})},
                                  {AttrKey::Value, AttrValue::of_float(-1)}},
                                 {f32({0}, {})});
    CHECK(none[0].all<float>() == std::vector<float>{-1, -1});
  }
}

TEST_CASE("cpu: gather, also of packed rows; an index outside is never a neighbour's row") {
  for (const Target& target : cpu_targets()) {
    for (const DType dtype : {DType::U8, DType::F16, DType::F32, DType::I64, DType::Q8_0}) {
      for (const int64_t axis : {0, 1}) {
        const HostTensor table = counted(dtype, {5, 6, 64});
        const auto indices = tensor_of<int32_t>(DType::I32, {2, 3}, {4, 0, 3, 3, -1, 7});
        const auto y = run_kernel(target, OpKind::Gather,
                                  {{AttrKey::Axis, AttrValue::of_int(axis)}}, {table, indices})[0];
        const int64_t outer = axis == 0 ? 1 : 5, n = axis == 0 ? 5 : 6;
        const int64_t row = tensor_bytes(dtype, {axis == 0 ? int64_t{6} : int64_t{1}, 64});
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t j = 0; j < 6; ++j) {
            const int64_t index = indices.get<int32_t>(j);
            for (int64_t k = 0; k < row; ++k) {
              const std::byte want = index < 0 || index >= n
                                         ? std::byte{0xff}
                                         : table.bytes[size_t((o * n + index) * row + k)];
              if (y.bytes[size_t((o * 6 + j) * row + k)] != want) FAIL_CHECK("byte " << k);
            }
          }
        }
      }
    }
    const auto wide = tensor_of<int64_t>(DType::I64, {1}, {2});
    const auto y = run_kernel(target, OpKind::Gather, {{AttrKey::Axis, AttrValue::of_int(1)}},
                              {f32({2, 3}, {1, 2, 3, 4, 5, 6}), wide});
    CHECK(y[0].all<float>() == std::vector<float>{3, 6});
  }
}

TEST_CASE("cpu: iota") {
  for (const Target& target : cpu_targets()) {
    for (const DType dtype : {DType::I32, DType::I64, DType::F32, DType::F64}) {
      const auto y = run_kernel(target, OpKind::Iota,
                                {{AttrKey::Shape, dims_of({5000})},
                                 {AttrKey::At, AttrValue::of_dim(Dim(7))},
                                 {AttrKey::Dtype, AttrValue::of_dtype(dtype)}},
                                {})[0];
      for (const int64_t i : {0, 1, 4095, 4096, 4999}) {
        if (dtype == DType::I32) CHECK(y.get<int32_t>(i) == 7 + i);
        if (dtype == DType::I64) CHECK(y.get<int64_t>(i) == 7 + i);
        if (dtype == DType::F32) CHECK(y.get<float>(i) == static_cast<float>(7 + i));
        if (dtype == DType::F64) CHECK(y.get<double>(i) == static_cast<double>(7 + i));
      }
    }
  }
}

TEST_CASE("cpu: append writes its rows in the state's type and leaves all others alone") {
  const int64_t width = 96, rows = 9, at = 4, count = 3;
  std::vector<float> x = random_floats(count * width, 8, 3.0f);
  x[5] = std::nanf("");
  x[40] = 1e9f;
  x[70] = 0.0f;
  for (int64_t i = 2 * width; i < 2 * width + 32; ++i) x[size_t(i)] = 0.0f;
  for (const Target& target : cpu_targets()) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
      CAPTURE(target.isa);
      CAPTURE(dtype_name(dtype));
      const HostTensor state = counted(dtype, {rows, width});
      RunOptions options;
      options.in_place = 0;
      const auto y = run_kernel(target, OpKind::Append, {{AttrKey::At, AttrValue::of_dim(Dim(at))}},
                                {state, f32({count, width}, x)}, options)[0];
      CHECK(y.dims == Dims{at + count, width});
      const auto row = size_t(tensor_bytes(dtype, {1, width}));
      CHECK(std::equal(y.bytes.begin(), y.bytes.begin() + at * int64_t(row), state.bytes.begin()));
      std::vector<std::byte> want(row * size_t(count));
      if (dtype == DType::Q8_0) quantize_q8_0(x.data(), want.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const float v = x[i];
        const uint16_t half = dtype == DType::F16 ? f32_to_f16(v) : f32_to_bf16(v);
        if (dtype == DType::F32) std::memcpy(want.data() + i * 4, &v, 4);
        if (dtype == DType::F16 || dtype == DType::BF16) std::memcpy(want.data() + i * 2, &half, 2);
      }
      CHECK(std::equal(want.begin(), want.end(), y.bytes.begin() + at * int64_t(row)));
    }
    // No row past the last new one is touched.
    KernelRunner runner(target, OpKind::Append, {{AttrKey::At, AttrValue::of_dim(Dim(0))}},
                        {f32({2, 1}, {1, 2}), f32({1, 1}, {9})});
    CHECK(runner.run(1)[0].all<float>() == std::vector<float>{9});
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "../support/oracle_target.h"
#include "base/error.h"
#include "ops/parse.h"
#include "runtime/session.h"

using namespace rlx;

namespace {

InputBinding bind(std::string_view name, const std::vector<float>& values) {
  return {name, DType::F32, std::as_bytes(std::span(values))};
}

std::vector<float> output_of(const Session& s, size_t index) {
  const TensorView v = s.output(index);
  int64_t count = 1;
  for (int32_t i = 0; i < v.rank; ++i) count *= v.dims[i];
  std::vector<float> values(static_cast<size_t>(count));
  std::memcpy(values.data(), v.data, values.size() * sizeof(float));
  return values;
}

std::unique_ptr<Session> open(const std::string& text, bool reuse = true, int threads = 1) {
  CompileOptions options;
  options.reuse_memory = reuse;
  return std::make_unique<Session>(Executable::compile(parse_graph(text), oracle_target(), options),
                                   SessionOptions{threads});
}

std::string message_of(Session& s, std::span<const SymbolBinding> symbols,
                       std::span<const InputBinding> inputs) {
  try {
    s.run(symbols, inputs);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

const char* kSums =
    "graph g { dims T <= 8 input %x : f32[T, 2] %y = add %x, %x %z = reduce_sum %y "
    "{axes = [0], keep_dims = false} output %y, %z }";

}  // namespace

TEST_CASE("session: one executable serves every extent up to the bound") {
  auto s = open(kSums);
  for (int64_t t : {8, 1, 3}) {
    std::vector<float> x(static_cast<size_t>(t) * 2, 1.5f);
    const SymbolBinding symbols[] = {{"T", t}};
    const InputBinding inputs[] = {bind("x", x)};
    s->run(symbols, inputs);
    CHECK(s->output(0).dims[0] == t);
    CHECK(output_of(*s, 1) == std::vector<float>(2, 3.0f * static_cast<float>(t)));
  }
}

TEST_CASE("session: bindings are checked by name, type, size and bound") {
  auto s = open(kSums);
  const std::vector<float> x(4);
  const SymbolBinding two[] = {{"T", 2}}, nine[] = {{"T", 9}}, other[] = {{"U", 1}};
  const InputBinding good[] = {bind("x", x)}, wrong[] = {bind("y", x)};
  const InputBinding typed[] = {{"x", DType::I32, std::as_bytes(std::span(x))}};
  const InputBinding shorter[] = {{"x", DType::F32, std::as_bytes(std::span(x)).subspan(4)}};
  CHECK(message_of(*s, two, good) == "");
  CHECK(message_of(*s, nine, good) == "T = 9 is outside 0 to 8");
  CHECK(message_of(*s, other, good) == "the graph has no extent U");
  CHECK(message_of(*s, {}, good) == "no value is given for extent T");
  CHECK(message_of(*s, two, wrong) == "the graph has no input %y");
  CHECK(message_of(*s, two, {}) == "input %x is not bound");
  CHECK(message_of(*s, two, typed) == "input %x is f32, not i32");
  CHECK(message_of(*s, two, shorter) == "input %x has 16 bytes at these extents, 12 are given");
}

TEST_CASE("session: state persists between runs and cannot overflow") {
  auto s = open(
      "graph g { dims T <= 4, P <= 4 input %x : f32[T, 1] state %s : f32[4, 1] "
      "%a = append %s, %x {at = P} %y = add %a, %a output %y }");
  const std::vector<float> one{1.0f}, three{2.0f, 3.0f, 4.0f};
  const SymbolBinding first[] = {{"T", 1}, {"P", 0}}, then[] = {{"T", 3}, {"P", 1}},
                      over[] = {{"T", 3}, {"P", 2}};
  const InputBinding a[] = {bind("x", one)}, b[] = {bind("x", three)};
  s->run(first, a);
  s->run(then, b);
  CHECK(output_of(*s, 0) == std::vector<float>{2, 4, 6, 8});
  CHECK(message_of(*s, over, b) == "state %s has 4 rows, this run needs 5");
}

TEST_CASE(
    "session: reuse of memory changes no bit, nor does a second or third run (llm-bugs/119)") {
  const char* text =
      "graph g { input %x : f32[3, 5] %t = transpose %x {perm = [1, 0]} %a = abs %t %b = mul %t, "
      "%a "
      "%c = add %b, %t %d = tanh %c %e = add %d, %t %f = reshape %e {shape = [15]} output %f, %b }";
  std::mt19937 rng(3);
  std::vector<float> x(15);
  for (float& v : x) v = static_cast<float>(rng()) / 4e9f - 0.5f;
  const InputBinding inputs[] = {bind("x", x)};
  auto plain = open(text, false);
  plain->run({}, inputs);
  for (int threads : {1, 2, 5}) {
    auto s = open(text, true, threads);
    for (int run = 0; run < 3; ++run) {
      s->run({}, inputs);
      CHECK(output_of(*s, 0) == output_of(*plain, 0));
      CHECK(output_of(*s, 1) == output_of(*plain, 1));
    }
  }
}

TEST_CASE("session: a weight without bytes is refused, cancelling is an error of its own") {
  CHECK_THROWS_AS(open("graph g { weight %w : f32[4] %y = neg %w output %y }"), Error);
  auto s = open(kSums);
  const std::vector<float> x(4);
  const SymbolBinding two[] = {{"T", 2}};
  const InputBinding inputs[] = {bind("x", x)};
  const std::atomic<bool> cancel{true};
  try {
    s->run(two, inputs, &cancel);
    FAIL("ran");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::Cancelled);
  }
}

TEST_CASE("session: extents at which a node would leave its operands are refused") {
  const std::vector<float> x(16, 1.0f);
  const auto message = [&](const std::string& graph, int64_t t) {
    auto s = open(graph);
    const SymbolBinding symbols[] = {{"T", t}};
    const InputBinding inputs[] = {
        {"x", DType::F32, std::as_bytes(std::span(x)).first(static_cast<size_t>(t) * 4)}};
    return message_of(*s, symbols, inputs);
  };
  const std::string slice =
      "graph g { dims T <= 8 input %x : f32[T] "
      "%y = slice %x {starts = [1], sizes = [3], strides = [2]} output %y }";
  CHECK(message(slice, 6) == "");
  CHECK(message(slice, 5) ==
        "%y = slice %x {sizes = [3], starts = [1], strides = [2]} : f32[3]: not possible at these "
        "extents (T-6 is -1)");
  const std::string late =
      "graph g { dims T <= 8 input %x : f32[T] "
      "%y = slice %x {starts = [T-2], sizes = [2]} output %y }";
  CHECK(message(late, 2) == "");
  CHECK(message(late, 1) != "");
  const std::string pad =
      "graph g { dims T <= 8 input %x : f32[T] "
      "%y = pad %x {low = [T-3], high = [0]} output %y }";
  CHECK(message(pad, 3) == "");
  CHECK(message(pad, 2) != "");
}

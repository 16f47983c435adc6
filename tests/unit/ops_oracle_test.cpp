// SPDX-License-Identifier: Apache-2.0
// The evaluator by definition: storage conversions, states, what it refuses.
#include <doctest/doctest.h>

#include <cstring>

#include "base/half.h"
#include "ops/oracle.h"
#include "ops/parse.h"
#include "ops_check.h"

using namespace rlx;
using rlx::test::error_of;

namespace {

constexpr std::string_view kGraph =
    "graph g { dims T <= 3, P <= 4 input %x : f32[T, 2] state %s : f32[4, 2] "
    "%y = append %s, %x {at = P} %z = reduce_sum %y {axes = [0], keep_dims = false} output %z }";

OracleTensor tensor(std::vector<int64_t> shape, std::vector<double> data) {
  return {DType::F32, std::move(shape), std::move(data), {}};
}

std::string run_error(std::string_view text, OracleRun run) {
  const Graph g = parse_graph(text);
  return error_of([&] { evaluate(g, run); });
}

}  // namespace

TEST_CASE("every f16, bf16 and f8 code survives the oracle's numbers") {
  for (const DType d : {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    const size_t width = dtype_info(d).block_bytes;
    const int64_t codes = width == 1 ? 256 : 65536;
    std::vector<std::byte> bytes;
    for (int64_t c = 0; c < codes; ++c) {
      const auto code = static_cast<uint16_t>(c);
      const auto* p = reinterpret_cast<const std::byte*>(&code);
      bytes.insert(bytes.end(), p, p + width);
    }
    const OracleTensor t = oracle_from_bytes(d, {codes}, bytes);
    const std::vector<std::byte> back = oracle_to_bytes(t);
    REQUIRE(back.size() == bytes.size());
    size_t wrong = 0;
    for (size_t i = 0; i < t.data.size(); ++i) {
      // f8e5m2 saturates: its infinities come back as the largest number.
      if (std::isnan(t.data[i]) || (width == 1 && std::isinf(t.data[i]))) continue;
      wrong += std::memcmp(&back[i * width], &bytes[i * width], width) != 0;
    }
    CAPTURE(dtype_name(d));
    CHECK(wrong == 0);
  }
}

TEST_CASE("a double is rounded once on its way to a narrow float") {
  // Just above the middle of 1 and 1 + 2^-10: through f32 it would land on the middle, then on 1.
  const double x = 1 + 0x1p-11 + 0x1p-40;
  CHECK(storable(DType::F16, x) == 1 + 0x1p-10);
  CHECK(f16_to_f32(f32_to_f16(static_cast<float>(x))) == 1);
  CHECK(storable(DType::BF16, 1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
  CHECK(storable(DType::F16, 0x1p-25 + 0x1p-60) == 0x1p-24);
  CHECK(storable(DType::F32, 0.1) == 0.1);
}

TEST_CASE("integers wrap around as results and saturate as casts from floats") {
  CHECK(storable(DType::I8, 200) == -56);
  CHECK(storable(DType::U8, -1) == 255);
  CHECK(storable(DType::I64, 5) == 5);
  CHECK(convert_number(DType::F32, DType::I8, 200) == 127);
  CHECK(convert_number(DType::F32, DType::U16, -3) == 0);
  const std::vector<std::byte> bytes = oracle_to_bytes({DType::I64, {2}, {0x1p63, -0x1p63}, {}});
  int64_t stored[2];
  std::memcpy(stored, bytes.data(), sizeof stored);
  CHECK(stored[0] == INT64_MAX);
  CHECK(stored[1] == INT64_MIN);
}

TEST_CASE("states start as zeros, live on in the run and are updated in place") {
  const Graph g = parse_graph(kGraph);
  OracleRun run;
  run.symbols = {2, 1};
  run.inputs["x"] = tensor({2, 2}, {1, 2, 3, 4});
  CHECK(evaluate(g, run)[0].data == std::vector<double>{4, 6});
  CHECK(run.states.at("s").data == std::vector<double>{0, 0, 1, 2, 3, 4, 0, 0});
  run.symbols = {1, 3};
  run.inputs["x"] = tensor({1, 2}, {10, 20});
  CHECK(evaluate(g, run)[0].data == std::vector<double>{14, 26});
}

TEST_CASE("the evaluator refuses what does not fit the graph") {
  OracleRun run;
  run.symbols = {2};
  CHECK(run_error(kGraph, run) == "graph g has 2 symbols, 1 values are given");
  run.symbols = {2, 5};
  CHECK(run_error(kGraph, run) == "symbol P: 5 is outside 0 to 4");
  run.symbols = {2, 1};
  CHECK(run_error(kGraph, run) == "input %x has no tensor");
  run.inputs["x"] = tensor({1, 2}, {1, 2});
  CHECK(run_error(kGraph, run) ==
        "input %x: found f32[1, 2], must be f32[2, 2] (declared f32[T, 2])");
  run.inputs["x"] = tensor({2, 2}, {1, 2});
  CHECK(run_error(kGraph, run) == "input %x: found 2 entries, must be 4");
  run.inputs["x"] = tensor({2, 2}, {1, 2, 3, 4});
  run.symbols = {2, 3};
  CHECK(run_error(kGraph, run) == "append: 2 rows at 3 do not fit a state of 4 rows");
  CHECK(run_error("graph g { weight %w : f32[1] output %w }", {}) == "weight %w has no tensor");
}

TEST_CASE("references refuse what only a run can show") {
  CHECK(run_error("graph g { const %t : f32[2] = [1.0, 2.0] const %i : i32[1] = [2] "
                  "%y = gather %t, %i {axis = 0} output %y }",
                  {}) == "gather: index 2 is outside 0 to 1");
  CHECK(run_error("graph g { const %t : f32[2, 1] = [1.0, 2.0] const %i : i32[1] = [-1] "
                  "%y = embedding %t, %i output %y }",
                  {}) == "gather: index -1 is outside 0 to 1");
  OracleRun empty;
  empty.symbols = {0};
  empty.inputs["x"] = tensor({0, 2}, {});
  CHECK(run_error("graph g { dims T <= 4 input %x : f32[T, 2] "
                  "%y = slice %x {starts = [T-1, 0], sizes = [1, 2]} output %y }",
                  empty) == "slice: axis 0 of extent 0 has no 1 elements from -1 in steps of 1");
  CHECK(run_error("graph g { dims T <= 4 input %x : f32[T, 2] "
                  "%y = arg_max %x {axis = 0} output %y }",
                  empty) == "arg_max: the axis is empty");
  CHECK(run_error("graph g { dims T <= 4 input %x : f32[T, 2] "
                  "%y, %i = top_k %x {k = 1, axis = 0} output %y }",
                  empty) == "top_k: k 1 is outside 0 to 0");
}

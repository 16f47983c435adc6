// SPDX-License-Identifier: Apache-2.0
// Replays tests/data/ops_cases.json through the whole pipeline on the CPU: passes, plan, kernels.
#include <doctest/doctest.h>

#include "backends/cpu/cpu_target.h"
#include "backends/cpu/isa.h"
#include "ops/parse.h"
#include "ops_cases.h"
#include "ops_check.h"
#include "runtime/session.h"

using namespace rlx;
using nlohmann::json;

namespace {

std::vector<std::string> isa_levels() {
  std::vector<std::string> names;
  for (const cpu::Isa isa : {cpu::Isa::V2, cpu::Isa::V3, cpu::Isa::V4, cpu::Isa::V4Vnni}) {
    if (isa <= cpu::detect_isa()) names.emplace_back(cpu::isa_name(isa));
  }
  return names;
}

/// Bytes of a case's tensor in the storage of `dtype`.
std::vector<std::byte> storage(const json& j, DType dtype) {
  return oracle_to_bytes(test::tensor_of(j, dtype));
}

/// The case's graph with the tensors of its weights as their bytes.
Graph graph_of(const json& c) {
  Graph g = parse_graph(c.at("graph").get<std::string>());
  for (const NodeId id : g.leaves(OpKind::Weight)) {
    const Node& n = g.node(id);
    if (!c.at("inputs").contains(n.names[0])) continue;
    auto bytes = std::make_shared<std::vector<std::byte>>(
        storage(c.at("inputs").at(n.names[0]), n.types[0].dtype));
    const std::span<const std::byte> view = *bytes;
    g.set_data(id, {view, std::move(bytes)});
  }
  return g;
}

std::vector<OracleTensor> run_on_cpu(const json& c, const std::string& isa, int threads) {
  Graph g = graph_of(c);
  std::vector<SymbolBinding> symbols;
  const json values = c.value("symbols", json::array());
  for (size_t i = 0; i < values.size(); ++i) symbols.push_back({g.symbols()[i].name, values[i]});
  std::vector<std::string> names;
  std::vector<DType> dtypes;
  std::vector<std::vector<std::byte>> bytes;
  for (const NodeId id : g.leaves(OpKind::Input)) {
    const Node& n = g.node(id);
    names.push_back(n.names[0]);
    dtypes.push_back(n.types[0].dtype);
    bytes.push_back(storage(c.at("inputs").at(n.names[0]), n.types[0].dtype));
  }
  std::vector<InputBinding> inputs;
  for (size_t i = 0; i < names.size(); ++i) inputs.push_back({names[i], dtypes[i], bytes[i]});
  Session session(Executable::compile(std::move(g), cpu_target({isa})), SessionOptions{threads});
  session.run(symbols, inputs);
  std::vector<OracleTensor> out;
  for (size_t i = 0; i < c.at("expected").size(); ++i) {
    const TensorView v = session.output(i);
    const std::vector<int64_t> shape(v.dims, v.dims + v.rank);
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    const DTypeInfo& info = dtype_info(v.dtype);
    const auto size = static_cast<size_t>(count / info.block_elements * info.block_bytes);
    out.push_back(oracle_from_bytes(v.dtype, shape, {v.data, size}));
  }
  return out;
}

/// What the storage of a result and the activations of packed products allow.
double tolerance_of(const json& c, DType result) {
  const std::string text = c.at("graph");
  double t = std::max(2e-5, c.at("tolerance").get<double>());
  if (result == DType::F16) t = std::max(t, 2e-3);
  if (result == DType::BF16 || text.find("bf16") != std::string::npos) t = std::max(t, 2e-2);
  if (text.find("linear") != std::string::npos) t = std::max(t, 1e-3);
  return t;
}

}  // namespace

TEST_CASE("every op gives NumPy's numbers through passes, plan and kernels, at every ISA level") {
  const json cases = test::load_cases();
  for (const json& c : cases) {
    CAPTURE(c.at("graph").get<std::string>());
    for (const std::string& isa : isa_levels()) {
      CAPTURE(isa);
      for (const int threads : {1, 3}) {
        const auto found = run_on_cpu(c, isa, threads);
        for (size_t i = 0; i < found.size(); ++i) {
          const json& expected = c.at("expected")[i];
          CHECK(found[i].shape == expected.at("shape").get<std::vector<int64_t>>());
          if (!found[i].packed.empty()) continue;
          const auto values = test::numbers(expected.at("data"));
          CHECK(test::difference(found[i].data, values, tolerance_of(c, found[i].dtype)) == "");
        }
      }
    }
  }
}

TEST_CASE("independent branches give the same bits a hundred times on any team (llm-bugs/122)") {
  const char* text =
      "graph g { dims T <= 64 input %x : f32[T, 96] weight %w : f32[64, 96] weight %v : f32[64, "
      "96] "
      "%a = linear %x, %w %b = linear %x, %v %c = gelu %a %d = silu %b %e = softmax %a {axis = 1} "
      "%f = mul %c, %d %g = add %f, %e %h = reduce_sum %g {axes = [0]} output %g, %h }";
  Graph g = parse_graph(text);
  std::vector<float> weights(64 * 96), x(64 * 96);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>((i * 7919) % 1000) / 500.0f - 1.0f;
    weights[i] = static_cast<float>((i * 104729) % 1000) / 4000.0f - 0.1f;
  }
  for (const NodeId id : g.leaves(OpKind::Weight)) {
    g.set_data(id, {std::as_bytes(std::span(weights)), nullptr});
  }
  const auto executable = Executable::compile(std::move(g), cpu_target({}));
  const SymbolBinding symbols[] = {{"T", 64}};
  const InputBinding inputs[] = {{"x", DType::F32, std::as_bytes(std::span(x))}};
  std::vector<std::byte> want;
  for (const int threads : {1, 2, 5}) {
    Session session(executable, SessionOptions{threads});
    for (int run = 0; run < 100; ++run) {
      session.run(symbols, inputs);
      const std::byte* data = session.output(0).data;
      const std::vector<std::byte> got(data, data + 64 * 64 * 4);
      if (want.empty()) want = got;
      REQUIRE(got == want);
    }
  }
}

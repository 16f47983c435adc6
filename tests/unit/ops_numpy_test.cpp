// SPDX-License-Identifier: Apache-2.0
// Replays tests/data/ops_cases.json: what NumPy says every op gives (make_ops_data.py).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "ops/builder.h"
#include "ops/oracle.h"
#include "ops/parse.h"
#include "ops/verify.h"
#include "ops_cases.h"
#include "ops_check.h"

using namespace rlx;
using namespace rlx::test;
using nlohmann::json;

namespace {

std::vector<OracleTensor> run_case(const json& c, const Graph& graph) {
  OracleRun run;
  for (const json& v : c.value("symbols", json::array())) run.symbols.push_back(v);
  for (const auto& [name, t] : c.at("inputs").items()) {
    run.inputs[name] = tensor_of(t, graph.type(graph.find(name)).dtype);
  }
  return evaluate(graph, run);
}

/// Replaces every composite by what its record says; false when there was none.
bool lower_all(Graph& graph) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    const std::vector<NodeId> order = graph.order();
    for (const NodeId id : order) {
      const OpDef& def = op_def(graph.node(id).op);
      if (def.lower == nullptr) continue;
      Builder b(graph, id);
      const std::vector<Value> results = def.lower(b, graph.node(id));
      for (uint32_t r = 0; r < results.size(); ++r) graph.replace_uses({id, r}, results[r]);
      graph.erase(id);
      again = changed = true;
    }
  }
  return changed;
}

}  // namespace

TEST_CASE("ops agree with NumPy") {
  const json cases = load_cases();
  CHECK(cases.size() > 250);
  std::set<OpKind> seen;
  for (const json& c : cases) {
    CAPTURE(c.at("graph").get<std::string>());
    const Graph graph = parse_graph(c.at("graph").get<std::string>());
    for (const NodeId id : graph.order()) seen.insert(graph.node(id).op);
    const std::vector<OracleTensor> found = run_case(c, graph);
    REQUIRE(found.size() == c.at("expected").size());
    for (size_t i = 0; i < found.size(); ++i) {
      const json& expected = c.at("expected")[i];
      CHECK(found[i].shape == expected.at("shape").get<std::vector<int64_t>>());
      const std::vector<double> values = numbers(expected.at("data"));
      const double tolerance = c.at("tolerance");
      CHECK(test::difference(found[i].data, values, tolerance) == "");
      if (values.empty()) continue;
      std::vector<double> wrong = values;
      wrong[wrong.size() / 2] += 0.01 * std::max(1.0, std::abs(wrong[wrong.size() / 2]));
      CHECK(test::difference(found[i].data, wrong, tolerance) != "");
    }
  }
  for (size_t i = 0; i < kOpCount; ++i) {
    const auto op = static_cast<OpKind>(i);
    if (op == OpKind::Weight || op == OpKind::Constant) continue;
    CAPTURE(op_name(op));
    CHECK(seen.count(op) == 1);
  }
}

TEST_CASE("lowerings hold at symbolic extents, down to primitives") {
  size_t lowered = 0;
  for (const json& c : load_cases()) {
    CAPTURE(c.at("graph").get<std::string>());
    Graph graph = parse_graph(c.at("graph").get<std::string>());
    if (!lower_all(graph)) continue;
    ++lowered;
    verify(graph);
    const std::vector<OracleTensor> found = run_case(c, graph);
    for (size_t i = 0; i < found.size(); ++i) {
      CHECK(test::difference(found[i].data, numbers(c.at("expected")[i].at("data")),
                             c.at("tolerance")) == "");
    }
  }
  CHECK(lowered > 100);
}

// SPDX-License-Identifier: Apache-2.0
// Every op's record: its samples give their independently known numbers (design 4 and 12).
#include <doctest/doctest.h>

#include <set>

#include "ir/print.h"
#include "ops/builder.h"
#include "ops/oracle.h"
#include "ops/parse.h"
#include "ops_check.h"

using namespace rlx;
using rlx::test::difference;

namespace {

std::vector<OpKind> all_ops() {
  std::vector<OpKind> ops;
  for (size_t i = 0; i < kOpCount; ++i) ops.push_back(static_cast<OpKind>(i));
  return ops;
}

Graph sample_graph(const Sample& sample) {
  return parse_graph(fmt::format("graph sample {{ {} }}", sample.graph));
}

std::vector<double> first_output(const Graph& graph) {
  OracleRun run;
  return evaluate(graph, run).at(0).data;
}

bool uses_op(const Graph& graph, OpKind op) {
  for (const NodeId id : graph.order()) {
    if (graph.node(id).op == op) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every op has a complete record") {
  for (const OpKind op : all_ops()) {
    const OpDef& d = op_def(op);
    CAPTURE(op_name(op));
    CHECK(d.op == op);
    CHECK(d.doc.size() >= 8);
    CHECK(d.doc.back() == '.');
    if (is_leaf(op)) {
      CHECK((d.infer == nullptr));
      CHECK((d.reference == nullptr && d.lower == nullptr));
      continue;
    }
    CHECK((d.infer != nullptr));
    CHECK((d.reference == nullptr) != (d.lower == nullptr));
    bool optional_seen = false;
    for (const OperandSpec& spec : d.operands) {
      if (spec.arity == OperandSpec::Required) CHECK_FALSE(optional_seen);
      optional_seen = optional_seen || spec.arity != OperandSpec::Required;
    }
    std::set<AttrKey> keys;
    for (const AttrSpec& spec : d.attrs) {
      CHECK(keys.insert(spec.key).second);
      if (spec.has_default) CHECK(spec.fallback.kind == attr_kind(spec.key));
    }
  }
}

TEST_CASE("every op's samples give their numbers") {
  for (const OpKind op : all_ops()) {
    // Inputs and weights carry no numbers in the text form.
    if (op == OpKind::Input || op == OpKind::Weight) continue;
    CAPTURE(op_name(op));
    CHECK_FALSE(op_def(op).samples.empty());
    for (const Sample& sample : op_def(op).samples) {
      CAPTURE(sample.graph);
      const Graph graph = sample_graph(sample);
      CHECK(uses_op(graph, op));
      const std::vector<double> found = first_output(graph);
      CHECK(difference(found, sample.expected, sample.tolerance) == "");

      std::vector<double> wrong = sample.expected;
      double& slot = wrong.back();
      slot = std::isfinite(slot) ? slot + 0.001 * std::max(1.0, std::abs(slot)) : 0;
      CHECK(difference(found, wrong, sample.tolerance) != "");
    }
  }
}

TEST_CASE("samples print and parse back to the same graph and numbers") {
  for (const OpKind op : all_ops()) {
    for (const Sample& sample : op_def(op).samples) {
      CAPTURE(sample.graph);
      const Graph graph = sample_graph(sample);
      const std::string text = print(graph);
      const Graph again = parse_graph(text);
      CHECK(print(again) == text);
      CHECK(difference(first_output(again), first_output(graph), 0) == "");
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/error.h"
#include "ir/graph.h"
#include "ir/print.h"

using namespace rlx;

TEST_CASE("dim: affine arithmetic and bounds") {
  const Symbol symbols[] = {{"T", 512}, {"P", 4095}};
  const Dim t = Dim::of_symbol(0), p = Dim::of_symbol(1);
  CHECK(to_string(p + t, symbols) == "T+P");
  CHECK(to_string(t * Dim(2) - Dim(1), symbols) == "2*T-1");
  CHECK((t + p).upper_bound(symbols) == 4607);
  CHECK((t - p).lower_bound(symbols) == -4095);
  CHECK(t - t == Dim(0));
  const int64_t values[] = {3, 10};
  CHECK((t * Dim(4) + p).value(values) == 22);
  CHECK((t * Dim(6)).divided_by(3, "x") == t * Dim(2));
  CHECK_THROWS_AS((void)(t * p), Error);
  CHECK_THROWS_AS((void)(t * Dim(3)).divided_by(2, "x"), Error);
  CHECK_THROWS_AS((void)(Dim(INT64_MAX) + Dim(1)), Error);
}

TEST_CASE("type: packed storage counts blocks along the last axis") {
  const TensorType q{DType::Q4_K, {Dim(3), Dim(512)}};
  CHECK(byte_count(q) == Dim(3 * 2 * 144));
  CHECK_THROWS_AS((void)byte_count({DType::Q4_K, {Dim(3), Dim(500)}}), Error);
  CHECK_THROWS_AS((void)byte_count({DType::Q8_0, {}}), Error);
}

TEST_CASE("graph: use lists follow every change") {
  Graph g("g");
  const TensorType t{DType::F32, {Dim(4)}};
  const Value a = g.add_input("a", t), b = g.add_input("b", t);
  const NodeId sum = g.add_node(OpKind::Add, {a, a}, {}, {t});
  const NodeId out = g.add_node(OpKind::Neg, {{sum, 0}}, {}, {t}, {"y"});
  g.set_outputs({{out, 0}});
  CHECK(g.uses(a).size() == 2);
  CHECK(g.uses({out, 0}).size() == 1);
  CHECK(g.uses({out, 0})[0].user == kNoNode);
  g.set_operand(sum, 1, b);
  CHECK(g.uses(a).size() == 1);
  CHECK(g.uses(b)[0] == Use{sum, 1});
  g.replace_uses({sum, 0}, b);
  CHECK(g.uses({sum, 0}).empty());
  g.erase(sum);
  CHECK(g.uses(a).empty());
  CHECK(g.order().size() == 3);
  CHECK_THROWS_AS(g.add_input("a", t), Error);  // U12: names are unique
}

TEST_CASE("graph: a clone is independent") {
  Graph g("g");
  const TensorType t{DType::F32, {Dim(4)}};
  const Value a = g.add_input("a", t);
  const NodeId n = g.add_node(OpKind::Neg, {a}, {}, {t});
  g.set_outputs({{n, 0}});
  Graph copy = g.clone();
  const std::string before = print(g);
  copy.add_node(OpKind::Exp, {a}, {}, {t});
  CHECK(print(g) == before);
  CHECK(print(copy) != before);
}

// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/error.h"
#include "ir/print.h"
#include "ops/parse.h"
#include "ops/verify.h"

using namespace rlx;

namespace {

const char* kMlp = R"(graph mlp {
  dims B <= 64, S <= 8
  input %x : f32[B, 784]
  weight %w1 : f32[784, 256]
  weight %q : q4_0[512, 256]
  const %c : f32[2] = [1.0, 2.5]
  const %n : f32[3] = [nan, inf, -inf]
  const %s : i64[6] = splat -7
  const %z : f16[] = 0.5
  state %kv : f16[2, 512, 64]
  %h = matmul %x, %w1 : f32[B, 256]
  %y = gelu %h {approximate = "tanh"} : f32[B, 256]
  %l = linear %y, %q : f32[B, 512]
  %v, %i = top_k %l {axis = 1, k = 5} : f32[B, 5], i64[B, 5]
  output %v, %i
}
)";

std::string error_of(const std::string& text) {
  try {
    parse_graph(text);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

}  // namespace

TEST_CASE("parse: what is printed reads back to the same text") {
  CHECK(print(parse_graph(kMlp)) == kMlp);
}

TEST_CASE("parse: bodies and the largest integers read back to the same text") {
  const char* text = R"(graph g {
  dims T <= 8
  input %x : f32[T]
  const %i : i64[2] = [-9223372036854775808, 9223372036854775807]
  const %u : u64[] = 18446744073709551615
  %y = neg %x : f32[T] {
    input %a : f32[T]
    %b = abs %a : f32[T]
    yield %b
  }
  output %y
}
)";
  CHECK(print(parse_graph(text)) == text);
}

TEST_CASE("parse: result types may be left out and are checked where given") {
  const Graph g = parse_graph("graph g { input %x : f32[4] %y = neg %x output %y }");
  CHECK(g.type(g.find("y")) == TensorType{DType::F32, {Dim(4)}});
  CHECK(error_of("graph g {\n input %x : f32[4]\n %y = neg %x : f32[5]\n output %y }") ==
        "line 3, column 2: %y is declared f32[5], but is f32[4]");
}

TEST_CASE("parse: errors name the place, what was found and what was expected") {
  CHECK(error_of("graph g { output %y }") == "line 1, column 18: %y is not defined");
  CHECK(error_of("grph g { }") == "line 1, column 1: found 'grph', expected 'graph'");
  CHECK(error_of("graph g {\n input %x : f33[4] output %x }") ==
        "line 2, column 2: there is no element type 'f33'");
  CHECK(error_of("graph g { input %x : f32[N] output %x }") ==
        "line 1, column 11: no symbol named N");
  CHECK(error_of("graph g { input %x : f32[4]\n %y = frob %x output %y }") ==
        "line 2, column 7: there is no op 'frob'");
  CHECK(error_of("graph g { const %x : f32[3] = [1.0, 2.0] output %x }") ==
        "line 1, column 11: 2 numbers are given, the shape has 3");
  CHECK(error_of("graph g { input %x : f32[4] input %x : f32[4] output %x }") ==
        "line 1, column 29: %x is defined twice");
  CHECK(error_of("graph g { input %x : f32[4]") != "");
  CHECK(error_of("graph g { const %x : f32[99999999999] = splat 1.0 output %x }") != "");
}

TEST_CASE("parse: no prefix or single-byte change of a graph crashes") {
  const std::string text = kMlp;
  for (size_t n = 0; n < text.size() - 2; ++n) CHECK(error_of(text.substr(0, n)) != "");
  for (size_t n = 0; n < text.size(); ++n) {
    for (const char c : {'{', '"', '9', '%', '\0', '-'}) {
      std::string changed = text;
      changed[n] = c;
      error_of(changed);
    }
  }
}

TEST_CASE("verify: a wrong result type is caught") {
  Graph g = parse_graph("graph g { input %x : f32[4] %y = neg %x output %y }");
  const Value x = g.find("x");
  const NodeId bad = g.add_node(OpKind::Neg, {x}, {}, {{DType::F32, {Dim(5)}}}, {"bad"});
  g.set_outputs({{bad, 0}});
  CHECK_THROWS_AS(verify(g), Error);
}

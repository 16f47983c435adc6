// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "../support/oracle_target.h"
#include "base/error.h"
#include "ir/print.h"
#include "ops/parse.h"
#include "ops/verify.h"
#include "passes/pass.h"

using namespace rlx;

namespace {

std::string after(const std::string& text, void (*pass)(Graph&, PassContext&),
                  const Target& target = oracle_target()) {
  Graph g = parse_graph(text);
  const Signature before = signature_of(g);
  std::vector<Event> events;
  PassContext context{target, events};
  pass(g, context);
  verify(g);
  CHECK(signature_of(g) == before);
  return print(g);
}

}  // namespace

TEST_CASE("canonicalize: equal nodes become one, unused ones go, the signature stays (B26)") {
  const std::string text = after(
      "graph g { input %x : f32[4] input %unused : f32[4] %a = abs %x %b = abs %x %c = add %a, %b "
      "%dead = neg %x output %c }",
      canonicalize);
  CHECK(text ==
        "graph g {\n  input %x : f32[4]\n  input %unused : f32[4]\n  %a = abs %x : f32[4]\n"
        "  %c = add %a, %a : f32[4]\n  output %c\n}\n");
}

TEST_CASE("canonicalize: identities and reshape chains vanish") {
  const std::string text = after(
      "graph g { input %x : f32[2, 6] %a = reshape %x {shape = [12]} %b = reshape %a {shape = [3, "
      "4]} "
      "%c = reshape %b {shape = [3, 4]} %d = cast %c {to = f32} %e = transpose %d {perm = [0, 1]} "
      "output %e }",
      canonicalize);
  CHECK(text ==
        "graph g {\n  input %x : f32[2, 6]\n  %b = reshape %x {shape = [3, 4]} : f32[3, 4]\n"
        "  output %b\n}\n");
}

TEST_CASE("canonicalize: constants fold to the oracle's numbers, integers keep their width") {
  const std::string text = after(
      "graph g { const %a : f32[2] = [1.0, 2.0] const %b : f32[] = 0.5 const %i : i64[] = "
      "5000000000 "
      "const %j : i64[] = 3 %c = mul %a, %b %k = add %i, %j output %c, %k }",
      canonicalize);
  CHECK(text.find("f32[2] = [0.5, 1.0]") != std::string::npos);
  CHECK(text.find("i64[] = 5000000003") != std::string::npos);
  CHECK(text.find("mul") == std::string::npos);
}

TEST_CASE("canonicalize: state updates are neither merged nor dropped") {
  const std::string text = after(
      "graph g { dims T <= 4, P <= 4 input %x : f32[T, 2] state %s : f32[8, 2] "
      "%a = append %s, %x {at = P} output %x }",
      canonicalize);
  CHECK(text.find("append") != std::string::npos);
}

TEST_CASE("legalize: composites without a kernel expand until only kernels are left") {
  const std::string text = after(
      "graph g { input %x : f32[3, 8] weight %w : f32[8] %y = rms_norm %x, %w {eps = 1e-6} output "
      "%y }",
      legalize);
  CHECK(text.find("rms_norm") == std::string::npos);
  CHECK(text.find("mul") != std::string::npos);
}

TEST_CASE("legalize: packed products get one q15 operand per value on targets that want it") {
  Target t = oracle_target();
  t.quantize_activations = true;
  KernelRow row;
  row.name = "test.linear";
  row.op = OpKind::Linear;
  row.refuse = [](const KernelQuery& q) {
    return q.operands[0].dtype == DType::Q15 ? std::string() : std::string("needs q15");
  };
  t.kernels.push_back(row);
  const std::string text = after(
      "graph g { input %x : f32[3, 64] weight %w : q4_0[8, 64] weight %v : q8_0[4, 64] "
      "%a = linear %x, %w %b = linear %x, %v output %a, %b }",
      legalize, t);
  CHECK(text.find("quantize %x {to = q15}") != std::string::npos);
  CHECK(text.find("quantize", text.find("quantize") + 8) == std::string::npos);
}

TEST_CASE("pipeline: an unknown pass is refused with the list") {
  Graph g = parse_graph("graph g { input %x : f32[4] output %x }");
  const Target t = oracle_target();
  std::vector<Event> events;
  PassContext context{t, events};
  try {
    run_pipeline(g, context, "frobnicate");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.message().find("the passes are canonicalize, ") != std::string::npos);
  }
}

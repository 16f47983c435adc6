// SPDX-License-Identifier: Apache-2.0
// What each op's inference refuses, and with which words; shape rules over symbolic extents.
#include <doctest/doctest.h>

#include "ops/builder.h"
#include "ops/oracle.h"
#include "ops/parse.h"
#include "ops_check.h"

using namespace rlx;
using rlx::test::error_of;

namespace {

struct Refusal {
  std::string_view body;
  std::string_view message;
};

constexpr std::string_view kDims = "dims T <= 8, S <= 8, U <= 4, V <= 4 ";

/// The Error of a graph that ends with `body`, without its "line L, column C: ".
std::string refusal(std::string_view body) {
  const std::string message =
      error_of([&] { parse_graph(fmt::format("graph g {{ {} {} output %y }}", kDims, body)); });
  const size_t colon = message.rfind("line ", 0) == 0 ? message.find(": ") : std::string::npos;
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

void check_refusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& r : refusals) {
    CAPTURE(r.body);
    CHECK(refusal(r.body) == r.message);
  }
}

/// The type of %y, as text.
std::string type_of(std::string_view body) {
  const Graph g = parse_graph(fmt::format("graph g {{ {} {} output %y }}", kDims, body));
  return to_string(g.type(g.find("y")), g.symbols());
}

}  // namespace

TEST_CASE("operands and attributes are checked against the record") {
  check_refusals({
      {"input %x : f32[2] %y = add %x", "add: found 1 operands, must have 2"},
      {"input %x : f32[2] %y = rms_norm %x, %x, %x {eps = 1e-5}",
       "rms_norm: found 3 operands, must have 1 to 2"},
      {"%y = concat {axis = 0}", "concat: found 0 operands, must have at least 1"},
      {"input %x : f32[2] %y = softmax %x", "softmax: attribute 'axis' is missing"},
      {"input %x : f32[2] %y = softmax %x {axis = 0, eps = 1.0}",
       "softmax: attribute 'eps' is unknown, allowed: axis"},
      {"input %x : f32[2] %y = neg %x {axis = 0}",
       "neg: attribute 'axis' is unknown, allowed: none"},
  });
}

TEST_CASE("elementwise ops refuse") {
  check_refusals({
      {"input %x : i32[2] %y = exp %x", "exp: x i32[2] is not of an allowed class (Float)"},
      {"input %x : q4_0[32] %y = neg %x",
       "neg: x q4_0[32] is not of an allowed class (Float, Int)"},
      {"input %x : c64[2] %y = neg %x", "neg: x c64[2] is not of an allowed class (Float, Int)"},
      {"input %x : f32[2] %y = not %x", "not: x f32[2] is not of an allowed class (Bool)"},
      {"input %a : f32[2] input %b : f16[2] %y = add %a, %b",
       "add: a f32[2] and b f16[2] must have one element type"},
      {"input %a : f32[T, 3] input %b : f32[S, 1] %y = add %a, %b",
       "add: [T, 3] and [S, 1] do not broadcast: T against S on axis 0"},
      {"input %a : f32[3] input %b : f32[2, 4] %y = mul %a, %b",
       "mul: [3] and [2, 4] do not broadcast: 3 against 4 on axis 1"},
      {"input %c : f32[2] %y = where %c, %c, %c",
       "where: cond f32[2] is not of an allowed class (Bool)"},
      {"input %x : f32[2] %y = cast %x {to = q4_0}",
       "cast: to q4_0 is not of an allowed class (Float, Int, Bool)"},
      {"input %x : q8_0[32] %y = cast %x {to = f32}",
       "cast: x q8_0[32] is not of an allowed class (Float, Int, Bool)"},
      {"input %x : f32[2] %y = gelu %x {approximate = \"fast\"}",
       "gelu: approximate \"fast\" must be \"none\" or \"tanh\""},
      {"input %x : f32[2] input %u : f32[1] %y = glu %x, %u",
       "glu: gate f32[2] and up f32[1] must have one shape"},
      {"input %x : f32[2] %y = softcap %x {softcap = 0.0}", "softcap: softcap 0 must be above 0"},
  });
}

TEST_CASE("movement ops refuse") {
  check_refusals({
      {"input %x : f32[2, 3] %y = reshape %x {shape = [4, 2]}",
       "reshape: x f32[2, 3] and [4, 2] do not have the same number of elements"},
      {"input %x : f32[T, 4] %y = reshape %x {shape = [S, 4]}",
       "reshape: x f32[T, 4] and [S, 4] do not have the same number of elements"},
      {"input %x : f32[T, 4] %y = reshape %x {shape = [-1, -1]}",
       "reshape: [-1, -1] has more than one -1"},
      {"input %x : f32[T, 4] %y = reshape %x {shape = [S, -1]}",
       "reshape: the -1 in [S, -1] is not determined by x f32[T, 4]"},
      {"input %x : f32[T, 4] %y = reshape %x {shape = [-1, 3]}",
       "reshape: the -1 in [-1, 3] for x f32[T, 4]: not a multiple of 3"},
      {"input %x : f32[0] %y = reshape %x {shape = [2, 0, -1]}",
       "reshape: the -1 in [2, 0, -1] may be anything"},
      {"input %x : f32[2, 3] %y = transpose %x {perm = [0, 0]}",
       "transpose: perm [0, 0] must name each of the 2 axes once"},
      {"input %x : f32[2, 3] %y = broadcast %x {shape = [3]}",
       "broadcast: x f32[2, 3] does not broadcast to [3]"},
      {"input %x : f32[T] %y = broadcast %x {shape = [1]}",
       "broadcast: x f32[T] does not broadcast to [1]"},
      {"input %x : f32[4] %y = slice %x {starts = [2], sizes = [3]}",
       "slice: axis 0 of x f32[4] has no 3 elements from 2 in steps of 1"},
      {"input %x : f32[T] %y = slice %x {starts = [1], sizes = [T]}",
       "slice: axis 0 of x f32[T] has no T elements from 1 in steps of 1"},
      {"input %x : f32[4] %y = slice %x {starts = [0], sizes = [2], strides = [0]}",
       "slice: stride 0 on axis 0 must be at least 1"},
      {"input %x : f32[4] %y = slice %x {starts = [], sizes = [2]}",
       "slice: 0 starts, 1 sizes, 0 strides given for rank 1"},
      {"input %x : f32[T] %y = slice %x {starts = [9000000000000000000-2000000000000000000*T], "
       "sizes = [1]}",
       "slice: extent -2000000000000000000 * 8 does not fit 64 bits"},
      {"input %a : f32[2, 3] input %b : f32[3, 3] %y = concat %a, %b {axis = 1}",
       "concat: operands 0 and 1 differ on axis 0: [2, 3] and [3, 3]"},
      {"input %a : f32[T] input %b : f32[S] input %c : f32[U] input %d : f32[V] "
       "%y = concat %a, %b, %c, %d {axis = 0}",
       "concat: an extent may name at most 3 symbols"},
      {"input %x : f32[2] %y = pad %x {low = [-1], high = [0]}",
       "pad: axis 0: pads -1 and 0 must not be negative"},
      {"%y = iota {shape = [2, 2]}", "iota: shape [2, 2] must have one extent, not negative"},
      {"input %t : q4_0[2, 32] input %i : i32[1] %y = gather %t, %i {axis = 1}",
       "gather: axis 1 of table q4_0[2, 32] is the one its blocks run along"},
      {"input %t : f32[2] input %i : f32[1] %y = gather %t, %i {axis = 0}",
       "gather: indices f32[1] is not of an allowed class (Int)"},
      {"input %t : f32[1, 1, 1, 1] input %i : i32[1, 1, 1, 1] %y = gather %t, %i {axis = 0}",
       "gather: rank 7 of f32[1, 1, 1, 1, 1, 1, 1] is above 6"},
      {"state %s : f32[4, 2] input %x : f32[T, 3] %y = append %s, %x {at = 0}",
       "append: a row of x against a row of the state: found 3, must be 2"},
      {"state %s : f32[4, 2] input %x : f32[5, 2] %y = append %s, %x {at = 0}",
       "append: 5 rows at 0 do not fit state f32[4, 2]"},
      {"state %s : q4_0[4, 32] input %x : f32[1, 32] %y = append %s, %x {at = 0}",
       "append: state q4_0[4, 32] must be f32, f16, bf16 or q8_0"},
  });
}

TEST_CASE("reductions and contractions refuse") {
  check_refusals({
      {"input %x : f32[2, 2] %y = softmax %x {axis = 3}", "softmax: axis 3 is outside rank 2"},
      {"input %x : f32[2, 2] %y = softmax %x {axis = -3}", "softmax: axis -3 is outside rank 2"},
      {"input %x : f32[2, 2] %y = reduce_sum %x {axes = [1, -1]}",
       "reduce_sum: axis 1 is given twice"},
      {"input %x : i32[2] %y = reduce_mean %x",
       "reduce_mean: x i32[2] is not of an allowed class (Float)"},
      {"input %x : f32[0] %y = arg_max %x {axis = 0}", "arg_max: axis 0 of x f32[0] is empty"},
      {"input %x : f32[4] %y, %i = top_k %x {k = 5, axis = 0}", "top_k: k 5 is outside 0 to 4"},
      {"input %a : f32[2, 3] input %b : f32[4, 2] %y = matmul %a, %b",
       "matmul: rows of b against columns of a: found 4, must be 3"},
      {"input %a : f32[3] input %b : f32[3, 2] %y = matmul %a, %b",
       "matmul: a f32[3] has rank 1, must have at least 2"},
      {"input %x : f32[2, 33] %y = quantize %x {to = q15}", "quantize: q15: not a multiple of 32"},
      {"input %x : f32[32] %y = quantize %x {to = q4_0}",
       "quantize: to q4_0 is not allowed, only q15 and q8_0 are"},
      {"input %x : f32[32] %y = dequantize %x",
       "dequantize: x f32[32] is not of an allowed class (Packed)"},
      {"input %x : f32[2, 4] input %g : f32[3] %y = rms_norm %x, %g {eps = 0.0}",
       "rms_norm: extent of gamma f32[3]: found 3, must be 4"},
      {"input %x : f32[2, 4] %y = layer_norm %x {eps = -1.0}",
       "layer_norm: eps -1 must not be below 0"},
      {"input %x : f32[2, 4] input %w : f32[4, 3] %y = linear %x, %w",
       "linear: columns of w against the last axis of x: found 3, must be 4"},
      {"input %x : i32[2, 4] input %w : f32[3, 4] %y = linear %x, %w",
       "linear: x i32[2, 4] must be Float or q15"},
      {"input %t : f32[2, 4] input %i : i32[1, 1] %y = embedding %t, %i",
       "embedding: ids i32[1, 1] has rank 2, must have 1"},
      {"input %x : f32[T, 4] input %w : f32[2, 3, 4] input %i : i64[S, 2] "
       "%y = expert_linear %x, %w, %i",
       "expert_linear: rows of ids against rows of x: found S, must be T"},
  });
}

TEST_CASE("rope and attention refuse") {
  const std::string qkv = "input %q : f32[T, 8] input %k : f32[S+T, 4] input %v : f32[S+T, 4] ";
  const std::string flipped = "input %q : f32[S+T, 8] input %k : f32[T, 4] input %v : f32[T, 4] ";
  const std::string rope = "input %x : f32[T, 8] input %c : f32[T, 3] input %s : f32[T, 3] ";
  const auto check = [](const std::string& body, std::string_view message) {
    CAPTURE(body);
    CHECK(refusal(body) == message);
  };
  check(qkv + "%y = attention %q, %k, %v {heads = 3, kv_heads = 2, scale = 1.0}",
        "attention: heads 3 must be a positive multiple of kv_heads 2");
  check(qkv + "%y = attention %q, %k, %v {heads = 4, kv_heads = 1, scale = 1.0}",
        "attention: a head of q has 2 channels, one of k has 4");
  check(qkv + "%y = attention %q, %k, %v {heads = 3, kv_heads = 3, scale = 1.0}",
        "attention: q f32[T, 8] does not divide into 3 heads");
  check(qkv + "%y = attention %q, %k, %v {heads = 2, kv_heads = 1, scale = 1.0, window = -1}",
        "attention: window -1 must not be below 0");
  check(qkv +
            "%y = attention %q, %k, %v {heads = 2, kv_heads = 1, scale = 1.0, window = 2, "
            "causal = false}",
        "attention: window 2 needs causal");
  check(flipped + "%y = attention %q, %k, %v {heads = 2, kv_heads = 1, scale = 1.0}",
        "attention: causal needs at least as many keys as queries: q f32[T+S, 8] has T+S rows, k "
        "f32[T, 4] has T");
  check("input %q : f32[T, S] %y = attention %q, %q, %q {heads = 1, kv_heads = 1, scale = 1.0}",
        "attention: the width of an operand must be a number known at compile time");
  check(rope + "%y = rope %x, %c, %s {heads = 2}",
        "rope: cos f32[T, 3] rotates 6 channels, a head of x has 4");
  check(rope + "%y = rope %x, %c, %s {heads = 3}",
        "rope: x f32[T, 8] does not divide into 3 heads");
  check(rope + "%y = rope %x, %c, %s {heads = 1, style = \"gptj\"}",
        "rope: style \"gptj\" must be \"neox\" or \"interleaved\"");
}

TEST_CASE("shape rules over symbolic extents") {
  CHECK(type_of("input %x : f32[T, 12] %y = reshape %x {shape = [T, 3, 4]}") == "f32[T, 3, 4]");
  CHECK(type_of("input %x : f32[T, S, 4] %y = reshape %x {shape = [S, -1]}") == "f32[S, 4*T]");
  CHECK(type_of("input %x : f32[2*T, 3] %y = reshape %x {shape = [T, 6]}") == "f32[T, 6]");
  CHECK(type_of("input %x : f32[2*T+2, S] %y = reshape %x {shape = [2, S, T+1]}") ==
        "f32[2, S, T+1]");
  CHECK(type_of("input %a : f32[1, S] input %b : f32[T, 1] %y = add %a, %b") == "f32[T, S]");
  CHECK(type_of("input %x : f32[S+T, 2] %y = slice %x {starts = [S, 0], sizes = [T, 1]}") ==
        "f32[T, 1]");
  CHECK(type_of("input %a : f32[S] input %b : f32[T] %y = concat %a, %b, %a {axis = 0}") ==
        "f32[T+2*S]");
  CHECK(type_of("input %x : f32[T] %y = pad %x {low = [S], high = [1]}") == "f32[T+S+1]");
  CHECK(type_of("%y = iota {shape = [T], at = S-T}") == "i32[T]");
  CHECK(type_of("input %a : f32[2, T, 4] input %b : f32[4, S] %y = matmul %a, %b") ==
        "f32[2, T, S]");
  CHECK(type_of("state %s : f16[16, 4] input %x : f32[T, 4] %y = append %s, %x {at = S}") ==
        "f16[T+S, 4]");
  CHECK(type_of("input %x : f32[T, S] %y = reduce_mean %x {axes = [0]}") == "f32[1, S]");
}

TEST_CASE("attributes are stored in one form") {
  const Graph g = parse_graph(
      "graph g { input %x : f32[2, 3] %a = reduce_sum %x {axes = [-1, 0]} %b = reduce_sum %x "
      "%c = slice %x {starts = [0, 0], sizes = [2, 2], strides = [1, 1]} "
      "%d = reshape %x {shape = [-1]} output %a, %b, %c, %d }");
  const auto attrs = [&](std::string_view name) { return g.node(g.find(name).node).attrs; };
  CHECK(attrs("a").get_ints(AttrKey::Axes) == std::vector<int64_t>{0, 1});
  CHECK(attrs("a") == attrs("b"));
  CHECK(attrs("c").get_ints(AttrKey::Strides).empty());
  CHECK(attrs("d").get_dims(AttrKey::Shape) == Shape{Dim(6)});
}

TEST_CASE("a builder inserts nodes and constants before a node") {
  Graph g = parse_graph("graph g { input %x : f32[2] %y = neg %x output %y }");
  const NodeId last = g.find("y").node;
  Builder b(g, last);
  b.set_location("here");
  const Value two = b.scalar(DType::F32, 2);
  const Value twice = b.mul(g.find("x"), two);
  g.set_operand(last, 0, twice);
  CHECK(g.order() == std::vector<NodeId>{g.find("x").node, two.node, twice.node, last});
  CHECK(g.node(twice.node).location == "here");
  OracleRun run;
  run.inputs["x"] = {DType::F32, {2}, {1, -3}, {}};
  CHECK(evaluate(g, run)[0].data == std::vector<double>{-2, 6});
}

// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/lowering.h"
#include "ops/records.h"
#include "ops/rules.h"

namespace rlx {
namespace {

/// The attributes that say how many heads there are; Error where they contradict the operands.
void check_heads(const InferArgs& a, int64_t heads, int64_t kv_heads) {
  if (kv_heads < 1 || heads < 1 || heads % kv_heads != 0) {
    fail_infer(a, "heads {} must be a positive multiple of kv_heads {}", heads, kv_heads);
  }
  for (size_t i = 0; i < 3; ++i) {
    const int64_t groups = i == 0 ? heads : kv_heads;
    if (a.operands[i].shape[1].static_value("the width of an operand") % groups != 0) {
      fail_infer(a, "{} does not divide into {} heads", operand_text(a, i), groups);
    }
  }
  const int64_t q_width = a.operands[0].shape[1].constant() / heads;
  const int64_t k_width = a.operands[1].shape[1].constant() / kv_heads;
  if (q_width != k_width) {
    fail_infer(a, "a head of q has {} channels, one of k has {}", q_width, k_width);
  }
}

void check_mask(const InferArgs& a) {
  const int64_t window = a.attrs.get_int(AttrKey::Window);
  const double softcap = a.attrs.get_float(AttrKey::Softcap);
  if (window < 0) fail_infer(a, "window {} must not be below 0", window);
  if (!(softcap >= 0)) fail_infer(a, "softcap {} must not be below 0", softcap);
  const bool causal = a.attrs.get_bool(AttrKey::Causal);
  if (window > 0 && !causal) fail_infer(a, "window {} needs causal", window);
  const Dim past = a.operands[1].shape[0] - a.operands[0].shape[0];
  if (causal && past.lower_bound(a.symbols) < 0) {
    fail_infer(a, "causal needs at least as many keys as queries: {} has {} rows, {} has {}",
               operand_text(a, 0), text_of(a, a.operands[0].shape[0]), operand_text(a, 1),
               text_of(a, a.operands[1].shape[0]));
  }
}

std::vector<TensorType> infer_attention(const InferArgs& a) {
  require_class(a, 0, kFloats);
  for (size_t i = 0; i < 3; ++i) require_rank(a, i, 2);
  for (size_t i = 1; i < 3; ++i) {
    const DType d = a.operands[i].dtype;
    if (!is_float(d) && d != DType::Q8_0) {
      fail_infer(a, "{} must be Float or q8_0", operand_text(a, i));
    }
  }
  require_equal(a, a.operands[2].shape[0], a.operands[1].shape[0], "rows of v against rows of k");
  const int64_t heads = a.attrs.get_int(AttrKey::Heads);
  const int64_t kv_heads = a.attrs.get_int(AttrKey::KvHeads);
  check_heads(a, heads, kv_heads);
  check_mask(a);
  const int64_t v_width = a.operands[2].shape[1].constant() / kv_heads;
  return one(a.operands[0].dtype, {a.operands[0].shape[0], Dim(heads * v_width)});
}

/// bool [T, S]: whether query i sees key j. Queries sit at the end of the keys.
Value visible(Builder& b, const Dim& queries, const Dim& keys, int64_t window) {
  const auto iota = [&](Dim at, Dim n) {
    return b.op(OpKind::Iota, {},
                {{AttrKey::Shape, AttrValue::of_dims({n})}, {AttrKey::At, AttrValue::of_dim(at)}});
  };
  const Value i = b.reshape(iota(keys - queries, queries), {queries, Dim(1)});
  const Value j = b.reshape(iota(0, keys), {Dim(1), keys});
  const Value past = b.op(OpKind::LessEqual, {j, i});
  if (window == 0) return past;
  const Value oldest = b.sub(i, b.scalar(DType::I32, static_cast<double>(window)));
  return b.op(OpKind::And, {past, b.op(OpKind::Less, {oldest, j})});
}

std::vector<Value> lower_attention(Builder& b, const Node& n) {
  const int64_t heads = n.attrs.get_int(AttrKey::Heads);
  const int64_t kv_heads = n.attrs.get_int(AttrKey::KvHeads);
  const Dim group(heads / kv_heads);
  const Dim kv(kv_heads);
  const Dim queries = b.dim(n.operands[0], 0);
  const Dim keys = b.dim(n.operands[1], 0);
  const Dim width = b.dim(n.operands[0], 1).divided_by(heads, "the width of q");
  const Dim v_width = b.dim(n.operands[2], 1).divided_by(kv_heads, "the width of v");
  const Value wide_q = widened(b, n.operands[0]);
  const DType wide = b.type(wide_q).dtype;

  const Value q = b.transpose(b.reshape(wide_q, {queries, kv, group, width}), {1, 2, 0, 3});
  const Value k = b.transpose(
      b.reshape(b.cast(widened(b, n.operands[1]), wide), {keys, kv, Dim(1), width}), {1, 2, 3, 0});
  const Value v =
      b.transpose(b.reshape(b.cast(widened(b, n.operands[2]), wide), {keys, kv, Dim(1), v_width}),
                  {1, 2, 0, 3});

  Value scores = b.op(OpKind::Matmul, {q, k});
  scores = b.mul(scores, exact_scalar(b, wide, n.attrs.get_float(AttrKey::Scale)));
  const double softcap = n.attrs.get_float(AttrKey::Softcap);
  if (softcap > 0) {
    scores = b.op(OpKind::Softcap, {scores}, {{AttrKey::Softcap, AttrValue::of_float(softcap)}});
  }
  if (n.attrs.get_bool(AttrKey::Causal)) {
    const Value mask = visible(b, queries, keys, n.attrs.get_int(AttrKey::Window));
    const Value hidden = b.scalar(wide, -std::numeric_limits<double>::infinity());
    scores = b.op(OpKind::Where, {mask, scores, hidden});
  }
  const Value p = b.op(OpKind::Softmax, {scores}, {{AttrKey::Axis, AttrValue::of_int(3)}});
  const Value mixed = b.transpose(b.op(OpKind::Matmul, {p, v}), {2, 0, 1, 3});
  const Value y = b.reshape(mixed, {queries, v_width * Dim(heads)});
  return {b.cast(y, b.type(n.operands[0]).dtype)};
}

}  // namespace

template <>
OpDef make_op<OpKind::Attention>() {
  OpDef d;
  d.op = OpKind::Attention;
  d.doc =
      "For each head y = softmax(mask(softcap(scale * q k^T))) v, where query heads share key "
      "heads "
      "in order (heads / kv_heads each), queries sit at the end of the keys, `causal` lets query i "
      "see keys up to i + S - T, and a `window` of w (0 is off) only the last w of those "
      "(Mistral's "
      "count, not w + 1); `softcap` c (0 is off) is c tanh(s / c), before the mask.";
  d.operands = {{"q"}, {"k"}, {"v"}};
  d.attrs = {{AttrKey::Heads},
             {AttrKey::KvHeads},
             {AttrKey::Scale},
             {AttrKey::Softcap, true, AttrValue::of_float(0)},
             {AttrKey::Window, true, AttrValue::of_int(0)},
             {AttrKey::Causal, true, AttrValue::of_bool(true)}};
  d.precision = PrecisionClass::Compute;
  d.infer = infer_attention;
  d.lower = lower_attention;
  d.samples = {
      // Equal scores: each query gets the mean of the values it sees.
      {"const %q : f32[2, 2] = splat 0.0 const %k : f32[3, 1] = splat 1.0 "
       "const %v : f32[3, 1] = [3.0, 5.0, 10.0] "
       "%y = attention %q, %k, %v {heads = 2, kv_heads = 1, scale = 1.0} : f32[2, 2] output %y",
       {4, 4, 6, 6}},
      {"const %q : f32[2, 1] = splat 0.0 const %k : f32[3, 1] = splat 1.0 "
       "const %v : f32[3, 1] = [3.0, 5.0, 10.0] "
       "%y = attention %q, %k, %v {heads = 1, kv_heads = 1, scale = 1.0, window = 2} output %y",
       {4, 7.5}},
      {"const %q : f32[1, 1] = [2.0] const %k : f32[2, 1] = [0.0, 4.0] "
       "const %v : f32[2, 2] = [1.0, 0.0, 0.0, 1.0] "
       "%y = attention %q, %k, %v {heads = 1, kv_heads = 1, scale = 0.125, causal = false} "
       "output %y",
       {0.2689414213699951, 0.7310585786300049}}};
  return d;
}

}  // namespace rlx

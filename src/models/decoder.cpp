// SPDX-License-Identifier: Apache-2.0
#include "models/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace rlx {
namespace {

Attrs axis(int64_t value) { return {{AttrKey::Axis, AttrValue::of_int(value)}}; }

void check_options(const LanguageModelOptions& options) {
  const auto at_least_one = [](std::string_view name, int64_t value) {
    if (value >= 1 && value <= INT32_MAX) return;
    fail(ErrorCode::InvalidArgument, "{} is {}; 1 to {} is allowed", name, value, INT32_MAX);
  };
  at_least_one("max_batch", options.max_batch);
  at_least_one("max_rows", options.max_rows);
  const DType kv = options.kv;
  if (kv != DType::F32 && kv != DType::F16 && kv != DType::BF16 && kv != DType::Q8_0) {
    fail(ErrorCode::InvalidArgument, "kv type {} is not supported; f32, f16, bf16 and q8_0 are",
         dtype_name(kv));
  }
}

}  // namespace

Decoder::Decoder(std::shared_ptr<const Checkpoint> checkpoint, const LanguageModelOptions& options,
                 std::string_view epsilon_key, Graph& graph, bool with_bytes)
    : checkpoint_(std::move(checkpoint)),
      hyper_(read_hyper_parameters(*checkpoint_, epsilon_key)),
      builder_(graph),
      weights_(checkpoint_, graph, with_bytes),
      kv_(options.kv) {
  check_options(options);
  choose_context(options);
  graph.add_symbol("T", std::min(options.max_batch, context_));
  graph.add_symbol("P", context_ - 1);
  graph.add_symbol("R", options.max_rows);
  tokens_ = graph.dim("T");
  past_ = graph.dim("P");
  rows_ = graph.dim("R");
  ids_ = graph.add_input("ids", {DType::I32, {tokens_}});
  wanted_ = graph.add_input("rows", {DType::I32, {rows_}});
}

void Decoder::choose_context(const LanguageModelOptions& options) {
  context_ =
      options.context != 0 ? options.context : std::min(hyper_.trained_context, default_context);
  if (context_ < 1 || context_ > hyper_.trained_context) {
    fail(ErrorCode::InvalidArgument, "a context of {} tokens is asked for; {} allows 1 to {}",
         context_, checkpoint_->key("context_length"), hyper_.trained_context);
  }
  const uint32_t group = dtype_info(kv_).block_elements;
  if (hyper_.head_dim % group != 0) {
    fail(ErrorCode::Unsupported,
         "a KV cache of type {} needs heads of a multiple of {} channels; {} has {}",
         dtype_name(kv_), group, checkpoint_->path(), hyper_.head_dim);
  }
}

void Decoder::refuse_window() const {
  if (hyper_.window == 0 || hyper_.window >= context_) return;
  fail(ErrorCode::Unsupported, "{} is {}; windowed layers of {} are supported up to that context",
       config().place("attention.sliding_window"), hyper_.window, checkpoint_->architecture());
}

std::string Decoder::block(int64_t layer, std::string_view module) {
  return fmt::format("blk.{}.{}", layer, module);
}

Value Decoder::embed_tokens() {
  builder_.set_location("token_embd");
  const Extent shape[] = {{"vocabulary", hyper_.vocabulary}, embedding()};
  return builder_.op(OpKind::Embedding, {weights_.get("token_embd.weight", shape), ids_});
}

Value Decoder::positions() {
  return builder_.op(OpKind::Iota, {},
                     {{AttrKey::Shape, AttrValue::of_dims({tokens_})},
                      {AttrKey::At, AttrValue::of_dim(past_)},
                      {AttrKey::Dtype, AttrValue::of_dtype(DType::I32)}});
}

Value Decoder::embed_positions() {
  builder_.set_location("position_embd");
  const Extent shape[] = {{"context_length", hyper_.trained_context}, embedding()};
  const Value table = weights_.get("position_embd.weight", shape);
  return builder_.op(OpKind::Embedding, {table, positions()});
}

Value Decoder::scaled(Value x, double factor) {
  return builder_.mul(x, builder_.scalar(builder_.type(x).dtype, factor));
}

Rotation Decoder::rotation(const std::string& name, const RopeFrequencies& rope,
                           std::string_view style) {
  builder_.set_location(name);
  const auto pairs = static_cast<int64_t>(rope.inv_freq.size());
  const Value frequencies =
      builder_.constant(DType::F32, {pairs}, rope.inv_freq, name + ".inv_freq");
  const auto tables = builder_.ops(OpKind::RopeTable, {positions(), frequencies},
                                   {{AttrKey::Magnitude, AttrValue::of_float(rope.magnitude)}},
                                   {name + ".cos", name + ".sin"});
  return {tables[0], tables[1], style};
}

Value Decoder::gamma(const std::string& module, Extent size) {
  const Value stored = weights_.get(module + ".weight", {&size, 1});
  if (!checkpoint_->layout().norm_weights_lack_one) return stored;
  return builder_.add(builder_.cast(stored, DType::F32), builder_.scalar(DType::F32, 1));
}

Value Decoder::rms_norm(Value x, const std::string& module) {
  builder_.set_location(module);
  return builder_.op(OpKind::RmsNorm, {x, gamma(module, embedding())},
                     {{AttrKey::Eps, AttrValue::of_float(hyper_.epsilon)}});
}

Value Decoder::head_norm(Value x, int64_t heads, const std::string& module) {
  builder_.set_location(module);
  const Shape flat = builder_.shape(x);
  const Value split = builder_.reshape(x, {flat[0], Dim(heads), Dim(hyper_.head_dim)});
  const Extent width{"key_length", hyper_.head_dim};
  const Value normed = builder_.op(OpKind::RmsNorm, {split, gamma(module, width)},
                                   {{AttrKey::Eps, AttrValue::of_float(hyper_.epsilon)}});
  return builder_.reshape(normed, flat);
}

Value Decoder::layer_norm(Value x, const std::string& module) {
  builder_.set_location(module);
  const Extent size = embedding();
  return builder_.op(OpKind::LayerNorm,
                     {x, gamma(module, size), weights_.get(module + ".bias", {&size, 1})},
                     {{AttrKey::Eps, AttrValue::of_float(hyper_.epsilon)}});
}

Value Decoder::linear(Value x, const std::string& module, Extent out, Extent in) {
  builder_.set_location(module);
  std::vector<Value> operands = {x};
  const bool transposed = checkpoint_->layout().linear_is_in_out;
  const Extent shape[] = {transposed ? in : out, transposed ? out : in};
  operands.push_back(weights_.get(module + ".weight", shape));
  Value bias;
  if (weights_.has(module + ".bias")) bias = weights_.get(module + ".bias", {&out, 1});
  if (transposed) {
    const Value y = builder_.op(OpKind::Matmul, {x, builder_.cast(operands[1], DType::F32)});
    return bias.valid() ? builder_.add(y, builder_.cast(bias, DType::F32)) : y;
  }
  if (bias.valid()) operands.push_back(bias);
  return builder_.op(OpKind::Linear, std::move(operands));
}

std::vector<Value> Decoder::linear_parts(Value x, const std::string& module,
                                         std::span<const Part> parts, Extent in) {
  Extent out{"", 0};
  std::string names;
  for (const Part& part : parts) {
    if (!names.empty()) names += " + ";
    names += part.rows.name;
    out.size += part.rows.size;
  }
  out.name = names;
  std::vector<Value> values;
  if (checkpoint_->layout().linear_is_in_out) {
    const Value whole = linear(x, module, out, in);
    int64_t first = 0;
    for (const Part& part : parts) {
      values.push_back(builder_.op(
          OpKind::Slice, {whole},
          {{AttrKey::Starts, AttrValue::of_dims({Dim(0), Dim(first)})},
           {AttrKey::Sizes, AttrValue::of_dims({builder_.dim(x, 0), Dim(part.rows.size)})}}));
      first += part.rows.size;
    }
    return values;
  }
  const Extent shape[] = {out, in};
  int64_t first = 0;
  for (const Part& part : parts) {
    builder_.set_location(fmt::format("{}.{}", module, part.suffix));
    const auto leaf = [&](std::string_view kind, std::span<const Extent> whole) {
      return weights_.rows(fmt::format("{}.{}", module, kind),
                           fmt::format("{}.{}.{}", module, part.suffix, kind), whole, first,
                           part.rows.size);
    };
    std::vector<Value> operands = {x, leaf("weight", shape)};
    if (weights_.has(module + ".bias")) operands.push_back(leaf("bias", {&out, 1}));
    values.push_back(builder_.op(OpKind::Linear, std::move(operands)));
    first += part.rows.size;
  }
  return values;
}

void Decoder::require_bias(const std::string& module) const {
  checkpoint_->tensor(module + ".bias");
}

void Decoder::require_head_biases(int64_t layer) const {
  if (heads_are_fused(layer)) return require_bias(block(layer, "attn_qkv"));
  for (const char* name : {"attn_q", "attn_k", "attn_v"}) require_bias(block(layer, name));
}

/// Where there is neither the fused matrix nor any of the three, the fused one is missing.
bool Decoder::heads_are_fused(int64_t layer) const {
  const auto has = [&](const char* name) { return weights_.has(block(layer, name)); };
  return has("attn_qkv.weight") ||
         !(has("attn_q.weight") || has("attn_k.weight") || has("attn_v.weight"));
}

Heads Decoder::project_heads(Value x, int64_t layer) {
  const auto i = static_cast<size_t>(layer);
  const Extent q{"head_count * key_length", hyper_.heads[i] * hyper_.head_dim};
  const Extent kv{"head_count_kv * key_length", hyper_.kv_heads[i] * hyper_.head_dim};
  if (heads_are_fused(layer)) {
    const Part parts[] = {{"q", q}, {"k", kv}, {"v", kv}};
    const auto values = linear_parts(x, block(layer, "attn_qkv"), parts, embedding());
    return {values[0], values[1], values[2]};
  }
  return {linear(x, block(layer, "attn_q"), q, embedding()),
          linear(x, block(layer, "attn_k"), kv, embedding()),
          linear(x, block(layer, "attn_v"), kv, embedding())};
}

Heads Decoder::rotate(Heads heads, int64_t layer, const Rotation& rotation) {
  const auto i = static_cast<size_t>(layer);
  builder_.set_location(block(layer, "rope"));
  const auto turned = [&](Value x, int64_t count) {
    return builder_.op(OpKind::Rope, {x, rotation.cos, rotation.sin},
                       {{AttrKey::Heads, AttrValue::of_int(count)},
                        {AttrKey::Style, AttrValue::of_string(std::string(rotation.style))}});
  };
  heads.q = turned(heads.q, hyper_.heads[i]);
  heads.k = turned(heads.k, hyper_.kv_heads[i]);
  return heads;
}

Value Decoder::append(std::string_view cache, int64_t layer, Value x) {
  const TensorType type{kv_, {Dim(context_), builder_.dim(x, 1)}};
  const Value state = builder_.graph().add_state(fmt::format("{}.{}", cache, layer), type);
  kv_bytes_ += byte_count(type).constant();
  return builder_.op(OpKind::Append, {state, x}, {{AttrKey::At, AttrValue::of_dim(past_)}});
}

Value Decoder::attend(const Heads& heads, int64_t layer, const AttentionKind& kind) {
  const auto i = static_cast<size_t>(layer);
  builder_.set_location(block(layer, "attention"));
  const Value k = append("k", layer, heads.k);
  const Value v = append("v", layer, heads.v);
  return builder_.op(OpKind::Attention, {heads.q, k, v},
                     {{AttrKey::Heads, AttrValue::of_int(hyper_.heads[i])},
                      {AttrKey::KvHeads, AttrValue::of_int(hyper_.kv_heads[i])},
                      {AttrKey::Scale, AttrValue::of_float(kind.scale)},
                      {AttrKey::Softcap, AttrValue::of_float(kind.softcap)},
                      {AttrKey::Window, AttrValue::of_int(kind.window)}});
}

Value Decoder::project_output(Value x, int64_t layer) {
  const int64_t width = hyper_.heads[static_cast<size_t>(layer)] * hyper_.head_dim;
  return linear(x, block(layer, "attn_output"), embedding(), {"head_count * key_length", width});
}

Value Decoder::gated_feed_forward(Value x, int64_t layer, std::string_view activation) {
  const Extent width{"feed_forward_length", hyper_.feed_forward[static_cast<size_t>(layer)]};
  Value gate, up;
  const CheckpointTensor* stored = checkpoint_->find_tensor(block(layer, "ffn_up.weight"));
  const bool fused = stored == nullptr || stored->shape.empty() || stored->shape[0] != width.size;
  if (weights_.has(block(layer, "ffn_gate.weight")) || !fused) {
    gate = linear(x, block(layer, "ffn_gate"), width, embedding());
    up = linear(x, block(layer, "ffn_up"), width, embedding());
  } else {
    const Part parts[] = {{"gate", width}, {"up", width}};
    const auto values = linear_parts(x, block(layer, "ffn_up"), parts, embedding());
    gate = values[0];
    up = values[1];
  }
  builder_.set_location(block(layer, "ffn_act"));
  const Value y =
      builder_.op(OpKind::Glu, {gate, up},
                  {{AttrKey::Activation, AttrValue::of_string(std::string(activation))}});
  return linear(y, block(layer, "ffn_down"), embedding(), width);
}

Value Decoder::expert_feed_forward(Value x, int64_t layer, bool renormalize) {
  const Extent experts{"expert_count", hyper_.experts};
  const Extent width{"expert_feed_forward_length", hyper_.expert_feed_forward};
  const int64_t used = hyper_.experts_used;
  const Dim tokens = builder_.dim(x, 0);
  const Value scores = linear(x, block(layer, "ffn_gate_inp"), experts, embedding());
  const Value shares = builder_.op(OpKind::Softmax, {scores}, axis(-1));
  const auto best =
      builder_.ops(OpKind::TopK, {shares},
                   {{AttrKey::K, AttrValue::of_int(used)}, {AttrKey::Axis, AttrValue::of_int(-1)}});
  const auto sum = [&](Value v, bool keep) {
    return builder_.op(
        OpKind::ReduceSum, {v},
        {{AttrKey::Axes, AttrValue::of_ints({1})}, {AttrKey::KeepDims, AttrValue::of_bool(keep)}});
  };
  Value weight = best[0];
  if (renormalize) weight = builder_.div(weight, sum(weight, true));
  const auto apply = [&](Value v, std::string_view module, const Extent& out, const Extent& in) {
    builder_.set_location(block(layer, module));
    const Extent shape[] = {experts, out, in};
    const Value w = weights_.stacked(block(layer, module), shape);
    return builder_.op(OpKind::ExpertLinear, {v, w, best[1]});
  };
  const Value gate = apply(x, "ffn_gate", width, embedding());
  const Value up = apply(x, "ffn_up", width, embedding());
  const Value y = apply(builder_.op(OpKind::Glu, {gate, up}), "ffn_down", embedding(), width);
  return sum(builder_.mul(y, builder_.reshape(weight, {tokens, Dim(used), Dim(1)})), false);
}

void Decoder::keep_wanted_rows(int64_t layer, Value& x, Value& attended) {
  if (layer + 1 != hyper_.layers) return;
  builder_.set_location("rows");
  x = builder_.op(OpKind::Gather, {x, wanted_}, axis(0));
  attended = builder_.op(OpKind::Gather, {attended, wanted_}, axis(0));
}

void Decoder::finish(Value x) {
  builder_.set_location("output");
  const Extent shape[] = {{"vocabulary", hyper_.vocabulary}, embedding()};
  const std::string_view table = weights_.has("output.weight") ? "output" : "token_embd";
  std::vector<Value> operands = {x, weights_.get(fmt::format("{}.weight", table), shape)};
  if (weights_.has("output.bias")) operands.push_back(weights_.get("output.bias", {shape, 1}));
  Value logits = builder_.op(OpKind::Linear, std::move(operands));
  if (hyper_.logit_softcap > 0) {
    logits = builder_.op(OpKind::Softcap, {logits},
                         {{AttrKey::Softcap, AttrValue::of_float(hyper_.logit_softcap)}});
  }
  builder_.graph().rename(logits, "logits");
  builder_.graph().set_outputs({logits});
  weights_.refuse_unused(hyper_.layers);
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/error.h"
#include "models/architectures.h"

namespace rlx {
namespace {

constexpr int64_t default_pattern = 6;
constexpr double default_local_base = 10000;

/// Which layers see a window of keys only: all but every sixth, or as the file says (every n-th is
/// full, or a flag per layer).
std::vector<bool> windowed_layers(const Decoder& model) {
  const Checkpoint& checkpoint = model.checkpoint();
  const std::string key = checkpoint.key("attention.sliding_window_pattern");
  const auto count = static_cast<size_t>(model.layers());
  std::vector<bool> windowed;
  const MetaValue* value = checkpoint.metadata().find(key);
  if (const auto flags = value != nullptr ? value->to_array() : std::nullopt) {
    if (flags->size() != count) {
      fail(ErrorCode::InvalidFile, "{}: {} has {} entries; one for each of {} layers is needed",
           checkpoint.path(), key, flags->size(), count);
    }
    for (const MetaValue flag : *flags) {
      windowed.push_back(flag.to_bool().value_or(flag.to_u64().value_or(0) != 0));
    }
    return windowed;
  }
  const int64_t pattern =
      model.config().count_or("attention.sliding_window_pattern", default_pattern, 1, INT32_MAX);
  for (int64_t i = 0; i < model.layers(); ++i) windowed.push_back((i + 1) % pattern != 0);
  return windowed;
}

}  // namespace

// Gemma 3, text only: norms before and behind attention and feed-forward, norms of q and k, most
// layers windowed with a rope of their own (never scaled), token rows times sqrt(E), tied output.
void build_gemma3(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const Checkpoint& checkpoint = model.checkpoint();
  const int64_t dims = read_rope_dims(checkpoint, h.head_dim);
  const std::vector<bool> windowed = windowed_layers(model);
  const double local_base = model.config().positive_or("rope.freq_base_swa", default_local_base);
  const double scale = gemma_attention_scale(model, 62);
  const int64_t window = model.config().count("attention.sliding_window", 1, INT32_MAX);

  Value x = model.scaled(model.embed_tokens(), std::sqrt(static_cast<double>(h.embedding)));
  const Rotation full =
      model.rotation("rope", read_rope(checkpoint, dims, model.context()), "neox");
  const Rotation local = model.rotation("rope_local", plain_rope(local_base, dims), "neox");
  for (int64_t i = 0; i < model.layers(); ++i) {
    const auto layer = static_cast<size_t>(i);
    const Value a = model.rms_norm(x, model.block(i, "attn_norm"));
    Heads heads = model.project_heads(a, i);
    heads.q = model.head_norm(heads.q, h.heads[layer], model.block(i, "attn_q_norm"));
    heads.k = model.head_norm(heads.k, h.kv_heads[layer], model.block(i, "attn_k_norm"));
    heads = model.rotate(heads, i, windowed[layer] ? local : full);
    Value y = model.attend(heads, i, {scale, h.attention_softcap, windowed[layer] ? window : 0});
    model.keep_wanted_rows(i, x, y);
    y = model.project_output(y, i);
    x = b.add(x, model.rms_norm(y, model.block(i, "post_attention_norm")));
    const Value f = model.rms_norm(x, model.block(i, "ffn_norm"));
    const Value g = model.gated_feed_forward(f, i, "gelu_tanh");
    x = b.add(x, model.rms_norm(g, model.block(i, "post_ffw_norm")));
  }
  model.finish(model.rms_norm(x, "output_norm"));
}

}  // namespace rlx

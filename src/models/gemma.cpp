// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "models/architectures.h"

namespace rlx {
double gemma_attention_scale(const Decoder& model, int64_t layers_of_27b) {
  const HyperParameters& h = model.hyper();
  if (h.layers != layers_of_27b || model.config().has("attention.scale")) return h.attention_scale;
  return 1.0 / std::sqrt(static_cast<double>(h.embedding / h.heads[0]));
}

// Gemma 1: token rows times sqrt(E), gated gelu, tied output.
void build_gemma(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const int64_t dims = read_rope_dims(model.checkpoint(), h.head_dim);

  Value x = model.scaled(model.embed_tokens(), std::sqrt(static_cast<double>(h.embedding)));
  const Rotation rope =
      model.rotation("rope", read_rope(model.checkpoint(), dims, model.context()), "neox");
  for (int64_t i = 0; i < model.layers(); ++i) {
    const Value a = model.rms_norm(x, model.block(i, "attn_norm"));
    const Heads heads = model.rotate(model.project_heads(a, i), i, rope);
    Value y = model.attend(heads, i, {h.attention_scale});
    model.keep_wanted_rows(i, x, y);
    x = b.add(x, model.project_output(y, i));
    const Value f = model.rms_norm(x, model.block(i, "ffn_norm"));
    x = b.add(x, model.gated_feed_forward(f, i, "gelu_tanh"));
  }
  model.finish(model.rms_norm(x, "output_norm"));
}

// Gemma 2: norms behind attention and feed-forward too, every other layer windowed from the first
// on, scores and logits capped.
void build_gemma2(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const int64_t dims = read_rope_dims(model.checkpoint(), h.head_dim);
  const int64_t window = model.config().count("attention.sliding_window", 1, INT32_MAX);
  const double scale = gemma_attention_scale(model, 46);

  Value x = model.scaled(model.embed_tokens(), std::sqrt(static_cast<double>(h.embedding)));
  const Rotation rope =
      model.rotation("rope", read_rope(model.checkpoint(), dims, model.context()), "neox");
  for (int64_t i = 0; i < model.layers(); ++i) {
    const Value a = model.rms_norm(x, model.block(i, "attn_norm"));
    const Heads heads = model.rotate(model.project_heads(a, i), i, rope);
    Value y = model.attend(heads, i, {scale, h.attention_softcap, i % 2 == 0 ? window : 0});
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

// SPDX-License-Identifier: Apache-2.0
#include "models/architectures.h"

namespace rlx {

// GPT-2: learned positions, layer norms with biases, biases everywhere, gelu in its tanh form.
void build_gpt2(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const Extent embedding{"embedding_length", h.embedding};

  Value x = b.add(model.embed_tokens(), model.embed_positions());
  for (int64_t i = 0; i < model.layers(); ++i) {
    const Extent width{"feed_forward_length", h.feed_forward[static_cast<size_t>(i)]};
    const Value a = model.layer_norm(x, model.block(i, "attn_norm"));
    model.require_head_biases(i);
    for (const char* name : {"attn_output", "ffn_up", "ffn_down"}) {
      model.require_bias(model.block(i, name));
    }
    Value y = model.attend(model.project_heads(a, i), i, {h.attention_scale});
    model.keep_wanted_rows(i, x, y);
    x = b.add(x, model.project_output(y, i));
    const Value f = model.layer_norm(x, model.block(i, "ffn_norm"));
    const Value up = model.linear(f, model.block(i, "ffn_up"), width, embedding);
    const Value act =
        b.op(OpKind::Gelu, {up}, {{AttrKey::Approximate, AttrValue::of_string("tanh")}});
    x = b.add(x, model.linear(act, model.block(i, "ffn_down"), embedding, width));
  }
  model.finish(model.layer_norm(x, "output_norm"));
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "models/architectures.h"

namespace rlx {

// Llama 1 to 3, Mistral (a window on every layer where the file has one) and Mixtral (experts in
// place of the feed-forward). GGUF files store the rows of q and k permuted for interleaved pairs.
void build_llama(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const Checkpoint& checkpoint = model.checkpoint();
  const bool halves = checkpoint.layout().rope_pairs_are_halves;
  const int64_t dims = read_rope_dims(checkpoint, h.head_dim);
  const bool renormalize = model.config().flag_or("expert_weights_norm", true);

  Value x = model.embed_tokens();
  const Rotation rope = model.rotation("rope", read_rope(checkpoint, dims, model.context()),
                                       halves ? "neox" : "interleaved");
  for (int64_t i = 0; i < model.layers(); ++i) {
    const Value a = model.rms_norm(x, model.block(i, "attn_norm"));
    const Heads heads = model.rotate(model.project_heads(a, i), i, rope);
    Value y = model.attend(heads, i, {h.attention_scale, h.attention_softcap, h.window});
    model.keep_wanted_rows(i, x, y);
    x = b.add(x, model.project_output(y, i));
    const Value f = model.rms_norm(x, model.block(i, "ffn_norm"));
    x = b.add(x, h.experts > 0 ? model.expert_feed_forward(f, i, renormalize)
                               : model.gated_feed_forward(f, i, "silu"));
  }
  model.finish(model.rms_norm(x, "output_norm"));
}

}  // namespace rlx

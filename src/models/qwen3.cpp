// SPDX-License-Identifier: Apache-2.0
#include "models/architectures.h"

namespace rlx {

// Qwen 3, dense or with experts (qwen3moe): norms of q and k per head, no biases.
void build_qwen3(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const int64_t dims = read_rope_dims(model.checkpoint(), h.head_dim);
  const bool renormalize = model.config().flag_or("expert_weights_norm", true);
  model.refuse_window();

  Value x = model.embed_tokens();
  const Rotation rope =
      model.rotation("rope", read_rope(model.checkpoint(), dims, model.context()), "neox");
  for (int64_t i = 0; i < model.layers(); ++i) {
    const auto layer = static_cast<size_t>(i);
    const Value a = model.rms_norm(x, model.block(i, "attn_norm"));
    Heads heads = model.project_heads(a, i);
    heads.q = model.head_norm(heads.q, h.heads[layer], model.block(i, "attn_q_norm"));
    heads.k = model.head_norm(heads.k, h.kv_heads[layer], model.block(i, "attn_k_norm"));
    Value y = model.attend(model.rotate(heads, i, rope), i, {h.attention_scale});
    model.keep_wanted_rows(i, x, y);
    x = b.add(x, model.project_output(y, i));
    const Value f = model.rms_norm(x, model.block(i, "ffn_norm"));
    x = b.add(x, h.experts > 0 ? model.expert_feed_forward(f, i, renormalize)
                               : model.gated_feed_forward(f, i, "silu"));
  }
  model.finish(model.rms_norm(x, "output_norm"));
}

}  // namespace rlx

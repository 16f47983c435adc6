// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "models/architectures.h"

namespace rlx {

// Qwen 2 and 2.5: as llama, with biases on q, k and v.
void build_qwen2(Decoder& model) {
  Builder& b = model.builder();
  const HyperParameters& h = model.hyper();
  const int64_t dims = read_rope_dims(model.checkpoint(), h.head_dim);
  model.refuse_window();

  Value x = model.embed_tokens();
  const Rotation rope =
      model.rotation("rope", read_rope(model.checkpoint(), dims, model.context()), "neox");
  for (int64_t i = 0; i < model.layers(); ++i) {
    const Value a = model.rms_norm(x, model.block(i, "attn_norm"));
    model.require_head_biases(i);
    const Heads heads = model.rotate(model.project_heads(a, i), i, rope);
    Value y = model.attend(heads, i, {h.attention_scale});
    model.keep_wanted_rows(i, x, y);
    x = b.add(x, model.project_output(y, i));
    const Value f = model.rms_norm(x, model.block(i, "ffn_norm"));
    x = b.add(x, model.gated_feed_forward(f, i, "silu"));
  }
  model.finish(model.rms_norm(x, "output_norm"));
}

}  // namespace rlx

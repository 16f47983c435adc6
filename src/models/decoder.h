// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hyper_parameters.h"
#include "models/language_model.h"
#include "models/rope_frequencies.h"
#include "models/weights.h"
#include "ops/builder.h"

namespace rlx {

/// cos and sin of every position of a call, and how channels of a head are paired.
struct Rotation {
  Value cos, sin;
  std::string_view style;  ///< "neox" or "interleaved"
};

/// Projected heads of a layer: q[T, heads * D], k and v[T, kv_heads * D].
struct Heads {
  Value q, k, v;
};

/// One of several outputs that a single stored matrix gives: `suffix` names its part.
struct Part {
  std::string_view suffix;
  Extent rows;
};

/// What one layer's attention does besides the layer's own head counts.
struct AttentionKind {
  double scale;
  double softcap = 0;
  int64_t window = 0;  ///< keys; 0: all
};

/// The pieces that decoders are made of, over one graph under construction. Every method appends
/// nodes; tensor names are those of GGUF and nodes are located at them ("blk.3.attn_q"). A method
/// that reads a tensor throws as Weights does.
class Decoder {
 public:
  /// `graph` must outlive it. Adds symbols and inputs; reads hyper-parameters.
  Decoder(std::shared_ptr<const Checkpoint> checkpoint, const LanguageModelOptions& options,
          std::string_view epsilon_key, Graph& graph, bool with_bytes);

  const Checkpoint& checkpoint() const { return *checkpoint_; }
  Config config() const { return Config(*checkpoint_); }
  const HyperParameters& hyper() const { return hyper_; }
  int64_t layers() const { return hyper_.layers; }
  /// Tokens the cache holds.
  int64_t context() const { return context_; }
  int64_t kv_bytes() const { return kv_bytes_; }
  Builder& builder() { return builder_; }
  Weights& weights() { return weights_; }

  /// Rows of the token table: f32[T, E].
  Value embed_tokens();
  /// Rows of the table of positions: f32[T, E].
  Value embed_positions();
  /// x times a number.
  Value scaled(Value x, double factor);
  Rotation rotation(const std::string& name, const RopeFrequencies& rope, std::string_view style);

  /// RMS norm over the last axis with gamma `module`.weight; of each head where x is [T, heads * D]
  /// and gamma is [D].
  Value rms_norm(Value x, const std::string& module);
  Value head_norm(Value x, int64_t heads, const std::string& module);
  /// Layer norm with `module`.weight and `module`.bias.
  Value layer_norm(Value x, const std::string& module);

  /// x times `module`.weight [out, in], plus `module`.bias where there is one.
  Value linear(Value x, const std::string& module, Extent out, Extent in);
  /// The same for a matrix whose rows are several outputs, one after the other.
  std::vector<Value> linear_parts(Value x, const std::string& module, std::span<const Part> parts,
                                  Extent in);

  /// NotFound where `module` has no bias: for architectures that always have one.
  void require_bias(const std::string& module) const;
  /// The same for what project_heads() reads.
  void require_head_biases(int64_t layer) const;

  /// q, k and v of layer `layer`: from one fused matrix attn_qkv or from three.
  Heads project_heads(Value x, int64_t layer);
  Heads rotate(Heads heads, int64_t layer, const Rotation& rotation);
  /// Appends keys and values to the layer's cache and attends: f32[T, heads * D].
  Value attend(const Heads& heads, int64_t layer, const AttentionKind& kind);
  Value project_output(Value x, int64_t layer);

  /// down(act(gate(x)) * up(x)); gate and up from one fused matrix ffn_up or from two.
  Value gated_feed_forward(Value x, int64_t layer, std::string_view activation);
  /// The experts_used best of all experts for each token, weighted by their softmax over all
  /// experts, divided by the sum of those taken where `renormalize`.
  Value expert_feed_forward(Value x, int64_t layer, bool renormalize);

  /// Keeps only the rows whose logits are wanted, in the last layer behind its attention: what
  /// follows is done for them alone. Other layers: nothing.
  void keep_wanted_rows(int64_t layer, Value& x, Value& attended);
  /// The graph's output out of normed hidden states f32[R, E]: output.weight, or the token table
  /// where there is none.
  void finish(Value x);

  /// Unsupported where the file has windowed layers that reach into this context: for
  /// architectures that say elsewhere which layers those are.
  void refuse_window() const;

  static std::string block(int64_t layer, std::string_view module);

 private:
  Value positions();
  Extent embedding() const { return {"embedding_length", hyper_.embedding}; }
  Value gamma(const std::string& module, Extent size);
  bool heads_are_fused(int64_t layer) const;
  Value append(std::string_view cache, int64_t layer, Value x);
  void choose_context(const LanguageModelOptions& options);

  std::shared_ptr<const Checkpoint> checkpoint_;
  HyperParameters hyper_;
  Builder builder_;
  Weights weights_;
  DType kv_;
  int64_t context_ = 0;
  int64_t kv_bytes_ = 0;
  Dim tokens_, past_, rows_;
  Value ids_, wanted_;
};

}  // namespace rlx

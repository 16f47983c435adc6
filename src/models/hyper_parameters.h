// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/checkpoint.h"

namespace rlx {

/// Range-checked look-ups of a checkpoint's numbers under its architecture's prefix. A value out of
/// range is an Error (InvalidFile) naming the key, the value and what is allowed; a missing key
/// without a fallback is NotFound. The checkpoint must outlive it.
class Config {
 public:
  explicit Config(const Checkpoint& checkpoint) : checkpoint_(&checkpoint) {}

  bool has(std::string_view name) const;
  int64_t count(std::string_view name, int64_t low, int64_t high) const;
  int64_t count_or(std::string_view name, int64_t fallback, int64_t low, int64_t high) const;
  /// One number per layer: the array's, or a single one for all.
  std::vector<int64_t> counts(std::string_view name, int64_t layers, int64_t low,
                              int64_t high) const;
  /// A finite number above 0.
  double positive(std::string_view name) const;
  double positive_or(std::string_view name, double fallback) const;
  std::string text_or(std::string_view name, std::string_view fallback) const;
  bool flag_or(std::string_view name, bool fallback) const;
  /// "path: llama.block_count", the start of an error about that key.
  std::string place(std::string_view name) const;

 private:
  const Checkpoint* checkpoint_;
};

/// The numbers every decoder has, checked against each other.
struct HyperParameters {
  int64_t layers;
  int64_t embedding;                                   ///< width of the hidden state
  int64_t vocabulary;                                  ///< rows of the token table
  int64_t trained_context;                             ///< tokens
  int64_t head_dim;                                    ///< channels of one head
  std::vector<int64_t> heads, kv_heads, feed_forward;  ///< by layer
  int64_t experts;                                     ///< 0 in dense models
  int64_t experts_used;
  int64_t expert_feed_forward;
  int64_t window;            ///< keys a windowed layer sees; 0: no such layer
  double epsilon;            ///< of the norms
  double attention_scale;    ///< attention.scale, or 1 / sqrt(head_dim)
  double attention_softcap;  ///< 0: none
  double logit_softcap;      ///< 0: none
};

inline constexpr int64_t kMaxWidth = int64_t{1} << 24;

/// Reads them; `epsilon_key` is "attention.layer_norm_rms_epsilon" or, for layer norms,
/// "attention.layer_norm_epsilon". Keys that ask for what no decoder here does (ALiBi, shared
/// experts, …) are Unsupported. Time and memory are bounded by the file, not by its numbers.
HyperParameters read_hyper_parameters(const Checkpoint& checkpoint, std::string_view epsilon_key);

}  // namespace rlx

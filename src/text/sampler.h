// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rlx::text {

/// How tokens are chosen. The steps run in this order: repeat penalty, top-k, top-p, min-p,
/// temperature. Top-p and min-p look at probabilities at temperature 1 of what the steps before
/// left over, so a temperature never changes which tokens they keep.
struct SamplerOptions {
  float temperature = 0.8f;     ///< finite, 0 or more; below 1e-6 the best token is always taken
  int64_t top_k = 40;           ///< keep the k best tokens; 0 keeps all
  float top_p = 0.95f;          ///< keep the best tokens that together reach it; 0 the best, 1 all
  float min_p = 0.05f;          ///< [0, 1]: keep tokens at least so likely relative to the best
  float repeat_penalty = 1.0f;  ///< above 0; over 1 makes seen tokens less likely, 1 is off
  int64_t repeat_last_n = 64;   ///< how many of the last tokens count as seen; 0 is off
  uint64_t seed = 0;
};

/// Throws Error InvalidArgument naming the first option outside its range.
void check(const SamplerOptions& options);

struct TokenLogit {
  float logit;
  uint32_t id;
};

/// Chooses tokens from logits and remembers what was said. The same seed, tokens and logits give
/// the same choice: the random number depends on the seed and the number of accepted tokens only.
class Sampler {
 public:
  /// Throws as check().
  explicit Sampler(const SamplerOptions& options);

  /// Tells that `id` is the next token, of the prompt or of the answer.
  void accept(uint32_t id);
  /// Forgets all accepted tokens.
  void reset();

  /// The id chosen for the next place. Of equally likely tokens the lowest id counts as better.
  /// Error InvalidArgument for empty logits, for NaN or +inf among them ("non-finite"), and where
  /// all are -inf, which is never chosen.
  uint32_t sample(std::span<const float> logits);

 private:
  std::span<const float> penalized(std::span<const float> logits);
  void keep_top_k(std::span<const float> logits);
  void keep_top_p();
  void keep_min_p();
  uint32_t draw();

  SamplerOptions options_;
  std::vector<uint32_t> recent_;  ///< ring of the last repeat_last_n ids
  uint64_t accepted_ = 0;
  std::vector<float> penalized_;
  std::vector<TokenLogit> kept_;
  bool sorted_ = false;  ///< kept_ is in order, best first
};

struct LogSumExp {
  double value;     ///< ln of the sum of exp over all logits: logit - value is a log-probability
  uint32_t argmax;  ///< the id of the largest logit, the lowest one on a tie
};

/// Sums a row of raw logits up. Errors as Sampler::sample.
LogSumExp log_sum_exp(std::span<const float> logits);

/// The `count` best tokens with their natural log-probabilities (log-softmax of the raw logits, no
/// sampling option has a part in it), best first, lower ids first on a tie. Fewer where there are
/// not so many tokens above -inf. Errors as Sampler::sample.
std::vector<std::pair<uint32_t, float>> top_logprobs(std::span<const float> logits, size_t count);

}  // namespace rlx::text

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "text/sampler.h"

namespace rlx {

struct GenerateOptions {
  int64_t max_tokens = 256;  ///< at most so many new tokens; the context may end it sooner
  text::SamplerOptions sampling;
  std::vector<std::string> stops;  ///< the answer ends before the first of these texts
  int64_t logprobs = 0;            ///< alternatives reported per new token
};

enum class FinishReason : uint8_t {
  Stop,       ///< an end-of-generation token or a stop text came
  Length,     ///< max_tokens or the context was reached
  Cancelled,  ///< the caller asked to stop
};

struct TokenLogprob {
  uint32_t id;
  float logprob;  ///< natural log-softmax of the raw logits
};

struct Generation {
  std::vector<uint32_t> tokens;  ///< new ones, an end-of-generation token included
  std::string text;              ///< valid UTF-8, cut before the stop text
  FinishReason finish = FinishReason::Length;
  /// Per new token, best first; the token itself is added last when it is not among the best.
  std::vector<std::vector<TokenLogprob>> logprobs;
  int64_t prefilled = 0;     ///< prompt tokens that had to be run
  double first_token_s = 0;  ///< from the call to the first token
  double decode_s = 0;       ///< from the first token to the last
};

/// Receives text as it is made; every piece is valid UTF-8.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void on_text(std::string_view text) = 0;
};

/// Continues `prompt`. What the engine's cache already holds of it is not run again. `sink` may be
/// null, as may the engine's tokenizer (then there is no text). Error for an empty prompt, for
/// non-finite logits, and as Engine::extend; cancelling is a result, not an error.
Generation generate(Engine& engine, std::span<const uint32_t> prompt,
                    const GenerateOptions& options, TextSink* sink,
                    const std::atomic<bool>* cancel);

/// Cuts a stream of text before the first stop text, holding back what may be the start of one.
class StopMatcher {
 public:
  explicit StopMatcher(const std::vector<std::string>& stops) : stops_(stops) {}
  /// Takes more text and returns what can be shown now.
  std::string push(std::string_view text);
  /// What was held back, once no more text comes.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  const std::vector<std::string>& stops_;
  std::string held_;
  bool stopped_ = false;
};

/// Log-likelihood of a text, token by token.
struct Score {
  std::vector<double> logprobs;  ///< entry i >= 1: of token i after tokens 0 to i-1; entry 0 is 0
  std::vector<uint32_t> argmax;  ///< the best token at the same place; entry 0 is 0
  double nll_per_token = 0;      ///< mean of -logprobs over tokens 1 to n-1
  double perplexity = 0;         ///< exp of it
};

/// Needs at least two tokens that fit the engine's context; progress may be null.
Score score(Engine& engine, std::span<const uint32_t> ids, const std::atomic<bool>* cancel,
            void (*progress)(int64_t done, int64_t total));

}  // namespace rlx

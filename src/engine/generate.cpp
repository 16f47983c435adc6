// SPDX-License-Identifier: Apache-2.0
#include "engine/generate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"

namespace rlx {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<TokenLogprob> best_logprobs(std::span<const float> row, int64_t count,
                                        uint32_t chosen) {
  std::vector<TokenLogprob> best;
  bool has_chosen = false;
  for (const auto& [id, logprob] : text::top_logprobs(row, static_cast<size_t>(count))) {
    best.push_back({id, logprob});
    has_chosen = has_chosen || id == chosen;
  }
  if (!has_chosen) {
    best.push_back({chosen, static_cast<float>(row[chosen] - text::log_sum_exp(row).value)});
  }
  return best;
}

}  // namespace

std::string StopMatcher::push(std::string_view text) {
  if (stopped_) return {};
  held_ += text;
  size_t cut = std::string::npos;
  for (const std::string& stop : stops_) cut = std::min(cut, held_.find(stop));
  if (cut != std::string::npos) {
    stopped_ = true;
    std::string out = held_.substr(0, cut);
    held_.clear();
    return out;
  }
  size_t keep = 0;
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, held_.size()); n > keep; --n) {
      if (std::string_view(held_).substr(held_.size() - n) == std::string_view(stop).substr(0, n)) {
        keep = n;
      }
    }
  }
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, out.size());
  return out;
}

std::string StopMatcher::finish() {
  std::string out = std::move(held_);
  held_.clear();
  return out;
}

namespace {

/// The state of one generate() call.
class Generator {
 public:
  Generator(Engine& engine, const GenerateOptions& options, TextSink* sink)
      : engine_(engine),
        options_(options),
        sink_(sink),
        sampler_(options.sampling),
        matcher_(options.stops) {
    if (engine.tokenizer() != nullptr) decoder_.emplace(*engine.tokenizer());
  }

  Generation run(std::span<const uint32_t> prompt, const std::atomic<bool>* cancel) {
    const auto start = Clock::now();
    auto first = start;
    try {
      Logits logits = prefill(prompt, cancel);
      for (;;) {
        if (!accept(logits.row(0))) break;
        if (out_.tokens.size() == 1) {
          first = Clock::now();
          out_.first_token_s = std::chrono::duration<double>(first - start).count();
        }
        if (done_) break;
        const uint32_t next[] = {out_.tokens.back()};
        logits = engine_.extend(next, 1, cancel);
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::Cancelled) throw;
      out_.finish = FinishReason::Cancelled;
    }
    if (!out_.tokens.empty()) out_.decode_s = seconds_since(first);
    if (decoder_ && !matcher_.stopped()) {
      emit(matcher_.push(decoder_->finish()));
      emit(matcher_.finish());
    }
    return std::move(out_);
  }

 private:
  Logits prefill(std::span<const uint32_t> prompt, const std::atomic<bool>* cancel) {
    if (prompt.empty()) {
      fail(ErrorCode::InvalidArgument, "the prompt is empty: there is no token to continue");
    }
    const auto& past = engine_.history();
    size_t same = 0;
    while (same < past.size() && same + 1 < prompt.size() && past[same] == prompt[same]) ++same;
    engine_.rewind(static_cast<int64_t>(same));
    for (const uint32_t id : prompt) sampler_.accept(id);
    out_.prefilled = static_cast<int64_t>(prompt.size() - same);
    return engine_.extend(prompt.subspan(same), 1, cancel);
  }

  /// Samples one token and shows its text; false when no token was wanted.
  bool accept(std::span<const float> logits) {
    if (options_.max_tokens <= 0) return false;
    const uint32_t id = sampler_.sample(logits);
    sampler_.accept(id);
    out_.tokens.push_back(id);
    if (options_.logprobs > 0) {
      out_.logprobs.push_back(best_logprobs(logits, options_.logprobs, id));
    }
    const text::Tokenizer* tokenizer = engine_.tokenizer();
    if (tokenizer != nullptr && tokenizer->is_end_of_generation(id)) {
      return end(FinishReason::Stop);
    }
    // Tables of tokens may be padded: a row behind the last token has an id, but no text.
    const bool spelled = tokenizer != nullptr && id < tokenizer->size();
    if (spelled) emit(matcher_.push(decoder_->push(id)));
    if (matcher_.stopped()) return end(FinishReason::Stop);
    if (static_cast<int64_t>(out_.tokens.size()) >= options_.max_tokens ||
        engine_.position() >= engine_.context()) {
      return end(FinishReason::Length);
    }
    return true;
  }

  bool end(FinishReason reason) {
    out_.finish = reason;
    done_ = true;
    return true;
  }

  void emit(const std::string& text) {
    if (text.empty()) return;
    out_.text += text;
    if (sink_ != nullptr) sink_->on_text(text);
  }

  Engine& engine_;
  const GenerateOptions& options_;
  TextSink* sink_;
  text::Sampler sampler_;
  StopMatcher matcher_;
  std::optional<text::StreamDecoder> decoder_;
  Generation out_;
  bool done_ = false;
};

}  // namespace

Generation generate(Engine& engine, std::span<const uint32_t> prompt,
                    const GenerateOptions& options, TextSink* sink,
                    const std::atomic<bool>* cancel) {
  for (const std::string& stop : options.stops) {
    if (stop.empty()) fail(ErrorCode::InvalidArgument, "a stop text must not be empty");
  }
  return Generator(engine, options, sink).run(prompt, cancel);
}

Score score(Engine& engine, std::span<const uint32_t> ids, const std::atomic<bool>* cancel,
            void (*progress)(int64_t done, int64_t total)) {
  const int64_t count = static_cast<int64_t>(ids.size());
  if (count < 2) {
    fail(ErrorCode::InvalidArgument,
         "a text of {} tokens has nothing to score: at least 2 are needed", count);
  }
  engine.rewind(0);
  Score out;
  out.logprobs.assign(1, 0.0);
  out.argmax.assign(1, 0);
  double sum = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t n = std::min(engine.max_rows(), count - at);
    const Logits logits =
        engine.extend(ids.subspan(static_cast<size_t>(at), static_cast<size_t>(n)), n, cancel);
    for (int64_t i = 0; i < n && at + i + 1 < count; ++i) {
      const auto row = logits.row(i);
      const text::LogSumExp s = text::log_sum_exp(row);
      out.logprobs.push_back(row[ids[static_cast<size_t>(at + i + 1)]] - s.value);
      out.argmax.push_back(s.argmax);
      sum -= out.logprobs.back();
    }
    at += n;
    if (progress != nullptr) progress(at, count);
  }
  out.nll_per_token = sum / static_cast<double>(count - 1);
  out.perplexity = std::exp(out.nll_per_token);
  return out;
}

}  // namespace rlx

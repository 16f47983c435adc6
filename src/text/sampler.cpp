// SPDX-License-Identifier: Apache-2.0
#include "text/sampler.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/error.h"
#include "text/philox.h"

namespace rlx::text {
namespace {

constexpr float greedy_below = 1e-6f;

using Candidate = TokenLogit;

bool better(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

[[noreturn]] void fail_option(const char* name, double value, const char* allowed) {
  fail(ErrorCode::InvalidArgument, "{} is {}, allowed is {}", name, value, allowed);
}

/// Refuses what cannot be sampled from.
void check_logits(std::span<const float> logits) {
  if (logits.empty()) fail(ErrorCode::InvalidArgument, "there are no logits to sample from");
  bool bad = false, any = false;
  for (const float x : logits) {
    bad |= !(x <= FLT_MAX);
    any |= x >= -FLT_MAX;
  }
  if (bad) {
    const auto at =
        std::find_if(logits.begin(), logits.end(), [](float x) { return !(x <= FLT_MAX); });
    fail(ErrorCode::InvalidArgument, "non-finite logits: {} for token {} of {}", *at,
         at - logits.begin(), logits.size());
  }
  if (!any)
    fail(ErrorCode::InvalidArgument, "the logits of all {} tokens are -inf, none can be sampled",
         logits.size());
}

uint32_t argmax(std::span<const float> logits) {
  float top = -INFINITY;
  for (const float x : logits) top = x > top ? x : top;
  return static_cast<uint32_t>(std::find(logits.begin(), logits.end(), top) - logits.begin());
}

/// The `k` best tokens above -inf, best first.
std::vector<Candidate> top_candidates(std::span<const float> logits, size_t k) {
  std::vector<Candidate> kept;
  if (k == 0) return kept;
  // A heap with the worst kept candidate on top: few tokens get past the comparison with it.
  for (uint32_t id = 0; id < logits.size(); ++id) {
    const float x = logits[id];
    if (kept.size() == k) {
      if (!(x > kept.front().logit)) continue;
      std::pop_heap(kept.begin(), kept.end(), better);
      kept.pop_back();
    } else if (!(x >= -FLT_MAX)) {
      continue;
    }
    kept.push_back({x, id});
    std::push_heap(kept.begin(), kept.end(), better);
  }
  std::sort_heap(kept.begin(), kept.end(), better);
  return kept;
}

/// Divides a positive logit and multiplies a negative one (Keskar et al.: CTRL, 2019, with the sign
/// minded), which hardly moves logits near 0; there the odds change by the factor `penalty`
/// instead.
float penalize(float logit, float penalty) {
  const float scaled = logit > 0 ? logit / penalty : logit * penalty;
  const float shifted = logit - std::log(penalty);
  const float moved = penalty > 1 ? std::min(scaled, shifted) : std::max(scaled, shifted);
  return std::clamp(moved, -FLT_MAX, FLT_MAX);
}

}  // namespace

void check(const SamplerOptions& o) {
  if (!(o.temperature >= 0 && o.temperature <= FLT_MAX))
    fail_option("temperature", o.temperature, "0 or more");
  if (o.top_k < 0) fail_option("top-k", static_cast<double>(o.top_k), "0 (off) or more");
  if (!(o.top_p >= 0 && o.top_p <= 1)) fail_option("top-p", o.top_p, "0 (the best) to 1 (off)");
  if (!(o.min_p >= 0 && o.min_p <= 1)) fail_option("min-p", o.min_p, "0 (off) to 1");
  if (!(o.repeat_penalty > 0 && o.repeat_penalty <= FLT_MAX))
    fail_option("repeat-penalty", o.repeat_penalty, "above 0; 1 is off");
  constexpr int64_t most_remembered = int64_t{1} << 24;
  if (o.repeat_last_n < 0 || o.repeat_last_n > most_remembered)
    fail_option("repeat-last-n", static_cast<double>(o.repeat_last_n), "0 (off) to 16777216");
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) { check(options); }

void Sampler::accept(uint32_t id) {
  const auto window = static_cast<uint64_t>(options_.repeat_last_n);
  if (recent_.size() < window)
    recent_.push_back(id);
  else if (window > 0)
    recent_[accepted_ % window] = id;
  ++accepted_;
}

void Sampler::reset() {
  recent_.clear();
  accepted_ = 0;
}

std::span<const float> Sampler::penalized(std::span<const float> logits) {
  if (options_.repeat_penalty == 1 || recent_.empty()) return logits;
  penalized_.assign(logits.begin(), logits.end());
  for (const uint32_t id : recent_) {
    if (id >= logits.size() || logits[id] < -FLT_MAX) continue;
    penalized_[id] = penalize(logits[id], options_.repeat_penalty);  // once, however often seen
  }
  return penalized_;
}

void Sampler::keep_top_k(std::span<const float> logits) {
  kept_.clear();
  sorted_ = false;
  const auto k = static_cast<size_t>(options_.top_k);
  if (k == 0 || k >= logits.size()) {
    for (uint32_t id = 0; id < logits.size(); ++id)
      if (logits[id] >= -FLT_MAX) kept_.push_back({logits[id], id});
    return;
  }
  kept_ = top_candidates(logits, k);
  sorted_ = true;
}

/// Keeps the shortest run of best tokens with a probability of top_p or more, the one that reaches
/// it included. Only so many tokens are sorted as are needed.
void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  const float top = std::min_element(kept_.begin(), kept_.end(), better)->logit;
  double total = 0;
  for (const Candidate& c : kept_) total += std::exp(c.logit - top);
  const double wanted = static_cast<double>(options_.top_p) * total;
  double mass = 0;
  size_t count = 0;
  for (size_t ordered = sorted_ ? kept_.size() : 0; mass < wanted && count < kept_.size();
       ++count) {
    if (count == ordered) {
      const size_t more = std::min(kept_.size(), std::max<size_t>(64, ordered * 8));
      const auto from = kept_.begin() + static_cast<ptrdiff_t>(ordered);
      const auto to = kept_.begin() + static_cast<ptrdiff_t>(more);
      if (to != kept_.end()) std::nth_element(from, to, kept_.end(), better);
      std::sort(from, to, better);
      ordered = more;
    }
    mass += std::exp(kept_[count].logit - top);
  }
  kept_.resize(std::max<size_t>(count, 1));
  sorted_ = true;
}

void Sampler::keep_min_p() {
  if (options_.min_p <= 0) return;
  float top = -INFINITY;
  for (const Candidate& c : kept_) top = std::max(top, c.logit);
  const float least = options_.min_p;
  std::erase_if(kept_, [&](const Candidate& c) { return std::exp(c.logit - top) < least; });
}

uint32_t Sampler::draw() {
  float top = -INFINITY;
  for (const Candidate& c : kept_) top = std::max(top, c.logit);
  double total = 0;
  for (Candidate& c : kept_) {
    c.logit = std::exp((c.logit - top) / options_.temperature);  // a weight from here on
    total += c.logit;
  }
  const double wanted = uniform_at(options_.seed, accepted_) * total;
  double sum = 0;
  uint32_t last = kept_.front().id;
  for (const Candidate& c : kept_) {
    if (c.logit <= 0) continue;
    last = c.id;
    sum += c.logit;
    if (sum > wanted) break;
  }
  return last;
}

uint32_t Sampler::sample(std::span<const float> logits) {
  check_logits(logits);
  const std::span<const float> row = penalized(logits);
  const bool greedy =
      options_.temperature < greedy_below || options_.top_k == 1 || options_.top_p <= 0;
  if (greedy) return argmax(row);
  keep_top_k(row);
  keep_top_p();
  keep_min_p();
  return draw();
}

LogSumExp log_sum_exp(std::span<const float> logits) {
  check_logits(logits);
  const uint32_t best = argmax(logits);
  const float top = logits[best];
  double sum = 0;
  for (const float x : logits) sum += std::exp(x - top);
  return {static_cast<double>(top) + std::log(sum), best};
}

std::vector<std::pair<uint32_t, float>> top_logprobs(std::span<const float> logits, size_t count) {
  const LogSumExp sum = log_sum_exp(logits);
  std::vector<std::pair<uint32_t, float>> best;
  for (const Candidate& c : top_candidates(logits, std::min(count, logits.size())))
    best.emplace_back(c.id, static_cast<float>(c.logit - sum.value));
  return best;
}

}  // namespace rlx::text

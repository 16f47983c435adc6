// SPDX-License-Identifier: Apache-2.0
#include "text/sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "text/philox.h"

using namespace rlx;
using namespace rlx::text;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// All steps off, temperature 1.
SamplerOptions plain() {
  SamplerOptions o;
  o.temperature = 1;
  o.top_k = 0;
  o.top_p = 1;
  o.min_p = 0;
  return o;
}

/// How often each id comes in `draws` draws.
std::map<uint32_t, int> frequencies(const SamplerOptions& options, std::span<const float> logits,
                                    int draws = 4000) {
  std::map<uint32_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    SamplerOptions o = options;
    o.seed = static_cast<uint64_t>(i);
    ++counts[Sampler(o).sample(logits)];
  }
  return counts;
}

std::set<uint32_t> support(const SamplerOptions& options, std::span<const float> logits) {
  std::set<uint32_t> ids;
  for (const auto& [id, count] : frequencies(options, logits)) ids.insert(id);
  return ids;
}

std::vector<float> random_logits(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}

using Words = std::array<uint32_t, 4>;

}  // namespace

// The known answers that come with Random123 (kat_vectors, philox4x32 10).
TEST_CASE("philox gives its published answers") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("uniform numbers stay in [0, 1), differ by seed and position, and are even") {
  double sum = 0;
  std::set<double> seen;
  for (uint64_t i = 0; i < 10000; ++i) {
    const double u = uniform_at(i % 100, i / 100);
    CHECK(u >= 0);
    CHECK(u < 1);
    sum += u;
    seen.insert(u);
  }
  CHECK(seen.size() == 10000);
  CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.02));
  CHECK(uniform_at(1, uint64_t{1} << 32) != uniform_at(1, 0));
  CHECK(uniform_at(uint64_t{1} << 32, 1) != uniform_at(0, 1));
}

// Case 055.
TEST_CASE("temperature 0 is greedy and equals top-k 1 and temperature 1e-9") {
  for (uint32_t round = 0; round < 20; ++round) {
    std::vector<float> logits = random_logits(500, round);
    if (round % 2) logits[400] = logits[30] = logits[77] = 100;  // a tie: the lowest id wins
    const auto best =
        static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    for (const float temperature : {0.0f, 1e-9f, 0.7f, 5.0f}) {
      SamplerOptions o;
      o.temperature = temperature;
      if (temperature > 1e-6f) o.top_k = 1;
      o.seed = round * 77;
      CHECK(Sampler(o).sample(logits) == best);
    }
  }
  SamplerOptions cold = plain();
  cold.temperature = 2e-6f;  // the smallest that is not greedy: no NaN, no other id
  CHECK(support(cold, std::vector<float>{1, 3, 2}) == std::set<uint32_t>{1});
}

// Case 050.
TEST_CASE("top-p and min-p look at the distribution at temperature 1") {
  const std::vector<float> logits = {3, 2, 1};
  SamplerOptions o = plain();
  o.top_p = 0.8f;
  o.temperature = 0.5f;
  CHECK(support(o, logits) == std::set<uint32_t>{0, 1});
  o.temperature = 4;
  CHECK(support(o, logits) == std::set<uint32_t>{0, 1});
  o = plain();
  o.min_p = 0.2f;  // the second has e^-1 = 0.37 of the first, the third e^-2 = 0.14
  o.temperature = 0.5f;
  CHECK(support(o, logits) == std::set<uint32_t>{0, 1});
  o.temperature = 4;
  CHECK(support(o, logits) == std::set<uint32_t>{0, 1});
  for (const float temperature : {0.8f, 1.0f, 3.0f}) {  // min-p 0 and top-p 1 cut nothing
    o = plain();
    o.temperature = temperature;
    CHECK(support(o, logits) == std::set<uint32_t>{0, 1, 2});
  }
}

TEST_CASE("draws follow the distribution, with the temperature in it") {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f), -infinity};
  auto counts = frequencies(plain(), logits, 8000);
  CHECK(counts[0] == doctest::Approx(1000).epsilon(0.1));
  CHECK(counts[1] == doctest::Approx(2000).epsilon(0.08));
  CHECK(counts[2] == doctest::Approx(5000).epsilon(0.05));
  SamplerOptions o = plain();
  o.temperature = 0.5f;  // squares the odds
  counts = frequencies(o, logits, 6000);
  CHECK(counts[0] == doctest::Approx(200).epsilon(0.25));
  CHECK(counts[1] == doctest::Approx(800).epsilon(0.12));
  CHECK(counts[2] == doctest::Approx(5000).epsilon(0.05));
}

TEST_CASE("top-k keeps the k best, lower ids first on a tie") {
  SamplerOptions o = plain();
  o.top_k = 2;
  CHECK(support(o, std::vector<float>{0, 1, 0.5f, 1, -3}) == std::set<uint32_t>{1, 3});
  CHECK(support(o, std::vector<float>{1, 1, 1, 1}) == std::set<uint32_t>{0, 1});
  o.top_k = 99;
  CHECK(support(o, std::vector<float>{0, 0, 0}) == std::set<uint32_t>{0, 1, 2});
}

TEST_CASE("top-p over a large vocabulary keeps the shortest sufficient set") {
  std::vector<float> logits(5000, 0.0f);
  SamplerOptions o = plain();
  o.top_p = 0.5f;
  std::set<uint32_t> ids;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    o.seed = seed;
    ids.insert(Sampler(o).sample(logits));
  }
  CHECK(*ids.rbegin() < 2501);  // of equal tokens the lower ids are better
  CHECK(ids.size() > 1000);
}

// Case 049.
TEST_CASE("NaN and +inf are errors, -inf is never chosen") {
  for (const float temperature : {0.0f, 1.0f}) {
    SamplerOptions o = plain();
    o.temperature = temperature;
    for (const float bad : {not_a_number, infinity}) {
      CHECK_THROWS_WITH_AS(Sampler(o).sample(std::vector<float>{1, bad, 2}),
                           doctest::Contains("non-finite"), Error);
      CHECK_THROWS_AS(Sampler(o).sample(std::vector<float>{bad}), Error);
    }
    CHECK_THROWS_AS(Sampler(o).sample(std::vector<float>{}), Error);
    CHECK_THROWS_AS(Sampler(o).sample(std::vector<float>{-infinity, -infinity}), Error);
    CHECK(support(o, std::vector<float>{-infinity, -3e38f, -infinity}) == std::set<uint32_t>{1});
  }
  SamplerOptions o = plain();
  o.top_k = 3;
  CHECK(support(o, std::vector<float>{-infinity, 0, -infinity, 0}) == std::set<uint32_t>{1, 3});
  CHECK_THROWS_AS(top_logprobs(std::vector<float>{1, not_a_number}, 1), Error);
}

// Case 052.
TEST_CASE("a penalty lowers the probability of a seen token whatever its sign") {
  for (const float logit : {2.0f, 0.0f, -2.0f, 0.3f, 30.0f, -30.0f}) {
    const std::vector<float> logits = {logit, logit, logit, logit};
    SamplerOptions o = plain();
    o.repeat_penalty = 1.5f;
    int seen = 0;
    for (uint64_t seed = 0; seed < 4000; ++seed) {
      o.seed = seed;
      Sampler s(o);
      s.accept(2);
      s.accept(2);  // counts once
      seen += s.sample(logits) == 2;
    }
    CAPTURE(logit);
    CHECK(seen < 900);  // a quarter without the penalty
    o.repeat_penalty = 1 / 1.5f;
    seen = 0;
    for (uint64_t seed = 0; seed < 4000; ++seed) {
      o.seed = seed;
      Sampler s(o);
      s.accept(2);
      seen += s.sample(logits) == 2;
    }
    CHECK(seen > 1100);
  }
}

// Case 053.
TEST_CASE("penalties work without a history, and forget what is long ago") {
  const std::vector<float> logits = {1, 0.9f, 0};
  SamplerOptions o = plain();
  o.temperature = 0;
  o.repeat_penalty = 1.3f;
  CHECK(Sampler(o).sample(logits) == 0);
  Sampler s(o);
  s.accept(0);
  CHECK(s.sample(logits) == 1);
  s.accept(4'000'000'000u);  // an id outside of these logits is passed over
  CHECK(s.sample(logits) == 1);
  for (int i = 0; i < 62; ++i) s.accept(2);
  CHECK(s.sample(logits) == 1);
  s.accept(2);  // the 65th: token 0 leaves the window
  CHECK(s.sample(logits) == 0);
  s.accept(0);
  s.reset();
  CHECK(s.sample(logits) == 0);
  o.repeat_last_n = 0;
  Sampler off(o);
  off.accept(0);
  CHECK(off.sample(logits) == 0);
  const std::vector<float> masked = {-infinity, 1};
  Sampler with_mask(o);
  with_mask.accept(0);
  CHECK(with_mask.sample(masked) == 1);
}

TEST_CASE("the same seed gives the same tokens, another seed others") {
  const std::vector<float> logits = random_logits(1000, 3);
  const auto run = [&](uint64_t seed) {
    SamplerOptions o = plain();
    o.seed = seed;
    Sampler s(o);
    std::vector<uint32_t> ids;
    for (int i = 0; i < 30; ++i) {
      ids.push_back(s.sample(logits));
      s.accept(ids.back());
    }
    return ids;
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

TEST_CASE("options out of range are named") {
  const auto message = [](auto change) {
    SamplerOptions o;
    change(o);
    try {
      Sampler s(o);
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::InvalidArgument);
      return std::string(e.what());
    }
    return std::string("none");
  };
  CHECK(message([](auto&) {}) == "none");
  for (const float bad : {-0.1f, not_a_number, infinity}) {
    CHECK(message([&](auto& o) { o.temperature = bad; }).starts_with("temperature is "));
    CHECK(message([&](auto& o) { o.top_p = bad; }).starts_with("top-p is "));
    CHECK(message([&](auto& o) { o.min_p = bad; }).starts_with("min-p is "));
    CHECK(message([&](auto& o) { o.repeat_penalty = bad; }).starts_with("repeat-penalty is "));
  }
  CHECK(message([](auto& o) { o.top_p = -0.5f; }) ==
        "top-p is -0.5, allowed is 0 (the best) to 1 (off)");
  CHECK(message([](auto& o) { o.top_p = 1.01f; }) != "none");
  CHECK(message([](auto& o) { o.min_p = 1.01f; }) != "none");
  CHECK(message([](auto& o) { o.repeat_penalty = 0; }) != "none");
  CHECK(message([](auto& o) { o.top_k = -1; }) != "none");
  CHECK(message([](auto& o) { o.repeat_last_n = -1; }) != "none");
}

// Case 056.
TEST_CASE("log-probabilities are those of the raw logits, sorted, and sum to one") {
  const std::vector<float> logits = random_logits(20000, 9);
  const auto all = top_logprobs(logits, logits.size());
  REQUIRE(all.size() == logits.size());
  double sum = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    sum += std::exp(static_cast<double>(all[i].second));
    if (i) CHECK(all[i].second <= all[i - 1].second);
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-4));
  const auto five = top_logprobs(logits, 5);
  REQUIRE(five.size() == 5);
  for (size_t i = 0; i < 5; ++i) CHECK(five[i] == all[i]);
  const auto pair = top_logprobs(std::vector<float>{1000, 1000, -infinity}, 3);
  REQUIRE(pair.size() == 2);
  CHECK(pair[0].first == 0);
  CHECK(pair[0].second == doctest::Approx(std::log(0.5)));
  CHECK(log_sum_exp(std::vector<float>{-1, 5, 5}).argmax == 1);
}

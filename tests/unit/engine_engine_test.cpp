// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "../support/expect_error.h"
#include "../support/temp_folder.h"
#include "../support/tiny_llama.h"
#include "engine/generate.h"
#include "models_runner.h"

using namespace rlx;
using rlx::test::message_of;
using rlx::test::Rows;
using rlx::test::TempFolder;
using rlx::test::TinyLlama;

namespace {

std::unique_ptr<Engine> open(const std::string& path, int threads = 1, DType kv = DType::F32,
                             const std::string& isa = {}, int64_t max_batch = 512) {
  EngineOptions o;
  o.threads = threads;
  o.kv = kv;
  o.isa = isa;
  o.max_batch = max_batch;
  return Engine::load(path, o);
}

std::vector<uint32_t> some_ids(size_t count, uint32_t vocabulary) {
  std::vector<uint32_t> ids;
  for (size_t i = 0; i < count; ++i)
    ids.push_back(static_cast<uint32_t>(i * 37 + i / 7) % vocabulary);
  return ids;
}

/// Logits at every position, `batch` tokens a call.
Rows all_logits(Engine& e, const std::vector<uint32_t>& ids, size_t batch) {
  e.rewind(0);
  Rows out;
  for (size_t at = 0; at < ids.size(); at += batch) {
    const size_t n = std::min(batch, ids.size() - at);
    const int64_t rows = std::min<int64_t>(static_cast<int64_t>(n), e.max_rows());
    const Logits l = e.extend(std::span(ids).subspan(at, n), rows);
    for (int64_t r = 0; r < rows; ++r) out.emplace_back(l.row(r).begin(), l.row(r).end());
  }
  return out;
}

/// Logits at the last position of a prompt, run in calls of `batch` tokens.
std::vector<double> last_logits(Engine& e, const std::vector<uint32_t>& ids, size_t batch) {
  e.rewind(0);
  Logits l;
  for (size_t at = 0; at < ids.size(); at += batch) {
    l = e.extend(std::span(ids).subspan(at, std::min(batch, ids.size() - at)));
  }
  return {l.values.begin(), l.values.end()};
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

}  // namespace

TEST_CASE("engine: every architecture gives its reference's logits on every ISA level") {
  for (const char* name :
       {"llama", "llama_linear", "llama_factors", "llama_yarn", "llama_moe", "mistral", "gemma",
        "gemma2", "gemma3", "qwen2", "qwen3", "qwen3moe", "phi3", "gpt2"}) {
    CAPTURE(name);
    const std::string path = test::model_path(std::string(name) + ".gguf");
    for (const auto& reference : test::reference_cases(name)) {
      const std::vector<uint32_t> ids(reference.ids.begin(), reference.ids.end());
      for (const char* isa : {"v2", "v3", ""}) {
        EngineOptions o;
        o.threads = 2;
        o.kv = DType::F32;
        o.isa = isa;
        o.context = reference.context;
        auto e = Engine::load(path, o);
        CHECK(test::difference(all_logits(*e, ids, 32), reference.logits) < 2e-3);
        CHECK(test::difference(all_logits(*e, ids, 1), reference.logits) < 2e-3);
      }
    }
  }
}

TEST_CASE("engine: logits do not depend on how a prompt is cut into calls (llm-bugs/098)") {
  const TempFolder folder;
  for (const bool quantized : {false, true}) {
    TinyLlama model;
    model.quantized = quantized;
    model.writer().write(folder.path("m.gguf"));
    auto e = open(folder.path("m.gguf"));
    for (const size_t n : {1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513}) {
      const auto ids = some_ids(n, model.vocabulary);
      const auto whole = last_logits(*e, ids, n);
      const double limit = quantized ? 0.05 : 1e-3;
      CHECK(worst_difference(last_logits(*e, ids, 7), whole) < limit);
      if (n <= 129) CHECK(worst_difference(last_logits(*e, ids, 1), whole) < limit);
    }
  }
}

TEST_CASE("engine: results are the same bits for any number of threads (llm-bugs/100)") {
  const TempFolder folder;
  TinyLlama model;
  model.embedding = 96, model.ffn = 160, model.heads = 3, model.vocabulary = 320;
  model.quantized = true;
  model.writer().write(folder.path("m.gguf"));
  const auto ids = some_ids(70, model.vocabulary);
  const Rows want = all_logits(*open(folder.path("m.gguf"), 1), ids, 33);
  for (const int threads : {2, 3, 5}) {
    CHECK(all_logits(*open(folder.path("m.gguf"), threads), ids, 33) == want);
  }
}

TEST_CASE(
    "engine: a q8_0 or f16 cache stays close to f32, other widths are refused (llm-bugs/061)") {
  const TempFolder folder;
  TinyLlama model;
  model.head_width = 64;
  model.writer().write(folder.path("m64.gguf"));
  const auto ids = some_ids(60, model.vocabulary);
  const auto want = last_logits(*open(folder.path("m64.gguf")), ids, 60);
  for (const DType kv : {DType::F16, DType::Q8_0}) {
    CHECK(cosine(last_logits(*open(folder.path("m64.gguf"), 1, kv), ids, 60), want) > 0.999);
  }
  model.head_width = 80;
  model.writer().write(folder.path("m80.gguf"));
  CHECK(message_of([&] { open(folder.path("m80.gguf"), 1, DType::Q8_0); }).find("80") !=
        std::string::npos);
}

TEST_CASE("engine: ids outside the vocabulary, an empty prompt and a full context are errors") {
  const TempFolder folder;
  TinyLlama().writer().write(folder.path("m.gguf"));
  auto e = open(folder.path("m.gguf"));
  const uint32_t bad[] = {1, 96, 5};
  CHECK(message_of([&] { e->extend(bad); }) ==
        "token id 96 at place 1 is outside the vocabulary 0 to 95");
  CHECK(message_of([&] { e->extend({}); }) == "the prompt is empty: there is no token to run");
  const auto ids = some_ids(1025, 96);
  CHECK(message_of([&] { e->extend(ids); }).find("do not fit the context of 1024") !=
        std::string::npos);
  CHECK(e->position() == 0);
}

TEST_CASE("engine: a cancelled call leaves the context as it was") {
  const TempFolder folder;
  TinyLlama().writer().write(folder.path("m.gguf"));
  auto e = open(folder.path("m.gguf"));
  const auto ids = some_ids(20, 96);
  const auto want = last_logits(*e, ids, 20);
  e->rewind(10);
  const std::atomic<bool> cancel{true};
  CHECK(message_of([&] { e->extend(std::span(ids).subspan(10), 1, &cancel); }) ==
        "the run was cancelled");
  CHECK(e->position() == 10);
  const Logits again = e->extend(std::span(ids).subspan(10));
  CHECK(worst_difference({again.values.begin(), again.values.end()}, want) < 1e-3);
}

TEST_CASE("generate: non-finite logits end with an error, not with token 0 (llm-bugs/049)") {
  const TempFolder folder;
  TinyLlama model;
  model.poison = NAN;
  model.writer().write(folder.path("nan.gguf"));
  auto e = open(folder.path("nan.gguf"));
  const auto ids = some_ids(5, 96);
  GenerateOptions o;
  o.sampling.temperature = 0;
  CHECK(message_of([&] { generate(*e, ids, o, nullptr, nullptr); }).find("non-finite") !=
        std::string::npos);
}

TEST_CASE("generate: greedy, seeds, lengths and the context's end") {
  const TempFolder folder;
  TinyLlama().writer().write(folder.path("m.gguf"));
  auto e = open(folder.path("m.gguf"));
  const auto ids = some_ids(9, 96);
  GenerateOptions greedy;
  greedy.sampling.temperature = 0;
  greedy.max_tokens = 20;
  const auto first = generate(*e, ids, greedy, nullptr, nullptr).tokens;
  CHECK(first.size() == 20);
  // llm-bugs/055: temperature 0 is top-k 1 at any temperature and seed, and a tiny one too.
  GenerateOptions other = greedy;
  other.sampling.temperature = 1.7f, other.sampling.top_k = 1, other.sampling.seed = 9;
  CHECK(generate(*e, ids, other, nullptr, nullptr).tokens == first);
  other = greedy;
  other.sampling.temperature = 1e-9f;
  CHECK(generate(*e, ids, other, nullptr, nullptr).tokens == first);
  // llm-bugs/053: a penalty works from the first token on.
  other = greedy;
  other.sampling.repeat_penalty = 1.3f;
  CHECK(generate(*e, {ids.data(), 1}, other, nullptr, nullptr).tokens.size() == 20);
  // A fresh engine gives what a reused one gives: nothing of the last prompt is left.
  CHECK(generate(*open(folder.path("m.gguf")), ids, greedy, nullptr, nullptr).tokens == first);
  // llm-bugs/058: a prompt that fills the context still predicts one token, no more.
  const auto full = some_ids(1024, 96);
  const Generation last = generate(*e, full, greedy, nullptr, nullptr);
  CHECK(last.tokens.size() == 1);
  CHECK(last.finish == FinishReason::Length);
}

TEST_CASE("generate: logprobs are of the raw logits whatever the sampling (llm-bugs/056)") {
  const TempFolder folder;
  TinyLlama().writer().write(folder.path("m.gguf"));
  auto e = open(folder.path("m.gguf"));
  const auto ids = some_ids(9, 96);
  std::vector<TokenLogprob> want;
  for (const float temperature : {0.0f, 1.0f, 2.0f}) {
    GenerateOptions o;
    o.sampling.temperature = temperature;
    o.max_tokens = 1;
    o.logprobs = 96;
    e->rewind(0);  // the same calls give the same bits
    const Generation g = generate(*e, ids, o, nullptr, nullptr);
    double sum = 0;
    for (size_t i = 0; i < g.logprobs[0].size(); ++i) {
      sum += std::exp(double{g.logprobs[0][i].logprob});
      if (i > 0) CHECK(g.logprobs[0][i - 1].logprob >= g.logprobs[0][i].logprob);
    }
    CHECK(std::abs(sum - 1) < 1e-4);
    if (want.empty()) want = g.logprobs[0];
    for (size_t i = 0; i < want.size(); ++i) {
      CHECK(want[i].id == g.logprobs[0][i].id);
      CHECK(want[i].logprob == g.logprobs[0][i].logprob);
    }
  }
}

TEST_CASE("stop matcher: text before the first stop, held-back beginnings appear (llm-bugs/022)") {
  const std::vector<std::string> stops{"STOP", "\n\n"};
  const auto feed = [&](std::initializer_list<const char*> pieces) {
    StopMatcher m(stops);
    std::string out;
    for (const char* p : pieces) {
      out += m.push(p);
      CHECK(out.find("STOP") == std::string::npos);
    }
    return m.stopped() ? out + "|" : out + m.finish();
  };
  CHECK(feed({"ab", "c ST", "OP", " more"}) == "abc |");
  CHECK(feed({"a S", "T", "O", "x"}) == "a STOx");
  CHECK(feed({"a ST"}) == "a ST");
  CHECK(feed({"one\n", "\ntwo"}) == "one|");
  CHECK(feed({"one\n", "two"}) == "one\ntwo");
  CHECK(feed({"xSTSTOP"}) == "xST|");
}

TEST_CASE("score: agrees with logits taken one by one, and needs two tokens") {
  const TempFolder folder;
  TinyLlama().writer().write(folder.path("m.gguf"));
  auto e = open(folder.path("m.gguf"));
  const auto ids = some_ids(75, 96);
  const Score s = score(*e, ids, nullptr, nullptr);
  CHECK(s.logprobs.size() == 75);
  const Rows rows = all_logits(*e, ids, 1);
  for (size_t i = 1; i < ids.size(); ++i) {
    double sum = 0;
    for (const double v : rows[i - 1]) sum += std::exp(v);
    CHECK(s.logprobs[i] == doctest::Approx(rows[i - 1][ids[i]] - std::log(sum)).epsilon(1e-3));
  }
  CHECK(s.perplexity == doctest::Approx(std::exp(s.nll_per_token)));
  CHECK(message_of([&] {
          score(*e, {ids.data(), 1}, nullptr, nullptr);
        }).find("at least 2") != std::string::npos);
}

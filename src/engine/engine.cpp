// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>

#include "backends/cpu/cpu_target.h"
#include "base/error.h"
#include "base/thread_team.h"
#include "models/language_model.h"
#include "models/vocabulary.h"

namespace rlx {
namespace {

/// The context to build for: what was asked for, or a default that holds `min_context` tokens.
int64_t choose_context(const Checkpoint& c, const EngineOptions& options) {
  if (options.context != 0 || options.min_context <= default_context) return options.context;
  const auto trained = c.metadata().find_u64(c.key("context_length"));
  const int64_t most = trained ? static_cast<int64_t>(std::min<uint64_t>(*trained, INT32_MAX)) : 0;
  return most > default_context ? std::min(most, options.min_context) : 0;
}

}  // namespace

std::unique_ptr<Engine> Engine::load(const std::string& path, const EngineOptions& options) {
  auto engine = std::unique_ptr<Engine>(new Engine());
  engine->checkpoint_ = Checkpoint::open(path);
  if (auto vocabulary = models::read_vocabulary(*engine->checkpoint_)) {
    engine->tokenizer_ = text::Tokenizer::create(std::move(*vocabulary));
  }
  LanguageModelOptions model_options;
  model_options.context = choose_context(*engine->checkpoint_, options);
  model_options.max_batch = options.max_batch;
  model_options.kv = options.kv;
  LanguageModel model = build_language_model(engine->checkpoint_, model_options);
  engine->vocabulary_ = model.vocabulary;
  engine->context_ = model.context;
  engine->kv_ = options.kv;
  engine->max_batch_ = model_options.max_batch;
  engine->max_rows_ = model_options.max_rows;
  auto executable = Executable::compile(std::move(model.graph), cpu_target({options.isa}));
  const int threads = options.threads == 0 ? available_cores() : options.threads;
  engine->session_ = std::make_unique<Session>(std::move(executable), SessionOptions{threads});
  return engine;
}

const text::Tokenizer& Engine::require_tokenizer() const {
  if (!tokenizer_) {
    fail(ErrorCode::NotFound, "{} has no tokenizer: give token ids (--ids), not text",
         checkpoint_->path());
  }
  return *tokenizer_;
}

void Engine::rewind(int64_t position) {
  RLX_CHECK(position >= 0 && position <= this->position());
  history_.resize(static_cast<size_t>(position));
}

Logits Engine::extend(std::span<const uint32_t> ids, int64_t rows,
                      const std::atomic<bool>* cancel) {
  if (ids.empty())
    fail(ErrorCode::InvalidArgument, "the prompt is empty: there is no token to run");
  const int64_t count = static_cast<int64_t>(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= static_cast<uint64_t>(vocabulary_)) {
      fail(ErrorCode::InvalidArgument, "token id {} at place {} is outside the vocabulary 0 to {}",
           ids[i], i, vocabulary_ - 1);
    }
  }
  if (count > context_ - position()) {
    fail(ErrorCode::LimitExceeded, "{} tokens after {} do not fit the context of {} (--ctx)", count,
         position(), context_);
  }
  RLX_CHECK(rows >= 1 && rows <= std::min(max_rows_, count));
  const int64_t start = position();
  try {
    for (int64_t at = 0; at < count;) {
      // The wanted rows must all lie in the last call.
      int64_t n = std::min(max_batch_, count - at);
      const int64_t left = count - at - n;
      if (left > 0 && left < rows) n = count - at - rows;
      const bool last = at + n == count;
      const auto chunk = ids.subspan(static_cast<size_t>(at), static_cast<size_t>(n));
      run_chunk(chunk, last ? rows : 0, cancel);
      history_.insert(history_.end(), chunk.begin(), chunk.end());
      at += n;
    }
  } catch (...) {
    rewind(start);
    throw;
  }
  const TensorView out = session_->output(0);
  const auto* values = reinterpret_cast<const float*>(out.data);
  return {{values, static_cast<size_t>(rows * vocabulary_)}, rows, vocabulary_};
}

void Engine::run_chunk(std::span<const uint32_t> ids, int64_t rows,
                       const std::atomic<bool>* cancel) {
  const int64_t count = static_cast<int64_t>(ids.size());
  ids_.assign(ids.begin(), ids.end());
  rows_.clear();
  for (int64_t r = 0; r < rows; ++r) rows_.push_back(static_cast<int32_t>(count - rows + r));
  const SymbolBinding symbols[] = {{"T", count}, {"P", position()}, {"R", rows}};
  const InputBinding inputs[] = {{"ids", DType::I32, std::as_bytes(std::span(ids_))},
                                 {"rows", DType::I32, std::as_bytes(std::span(rows_))}};
  session_->run(symbols, inputs, cancel);
}

}  // namespace rlx

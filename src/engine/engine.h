// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/checkpoint.h"
#include "ir/dtype.h"
#include "runtime/session.h"
#include "text/tokenizer.h"

namespace rlx {

struct EngineOptions {
  int64_t context = 0;      ///< tokens of prompt and answer together; 0: min(the model's, 4096)
  int64_t min_context = 0;  ///< raises a default context to this, up to the model's
  int threads = 0;          ///< 0: as many as cores may be used
  std::string isa;          ///< empty: the best this machine has
  DType kv = DType::F16;    ///< storage of the KV cache: f16, f32 or q8_0
  int64_t max_batch = 512;  ///< tokens per call of the executable
};

/// Row-major logits [rows, vocabulary]; valid until the next call on the engine.
struct Logits {
  std::span<const float> values;
  int64_t rows = 0;
  int64_t vocabulary = 0;
  std::span<const float> row(int64_t i) const {
    return values.subspan(static_cast<size_t>(i * vocabulary), static_cast<size_t>(vocabulary));
  }
};

/// A language model ready to run: checkpoint, tokenizer (where the file has one), compiled graph,
/// one session with its KV cache. Prefill and decode are the same executable. Not thread-safe.
class Engine {
 public:
  /// Opens `path`, builds, compiles. Throws Error for every reason the model cannot run.
  static std::unique_ptr<Engine> load(const std::string& path, const EngineOptions& options);

  /// Null where the file has no tokenizer: then only token ids go in and out.
  const text::Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  /// As tokenizer(); Error NotFound saying that ids are needed.
  const text::Tokenizer& require_tokenizer() const;
  const Checkpoint& checkpoint() const { return *checkpoint_; }
  const Executable& executable() const { return session_->executable(); }
  int threads() const { return session_->threads(); }

  int64_t vocabulary() const { return vocabulary_; }
  int64_t context() const { return context_; }
  DType kv() const { return kv_; }
  /// The tokens in the KV cache, and how many.
  const std::vector<uint32_t>& history() const { return history_; }
  int64_t position() const { return static_cast<int64_t>(history_.size()); }
  int64_t max_rows() const { return max_rows_; }

  /// Forgets the tokens from `position` on; the cache before it stays.
  void rewind(int64_t position);

  /// Appends `ids` to the context and returns the logits at the last `rows` of them (1 <= rows <=
  /// min(max_rows, ids.size())). Error for an id outside the vocabulary, a full context, an empty
  /// list, or Cancelled (the context is then as before the call).
  Logits extend(std::span<const uint32_t> ids, int64_t rows = 1,
                const std::atomic<bool>* cancel = nullptr);

 private:
  Engine() = default;
  void run_chunk(std::span<const uint32_t> ids, int64_t rows, const std::atomic<bool>* cancel);

  std::shared_ptr<const Checkpoint> checkpoint_;
  std::optional<text::Tokenizer> tokenizer_;
  std::unique_ptr<Session> session_;
  std::vector<uint32_t> history_;
  std::vector<int32_t> ids_, rows_;
  int64_t vocabulary_ = 0, context_ = 0, max_batch_ = 0, max_rows_ = 0;
  DType kv_ = DType::F16;
};

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "import/checkpoint.h"
#include "ir/graph.h"

namespace rlx {

/// The longest context that is built for where none is asked for.
inline constexpr int64_t default_context = 4096;

/// How large a language model's graph is planned, and how its cache is kept.
struct LanguageModelOptions {
  int64_t context = 0;      ///< tokens the cache holds; 0: the model's own, at most 4096
  int64_t max_batch = 512;  ///< tokens of one call; taken down to `context`
  int64_t max_rows = 32;    ///< positions of one call whose logits can be asked for
  DType kv = DType::F16;    ///< of keys and values: F32, F16, BF16 or Q8_0
};

/// A decoder as a graph. Symbols: T <= max_batch tokens of this call, P <= context - 1 tokens
/// before it, R <= max_rows rows wanted; the caller keeps P + T <= context. Inputs `ids : i32[T]`
/// and `rows : i32[R]` (indices into the T tokens), states `k.<layer>` and `v.<layer>` :
/// kv[context, kv_heads * D], output `logits : f32[R, vocabulary]`. The graph's leaves keep the
/// checkpoint's mapping alive.
struct LanguageModel {
  Graph graph;
  int64_t vocabulary;
  int64_t context;
  int64_t trained_context;  ///< the model's own context length
  std::string architecture;
  int64_t kv_bytes;  ///< of all states together
};

/// Throws Error: Unsupported for an unknown architecture (known ones are listed) or feature,
/// NotFound naming a missing key or tensor, InvalidFile for numbers and shapes that contradict each
/// other, InvalidArgument for options the model does not allow.
LanguageModel build_language_model(std::shared_ptr<const Checkpoint> checkpoint,
                                   const LanguageModelOptions& options = {});

/// Whether build_language_model() has a graph for a checkpoint and, if not, why.
struct Support {
  bool supported;
  std::string reason;  ///< empty where supported
};
Support support_of(const Checkpoint& checkpoint);

}  // namespace rlx

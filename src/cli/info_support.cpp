// SPDX-License-Identifier: Apache-2.0
#include "cli/info_support.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace rlx::cli {
namespace {

constexpr std::string_view architectures[] = {"gemma3", "gpt2",  "llama",   "phi3",
                                              "qwen2",  "qwen3", "qwen3moe"};

/// Whether the file holds a model, not some tensors with a name tag.
bool is_model(const Checkpoint& checkpoint) {
  const std::string prefix = checkpoint.key("");
  return std::any_of(checkpoint.metadata().entries().begin(), checkpoint.metadata().entries().end(),
                     [&](const auto& entry) { return entry.key.starts_with(prefix); });
}

void check_hyperparameters(const Checkpoint& checkpoint) {
  for (const char* name : {"block_count", "context_length", "embedding_length",
                           "feed_forward_length", "attention.head_count"}) {
    checkpoint.metadata().get(checkpoint.key(name));
  }
  const auto dims = checkpoint.metadata().find_u64(checkpoint.key("rope.dimension_count"));
  if (dims && *dims % 2 != 0) {
    fail(ErrorCode::InvalidFile, "{}: {} is {}; rope turns pairs, so it must be even",
         checkpoint.path(), checkpoint.key("rope.dimension_count"), *dims);
  }
}

}  // namespace

std::string reason_of_no_support(const Checkpoint& checkpoint) {
  if (!checkpoint.has("general.architecture")) return "general.architecture is missing";
  const std::string_view architecture = checkpoint.architecture();
  if (std::find(std::begin(architectures), std::end(architectures), architecture) ==
      std::end(architectures)) {
    return fmt::format("architecture {} is none of {}", quote(architecture),
                       fmt::join(architectures, ", "));
  }
  if (!is_model(checkpoint)) return fmt::format("there are no '{}.…' keys", architecture);
  if (checkpoint.tensors().empty()) return "there are no tensors";
  check_hyperparameters(checkpoint);
  return "";
}

}  // namespace rlx::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/info_support.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "models/language_model.h"

namespace rlx::cli {
namespace {

/// Whether the file holds a model, not some tensors with a name tag.
bool is_model(const Checkpoint& checkpoint) {
  const std::string prefix = checkpoint.key("");
  const auto entries = checkpoint.metadata().entries();
  const auto tensors = checkpoint.tensors();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const auto& entry) { return entry.key.starts_with(prefix); }) ||
         std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& tensor) { return tensor.name.starts_with("blk."); });
}

}  // namespace

std::string reason_of_no_support(std::shared_ptr<const Checkpoint> checkpoint) {
  if (!checkpoint->has("general.architecture")) return "general.architecture is missing";
  if (checkpoint->tensors().empty()) return "there are no tensors of a known type";
  if (!is_model(*checkpoint)) {
    return fmt::format("there are no '{}' keys", printable(checkpoint->key("*"), 80));
  }
  Support support = support_of(*checkpoint);
  if (support.supported) return "";
  // The same refusal again, for its kind: what contradicts itself is an error, not a limit.
  try {
    build_language_model(checkpoint);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
  }
  return std::move(support.reason);
}

}  // namespace rlx::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "import/checkpoint.h"

namespace rlx::cli {

/// Why this build cannot run the checkpoint, as a sentence; empty where it can. Throws Error
/// (NotFound, InvalidFile) where it is a model of a supported architecture, but a broken one.
std::string reason_of_no_support(std::shared_ptr<const Checkpoint> checkpoint);

}  // namespace rlx::cli

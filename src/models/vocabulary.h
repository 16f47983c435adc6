// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "import/checkpoint.h"
#include "text/vocabulary.h"

namespace rlx::models {

/// The tokenizer contents of GGUF keys tokenizer.ggml.*, copied; nullopt where there is none (no
/// model key, or "none" or "no_vocab"). Throws Error: Unsupported for another tokenizer model,
/// NotFound for a missing key, InvalidFile for arrays of different lengths, unknown token types and
/// ids outside the vocabulary.
std::optional<text::Vocabulary> vocabulary_from_gguf(const Metadata& metadata);

/// The tokenizer contents of a checkpoint of either kind; nullopt where it has none.
std::optional<text::Vocabulary> read_vocabulary(const Checkpoint& checkpoint);

}  // namespace rlx::models

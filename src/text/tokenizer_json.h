// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "text/vocabulary.h"

namespace rlx::text {

/// The vocabulary that a Hugging Face tokenizer.json describes: BPE (byte-level, or SentencePiece's
/// with blanks as U+2581), Unigram or WordPiece, with its added tokens, normalizer, pre-tokenizer
/// and the start and end tokens of its post-processor. Which further tokens end a generation is not
/// in that file; the caller may set eos, eot and the like before building a Tokenizer.
///
/// InvalidFile where the text is not such a file, Unsupported naming the part that is not handled.
Vocabulary read_tokenizer_json(std::string_view text);

}  // namespace rlx::text

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace rlx::text {

/// The byte that a token spelled <0xNN> stands for.
std::optional<uint8_t> byte_of_token(std::string_view text);

/// The id of each byte's token of type Byte, no_token where there is none; the first id wins.
std::array<uint32_t, 256> byte_token_ids(const Vocabulary& vocabulary);

/// The type of a token; Normal where the vocabulary has no types.
inline TokenType type_of(const Vocabulary& vocabulary, uint32_t id) {
  return vocabulary.types.empty() ? TokenType::Normal : vocabulary.types[id];
}

/// Checks every id, count and text of a vocabulary against the others; InvalidFile naming the
/// field, the found value and the allowed one.
void check_vocabulary(const Vocabulary& vocabulary);

/// Fills in what the file leaves unsaid: ids of special tokens by their usual spelling, the blank
/// prefix, and whether start and end tokens are added.
void set_defaults(Vocabulary& vocabulary);

/// The ids that end a generation, ascending: those the file names and those whose text is one of
/// the usual spellings.
std::vector<uint32_t> end_of_generation_ids(const Vocabulary& vocabulary);

}  // namespace rlx::text

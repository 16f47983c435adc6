// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rlx::text {

/// How a token may be matched and shown; the numbers are those of GGUF's tokenizer.ggml.token_type.
enum class TokenType : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,      ///< matched in text only on request (parse_special), not shown when decoded
  UserDefined = 4,  ///< matched in text always
  Unused = 5,
  Byte = 6,  ///< <0xNN> of a SentencePiece vocabulary
};

/// The algorithm a vocabulary belongs to (GGUF's tokenizer.ggml.model: llama, gpt2, bert, t5).
enum class TokenizerModel : uint8_t { Spm, Bpe, WordPiece, Unigram };

/// Contents of a tokenizer as a file declares them; nothing is checked or built yet.
struct Vocabulary {
  TokenizerModel model = TokenizerModel::Bpe;
  std::string pre;  ///< pre-tokenizer family (GGUF's tokenizer.ggml.pre), may be empty
  std::vector<std::string> tokens;  ///< text by id, spelled as the file spells it
  std::vector<float> scores;        ///< by id, or empty (Spm and Unigram need them)
  std::vector<TokenType> types;     ///< by id, or empty: all Normal
  std::vector<std::string> merges;  ///< "left right" by rank (Bpe)
  std::optional<uint32_t> bos, eos, eot, eom, unk, sep, pad, cls, mask;
  std::vector<uint32_t> extra_end_of_generation;  ///< further ids that end a generation
  std::optional<bool> add_bos, add_eos, add_sep;  ///< unset: the model's default
  std::optional<bool> add_space_prefix;           ///< unset: the model's default
  std::optional<bool> remove_extra_whitespaces;   ///< Unigram
  std::optional<bool> ignore_merges;              ///< Bpe: a word that is a token is taken whole
  /// Bpe: symbols are the 256 bytes; false: characters, blanks spelled U+2581, rare characters as
  /// the bytes <0xNN>.
  bool byte_level = true;
  bool space_prefix_if_missing = false;  ///< no blank prefix for a text that begins with a blank
  bool space_prefix_once = false;  ///< the blank prefix only begins the whole text, no other part
  bool nfc = false;                ///< text is brought to Unicode's form C first
  /// Ids of added tokens that take the blanks before (after) them along.
  std::vector<uint32_t> strip_left, strip_right;
  bool lower_case = true, strip_accents = true;  ///< WordPiece
  std::string precompiled_charsmap;              ///< Unigram: SentencePiece's normalizer, raw bytes
  /// Set where a tokenizer.json spells its own pre-tokenizer: PCRE2 patterns applied in turn,
  /// instead of those of `pre`.
  std::vector<std::string> pre_patterns;
};

}  // namespace rlx::text

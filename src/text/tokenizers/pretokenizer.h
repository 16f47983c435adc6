// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::text {

/// What the name of a pre-tokenizer (GGUF's tokenizer.ggml.pre) says about a byte-level vocabulary.
struct PreTokenizerFamily {
  std::span<const std::string_view> patterns;  ///< applied in turn, each on the pieces before it
  bool ignore_merges = false;                  ///< a piece that is a token is taken whole
  bool add_bos = false;                        ///< where the file says nothing
};

/// The family of `name`, "" meaning "default"; an Error naming it where it is not known.
const PreTokenizerFamily& pre_tokenizer_family(std::string_view name);

/// Cuts a text into the pieces inside which a BPE may merge. A pattern's matches and the stretches
/// between them become pieces; the next pattern works inside each of them as if it stood alone.
class PreTokenizer {
 public:
  struct Piece {
    size_t begin;
    size_t size;
  };

  /// Compiles the patterns (Perl syntax, Unicode); Unsupported with the pattern and place if not.
  explicit PreTokenizer(std::span<const std::string_view> patterns);
  ~PreTokenizer();
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;

  /// The pieces of valid UTF-8, in order, covering all of it; none is empty.
  std::vector<Piece> split(std::string_view text) const;

 private:
  struct Pattern;
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

}  // namespace rlx::text

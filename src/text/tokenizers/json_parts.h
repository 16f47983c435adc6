// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace rlx::text {

/// What tokenizer.json's normalizer and pre-tokenizer do, gathered before the model is known.
struct JsonPipeline {
  bool nfc = false;
  bool marks_blanks = false;       ///< blanks become U+2581
  bool prefixes_blank = false;     ///< a blank (U+2581) goes before a text ...
  bool prefix_if_missing = false;  ///< ... where it begins with none
  bool prefix_once = false;        ///< ... but not before its parts behind added tokens
  bool remove_extra = false;       ///< runs of blanks become one
  bool byte_level = false;         ///< bytes are spelled as characters, GPT-2's way
  bool bert_words = false;         ///< BERT's pre-tokenizer
  bool bert_normalizer = false;
  bool lower_case = false, strip_accents = false;
  std::string charsmap;
  std::vector<std::string> patterns;  ///< PCRE2, applied in turn
};

/// Reads "normalizer" and "pre_tokenizer"; Unsupported naming the first part not handled.
JsonPipeline read_json_pipeline(const nlohmann::json& file);

/// Sets bos, eos, add_bos and add_eos from "post_processor".
void read_json_post_processor(const nlohmann::json& file, Vocabulary& vocabulary);

}  // namespace rlx::text

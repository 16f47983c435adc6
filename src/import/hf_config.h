// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "import/checkpoint.h"
#include "import/metadata.h"

namespace rlx {

/// What the config.json of a Hugging Face folder says, under GGUF keys.
struct HfConfig {
  explicit HfConfig(std::string source) : metadata(std::move(source)) {}
  HfConfig(const HfConfig&) = delete;
  HfConfig& operator=(const HfConfig&) = delete;

  std::string architecture;  ///< GGUF spelling
  Layout layout;
  bool tied_embeddings = false;  ///< the output matrix is the token table
  Metadata metadata;

  /// Vectors that GGUF keeps as tensors: rope_freqs.weight, rope_factors_long.weight, ….
  struct Vector {
    std::string name;
    std::vector<float> values;
  };
  std::vector<Vector> vectors;

  /// What `metadata` views.
  std::deque<std::string> storage;
};

/// Reads "<folder>/config.json" into `config`. Throws Error naming the file: NotFound for a missing
/// key, InvalidFile for a wrong type, Unsupported for a model_type or option this build lacks.
void read_hf_config(const std::string& folder, HfConfig& config);

/// The GGUF name of a Hugging Face tensor of that architecture; empty for buffers that a graph does
/// not need, the name itself where it is unknown.
std::string gguf_tensor_name(std::string_view hf_name, std::string_view architecture);

/// The model_types that read_hf_config knows, "gemma3_text, gpt2, …".
std::string known_model_types();

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/checkpoint.h"
#include "import/gguf.h"
#include "import/safetensors.h"
#include "text/vocabulary.h"

namespace rlx::cli {

/// What a model file holds, gathered for printing.
struct ModelInfo {
  struct File {
    std::string path;
    uint64_t bytes;
  };
  struct Tensor {
    std::string name;
    std::string type;
    std::vector<int64_t> shape;     ///< row-major
    std::optional<uint64_t> bytes;  ///< unset where the type is unknown
    uint64_t offset;                ///< from the start of its file
    uint32_t file;
  };
  /// Totals of one element type.
  struct Type {
    std::string name;
    uint64_t tensors, elements, bytes;
  };

  std::string path;
  std::string format;               ///< "gguf" or "safetensors"
  std::optional<uint32_t> version;  ///< of GGUF
  std::optional<uint64_t> alignment;
  std::vector<File> files;
  std::vector<Tensor> tensors;
  std::vector<Type> types;  ///< most bytes first
  uint64_t parameters = 0;  ///< elements of all tensors

  std::string architecture;  ///< empty where none is declared
  bool is_supported = false;
  std::string reason;  ///< why not

  std::optional<text::Vocabulary> vocabulary;
  std::string vocabulary_error;  ///< why the declared tokenizer cannot be used
  bool has_chat_template = false;

  // Where the views of metadata live.
  std::shared_ptr<const GgufFile> gguf;
  std::shared_ptr<const SafetensorsFile> safetensors;
  std::shared_ptr<const Checkpoint> checkpoint;  ///< null where no model was recognized

  /// Pairs under GGUF keys; null where a safetensors file has no readable config.json.
  const Metadata* metadata() const;
};

/// Looks into a GGUF file, a safetensors file or a Hugging Face folder. Throws Error naming the
/// path: what cannot be read, what is no model file, and what claims to be a model of a supported
/// architecture but lacks a key or tensor of it.
ModelInfo gather_info(const std::string& path);

}  // namespace rlx::cli

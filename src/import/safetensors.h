// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "ir/dtype.h"

namespace rlx {

/// One tensor of a safetensors file.
struct SafetensorsTensor {
  std::string name;
  std::string type_name;             ///< as the file spells it: "BF16"
  std::optional<DType> dtype;        ///< empty where the name is unknown to this build
  std::vector<int64_t> shape;        ///< row-major; empty for a scalar; a dimension may be 0
  uint64_t offset;                   ///< from the start of its file
  std::span<const std::byte> bytes;  ///< in the mapping
  uint32_t file = 0;                 ///< index into SafetensorsFile::files()
};

/// What one safetensors file says of itself, all of it checked.
struct SafetensorsContents {
  std::vector<std::pair<std::string, std::string>> metadata;  ///< "__metadata__", in file order
  std::vector<SafetensorsTensor> tensors;                     ///< in order of the header
};

/// Reads a safetensors file from memory; `source` starts error texts. Throws Error (InvalidFile,
/// LimitExceeded) saying what was found and what is allowed. Memory and time are bounded by the
/// size of the header in `bytes`. Format: the safetensors specification of Hugging Face.
SafetensorsContents parse_safetensors(std::span<const std::byte> bytes, const std::string& source);

/// A safetensors file, or all files of a sharded model, mapped and checked. Immutable.
class SafetensorsFile {
 public:
  /// Opens a file, the whole set where its name is "…-00001-of-00002.safetensors", or a folder with
  /// model.safetensors or model.safetensors.index.json. Throws Error as MappedFile::open and
  /// parse_safetensors, and NotFound naming a file that is missing.
  static std::shared_ptr<const SafetensorsFile> open(const std::string& path);

  std::span<const std::shared_ptr<const MappedFile>> files() const { return files_; }
  /// Of the first file.
  std::span<const std::pair<std::string, std::string>> metadata() const { return metadata_; }
  std::span<const SafetensorsTensor> tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const SafetensorsTensor* find_tensor(std::string_view name) const;

 private:
  SafetensorsFile() = default;
  void add(const std::string& path);
  void add_indexed(const std::string& index_path);
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<SafetensorsTensor> tensors_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace rlx

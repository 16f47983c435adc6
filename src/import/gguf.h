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
#include <vector>

#include "base/mapped_file.h"
#include "import/metadata.h"
#include "ir/dtype.h"

namespace rlx {

/// One tensor of a GGUF file.
struct GgufTensor {
  std::string_view name;             ///< views the mapping
  uint32_t ggml_type;                ///< the type's number in the file
  std::optional<DType> dtype;        ///< empty where the number is unknown to this build
  std::vector<int64_t> dims;         ///< 1 to 4, each at least 1, in ggml order: fastest first
  uint64_t offset;                   ///< from the start of its file
  std::span<const std::byte> bytes;  ///< in the mapping; empty for an unknown type
  uint32_t shard = 0;                ///< index into GgufFile::shards()

  /// Logical row-major shape: dims reversed.
  std::vector<int64_t> shape() const { return {dims.rbegin(), dims.rend()}; }
  /// Product of the dims, checked to fit.
  uint64_t elements() const;
  /// "q4_k", or "unknown type 9999".
  std::string type_text() const;
};

/// What one GGUF file says of itself, all of it checked: every view lies inside the bytes.
struct GgufContents {
  uint32_t version;
  uint64_t alignment;    ///< of tensor offsets
  uint64_t data_offset;  ///< where tensor data starts
  Metadata metadata;
  std::vector<GgufTensor> tensors;  ///< in file order
};

/// Reads a little-endian GGUF file of version 2 or 3 from memory; `source` starts error texts.
/// Views of the result point into `bytes`. Throws Error (InvalidFile, Unsupported for other
/// versions and byte orders) saying what was found and what is allowed. Memory and time are bounded
/// by the size of `bytes`, never by numbers in them. Format: the GGUF specification of ggml.
GgufContents parse_gguf(std::span<const std::byte> bytes, const std::string& source);

/// A GGUF file, or all files of a sharded one, mapped and checked. Immutable.
class GgufFile {
 public:
  /// Opens `path`; where it is one shard of several, the whole set it belongs to. Throws Error as
  /// MappedFile::open and parse_gguf, and NotFound naming a shard that is missing.
  static std::shared_ptr<const GgufFile> open(const std::string& path);

  struct Shard {
    std::shared_ptr<const MappedFile> file;
    uint32_t version;
    uint64_t alignment;
    uint64_t data_offset;
  };
  /// The mapped files, the first shard first.
  std::span<const Shard> shards() const { return shards_; }
  /// Of the first shard; the others only say which shard they are.
  const Metadata& metadata() const { return metadata_; }
  /// Of all shards, in file order.
  std::span<const GgufTensor> tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const GgufTensor* find_tensor(std::string_view name) const;

 private:
  explicit GgufFile(Metadata metadata) : metadata_(std::move(metadata)) {}
  void add_shard(std::shared_ptr<const MappedFile> file, GgufContents contents);
  static std::shared_ptr<const GgufFile> open_set(const std::string& path,
                                                  const GgufContents& contents);
  Metadata metadata_;
  std::vector<Shard> shards_;
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, size_t> index_;
};

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "import/gguf.h"

#include "base/error.h"
#include "import/paths.h"

namespace rlx {
namespace {

constexpr std::string_view suffix = ".gguf";

/// Which shard of how many a file says it is; {0, 1} where it says nothing.
struct Split {
  uint64_t number;  ///< from 0
  uint64_t count;
};

Split read_split(const Metadata& metadata) {
  const uint64_t count = metadata.find_u64("split.count").value_or(1);
  if (count <= 1) return {0, 1};
  const uint64_t number = metadata.u64("split.no");
  if (number >= count) {
    fail(ErrorCode::InvalidFile, "{}: split.no is {}; with split.count {} it is 0 to {}",
         metadata.source(), number, count, count - 1);
  }
  return {number, count};
}

/// The name that `path` must have for the other shards to be found.
ShardName shard_name(const std::string& path, const Split& split) {
  const auto name = parse_shard_name(path, suffix);
  if (!name || name->count != split.count || name->number != split.number + 1) {
    fail(ErrorCode::InvalidFile,
         "{}: this is shard {} of {} (split.no {}), so its name must end with "
         "-{:05}-of-{:05}.gguf for the others to be found",
         path, split.number + 1, split.count, split.number, split.number + 1, split.count);
  }
  return *name;
}

/// Checks a further shard's own statement against the set's.
void check_shard(const Metadata& metadata, const Split& wanted, std::string_view architecture) {
  const Split found = read_split(metadata);
  if (found.count != wanted.count) {
    fail(ErrorCode::InvalidFile, "{}: split.count is {}; the first shard has {}", metadata.source(),
         found.count, wanted.count);
  }
  if (found.number != wanted.number) {
    fail(ErrorCode::InvalidFile, "{}: split.no is {}; the file name says {}", metadata.source(),
         found.number, wanted.number);
  }
  const auto own = metadata.find_string("general.architecture");
  if (own && *own != architecture) {
    fail(ErrorCode::InvalidFile, "{}: general.architecture is {}; the first shard has {}",
         metadata.source(), quote(*own), quote(architecture));
  }
}

}  // namespace

void GgufFile::add_shard(std::shared_ptr<const MappedFile> file, GgufContents contents) {
  const auto shard = static_cast<uint32_t>(shards_.size());
  for (GgufTensor& tensor : contents.tensors) {
    tensor.shard = shard;
    if (!index_.emplace(tensor.name, tensors_.size()).second) {
      fail(ErrorCode::InvalidFile, "{}: tensor {} is in an earlier shard too", file->path(),
           quote(tensor.name));
    }
    tensors_.push_back(std::move(tensor));
  }
  shards_.push_back({std::move(file), contents.version, contents.alignment, contents.data_offset});
}

std::shared_ptr<const GgufFile> GgufFile::open_set(const std::string& path,
                                                   const GgufContents& contents) {
  const Split split = read_split(contents.metadata);
  const ShardName name = shard_name(path, split);
  std::shared_ptr<GgufFile> result;
  for (uint32_t i = 0; i < split.count; ++i) {
    const std::string shard_path = name.path(i + 1, suffix);
    if (!file_exists(shard_path)) {
      fail(ErrorCode::NotFound, "{}: shard {} of {} is missing: there is no file '{}'", path, i + 1,
           split.count, shard_path);
    }
    auto file = MappedFile::open(shard_path);
    GgufContents shard = parse_gguf(file->bytes(), shard_path);
    if (i == 0) result.reset(new GgufFile(shard.metadata));
    const auto architecture = result->metadata_.find_string("general.architecture");
    check_shard(shard.metadata, {i, split.count}, architecture.value_or(""));
    result->add_shard(std::move(file), std::move(shard));
  }
  const auto declared = result->metadata_.find_u64("split.tensors.count");
  if (declared && *declared != result->tensors_.size()) {
    fail(ErrorCode::InvalidFile, "{}: split.tensors.count is {}; the {} shards hold {} tensors",
         name.path(1, suffix), *declared, split.count, result->tensors_.size());
  }
  return result;
}

std::shared_ptr<const GgufFile> GgufFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  GgufContents contents = parse_gguf(file->bytes(), path);
  if (read_split(contents.metadata).count > 1) return open_set(path, contents);
  std::shared_ptr<GgufFile> result(new GgufFile(contents.metadata));
  result->add_shard(std::move(file), std::move(contents));
  return result;
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace rlx

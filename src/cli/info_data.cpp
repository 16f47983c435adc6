// SPDX-License-Identifier: Apache-2.0
#include "cli/info_data.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "cli/info_support.h"
#include "import/paths.h"
#include "models/vocabulary.h"

namespace rlx::cli {
namespace {

bool looks_like_gguf(const std::string& path) {
  if (is_folder(path)) return false;
  if (path.ends_with(".gguf")) return true;
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  return bytes.size() >= 4 &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), 4) == "GGUF";
}

bool looks_like_safetensors(const std::string& path) {
  if (is_folder(path) || path.ends_with(".safetensors")) return true;
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  // The length of a header of at most 100 MB has zeros in its upper half.
  return bytes.size() > 9 && bytes[8] == std::byte{'{'} && bytes[5] == std::byte{0} &&
         bytes[6] == std::byte{0} && bytes[7] == std::byte{0};
}

void add_tensor(ModelInfo& info, ModelInfo::Tensor tensor) {
  uint64_t elements = 1;
  for (const int64_t dim : tensor.shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements)) elements = 0;
  }
  info.parameters += elements;
  auto type = std::find_if(info.types.begin(), info.types.end(),
                           [&](const auto& row) { return row.name == tensor.type; });
  if (type == info.types.end()) type = info.types.insert(type, {tensor.type, 0, 0, 0});
  ++type->tensors;
  type->elements += elements;
  type->bytes += tensor.bytes.value_or(0);
  info.tensors.push_back(std::move(tensor));
}

void read_gguf(ModelInfo& info) {
  info.gguf = GgufFile::open(info.path);
  info.format = "gguf";
  info.version = info.gguf->shards()[0].version;
  info.alignment = info.gguf->shards()[0].alignment;
  for (const GgufFile::Shard& shard : info.gguf->shards()) {
    info.files.push_back({shard.file->path(), shard.file->bytes().size()});
  }
  for (const GgufTensor& tensor : info.gguf->tensors()) {
    const auto bytes = tensor.dtype ? std::optional<uint64_t>(tensor.bytes.size()) : std::nullopt;
    add_tensor(info, {std::string(tensor.name), tensor.type_text(), tensor.shape(), bytes,
                      tensor.offset, tensor.shard});
  }
  info.checkpoint = Checkpoint::open(info.path);
}

void read_safetensors(ModelInfo& info) {
  info.safetensors = SafetensorsFile::open(info.path);
  info.format = "safetensors";
  for (const auto& file : info.safetensors->files()) {
    info.files.push_back({file->path(), file->bytes().size()});
  }
  for (const SafetensorsTensor& tensor : info.safetensors->tensors()) {
    const std::string type = tensor.dtype ? std::string(dtype_name(*tensor.dtype))
                                          : "unknown type " + printable(tensor.type_name, 40);
    add_tensor(info,
               {tensor.name, type, tensor.shape, tensor.bytes.size(), tensor.offset, tensor.file});
  }
  const std::string folder = is_folder(info.path) ? info.path : folder_of(info.path);
  if (!file_exists(folder + "/config.json")) {
    info.reason = "there is no config.json beside the file";
    return;
  }
  try {
    info.checkpoint = Checkpoint::open(info.path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    info.reason = error.message();
  }
}

void read_tokenizer(ModelInfo& info) {
  info.has_chat_template = info.checkpoint->chat_template().has_value();
  try {
    info.vocabulary = models::read_vocabulary(*info.checkpoint);
  } catch (const Error& error) {
    info.vocabulary_error = error.message();
  }
}

}  // namespace

const Metadata* ModelInfo::metadata() const {
  if (gguf) return &gguf->metadata();
  return checkpoint ? &checkpoint->metadata() : nullptr;
}

ModelInfo gather_info(const std::string& path) {
  ModelInfo info;
  info.path = path;
  if (is_folder(path) && !file_exists(path + "/config.json")) {
    fail(ErrorCode::InvalidFile,
         "'{}' is a folder without config.json; a GGUF file, a safetensors file or a Hugging Face "
         "folder is needed",
         path);
  }
  if (looks_like_gguf(path)) {
    read_gguf(info);
  } else if (looks_like_safetensors(path)) {
    read_safetensors(info);
  } else {
    fail(ErrorCode::InvalidFile,
         "'{}' is no model file: it starts like neither GGUF nor safetensors", path);
  }
  std::stable_sort(info.types.begin(), info.types.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (!info.checkpoint) return info;
  info.architecture = info.metadata()->find_string("general.architecture").value_or("");
  info.reason = reason_of_no_support(info.checkpoint);
  info.is_supported = info.reason.empty();
  read_tokenizer(info);
  return info;
}

}  // namespace rlx::cli

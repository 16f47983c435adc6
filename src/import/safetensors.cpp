// SPDX-License-Identifier: Apache-2.0
#include "import/safetensors.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "import/json_file.h"
#include "import/metadata.h"
#include "import/paths.h"

namespace rlx {
namespace {

constexpr std::string_view suffix = ".safetensors";

void require_file(const std::string& path, std::string_view because) {
  if (!file_exists(path)) {
    fail(ErrorCode::NotFound, "{}: there is no file '{}'", because, path);
  }
}

}  // namespace

void SafetensorsFile::add(const std::string& path) {
  auto file = MappedFile::open(path);
  SafetensorsContents contents = parse_safetensors(file->bytes(), path);
  const auto number = static_cast<uint32_t>(files_.size());
  for (SafetensorsTensor& tensor : contents.tensors) {
    tensor.file = number;
    if (!index_.emplace(tensor.name, tensors_.size()).second) {
      fail(ErrorCode::InvalidFile, "{}: tensor {} is in an earlier file of the set too", path,
           quote(tensor.name));
    }
    tensors_.push_back(std::move(tensor));
  }
  if (files_.empty()) metadata_ = std::move(contents.metadata);
  files_.push_back(std::move(file));
}

void SafetensorsFile::add_indexed(const std::string& index_path) {
  const nlohmann::json index = read_json_file(index_path);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object() || map->empty()) {
    fail(ErrorCode::InvalidFile, "{}: there is no object 'weight_map' with an entry", index_path);
  }
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      fail(ErrorCode::InvalidFile, "{}: weight_map of {} is no file name", index_path,
           quote(tensor));
    }
    const auto& name = file.get_ref<const std::string&>();
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      fail(ErrorCode::InvalidFile,
           "{}: weight_map of {} is {}; a plain name of a file in the same folder is needed",
           index_path, quote(tensor), quote(name));
    }
    names.insert(name);
  }
  const std::string folder = folder_of(index_path);
  for (const std::string& name : names) {
    require_file(folder + "/" + name, index_path);
    add(folder + "/" + name);
  }
  for (const auto& [tensor, file] : map->items()) {
    const SafetensorsTensor* found = find_tensor(tensor);
    const auto& name = file.get_ref<const std::string&>();
    if (found == nullptr || file_name(files_[found->file]->path()) != name) {
      fail(ErrorCode::NotFound, "{}: tensor {} is not in {} as weight_map says", index_path,
           quote(tensor), quote(name));
    }
  }
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  std::shared_ptr<SafetensorsFile> result(new SafetensorsFile());
  if (is_folder(path)) {
    const std::string single = path + "/model.safetensors";
    const std::string index = path + "/model.safetensors.index.json";
    if (file_exists(index)) {
      result->add_indexed(index);
    } else if (file_exists(single)) {
      result->add(single);
    } else {
      fail(ErrorCode::NotFound,
           "'{}' is a folder without model.safetensors or model.safetensors.index.json", path);
    }
    return result;
  }
  const auto shard = parse_shard_name(path, suffix);
  if (!shard) {
    result->add(path);
    return result;
  }
  if (!file_exists(path)) result->add(path);  // for the system's own error text
  for (uint32_t i = 1; i <= shard->count; ++i) {
    const std::string name = shard->path(i, suffix);
    require_file(name, path);
    result->add(name);
  }
  return result;
}

const SafetensorsTensor* SafetensorsFile::find_tensor(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace rlx

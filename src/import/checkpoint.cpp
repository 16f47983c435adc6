// SPDX-License-Identifier: Apache-2.0
#include "import/checkpoint.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/mapped_file.h"
#include "import/gguf.h"
#include "import/hf_config.h"
#include "import/json_file.h"
#include "import/paths.h"
#include "import/safetensors.h"

namespace rlx {
namespace {

constexpr size_t largest_template = size_t{16} << 20;

/// The default among the chat templates of a Hugging Face folder.
std::optional<std::string> read_chat_template(const std::string& folder) {
  const std::string own_file = folder + "/chat_template.jinja";
  if (file_exists(own_file)) return read_text_file(own_file, largest_template);
  const std::string config_path = folder + "/tokenizer_config.json";
  if (!file_exists(config_path)) return std::nullopt;
  const nlohmann::json config = read_json_file(config_path);
  if (!config.is_object() || !config.contains("chat_template")) return std::nullopt;
  const nlohmann::json& found = config["chat_template"];
  if (found.is_string()) return found.get<std::string>();
  if (!found.is_array()) return std::nullopt;
  for (const nlohmann::json& named : found) {
    if (named.is_object() && named.value("name", nlohmann::json()) == "default" &&
        named.contains("template") && named["template"].is_string()) {
      return named["template"].get<std::string>();
    }
  }
  return std::nullopt;
}

/// Whether `bytes` may be read as elements of `dtype` where they are.
bool is_aligned(DType dtype, std::span<const std::byte> bytes) {
  const uintptr_t step = is_packed(dtype) ? 1 : dtype_info(dtype).block_bytes;
  return reinterpret_cast<uintptr_t>(bytes.data()) % step == 0;
}

}  // namespace

struct Checkpoint::Impl {
  Source source = Source::Gguf;
  Layout layout;
  std::string path;
  std::string folder;
  std::shared_ptr<const GgufFile> gguf;
  std::shared_ptr<const SafetensorsFile> safetensors;
  std::unique_ptr<HfConfig> config;
  std::vector<CheckpointTensor> tensors;
  std::unordered_map<std::string, size_t> index;
  /// Tensors whose type this build lacks, and the type's name.
  std::unordered_map<std::string, std::string> unknown;
  std::vector<std::unique_ptr<std::byte[]>> copies;
  std::optional<std::string> chat_template;

  void add(CheckpointTensor tensor) {
    if (!index.emplace(tensor.name, tensors.size()).second) {
      fail(ErrorCode::InvalidFile, "{}: two tensors mean {}", path, quote(tensor.name));
    }
    if (!is_aligned(tensor.dtype, tensor.bytes)) tensor.bytes = keep_copy(tensor.bytes);
    tensors.push_back(std::move(tensor));
  }

  std::span<const std::byte> keep_copy(std::span<const std::byte> bytes) {
    copies.push_back(std::make_unique<std::byte[]>(bytes.size()));
    std::memcpy(copies.back().get(), bytes.data(), bytes.size());
    return {copies.back().get(), bytes.size()};
  }

  void open_gguf() {
    gguf = GgufFile::open(path);
    for (const GgufTensor& tensor : gguf->tensors()) {
      if (tensor.dtype) {
        add({std::string(tensor.name), *tensor.dtype, tensor.shape(), tensor.bytes});
      } else {
        unknown.emplace(tensor.name, tensor.type_text());
      }
    }
    layout.separate_experts = index.contains("blk.0.ffn_gate.0.weight");
  }

  void open_folder(const std::string& weights) {
    source = Source::HuggingFace;
    config = std::make_unique<HfConfig>(folder + "/config.json");
    read_hf_config(folder, *config);
    layout = config->layout;
    safetensors = SafetensorsFile::open(weights);
    for (const SafetensorsTensor& tensor : safetensors->tensors()) {
      std::string name = gguf_tensor_name(tensor.name, config->architecture);
      if (name.empty() || (config->tied_embeddings && name == "output.weight")) continue;
      if (tensor.dtype) {
        add({std::move(name), *tensor.dtype, tensor.shape, tensor.bytes});
      } else {
        unknown.emplace(std::move(name), tensor.type_name);
      }
    }
    for (const HfConfig::Vector& vector : config->vectors) {
      add({vector.name,
           DType::F32,
           {static_cast<int64_t>(vector.values.size())},
           std::as_bytes(std::span(vector.values))});
    }
    chat_template = read_chat_template(folder);
  }
};

std::shared_ptr<const Checkpoint> Checkpoint::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  if (is_folder(path)) {
    if (!file_exists(path + "/config.json")) {
      fail(ErrorCode::InvalidFile,
           "'{}' is a folder without config.json; a GGUF file or a Hugging Face folder is needed",
           path);
    }
    impl->folder = path;
    impl->open_folder(path);
  } else if (path.ends_with(".safetensors")) {
    impl->folder = folder_of(path);
    if (file_exists(path) && !file_exists(impl->folder + "/config.json")) {
      fail(ErrorCode::NotFound, "{}: there is no '{}/config.json' beside it", path, impl->folder);
    }
    if (!file_exists(path)) MappedFile::open(path);  // for the system's own error text
    impl->open_folder(path);
  } else {
    impl->open_gguf();
  }
  return std::make_shared<const Checkpoint>(std::move(impl));
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::~Checkpoint() = default;

Checkpoint::Source Checkpoint::source() const { return impl_->source; }
const Layout& Checkpoint::layout() const { return impl_->layout; }
const std::string& Checkpoint::path() const { return impl_->path; }
const std::string& Checkpoint::folder() const { return impl_->folder; }

std::string_view Checkpoint::architecture() const { return str("general.architecture"); }

std::string Checkpoint::key(std::string_view name) const {
  return fmt::format("{}.{}", architecture(), name);
}

const Metadata& Checkpoint::metadata() const {
  return impl_->gguf ? impl_->gguf->metadata() : impl_->config->metadata;
}

bool Checkpoint::has_tensor(std::string_view name) const {
  const std::string whole(name);
  return impl_->index.contains(whole) || impl_->unknown.contains(whole);
}

const CheckpointTensor* Checkpoint::find_tensor(std::string_view name) const {
  const std::string whole(name);
  const auto found = impl_->index.find(whole);
  if (found != impl_->index.end()) return &impl_->tensors[found->second];
  const auto unknown = impl_->unknown.find(whole);
  if (unknown == impl_->unknown.end()) return nullptr;
  fail(ErrorCode::Unsupported, "{}: tensor {} has {}, which this build cannot read", impl_->path,
       quote(name), unknown->second);
}

const CheckpointTensor& Checkpoint::tensor(std::string_view name) const {
  if (const CheckpointTensor* found = find_tensor(name)) return *found;
  fail(ErrorCode::NotFound, "{}: tensor {} is missing", impl_->path, quote(name));
}

std::span<const CheckpointTensor> Checkpoint::tensors() const { return impl_->tensors; }

std::optional<std::string_view> Checkpoint::chat_template() const {
  if (impl_->gguf) return metadata().find_string("tokenizer.chat_template");
  if (!impl_->chat_template) return std::nullopt;
  return std::string_view(*impl_->chat_template);
}

}  // namespace rlx

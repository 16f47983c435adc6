// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/info.h"

namespace rlx::cli {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t longest_array = 16;  ///< longer ones are cut to half of it

ordered_json value_json(const MetaValue& value) {
  if (const auto number = value.to_u64()) return *number;
  if (const auto number = value.to_i64()) return *number;
  if (const auto number = value.to_f64()) return *number;
  if (const auto flag = value.to_bool()) return *flag;
  if (const auto text = value.to_string()) return std::string(*text);
  const auto array = value.to_array();
  const uint64_t shown = array->size() <= longest_array ? array->size() : longest_array / 2;
  ordered_json elements = ordered_json::array();
  auto element = array->begin();
  for (uint64_t i = 0; i < shown; ++i, ++element) elements.push_back(value_json(*element));
  return elements;
}

ordered_json entry_json(const MetaValue& value) {
  ordered_json entry = {{"type", meta_type_name(value.type())}};
  const auto array = value.to_array();
  if (!array) {
    entry["value"] = value_json(value);
    return entry;
  }
  entry["element_type"] = meta_type_name(array->element_type());
  entry["size"] = array->size();
  entry[array->size() <= longest_array ? "value" : "first"] = value_json(value);
  return entry;
}

ordered_json optional_id(const std::optional<uint32_t>& id) {
  return id ? ordered_json(*id) : ordered_json();
}

ordered_json tokenizer_json(const ModelInfo& info) {
  if (!info.vocabulary_error.empty()) return {{"error", info.vocabulary_error}};
  if (!info.vocabulary) return nullptr;
  const text::Vocabulary& vocabulary = *info.vocabulary;
  return {{"model", tokenizer_name(vocabulary.model)}, {"pre", vocabulary.pre},
          {"tokens", vocabulary.tokens.size()},        {"merges", vocabulary.merges.size()},
          {"bos", optional_id(vocabulary.bos)},        {"eos", optional_id(vocabulary.eos)},
          {"unknown", optional_id(vocabulary.unk)},    {"padding", optional_id(vocabulary.pad)},
          {"chat_template", info.has_chat_template}};
}

ordered_json tensors_json(const ModelInfo& info) {
  ordered_json tensors = ordered_json::array();
  for (const auto& tensor : info.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"type", tensor.type},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes ? ordered_json(*tensor.bytes) : ordered_json()},
                       {"offset", tensor.offset},
                       {"file", tensor.file}});
  }
  return tensors;
}

}  // namespace

std::string info_json(const ModelInfo& info) {
  ordered_json document = {{"file", info.path}, {"format", info.format}};
  if (info.version) document["version"] = *info.version;
  if (info.alignment) document["alignment"] = *info.alignment;
  document["files"] = ordered_json::array();
  for (const auto& file : info.files) {
    document["files"].push_back({{"path", file.path}, {"bytes", file.bytes}});
  }
  document["architecture"] =
      info.architecture.empty() ? ordered_json() : ordered_json(info.architecture);
  document["supported"] = info.is_supported;
  document["reason"] = info.reason.empty() ? ordered_json() : ordered_json(info.reason);
  document["parameters"] = info.parameters;
  document["tokenizer"] = tokenizer_json(info);
  document["types"] = ordered_json::array();
  for (const auto& type : info.types) {
    document["types"].push_back({{"type", type.name},
                                 {"tensors", type.tensors},
                                 {"elements", type.elements},
                                 {"bytes", type.bytes}});
  }
  document["metadata"] = ordered_json::object();
  if (info.metadata() != nullptr) {
    for (const auto& entry : info.metadata()->entries()) {
      document["metadata"].push_back({std::string(entry.key), entry_json(entry.value)});
    }
  } else {
    for (const auto& [key, value] : info.safetensors->metadata()) {
      document["metadata"].push_back({key, {{"type", "string"}, {"value", value}}});
    }
  }
  document["tensors"] = tensors_json(info);
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rlx::cli

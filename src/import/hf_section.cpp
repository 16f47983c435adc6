// SPDX-License-Identifier: Apache-2.0
#include "import/hf_section.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rlx {

const nlohmann::json* Section::find(const char* key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<double> Section::find_real(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse(key, *value, "a number");
  return value->get<double>();
}

std::optional<uint64_t> Section::find_count(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() <= std::numeric_limits<uint32_t>::max()) {
    return value->get<uint64_t>();
  }
  refuse(key, *value, "an integer from 0 to 2^32 - 1");
}

std::optional<bool> Section::find_flag(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(key, *value, "true or false");
  return value->get<bool>();
}

std::optional<std::string> Section::find_text(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(key, *value, "text");
  return value->get<std::string>();
}

std::vector<float> Section::reals(const char* key, uint64_t count) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) missing(key);
  if (!value->is_array() || value->size() != count) {
    refuse(key, *value, fmt::format("an array of {} numbers", count));
  }
  std::vector<float> numbers;
  for (const nlohmann::json& element : *value) {
    if (!element.is_number()) refuse(key, element, "numbers only");
    numbers.push_back(element.get<float>());
  }
  return numbers;
}

double Section::real(const char* key) const {
  if (const auto value = find_real(key)) return *value;
  missing(key);
}

std::optional<Section> Section::find_section(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse(key, *value, "an object");
  return Section(*value, place_ + ": " + key);
}

void Section::missing(const char* key) const {
  fail(ErrorCode::NotFound, "{}: key '{}' is missing", place_, key);
}

void Section::refuse(const char* key, const nlohmann::json& found, std::string_view wanted) const {
  const std::string shown = found.is_structured()
                                ? fmt::format("{} of {}", found.type_name(), found.size())
                                : printable(found.dump(-1, ' ', true), 80);
  fail(ErrorCode::InvalidFile, "{}: key '{}' is {}; wanted {}", place_, key, shown, wanted);
}

void KeyWriter::count(std::string_view name, uint64_t value) {
  put(full(name), MetaType::U64, &value, 8);
}

void KeyWriter::real(std::string_view name, double value) {
  put(full(name), MetaType::F64, &value, 8);
}

void KeyWriter::flag(std::string_view name, bool value) {
  put(full(name), MetaType::Bool, &value, 1);
}

void KeyWriter::text(std::string_view name, std::string_view value) {
  whole_text(full(name), value);
}

void KeyWriter::whole_text(std::string key, std::string_view value) {
  const uint64_t size = value.size();
  std::string bytes(reinterpret_cast<const char*>(&size), 8);
  bytes += value;
  put(std::move(key), MetaType::String, bytes.data(), bytes.size());
}

void KeyWriter::renamed(const Section& from, std::span<const Rename> names) {
  for (const Rename& row : names) {
    if (row.kind == Kind::Count) {
      if (const auto value = from.find_count(row.config)) {
        count(row.gguf, *value);
        continue;
      }
    } else if (const auto value = from.find_real(row.config)) {
      real(row.gguf, *value);
      continue;
    }
    if (row.need == Need::Must) from.missing(row.config);
  }
}

std::string KeyWriter::full(std::string_view name) const {
  return fmt::format("{}.{}", config_.architecture, name);
}

void KeyWriter::put(std::string key, MetaType type, const void* bytes, size_t size) {
  const std::string& kept_key = config_.storage.emplace_back(std::move(key));
  const std::string& kept = config_.storage.emplace_back(static_cast<const char*>(bytes), size);
  config_.metadata.add(kept_key, MetaValue(type, reinterpret_cast<const std::byte*>(kept.data())));
}

}  // namespace rlx

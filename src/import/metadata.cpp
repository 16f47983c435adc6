// SPDX-License-Identifier: Apache-2.0
#include "import/metadata.h"

#include <array>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace rlx {
namespace {

template <typename T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// Bytes a whole, checked value takes.
size_t value_bytes(MetaType type, const std::byte* data) {
  if (type == MetaType::String) return 8 + load<uint64_t>(data);
  if (type != MetaType::Array) return meta_type_bytes(type);
  const auto element = static_cast<MetaType>(load<uint32_t>(data));
  const uint64_t count = load<uint64_t>(data + 4);
  const size_t element_bytes = meta_type_bytes(element);
  if (element_bytes > 0) return 12 + count * element_bytes;
  size_t at = 12;
  for (uint64_t i = 0; i < count; ++i) at += value_bytes(element, data + at);
  return at;
}

/// The integer as a sign and a magnitude, which holds every one of them.
struct Integer {
  bool negative;
  uint64_t magnitude;
};

template <typename T>
Integer widen(const std::byte* data) {
  const T value = load<T>(data);
  if (value < 0) return {true, ~static_cast<uint64_t>(static_cast<int64_t>(value)) + 1};
  return {false, static_cast<uint64_t>(value)};
}

std::optional<Integer> load_integer(MetaType type, const std::byte* data) {
  switch (type) {
    case MetaType::U8: return widen<uint8_t>(data);
    case MetaType::I8: return widen<int8_t>(data);
    case MetaType::U16: return widen<uint16_t>(data);
    case MetaType::I16: return widen<int16_t>(data);
    case MetaType::U32: return widen<uint32_t>(data);
    case MetaType::I32: return widen<int32_t>(data);
    case MetaType::U64: return widen<uint64_t>(data);
    case MetaType::I64: return widen<int64_t>(data);
    case MetaType::F32:
    case MetaType::Bool:
    case MetaType::String:
    case MetaType::Array:
    case MetaType::F64: return std::nullopt;
  }
  return std::nullopt;
}

/// What a look-up wants, for messages.
template <typename T>
constexpr std::string_view wanted_text = "";
template <>
constexpr std::string_view wanted_text<uint64_t> = "an integer from 0 to 2^64 - 1";
template <>
constexpr std::string_view wanted_text<int64_t> = "an integer from -2^63 to 2^63 - 1";
template <>
constexpr std::string_view wanted_text<double> = "f32 or f64";
template <>
constexpr std::string_view wanted_text<bool> = "bool";
template <>
constexpr std::string_view wanted_text<std::string_view> = "string";
template <>
constexpr std::string_view wanted_text<MetaArray> = "array";

template <typename T>
std::optional<T> convert(const MetaValue& value);
template <>
std::optional<uint64_t> convert(const MetaValue& value) {
  return value.to_u64();
}
template <>
std::optional<int64_t> convert(const MetaValue& value) {
  return value.to_i64();
}
template <>
std::optional<double> convert(const MetaValue& value) {
  return value.to_f64();
}
template <>
std::optional<bool> convert(const MetaValue& value) {
  return value.to_bool();
}
template <>
std::optional<std::string_view> convert(const MetaValue& value) {
  return value.to_string();
}
template <>
std::optional<MetaArray> convert(const MetaValue& value) {
  return value.to_array();
}

/// ": -1" behind the type of a value that is short enough to show.
std::string shown(const MetaValue& value) {
  if (const auto number = value.to_i64()) return fmt::format(" ({})", *number);
  if (const auto number = value.to_u64()) return fmt::format(" ({})", *number);
  if (const auto number = value.to_f64()) return fmt::format(" ({})", *number);
  if (const auto text = value.to_string()) return fmt::format(" ({})", quote(*text));
  return "";
}

template <typename T>
T typed(const Metadata& metadata, std::string_view key, const MetaValue& value) {
  if (const auto found = convert<T>(value)) return *found;
  fail(ErrorCode::InvalidFile, "{}: key {} is {}{}; wanted {}", metadata.source(), quote(key),
       value.type_text(), shown(value), wanted_text<T>);
}

template <typename T>
std::optional<T> find_typed(const Metadata& metadata, std::string_view key) {
  const MetaValue* value = metadata.find(key);
  if (value == nullptr) return std::nullopt;
  return typed<T>(metadata, key, *value);
}

template <typename T>
std::vector<T> typed_array(const Metadata& metadata, std::string_view key) {
  const MetaArray array = metadata.array(key);
  std::vector<T> elements;
  elements.reserve(array.size());
  for (const MetaValue element : array) {
    const auto found = convert<T>(element);
    if (!found) {
      fail(ErrorCode::InvalidFile, "{}: element {} of key {} is {}{}; wanted {}", metadata.source(),
           elements.size(), quote(key), element.type_text(), shown(element), wanted_text<T>);
    }
    elements.push_back(*found);
  }
  return elements;
}

}  // namespace

std::string_view meta_type_name(MetaType type) {
  constexpr std::array<std::string_view, 13> names = {
      "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64",
  };
  return names[static_cast<size_t>(type)];
}

size_t meta_type_bytes(MetaType type) {
  constexpr std::array<size_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[static_cast<size_t>(type)];
}

std::string MetaValue::type_text() const {
  const auto array = to_array();
  if (!array) return std::string(meta_type_name(type_));
  return fmt::format("array of {} {}", array->size(), meta_type_name(array->element_type()));
}

std::optional<uint64_t> MetaValue::to_u64() const {
  const auto integer = load_integer(type_, data_);
  if (!integer || integer->negative) return std::nullopt;
  return integer->magnitude;
}

std::optional<int64_t> MetaValue::to_i64() const {
  const auto integer = load_integer(type_, data_);
  if (!integer) return std::nullopt;
  if (integer->negative) return static_cast<int64_t>(~integer->magnitude + 1);
  if (integer->magnitude > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  return static_cast<int64_t>(integer->magnitude);
}

std::optional<double> MetaValue::to_f64() const {
  if (type_ == MetaType::F32) return load<float>(data_);
  if (type_ == MetaType::F64) return load<double>(data_);
  return std::nullopt;
}

std::optional<bool> MetaValue::to_bool() const {
  if (type_ != MetaType::Bool) return std::nullopt;
  return load<uint8_t>(data_) != 0;
}

std::optional<std::string_view> MetaValue::to_string() const {
  if (type_ != MetaType::String) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(data_ + 8), load<uint64_t>(data_));
}

std::optional<MetaArray> MetaValue::to_array() const {
  if (type_ != MetaType::Array) return std::nullopt;
  return MetaArray(static_cast<MetaType>(load<uint32_t>(data_)), load<uint64_t>(data_ + 4),
                   data_ + 12);
}

MetaArray::Iterator& MetaArray::Iterator::operator++() {
  at_ += value_bytes(element_, at_);
  ++index_;
  return *this;
}

bool Metadata::add(std::string_view key, MetaValue value) {
  if (!index_.emplace(key, entries_.size()).second) return false;
  entries_.push_back({key, value});
  return true;
}

const MetaValue* Metadata::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].value;
}

const MetaValue& Metadata::get(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr) {
    fail(ErrorCode::NotFound, "{}: key {} is missing", source_, quote(key));
  }
  return *value;
}

uint64_t Metadata::u64(std::string_view key) const { return typed<uint64_t>(*this, key, get(key)); }
int64_t Metadata::i64(std::string_view key) const { return typed<int64_t>(*this, key, get(key)); }
double Metadata::f64(std::string_view key) const { return typed<double>(*this, key, get(key)); }
bool Metadata::boolean(std::string_view key) const { return typed<bool>(*this, key, get(key)); }
std::string_view Metadata::string(std::string_view key) const {
  return typed<std::string_view>(*this, key, get(key));
}
MetaArray Metadata::array(std::string_view key) const {
  return typed<MetaArray>(*this, key, get(key));
}

std::optional<uint64_t> Metadata::find_u64(std::string_view key) const {
  return find_typed<uint64_t>(*this, key);
}
std::optional<int64_t> Metadata::find_i64(std::string_view key) const {
  return find_typed<int64_t>(*this, key);
}
std::optional<bool> Metadata::find_boolean(std::string_view key) const {
  return find_typed<bool>(*this, key);
}
std::optional<std::string_view> Metadata::find_string(std::string_view key) const {
  return find_typed<std::string_view>(*this, key);
}

std::vector<uint64_t> Metadata::u64_array(std::string_view key) const {
  return typed_array<uint64_t>(*this, key);
}
std::vector<int64_t> Metadata::i64_array(std::string_view key) const {
  return typed_array<int64_t>(*this, key);
}
std::vector<double> Metadata::f64_array(std::string_view key) const {
  return typed_array<double>(*this, key);
}
std::vector<std::string_view> Metadata::string_array(std::string_view key) const {
  return typed_array<std::string_view>(*this, key);
}

std::vector<uint64_t> Metadata::u64_per_layer(std::string_view key, size_t count) const {
  if (get(key).type() != MetaType::Array) return std::vector<uint64_t>(count, u64(key));
  std::vector<uint64_t> numbers = u64_array(key);
  if (numbers.size() != count) {
    fail(ErrorCode::InvalidFile, "{}: key {} has {} elements; wanted one for each of {} layers",
         source_, quote(key), numbers.size(), count);
  }
  return numbers;
}

}  // namespace rlx

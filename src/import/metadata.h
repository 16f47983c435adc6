// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/utf8.h"

namespace rlx {

/// Types of metadata values; the numbers are those of the GGUF format.
enum class MetaType : uint32_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  F32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  U64 = 10,
  I64 = 11,
  F64 = 12,
};

/// "u8", "string", …; total over the enumerators.
std::string_view meta_type_name(MetaType type);
/// Bytes of a scalar in a file; 0 for String and Array, whose size is their own.
size_t meta_type_bytes(MetaType type);

class MetaArray;

/// A view of one value as the file spells it (little-endian, lengths in front). It lives as long as
/// the bytes it views; whoever makes one has checked that they are whole.
class MetaValue {
 public:
  MetaValue(MetaType type, const std::byte* data) : type_(type), data_(data) {}
  MetaType type() const { return type_; }
  /// "u32" or, for an array, "array of 3 f32".
  std::string type_text() const;

  /// The value, where it is of that kind and fits: integers from any integer type, floats from f32
  /// and f64, the others from their own type only.
  std::optional<uint64_t> to_u64() const;
  std::optional<int64_t> to_i64() const;
  std::optional<double> to_f64() const;
  std::optional<bool> to_bool() const;
  std::optional<std::string_view> to_string() const;
  std::optional<MetaArray> to_array() const;

 private:
  MetaType type_;
  const std::byte* data_;
};

/// A view of an array value. Elements are read in order, nothing is copied.
class MetaArray {
 public:
  MetaArray(MetaType element, uint64_t size, const std::byte* data)
      : element_(element), size_(size), data_(data) {}
  MetaType element_type() const { return element_; }
  uint64_t size() const { return size_; }

  /// Walks the elements from the first to the last.
  class Iterator {
   public:
    Iterator(MetaType element, uint64_t index, const std::byte* at)
        : element_(element), index_(index), at_(at) {}
    MetaValue operator*() const { return {element_, at_}; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    MetaType element_;
    uint64_t index_;
    const std::byte* at_;
  };
  Iterator begin() const { return {element_, 0, data_}; }
  Iterator end() const { return {element_, size_, nullptr}; }

 private:
  MetaType element_;
  uint64_t size_;
  const std::byte* data_;
};

/// Key-value pairs of a model file, in file order. Look-ups throw Error naming the source, the key,
/// its type and the wanted one: NotFound where the key is missing, InvalidFile for a wrong type.
class Metadata {
 public:
  /// `source` starts every error text; usually the path.
  explicit Metadata(std::string source) : source_(std::move(source)) {}

  struct Entry {
    std::string_view key;  ///< views the bytes that hold the value
    MetaValue value;
  };
  std::span<const Entry> entries() const { return entries_; }
  const std::string& source() const { return source_; }
  /// False, and nothing added, where the key is there already.
  bool add(std::string_view key, MetaValue value);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The value, or null.
  const MetaValue* find(std::string_view key) const;
  /// The value; NotFound.
  const MetaValue& get(std::string_view key) const;

  uint64_t u64(std::string_view key) const;
  int64_t i64(std::string_view key) const;
  double f64(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::string_view string(std::string_view key) const;
  MetaArray array(std::string_view key) const;

  /// As above, nullopt instead of NotFound; a wrong type is still an error.
  std::optional<uint64_t> find_u64(std::string_view key) const;
  std::optional<int64_t> find_i64(std::string_view key) const;
  std::optional<bool> find_boolean(std::string_view key) const;
  std::optional<std::string_view> find_string(std::string_view key) const;

  /// Arrays copied out, every element converted.
  std::vector<uint64_t> u64_array(std::string_view key) const;
  std::vector<int64_t> i64_array(std::string_view key) const;
  std::vector<double> f64_array(std::string_view key) const;
  std::vector<std::string_view> string_array(std::string_view key) const;
  /// `count` numbers: the array's own (its size must be `count`), or a scalar repeated.
  std::vector<uint64_t> u64_per_layer(std::string_view key, size_t count) const;

 private:
  std::string source_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, size_t> index_;
};

}  // namespace rlx

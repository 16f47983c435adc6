// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rlx::test {

/// Appends `value` as its little-endian bytes.
template <typename T>
void put(std::string& out, T value) {
  static_assert(std::is_arithmetic_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// Appends a GGUF string: u64 length, bytes.
inline void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<uint64_t>(text.size()));
  out += text;
}

/// The number GGUF gives to the type of a metadata value.
template <typename T>
constexpr uint32_t gguf_type_of() {
  if constexpr (std::is_same_v<T, uint8_t>) return 0;
  if constexpr (std::is_same_v<T, int8_t>) return 1;
  if constexpr (std::is_same_v<T, uint16_t>) return 2;
  if constexpr (std::is_same_v<T, int16_t>) return 3;
  if constexpr (std::is_same_v<T, uint32_t>) return 4;
  if constexpr (std::is_same_v<T, int32_t>) return 5;
  if constexpr (std::is_same_v<T, float>) return 6;
  if constexpr (std::is_same_v<T, bool>) return 7;
  if constexpr (std::is_convertible_v<T, std::string_view>) return 8;
  if constexpr (std::is_same_v<T, uint64_t>) return 10;
  if constexpr (std::is_same_v<T, int64_t>) return 11;
  if constexpr (std::is_same_v<T, double>) return 12;
  return ~0u;
}

/// Makes GGUF files, right ones and (through the public fields) wrong ones.
///
///     GgufWriter w("llama");
///     w.add("llama.block_count", uint32_t{2});
///     w.add_array("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
///     w.add_tensor_f32("w", {4, 2}, values);              // row-major: 4 rows of 2
///     w.write(path);
class GgufWriter {
 public:
  /// Without an architecture nothing is added.
  explicit GgufWriter(std::string_view architecture = {}) {
    if (!architecture.empty()) add("general.architecture", architecture);
  }

  /// Adds a key; integers keep their width, text is a string.
  template <typename T>
  void add(std::string_view key, const T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      std::string bytes;
      put_text(bytes, value);
      add_raw(key, 8, bytes);
    } else {
      static_assert(gguf_type_of<T>() <= 12, "GGUF has no such type");
      std::string bytes;
      put(bytes, value);
      add_raw(key, gguf_type_of<T>(), bytes);
    }
  }

  template <typename T>
  void add_array(std::string_view key, const std::vector<T>& values) {
    std::string bytes;
    put(bytes, gguf_type_of<T>());
    put(bytes, static_cast<uint64_t>(values.size()));
    for (const auto& value : values) {
      if constexpr (std::is_convertible_v<T, std::string_view>) {
        put_text(bytes, value);
      } else {
        put(bytes, static_cast<T>(value));
      }
    }
    add_raw(key, 9, bytes);
  }

  /// Adds a key with any type number and value bytes.
  void add_raw(std::string_view key, uint32_t type, std::string_view value) {
    put_text(metadata, key);
    put(metadata, type);
    metadata += value;
    ++key_count;
  }

  struct Tensor {
    std::string name;
    std::vector<uint64_t> dims;  ///< ggml order: fastest first
    uint32_t type;
    std::string bytes;
  };

  /// Adds a tensor of a ggml type number; `shape` is row-major.
  void add_tensor(std::string name, const std::vector<uint64_t>& shape, uint32_t type,
                  std::string bytes) {
    tensors.push_back({std::move(name), {shape.rbegin(), shape.rend()}, type, std::move(bytes)});
  }

  void add_tensor_f32(std::string name, const std::vector<uint64_t>& shape,
                      std::span<const float> values) {
    const auto* data = reinterpret_cast<const char*>(values.data());
    add_tensor(std::move(name), shape, 0, std::string(data, values.size_bytes()));
  }

  /// The whole file.
  std::string bytes() const {
    std::string infos, data;
    for (const Tensor& tensor : tensors) {
      put_text(infos, tensor.name);
      put(infos, static_cast<uint32_t>(tensor.dims.size()));
      for (const uint64_t dim : tensor.dims) put(infos, dim);
      put(infos, tensor.type);
      put(infos, static_cast<uint64_t>(data.size()));
      data += tensor.bytes;
      pad(data);
    }
    std::string out = "GGUF";
    put(out, version);
    put(out, static_cast<uint64_t>(tensors.size()));
    put(out, key_count);
    out += metadata + infos;
    pad(out);
    return out + data;
  }

  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file << bytes();
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
  }

  uint32_t version = 3;
  uint64_t alignment = 32;  ///< of the layout; add general.alignment as a key too
  uint64_t key_count = 0;
  std::string metadata;  ///< encoded pairs
  std::vector<Tensor> tensors;

 private:
  void pad(std::string& text) const {
    text.append((alignment - text.size() % alignment) % alignment, '\0');
  }
};

}  // namespace rlx::test

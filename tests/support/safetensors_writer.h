// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::test {

/// A safetensors file of any header text and data: u64 length, header, data.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  const uint64_t size = header.size();
  std::string out(reinterpret_cast<const char*>(&size), 8);
  out += header;
  out += data;
  return out;
}

/// Makes safetensors files with tensors one behind the other.
class SafetensorsWriter {
 public:
  void add(std::string_view name, std::string_view type, const std::vector<uint64_t>& shape,
           std::string_view bytes) {
    std::string dims;
    for (const uint64_t dim : shape) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    entries_ += entries_.empty() ? "" : ",";
    entries_ += "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(type) +
                "\",\"shape\":[" + dims + "],\"data_offsets\":[" + std::to_string(data_.size()) +
                "," + std::to_string(data_.size() + bytes.size()) + "]}";
    data_ += bytes;
  }

  /// Adds an F32 tensor of zeros.
  void add_zeros(std::string_view name, const std::vector<uint64_t>& shape) {
    uint64_t elements = 1;
    for (const uint64_t dim : shape) elements *= dim;
    add(name, "F32", shape, std::string(elements * 4, '\0'));
  }

  /// The whole file, its header padded so that the data is aligned to 8 bytes.
  std::string bytes() const {
    std::string header = "{" + entries_ + "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    return safetensors_bytes(header, data_);
  }

 private:
  std::string entries_, data_;
};

}  // namespace rlx::test

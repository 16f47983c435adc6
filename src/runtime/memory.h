// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace rlx {

/// Zeroed pages of this process alone; physical memory is taken at the first touch of each page.
class Pages {
 public:
  Pages() = default;
  /// Error Io when the system refuses; 0 bytes is an empty block.
  explicit Pages(int64_t bytes);
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace rlx {

/// A whole file mapped read-only and shared. The bytes live as long as any copy of the pointer
/// does.
class MappedFile {
 public:
  /// Maps `path`. Throws Error (NotFound, Io, InvalidFile for a folder or other non-regular file)
  /// naming the path. An empty file gives an empty span.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const std::byte* data_;
  size_t size_;
};

/// The whole of a (small) file as a string; Error as MappedFile::open, and LimitExceeded over
/// `max_bytes`.
std::string read_text_file(const std::string& path, size_t max_bytes = size_t{1} << 30);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace rlx {
namespace {

/// A file descriptor that closes itself.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a pipe without a writer is refused below instead of waited for.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    fail(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io, "cannot open '{}': {}", path,
         std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) {
    fail(ErrorCode::Io, "cannot read '{}': {}", path, std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) fail(ErrorCode::InvalidFile, "'{}' is a folder, not a file", path);
  if (!S_ISREG(info.st_mode)) fail(ErrorCode::InvalidFile, "'{}' is not a regular file", path);
  const size_t size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd, 0);
    if (data == MAP_FAILED) {
      fail(ErrorCode::Io, "cannot map '{}' ({} bytes): {}", path, size, std::strerror(errno));
    }
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::string read_text_file(const std::string& path, size_t max_bytes) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  if (bytes.size() > max_bytes) {
    fail(ErrorCode::LimitExceeded, "'{}' has {} bytes; at most {} are read", path, bytes.size(),
         max_bytes);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "import/paths.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <charconv>

namespace rlx {
namespace {

constexpr size_t digits = 5;

std::optional<uint32_t> parse_digits(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string ShardName::path(uint32_t n, std::string_view suffix) const {
  return fmt::format("{}-{:05}-of-{:05}{}", prefix, n, count, suffix);
}

std::optional<ShardName> parse_shard_name(std::string_view path, std::string_view suffix) {
  constexpr std::string_view middle = "-of-";
  constexpr size_t tail = 1 + digits + middle.size() + digits;
  if (!path.ends_with(suffix)) return std::nullopt;
  path.remove_suffix(suffix.size());
  if (path.size() < tail) return std::nullopt;
  const std::string_view numbers = path.substr(path.size() - tail);
  if (numbers[0] != '-' || numbers.substr(1 + digits, middle.size()) != middle) {
    return std::nullopt;
  }
  const auto number = parse_digits(numbers.substr(1, digits));
  const auto count = parse_digits(numbers.substr(tail - digits));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return ShardName{std::string(path.substr(0, path.size() - tail)), *number, *count};
}

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace rlx

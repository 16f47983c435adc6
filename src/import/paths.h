// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rlx {

/// A path of the form "<prefix>-00002-of-00005<suffix>".
struct ShardName {
  std::string prefix;
  uint32_t number;  ///< from 1
  uint32_t count;

  /// The path of shard `n` of the set.
  std::string path(uint32_t n, std::string_view suffix) const;
};

/// Takes `path` apart, where it has that form with 1 <= number <= count.
std::optional<ShardName> parse_shard_name(std::string_view path, std::string_view suffix);

/// The last component of a path.
std::string_view file_name(std::string_view path);
/// All but the last component: "." where there is none.
std::string folder_of(std::string_view path);
bool is_folder(const std::string& path);
bool file_exists(const std::string& path);

}  // namespace rlx

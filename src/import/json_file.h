// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rlx {

/// The JSON document in a file of at most `max_bytes`; nesting over 100 levels is refused. Throws
/// Error naming the path.
nlohmann::json read_json_file(const std::string& path, size_t max_bytes = size_t{64} << 20);

}  // namespace rlx

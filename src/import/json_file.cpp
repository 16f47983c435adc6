// SPDX-License-Identifier: Apache-2.0
#include "import/json_file.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/mapped_file.h"

namespace rlx {

nlohmann::json read_json_file(const std::string& path, size_t max_bytes) {
  constexpr int deepest = 100;
  const std::string text = read_text_file(path, max_bytes);
  const auto watch_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > deepest) {
      fail(ErrorCode::LimitExceeded, "{}: JSON is nested deeper than {} levels", path, deepest);
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch_depth);
  } catch (const nlohmann::json::parse_error& error) {
    fail(ErrorCode::InvalidFile, "{}: not JSON at byte {}", path,
         error.byte > 0 ? error.byte - 1 : 0);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorCode::InvalidFile, "{}: a number in this JSON is out of range", path);
  }
}

}  // namespace rlx

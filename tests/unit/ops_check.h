// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rlx::test {

/// Where two lists of numbers first differ by more than tolerance * max(1, |expected|), in words;
/// empty when they agree. NaN agrees with NaN, an infinity with itself.
inline std::string difference(const std::vector<double>& found, const std::vector<double>& expected,
                              double tolerance) {
  if (found.size() != expected.size()) {
    return fmt::format("{} numbers found, {} expected", found.size(), expected.size());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const double f = found[i], e = expected[i];
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    if (std::abs(f - e) <= tolerance * std::max(1.0, std::abs(e)) && std::isfinite(e)) continue;
    return fmt::format("entry {}: found {}, expected {}", i, f, e);
  }
  return {};
}

/// The message of the Error that `f` throws, or "no error".
template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

}  // namespace rlx::test

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace rlx::text::jinja {

/// A character whose upper or title case has more than one character (the unconditional rows of the
/// Unicode Character Database's SpecialCasing.txt).
struct SpecialCase {
  uint32_t code_point;
  const char* upper;
  const char* title;
};

constexpr int special_case_count = 102;
/// By rising code point.
extern const std::array<SpecialCase, special_case_count> special_cases;

}  // namespace rlx::text::jinja

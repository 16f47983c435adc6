// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <string>
#include <string_view>

namespace rlx::text::jinja {

/// A time without a zone, as Python's naive datetime.
struct DateTime {
  std::tm fields{};
  int microsecond = 0;

  /// Reads ISO 8601 text: "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05.5".
  static DateTime parse(std::string_view text);
  /// The local time of the clock.
  static DateTime clock();
  /// strftime in the C locale, %f included.
  std::string format(std::string_view pattern) const;
  std::string iso(char separator, bool with_time) const;
};

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/jinja/interpreter.h"

namespace rlx::text::jinja {

/// Python's `pattern % values`. A markup pattern escapes what it takes in.
std::string format_percent(Interpreter& in, const Value& pattern, const Value& values);

/// Python's `pattern.format(...)`, with the sandbox's attribute rules.
std::string format_braces(Interpreter& in, const Value& pattern, const Arguments& args);

/// How one value is laid out: the shared core of both.
struct FormatSpec {
  std::string fill = " ";
  char align = 0;  ///< < > ^ = or 0 for the type's own
  char sign = '-';
  bool has_sign = false;
  bool alternate = false;
  char grouping = 0;  ///< , or _
  size_t width = 0;
  int precision = -1;
  char type = 0;
};

/// The digits of a finite or infinite float by type e, f, g, E, F, G or %, without its sign.
std::string float_digits(double magnitude, const FormatSpec& spec);
/// `digits` with separators between groups, up to its first non-digit.
std::string group_digits(const std::string& digits, char separator, size_t every);
/// Pads `body` (with `sign` before it) to the width of `spec`.
std::string pad(const std::string& sign, const std::string& body, const FormatSpec& spec,
                char default_align);

}  // namespace rlx::text::jinja

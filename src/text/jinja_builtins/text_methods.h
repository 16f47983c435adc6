// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/jinja/interpreter.h"

namespace rlx::text::jinja {

/// Python's text.split(): at runs of white space, at most `limit` times (-1: always).
std::vector<std::string_view> split_space(std::string_view text, int64_t limit);
/// text.split(separator, limit); `separator` is not empty.
std::vector<std::string_view> split_text(std::string_view text, std::string_view separator,
                                         int64_t limit);
std::vector<std::string_view> rsplit_space(std::string_view text, int64_t limit);
std::vector<std::string_view> rsplit_text(std::string_view text, std::string_view separator,
                                          int64_t limit);
/// text.splitlines(): at every line end Unicode knows.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);
/// text.replace(from, to, limit); limits of the interpreter hold.
std::string replace_text(Interpreter& in, std::string_view text, std::string_view from,
                         std::string_view to, int64_t limit);
/// separator.join(items), each an already made text.
std::string join_texts(Interpreter& in, std::string_view separator,
                       const std::vector<std::string>& items);

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::text::jinja {

/// `line` broken into lines of at most `width` characters, as Python's textwrap.wrap does without
/// replacing white space: breaks at white space and (on request) behind hyphens inside words.
std::vector<std::string> wrap_words(std::string_view line, size_t width, bool break_long_words,
                                    bool break_on_hyphens);

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rlx::text::jinja {

/// `text` with & < > ' and " as character references.
std::string escape_html(std::string_view text);
/// `text` without comments and tags, runs of white space made single spaces, references resolved.
std::string strip_tags(std::string_view text);
/// `text` with numeric and the common named character references resolved.
std::string unescape_html(std::string_view text);

}  // namespace rlx::text::jinja

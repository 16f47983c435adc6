// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "text/jinja/ast.h"

namespace rlx::text::jinja {

/// The built-in filter or test of that name, or null.
FilterFunction find_filter(std::string_view name);
TestFunction find_test(std::string_view name);

struct NamedFilter {
  std::string_view name;
  FilterFunction function;
};

/// Parts of the filter table.
std::span<const NamedFilter> text_filters();
std::span<const NamedFilter> number_filters();
std::span<const NamedFilter> sequence_filters();
std::span<const NamedFilter> selection_filters();

}  // namespace rlx::text::jinja

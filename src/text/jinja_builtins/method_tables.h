// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "text/jinja/objects.h"

namespace rlx::text::jinja {

struct NamedMethod {
  std::string_view name;
  MethodFunction function;
};

std::span<const NamedMethod> text_methods();
/// Those that only markup has.
std::span<const NamedMethod> markup_methods();

}  // namespace rlx::text::jinja

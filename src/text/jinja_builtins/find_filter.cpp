// SPDX-License-Identifier: Apache-2.0
// The look-up of filters.
#include "text/jinja_builtins/filters.h"

namespace rlx::text::jinja {

FilterFunction find_filter(std::string_view name) {
  for (const auto part :
       {text_filters(), number_filters(), sequence_filters(), selection_filters()})
    for (const NamedFilter& f : part)
      if (f.name == name) return f.function;
  return nullptr;
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace rlx {

/// Reads the IR's text form (ir/print.h writes it). Result types may be left out where the op
/// infers them and are checked where given; `#` starts a comment. Weights come without bytes.
/// Errors name line and column, what was found and what was expected.
Graph parse_graph(std::string_view text);

}  // namespace rlx

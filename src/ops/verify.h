// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rlx {

/// Checks the whole graph: use lists agree with operands, every operand is defined before its use,
/// attributes are those of the op's record, and every result type equals what inference says.
/// Throws an Error naming the node. Cheap enough to run after every pass in release builds.
void verify(const Graph& graph);

/// Names, types and order of inputs, weights, states and outputs: what no pass may change.
struct Signature {
  struct Entry {
    OpKind kind;
    std::string name;
    TensorType type;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;
  friend bool operator==(const Signature&, const Signature&) = default;
};
Signature signature_of(const Graph& graph);

}  // namespace rlx

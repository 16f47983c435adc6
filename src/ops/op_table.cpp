// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/error.h"
#include "ops/records.h"

namespace rlx {
namespace {

std::array<OpDef, kOpCount> make_table() {
  std::array<OpDef, kOpCount> table = {
#define X(name, ...) make_op<OpKind::name>(),
      RLX_OPS(X)
#undef X
  };
  for (size_t i = 0; i < table.size(); ++i) RLX_CHECK(table[i].op == static_cast<OpKind>(i));
  return table;
}

}  // namespace

const OpDef& op_def(OpKind op) {
  static const std::array<OpDef, kOpCount> table = make_table();
  return table[static_cast<size_t>(op)];
}

}  // namespace rlx

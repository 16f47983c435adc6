// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op_def.h"

namespace rlx {

/// The record of one op, specialised in its family's file; op_table.cpp does not link without it.
template <OpKind kind>
OpDef make_op();

#define X(name, ...) \
  template <>        \
  OpDef make_op<OpKind::name>();
RLX_OPS(X)
#undef X

}  // namespace rlx

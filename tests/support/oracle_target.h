// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/target.h"
#include "ir/op_def.h"

namespace rlx {

/// A device without hardware: every primitive runs by its record, elementwise results may take over
/// an operand's bytes. With `max_buffer_bytes` and `alignment` set it stands for a limited device.
inline Target oracle_target() {
  Target t;
  t.name = "oracle";
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpKind op = static_cast<OpKind>(i);
    if (op_def(op).reference == nullptr) continue;
    KernelRow row;
    row.name = "oracle." + std::string(op_name(op));
    row.op = op;
    row.refuse = [](const KernelQuery&) { return std::string(); };
    row.by_reference = true;
    const bool elementwise = op >= OpKind::Neg && op <= OpKind::Mod;
    row.in_place = elementwise ? 0b11 : 0;
    t.kernels.push_back(row);
  }
  return t;
}

}  // namespace rlx

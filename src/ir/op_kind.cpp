// SPDX-License-Identifier: Apache-2.0
#include "ir/op_kind.h"

#include <array>

namespace rlx {
namespace {

constexpr std::array<std::string_view, kOpCount> kNames = {
#define X(name, text) text,
    RLX_OPS(X)
#undef X
};

}  // namespace

std::string_view op_name(OpKind op) { return kNames[static_cast<size_t>(op)]; }

std::optional<OpKind> op_from_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

}  // namespace rlx

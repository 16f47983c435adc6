// SPDX-License-Identifier: Apache-2.0
#include "ir/dtype.h"

#include <array>

namespace rlx {
namespace {

constexpr std::array kTable = {
#define X(name, text, cls, elements, bytes, ggml) \
  DTypeInfo{DType::name, text, DTypeClass::cls, elements, bytes, ggml},
    RLX_DTYPES(X)
#undef X
};

}  // namespace

const DTypeInfo& dtype_info(DType dtype) { return kTable[static_cast<size_t>(dtype)]; }

std::span<const DTypeInfo> all_dtypes() { return kTable; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kTable) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_ggml(uint32_t ggml_id) {
  for (const DTypeInfo& row : kTable) {
    if (row.ggml_id >= 0 && static_cast<uint32_t>(row.ggml_id) == ggml_id) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace rlx

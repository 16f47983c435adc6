// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <fmt/format.h>

#include "base/error.h"

namespace rlx {

std::string to_string(const TensorType& type, std::span<const Symbol> symbols) {
  return fmt::format("{}{}", dtype_name(type.dtype), to_string(type.shape, symbols));
}

Dim byte_count(const TensorType& type) {
  const DTypeInfo& info = dtype_info(type.dtype);
  if (info.block_elements == 1) return element_count(type.shape) * Dim(info.block_bytes);
  if (type.shape.empty()) {
    fail(ErrorCode::InvalidArgument, "a {} value needs at least one axis", info.name);
  }
  Shape blocks = type.shape;
  blocks.back() = blocks.back().divided_by(info.block_elements, info.name);
  return element_count(blocks) * Dim(info.block_bytes);
}

int64_t bytes_at_bounds(const TensorType& type, std::span<const Symbol> symbols) {
  if (type.shape.empty()) return byte_count(type).constant();
  // Extent by extent: a value such as [T, S] has no affine size.
  const DTypeInfo& info = dtype_info(type.dtype);
  int64_t bytes = info.block_bytes;
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    Dim extent = type.shape[axis];
    if (axis + 1 == type.rank()) extent = extent.divided_by(info.block_elements, info.name);
    if (__builtin_mul_overflow(bytes, extent.upper_bound(symbols), &bytes)) {
      fail(ErrorCode::LimitExceeded, "the size of {} does not fit 64 bits",
           to_string(type, symbols));
    }
  }
  return bytes;
}

void check_type(const TensorType& type, std::span<const Symbol> symbols) {
  if (type.rank() > kMaxRank) {
    fail(ErrorCode::LimitExceeded, "rank {} of {} is above {}", type.rank(),
         to_string(type, symbols), kMaxRank);
  }
  for (const Dim& d : type.shape) {
    if (d.upper_bound(symbols) < 0) {
      fail(ErrorCode::InvalidArgument, "extent {} of {} is negative", to_string(d, symbols),
           to_string(type, symbols));
    }
  }
  (void)bytes_at_bounds(type, symbols);
}

}  // namespace rlx

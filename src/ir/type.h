// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/dim.h"
#include "ir/dtype.h"

namespace rlx {

/// Type of one value: element type and logical shape, row-major; a packed type's blocks run along
/// the last axis, whose extent is then a multiple of the block.
struct TensorType {
  DType dtype = DType::F32;
  Shape shape;

  size_t rank() const { return shape.size(); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// "f32[T, 640]".
std::string to_string(const TensorType& type, std::span<const Symbol> symbols);

/// Bytes of storage as an extent; Error when the last axis is no whole number of blocks.
Dim byte_count(const TensorType& type);

/// Bytes of storage when every symbol is at its bound; Error where they do not fit 64 bits.
int64_t bytes_at_bounds(const TensorType& type, std::span<const Symbol> symbols);

/// Throws an Error unless rank, extents and block layout of `type` are allowed.
void check_type(const TensorType& type, std::span<const Symbol> symbols);

inline constexpr size_t kMaxRank = 6;

}  // namespace rlx

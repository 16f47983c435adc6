// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/core.h>

#include <string>

#include "base/error.h"
#include "ir/op_def.h"

namespace rlx {

// What the families' infer functions share. Every Error starts with the op's name.

/// A set of type classes.
enum ClassSet : unsigned { kFloats = 1, kInts = 2, kBools = 4, kPackeds = 8, kNumbers = 3 };
constexpr ClassSet operator|(ClassSet a, ClassSet b) {
  return static_cast<ClassSet>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

template <typename... Args>
[[noreturn]] void fail_infer(const InferArgs& a, fmt::format_string<Args...> format,
                             Args&&... args) {
  throw Error(
      ErrorCode::InvalidArgument,
      fmt::format("{}: {}", op_name(a.op), fmt::format(format, std::forward<Args>(args)...)));
}

/// "x f32[T, 4]": operand i's name in the record, and its type.
std::string operand_text(const InferArgs& a, size_t i);
std::string text_of(const InferArgs& a, const Dim& dim);
std::string text_of(const InferArgs& a, const Shape& shape);

/// Error unless operand i's type class is in `allowed`.
void require_class(const InferArgs& a, size_t i, ClassSet allowed);
/// Error unless operand i is of type `dtype`.
void require_dtype(const InferArgs& a, size_t i, DType dtype);
/// Error unless operands i and j have one element type.
void require_same_dtype(const InferArgs& a, size_t i, size_t j);
void require_rank(const InferArgs& a, size_t i, size_t rank);
void require_min_rank(const InferArgs& a, size_t i, size_t rank);
/// Error unless the extents are the same expression; `what` names them both.
void require_equal(const InferArgs& a, const Dim& found, const Dim& wanted, std::string_view what);

/// The attribute `axis` as an index below `rank`; Error outside.
size_t require_axis(const InferArgs& a, int64_t axis, size_t rank);
/// NumPy's rule, aligned at the right: extents are equal or one of them is 1.
Shape broadcast_shapes(const InferArgs& a, const Shape& x, const Shape& y);

/// True when `dim` cannot be a non-negative number at any extent of the symbols; Error when it may
/// leave 64 bits.
bool is_never_allowed(const InferArgs& a, const Dim& dim);

/// The common result of infer functions: one tensor of this type.
inline std::vector<TensorType> one(DType dtype, Shape shape) { return {{dtype, std::move(shape)}}; }

}  // namespace rlx

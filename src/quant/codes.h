// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/dtype.h"

namespace rlx {

/// The integer view of a packed type. Along a row, every group of `group` elements has one float
/// scale (and one min), and each element one unsigned code:
///
///     value = scale[i / group] * float(code[i] - offset) + (has_min ? min[i / group] : 0)
///
/// Evaluated in float in that order without contraction, this is dequantize() bit for bit. No code
/// is above `max_code`; up to 129, a pair of products of codes with [-127, 127] fits 16 bits.
struct CodeFormat {
  uint32_t group;    ///< 16 or 32; divides the type's block
  int32_t offset;    ///< constant of the type
  bool has_min;      ///< whether the type has a min per group
  int32_t max_code;  ///< largest code any block bytes can give
};

/// The view's constants: every Packed type but Q15 has one, no other type does.
std::optional<CodeFormat> code_format(DType dtype);

/// Unpacks `n_elements` elements into codes (n_elements), scales (n_elements / group) and, for
/// types with has_min, mins (same count; may be null otherwise). Codes are in row order; codebook
/// types are already looked up and signed. Throws InvalidArgument when the type has no code_format
/// or n_elements is not a multiple of its block.
void unpack_codes(DType dtype, const std::byte* blocks, size_t n_elements, uint8_t* codes,
                  float* scales, float* mins);

}  // namespace rlx

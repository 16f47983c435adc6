// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rlx {

/// What a precision policy may ask of an op (requirements P6).
enum class PrecisionClass : uint8_t { Compute, Reduction, Elementwise, DataMovement, Boundary };

struct OperandSpec {
  std::string_view name;
  enum : uint8_t {
    Required,
    Optional,
    Variadic
  } arity = Required;  ///< only the last ones may vary
};

/// One attribute an op takes. Without a default it must be given.
struct AttrSpec {
  AttrKey key;
  bool has_default = false;
  AttrValue fallback{};
};

/// What inference sees of a node: operand types (an absent optional operand is not there), its
/// attributes with defaults filled in, and the graph's symbols.
struct InferArgs {
  OpKind op;
  std::span<const TensorType> operands;
  const Attrs& attrs;
  std::span<const Symbol> symbols;
};

/// A tensor of the oracle: every number as a double (integers exact to 2^53), row-major. Packed
/// tensors keep their storage bytes instead.
struct OracleTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<double> data;
  std::vector<std::byte> packed;

  int64_t count() const;
};

/// What a reference function sees: concrete operands and result shapes, values of the symbols, and,
/// for ops that update state, the operand tensors themselves.
struct OracleArgs {
  OpKind op;
  std::span<OracleTensor* const> operands;
  const Attrs& attrs;
  std::span<const int64_t> symbols;
};

class Builder;

/// A small case with independently known numbers: `graph` is a body in the text form, `expected`
/// the flattened first output for the constants in it.
struct Sample {
  std::string_view graph;
  std::vector<double> expected;
  double tolerance = 1e-12;
};

/// All that is known of an op. Exactly one of `reference` (primitives) and `lower` (composites) is
/// set; leaves have neither.
struct OpDef {
  OpKind op;
  std::string_view doc;  ///< one sentence with the formula
  std::vector<OperandSpec> operands;
  std::vector<AttrSpec> attrs;
  uint32_t results = 1;
  PrecisionClass precision = PrecisionClass::Elementwise;
  /// Numerics alone demand at least f32 inside and at the border (requirements P23 c).
  bool needs_f32 = false;
  /// Result types, or an Error that names the op, what was found and what is allowed.
  std::vector<TensorType> (*infer)(const InferArgs&) = nullptr;
  /// The meaning in doubles; results already have their dtype and shape.
  void (*reference)(const OracleArgs&, std::span<OracleTensor> results) = nullptr;
  /// The meaning in simpler ops: emits them and returns one value per result.
  std::vector<Value> (*lower)(Builder&, const Node&) = nullptr;
  std::vector<Sample> samples;
};

/// The record of `op`; defined by the ops module.
const OpDef& op_def(OpKind op);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace rlx {

/// Storage bytes to oracle numbers and back (rounding to nearest even; packed types are kept as
/// bytes). `bytes` must have the size of the type at `shape`.
OracleTensor oracle_from_bytes(DType dtype, std::vector<int64_t> shape,
                               std::span<const std::byte> bytes);
std::vector<std::byte> oracle_to_bytes(const OracleTensor& tensor);

/// A number of type `from` as `cast` gives it in type `to` (Float, Int or Bool). f32 keeps the
/// double: the oracle is the float64 truth that f32 kernels are judged against.
double convert_number(DType from, DType to, double x);
/// What a result of type `dtype` holds of x: narrow floats round, integers wrap around.
double storable(DType dtype, double x);

/// The evaluator by definition: runs a graph in float64 through references and lowerings. It is
/// what kernels are judged against, what folds constants, and what runs an op without a kernel.
struct OracleRun {
  std::vector<int64_t> symbols;                 ///< by SymbolId
  std::map<std::string, OracleTensor> inputs;   ///< by name
  std::map<std::string, OracleTensor> weights;  ///< by name; missing ones are read from the graph
  std::map<std::string, OracleTensor> states;   ///< by name; created as zeros, updated in place
};

/// All outputs in order. Error for a missing input, or one of wrong type or shape.
std::vector<OracleTensor> evaluate(const Graph& graph, OracleRun& run);

/// One node alone: `operands` in order, result tensors returned.
std::vector<OracleTensor> evaluate_node(const Graph& graph, const Node& node,
                                        std::span<OracleTensor* const> operands,
                                        std::span<const int64_t> symbols);

}  // namespace rlx

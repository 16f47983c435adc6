// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/op_def.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace rlx {

/// Inference of y = f(x): the operand's type; its class must be in `allowed`.
template <ClassSet allowed>
std::vector<TensorType> infer_unary(const InferArgs& a) {
  require_class(a, 0, allowed);
  return {a.operands[0]};
}

template <double (*function)(double)>
void unary_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  for (size_t i = 0; i < x.data.size(); ++i) results[0].data[i] = function(x.data[i]);
}

/// Inference of y = f(a, b) with operands of one element type and NumPy broadcasting.
template <ClassSet allowed>
std::vector<TensorType> infer_binary(const InferArgs& a) {
  require_class(a, 0, allowed);
  require_same_dtype(a, 0, 1);
  return one(a.operands[0].dtype, broadcast_shapes(a, a.operands[0].shape, a.operands[1].shape));
}

/// As infer_binary, with a bool result.
template <ClassSet allowed>
std::vector<TensorType> infer_compare(const InferArgs& a) {
  std::vector<TensorType> types = infer_binary<allowed>(a);
  types[0].dtype = DType::Bool;
  return types;
}

/// `function` also learns whether the operands are integers.
template <double (*function)(double, double, bool)>
void binary_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  const OracleTensor& y = *a.operands[1];
  OracleTensor& out = results[0];
  const bool integer = is_int(x.dtype);
  size_t i = 0;
  walk<2>(out.shape, {broadcast_strides(x.shape, out.shape), broadcast_strides(y.shape, out.shape)},
          [&](const std::array<int64_t, 2>& at) {
            out.data[i++] = function(x.data[static_cast<size_t>(at[0])],
                                     y.data[static_cast<size_t>(at[1])], integer);
          });
}

}  // namespace rlx

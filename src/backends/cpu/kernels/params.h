// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

#include "device/kernel.h"
#include "ir/op_kind.h"

// KernelCall::params of the kernels besides linear ones: plain data that rows write and kernels
// read.
namespace rlx::cpu {

/// Unary kernels: the op and its one number (softcap's value).
struct UnaryParams {
  OpKind op;
  bool tanh_form;  ///< gelu with approximate = tanh
  float value;
};

enum class Gate : uint8_t { Silu, Gelu, GeluTanh };

struct BinaryParams {
  OpKind op;
};

struct NormParams {
  float eps;
};

/// Softmax, log_softmax, arg_max, top_k, cumsum, concat and gather.
struct AxisParams {
  int32_t axis;
  bool flag;  ///< softmax: take the logarithm; cumsum: exclusive
};

struct ReduceParams {
  OpKind op;
  uint32_t reduced;  ///< bit i: axis i of the operand is reduced
};

struct RopeTableParams {
  double magnitude;
};
struct RopeParams {
  int32_t heads;
  bool interleaved;
};

/// How a kernel finds a start that may depend on symbols: fixed, or at a fixed distance from the
/// end of the operand's axis.
struct SliceParams {
  int64_t starts[TensorView::kMaxRank];  ///< or, from_end: operand extent - start
  int32_t strides[TensorView::kMaxRank];
  uint32_t from_end;  ///< bit i: axis i
};
struct TransposeParams {
  int32_t perm[TensorView::kMaxRank];
};
struct PadParams {
  int64_t low[TensorView::kMaxRank];
  double value;
};
struct IotaParams {
  RunExtent at;
};

struct AttentionParams {
  int32_t heads;
  int32_t kv_heads;
  float scale;
  float softcap;   ///< 0: none
  int64_t window;  ///< keys a query sees, itself included; 0: all
  bool causal;
};

}  // namespace rlx::cpu

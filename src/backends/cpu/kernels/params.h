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

/// Numbers per axis of which one may depend on symbols.
struct AxisNumbers {
  RunExtent symbolic;                     ///< of axis `symbolic_axis`
  int32_t numbers[TensorView::kMaxRank];  ///< of all others
  int32_t symbolic_axis;                  ///< -1: none
};

struct SliceParams {
  AxisNumbers starts;
  int32_t strides[TensorView::kMaxRank];
};
struct TransposeParams {
  int32_t perm[TensorView::kMaxRank];
};
struct PadParams {
  AxisNumbers low;
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

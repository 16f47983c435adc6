// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rlx {

/// X(enumerator, spelling): every op there is. Adding one here asks for its record: the op table
/// (ops/op_table.cpp) does not link without it.
#define RLX_OPS(X)                     \
  /* leaves */                         \
  X(Input, "input")                    \
  X(Weight, "weight")                  \
  X(Constant, "const")                 \
  X(State, "state")                    \
  /* elementwise primitives */         \
  X(Neg, "neg")                        \
  X(Abs, "abs")                        \
  X(Sign, "sign")                      \
  X(Exp, "exp")                        \
  X(Log, "log")                        \
  X(Sqrt, "sqrt")                      \
  X(Sin, "sin")                        \
  X(Cos, "cos")                        \
  X(Tanh, "tanh")                      \
  X(Erf, "erf")                        \
  X(Floor, "floor")                    \
  X(Ceil, "ceil")                      \
  X(Round, "round")                    \
  X(Not, "not")                        \
  X(Add, "add")                        \
  X(Sub, "sub")                        \
  X(Mul, "mul")                        \
  X(Div, "div")                        \
  X(Max, "max")                        \
  X(Min, "min")                        \
  X(Pow, "pow")                        \
  X(Mod, "mod")                        \
  X(And, "and")                        \
  X(Or, "or")                          \
  X(Equal, "equal")                    \
  X(Less, "less")                      \
  X(LessEqual, "less_equal")           \
  X(Where, "where")                    \
  X(Cast, "cast")                      \
  /* shape and movement primitives */  \
  X(Reshape, "reshape")                \
  X(Transpose, "transpose")            \
  X(Broadcast, "broadcast")            \
  X(Slice, "slice")                    \
  X(Concat, "concat")                  \
  X(Pad, "pad")                        \
  X(Iota, "iota")                      \
  X(Gather, "gather")                  \
  X(Append, "append")                  \
  /* reductions and selection */       \
  X(ReduceSum, "reduce_sum")           \
  X(ReduceMax, "reduce_max")           \
  X(ReduceMin, "reduce_min")           \
  X(ReduceProd, "reduce_prod")         \
  X(ArgMax, "arg_max")                 \
  X(CumSum, "cumsum")                  \
  X(TopK, "top_k")                     \
  /* contraction and packed storage */ \
  X(Matmul, "matmul")                  \
  X(Quantize, "quantize")              \
  X(Dequantize, "dequantize")          \
  /* composites: defined by lower */   \
  X(Rsqrt, "rsqrt")                    \
  X(Sigmoid, "sigmoid")                \
  X(Relu, "relu")                      \
  X(Silu, "silu")                      \
  X(Gelu, "gelu")                      \
  X(Glu, "glu")                        \
  X(Softcap, "softcap")                \
  X(ReduceMean, "reduce_mean")         \
  X(Softmax, "softmax")                \
  X(LogSoftmax, "log_softmax")         \
  X(RmsNorm, "rms_norm")               \
  X(LayerNorm, "layer_norm")           \
  X(RopeTable, "rope_table")           \
  X(Rope, "rope")                      \
  X(Attention, "attention")            \
  X(Linear, "linear")                  \
  X(Embedding, "embedding")            \
  X(ExpertLinear, "expert_linear")

enum class OpKind : uint8_t {
#define X(name, ...) name,
  RLX_OPS(X)
#undef X
};

inline constexpr size_t kOpCount = 0
#define X(...) +1
    RLX_OPS(X)
#undef X
    ;

/// The op's spelling in text.
std::string_view op_name(OpKind op);
std::optional<OpKind> op_from_name(std::string_view name);

/// Input, weight, constant and state: values that come from outside the graph.
inline bool is_leaf(OpKind op) { return op <= OpKind::State; }

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/isa.h"
#include "device/kernel.h"

namespace rlx::cpu {

/// Every kernel function besides the linear ones; each ISA level has all of them.
#define RLX_CPU_KERNELS(X) \
  X(unary)                 \
  X(binary)                \
  X(compare)               \
  X(logical)               \
  X(where)                 \
  X(glu)                   \
  X(cast)                  \
  X(rms_norm)              \
  X(layer_norm)            \
  X(softmax)               \
  X(reduce)                \
  X(arg_max)               \
  X(top_k)                 \
  X(cumsum)                \
  X(rope_table)            \
  X(rope)                  \
  X(append)                \
  X(gather)                \
  X(slice)                 \
  X(transpose)             \
  X(broadcast)             \
  X(concat)                \
  X(pad)                   \
  X(iota)                  \
  X(attention)

struct KernelTable {
#define X(name) KernelRun name;
  RLX_CPU_KERNELS(X)
#undef X
};

/// The kernels of one level, which must be one that this build has.
const KernelTable& kernel_table(Isa isa);

}  // namespace rlx::cpu

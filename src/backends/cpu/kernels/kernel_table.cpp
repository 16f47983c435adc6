// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernel_table.h"

namespace rlx::cpu::RLX_ISA {

#define X(name) void name(const KernelCall&, int64_t, int64_t, int) noexcept;
RLX_CPU_KERNELS(X)
#undef X

extern const KernelTable kernels;
const KernelTable kernels = {
#define X(name) &name,
    RLX_CPU_KERNELS(X)
#undef X
};

}  // namespace rlx::cpu::RLX_ISA

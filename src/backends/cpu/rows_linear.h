// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "backends/cpu/isa.h"
#include "device/target.h"

namespace rlx::cpu {

/// Appends the rows of linear, expert_linear, embedding and quantize (to q15) that a target of that
/// level offers, best first. Products of Q15 activations are offered from v4_vnni on.
void add_linear_rows(std::vector<KernelRow>& rows, Isa isa);

}  // namespace rlx::cpu

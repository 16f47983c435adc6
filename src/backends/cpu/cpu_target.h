// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "device/target.h"

namespace rlx {

struct CpuOptions {
  std::string isa;  ///< "v2", "v3", "v4" or "v4_vnni"; empty takes the best this processor has
};

/// The CPU with its kernels of one instruction set level, and for every primitive a last row that
/// runs the op's reference. Throws an Error for a level that does not exist or that this processor
/// lacks, naming those it has.
Target cpu_target(const CpuOptions& options);

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_target.h"

#include "backends/cpu/isa.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/rows_linear.h"
#include "base/error.h"

namespace rlx {
namespace cpu {

#if defined(RLX_HAVE_ISA_generic)
namespace isa_generic {
extern const KernelTable kernels;
}
const KernelTable& kernel_table(Isa) { return isa_generic::kernels; }
#else
namespace isa_v2 {
extern const KernelTable kernels;
}
namespace isa_v3 {
extern const KernelTable kernels;
}
namespace isa_v4 {
extern const KernelTable kernels;
}
namespace isa_v4_vnni {
extern const KernelTable kernels;
}

const KernelTable& kernel_table(Isa isa) {
  switch (isa) {
    case Isa::V2: return isa_v2::kernels;
    case Isa::V3: return isa_v3::kernels;
    case Isa::V4: return isa_v4::kernels;
    case Isa::V4Vnni: return isa_v4_vnni::kernels;
  }
  return isa_v2::kernels;
}
#endif

namespace {

/// The levels up to `best`, "v2, v3".
std::string available(Isa best) {
  std::string list;
  for (int i = 0; i <= static_cast<int>(best); ++i) {
    if (i > 0) list += ", ";
    list += isa_name(static_cast<Isa>(i));
  }
  return list;
}

Isa choose_isa(const std::string& wanted) {
  const Isa best = detect_isa();
  if (wanted.empty()) return best;
  const std::optional<Isa> isa = isa_from_name(wanted);
  if (!isa) {
    fail(ErrorCode::InvalidArgument, "isa: \"{}\" does not exist; this processor has {}", wanted,
         available(best));
  }
  if (*isa > best) {
    fail(ErrorCode::Unsupported, "isa: this processor lacks {}; it has {}", wanted,
         available(best));
  }
  return *isa;
}

}  // namespace
}  // namespace cpu

Target cpu_target(const CpuOptions& options) {
  const cpu::Isa isa = cpu::choose_isa(options.isa);
  Target target;
  target.name = "cpu";
  target.isa = cpu::isa_name(isa);
  target.quantize_activations = isa == cpu::Isa::V4Vnni;
  target.bf16_activations = true;  // as the models of that type were trained and are served
  cpu::add_linear_rows(target.kernels, isa);
  cpu::add_elementwise_rows(target.kernels, isa);
  cpu::add_reduction_rows(target.kernels, isa);
  cpu::add_attention_rows(target.kernels, isa);
  cpu::add_movement_rows(target.kernels, isa);
  cpu::add_reference_rows(target.kernels);
  return target;
}

}  // namespace rlx

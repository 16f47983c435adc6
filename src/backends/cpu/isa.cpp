// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rlx::cpu {
namespace {

constexpr std::string_view names[] = {"v2", "v3", "v4", "v4_vnni"};

#if defined(__x86_64__)
struct CpuidLeaf {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// The leaf's registers, zeros where the processor has no such leaf.
CpuidLeaf cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidLeaf r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

bool has_all(uint32_t bits, uint32_t wanted) { return (bits & wanted) == wanted; }

/// XCR0: which register files the operating system saves. Only valid with OSXSAVE.
uint32_t saved_registers() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

Isa detect() {
  const CpuidLeaf basic = cpuid(1, 0);
  constexpr uint32_t xsave_avx_fma_f16c_movbe =
      bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE;
  const CpuidLeaf wide = cpuid(7, 0);
  const bool v3 = has_all(basic.ecx, xsave_avx_fma_f16c_movbe) &&
                  has_all(wide.ebx, bit_AVX2 | bit_BMI | bit_BMI2) &&
                  has_all(cpuid(0x80000001, 0).ecx, bit_LZCNT);
  constexpr uint32_t ymm_state = 0x06, zmm_state = 0xe6;
  if (!v3 || !has_all(saved_registers(), ymm_state)) return Isa::V2;
  const bool v4 =
      has_all(wide.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
  if (!v4 || !has_all(saved_registers(), zmm_state)) return Isa::V3;
  const bool vnni = has_all(wide.ecx, bit_AVX512VNNI) && has_all(cpuid(7, 1).eax, bit_AVX512BF16);
  return vnni ? Isa::V4Vnni : Isa::V4;
}
#else
Isa detect() { return Isa::V2; }
#endif

}  // namespace

Isa detect_isa() {
  static const Isa isa = detect();
  return isa;
}

std::string_view isa_name(Isa isa) { return names[static_cast<size_t>(isa)]; }

std::optional<Isa> isa_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) return static_cast<Isa>(i);
  }
  return std::nullopt;
}

}  // namespace rlx::cpu

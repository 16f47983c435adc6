// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rlx::cpu {

/// Instruction set levels that kernels are compiled for, each including the ones before it:
/// x86-64-v2, -v3 (AVX2, FMA), -v4 (AVX-512), and -v4 with VNNI and BF16.
enum class Isa : uint8_t { V2, V3, V4, V4Vnni };

/// The highest level that this processor has and the operating system saves the registers of.
Isa detect_isa();
/// "v2", "v3", "v4" or "v4_vnni".
std::string_view isa_name(Isa isa);
std::optional<Isa> isa_from_name(std::string_view name);

}  // namespace rlx::cpu

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/kernel_table.h"
#include "device/target.h"

namespace rlx::cpu {

/// Appends the rows of one family; each names its kernels "<op>.<isa>".
void add_elementwise_rows(std::vector<KernelRow>& rows, Isa isa);
void add_reduction_rows(std::vector<KernelRow>& rows, Isa isa);
void add_movement_rows(std::vector<KernelRow>& rows, Isa isa);
void add_attention_rows(std::vector<KernelRow>& rows, Isa isa);
/// For every primitive the row that evaluates its reference.
void add_reference_rows(std::vector<KernelRow>& rows);

// What rows share.

using Refuse = std::string (*)(const KernelQuery&);
using Prepare = void (*)(const KernelQuery&, void* params);

KernelRow make_row(OpKind op, Isa isa, Refuse refuse, KernelItems items, KernelRun run,
                   Prepare prepare = nullptr, uint32_t in_place = 0);

/// "x is f16, this kernel takes f32"; empty when operand i is of type `dtype`.
std::string refuse_other_dtype(const KernelQuery& query, size_t i, DType dtype);
/// The first refusal for an operand that is not f32.
std::string refuse_non_f32(const KernelQuery& query);
/// The attribute `axis` counted from the front.
int32_t axis_of(const KernelQuery& query);

/// Items of kernels that work on runs of `chunk_elements` elements of result 0.
int64_t chunk_items(const KernelCall& call) noexcept;
/// One item per row (run of the last axis) of result 0.
int64_t row_items(const KernelCall& call) noexcept;

}  // namespace rlx::cpu

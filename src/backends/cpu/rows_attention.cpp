// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/cpu/kernels/attention_plan.h"
#include "backends/cpu/rows.h"

namespace rlx::cpu {
namespace {

bool is_cache_type(DType d) {
  return d == DType::F32 || d == DType::F16 || d == DType::BF16 || d == DType::Q8_0;
}

std::string refuse_attention(const KernelQuery& query) {
  for (size_t i = 1; i < 3; ++i) {
    const DType d = query.operands[i].dtype;
    if (is_cache_type(d)) continue;
    return fmt::format("operand {} is {}, this kernel takes f32, f16, bf16 and q8_0", i,
                       dtype_name(d));
  }
  return refuse_other_dtype(query, 0, DType::F32);
}

void prepare_attention(const KernelQuery& query, void* params) {
  const Attrs& attrs = query.node.attrs;
  *static_cast<AttentionParams*>(params) = {static_cast<int32_t>(attrs.get_int(AttrKey::Heads)),
                                            static_cast<int32_t>(attrs.get_int(AttrKey::KvHeads)),
                                            static_cast<float>(attrs.get_float(AttrKey::Scale)),
                                            static_cast<float>(attrs.get_float(AttrKey::Softcap)),
                                            attrs.get_int(AttrKey::Window),
                                            attrs.get_bool(AttrKey::Causal)};
}

Workspace attention_workspace(const KernelQuery& query) {
  AttentionParams p;
  prepare_attention(query, &p);
  const int64_t queries = query.operands[0].shape[0].upper_bound(query.symbols);
  const int64_t width = query.operands[0].shape[1].constant() / p.heads;
  const int64_t v_width = query.operands[2].shape[1].constant() / p.kv_heads;
  const int64_t floats = attention_scratch(attention_most_rows(p, queries), width, v_width);
  return {0, floats * static_cast<int64_t>(sizeof(float))};
}

int64_t attention_items(const KernelCall& call) noexcept {
  return plan_attention(*static_cast<const AttentionParams*>(call.params), call.operands[0].dims[0],
                        call.operands[1].dims[0], call.operands[0].dims[1],
                        call.operands[2].dims[1])
      .items;
}

void prepare_rope_table(const KernelQuery& query, void* params) {
  *static_cast<RopeTableParams*>(params) = {query.node.attrs.get_float(AttrKey::Magnitude)};
}

void prepare_rope(const KernelQuery& query, void* params) {
  const Attrs& attrs = query.node.attrs;
  *static_cast<RopeParams*>(params) = {static_cast<int32_t>(attrs.get_int(AttrKey::Heads)),
                                       attrs.get_string(AttrKey::Style) == "interleaved"};
}

std::string refuse_rope_table(const KernelQuery& query) {
  const DType d = query.operands[0].dtype;
  if (d == DType::I32 || d == DType::I64) return {};
  return fmt::format("positions are {}, this kernel takes i32 and i64", dtype_name(d));
}

}  // namespace

void add_attention_rows(std::vector<KernelRow>& rows, Isa isa) {
  const KernelTable& k = kernel_table(isa);
  KernelRow attention = make_row(OpKind::Attention, isa, refuse_attention, attention_items,
                                 k.attention, prepare_attention);
  attention.workspace = attention_workspace;
  rows.push_back(std::move(attention));
  rows.push_back(make_row(OpKind::RopeTable, isa, refuse_rope_table, row_items, k.rope_table,
                          prepare_rope_table));
  constexpr uint32_t first = 1;
  rows.push_back(
      make_row(OpKind::Rope, isa, refuse_non_f32, row_items, k.rope, prepare_rope, first));
}

}  // namespace rlx::cpu

// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/rows.h"

#include <fmt/format.h>

#include "backends/cpu/kernels/shapes.h"
#include "ir/op_def.h"

namespace rlx::cpu {

KernelRow make_row(OpKind op, Isa isa, Refuse refuse, KernelItems items, KernelRun run,
                   Prepare prepare, uint32_t in_place) {
  KernelRow row;
  row.name = fmt::format("{}.{}", op_name(op), isa_name(isa));
  row.op = op;
  row.refuse = refuse;
  row.prepare = prepare;
  row.items = items;
  row.run = run;
  row.in_place = in_place;
  return row;
}

std::string refuse_other_dtype(const KernelQuery& query, size_t i, DType dtype) {
  const DType found = query.operands[i].dtype;
  if (found == dtype) return {};
  return fmt::format("operand {} is {}, this kernel takes {}", i, dtype_name(found),
                     dtype_name(dtype));
}

std::string refuse_non_f32(const KernelQuery& query) {
  for (size_t i = 0; i < query.operands.size(); ++i) {
    std::string reason = refuse_other_dtype(query, i, DType::F32);
    if (!reason.empty()) return reason;
  }
  return {};
}

int32_t axis_of(const KernelQuery& query) {
  const int64_t axis = query.node.attrs.get_int(AttrKey::Axis);
  const auto rank = static_cast<int64_t>(query.operands[0].rank());
  return static_cast<int32_t>(axis < 0 ? axis + rank : axis);
}

int64_t chunk_items(const KernelCall& call) noexcept {
  return ceil_div(element_count(call.results[0]), chunk_elements);
}

int64_t row_items(const KernelCall& call) noexcept {
  return row_width(call.results[0]) == 0 ? 0 : row_count(call.results[0]);
}

void add_reference_rows(std::vector<KernelRow>& rows) {
  for (size_t i = 0; i < kOpCount; ++i) {
    const auto op = static_cast<OpKind>(i);
    if (is_leaf(op)) continue;
    KernelRow row;
    row.name = fmt::format("{}.reference", op_name(op));
    row.op = op;
    row.by_reference = true;
    row.refuse = [](const KernelQuery& query) -> std::string {
      if (op_def(query.node.op).reference != nullptr) return {};
      return "a composite: it has no reference, only its meaning in simpler ops";
    };
    rows.push_back(std::move(row));
  }
}

}  // namespace rlx::cpu

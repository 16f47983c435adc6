// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/cpu/kernels/params.h"
#include "backends/cpu/kernels/shapes.h"
#include "backends/cpu/rows.h"
#include "ir/type.h"

namespace rlx::cpu {
namespace {

std::string refuse_wide_elements(const KernelQuery& query) {
  const DType dtype = query.operands[0].dtype;
  const int64_t bytes = element_bytes(dtype);
  if (bytes >= 1 && bytes <= 8) return {};
  return fmt::format("elements of {} are not moved", dtype_name(dtype));
}

/// Why the numbers of all axes do not fit AxisNumbers; empty when they do.
std::string refuse_numbers(const KernelQuery& query, const Shape& numbers) {
  int symbolic = 0;
  for (const Dim& d : numbers) {
    symbolic += d.is_static() ? 0 : 1;
    if (d.is_static() && d.constant() > INT32_MAX) {
      return fmt::format("{} is above {}", d.constant(), INT32_MAX);
    }
  }
  if (symbolic <= 1) return {};
  return fmt::format("{} depends on symbols on more than one axis",
                     to_string(numbers, query.symbols));
}

AxisNumbers axis_numbers(const Shape& numbers) {
  AxisNumbers n{};
  n.symbolic_axis = -1;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].is_static()) {
      n.numbers[i] = static_cast<int32_t>(numbers[i].constant());
    } else {
      n.symbolic_axis = static_cast<int32_t>(i);
      n.symbolic = run_extent(numbers[i]);
    }
  }
  return n;
}

std::string refuse_slice(const KernelQuery& query) {
  std::string reason = refuse_numbers(query, query.node.attrs.get_dims(AttrKey::Starts));
  return reason.empty() ? refuse_wide_elements(query) : reason;
}

void prepare_slice(const KernelQuery& query, void* params) {
  static_assert(sizeof(SliceParams) <= KernelRow::kMaxParams);
  auto& p = *static_cast<SliceParams*>(params);
  const auto& strides = query.node.attrs.get_ints(AttrKey::Strides);
  p = {axis_numbers(query.node.attrs.get_dims(AttrKey::Starts)), {}};
  for (size_t i = 0; i < query.operands[0].rank(); ++i) {
    p.strides[i] = strides.empty() ? 1 : static_cast<int32_t>(strides[i]);
  }
}

void prepare_transpose(const KernelQuery& query, void* params) {
  auto& p = *static_cast<TransposeParams*>(params);
  const auto& perm = query.node.attrs.get_ints(AttrKey::Perm);
  p = {};
  for (size_t i = 0; i < perm.size(); ++i) {
    const auto rank = static_cast<int64_t>(perm.size());
    p.perm[i] = static_cast<int32_t>(perm[i] < 0 ? perm[i] + rank : perm[i]);
  }
}

void prepare_axis(const KernelQuery& query, void* params) {
  *static_cast<AxisParams*>(params) = {axis_of(query), false};
}

std::string refuse_pad(const KernelQuery& query) {
  const std::string reason = refuse_numbers(query, query.node.attrs.get_dims(AttrKey::Low));
  if (!reason.empty()) return reason;
  const DType d = query.operands[0].dtype;
  if (d == DType::F8E4M3 || d == DType::F8E5M2 || d == DType::U64) {
    return fmt::format("the padding value is not made for {}", dtype_name(d));
  }
  return refuse_wide_elements(query);
}

void prepare_pad(const KernelQuery& query, void* params) {
  const Attrs& attrs = query.node.attrs;
  *static_cast<PadParams*>(params) = {axis_numbers(attrs.get_dims(AttrKey::Low)),
                                      attrs.get_float(AttrKey::Value)};
}

std::string refuse_iota(const KernelQuery& query) {
  const DType d = query.node.types[0].dtype;
  if (d == DType::I32 || d == DType::I64 || d == DType::F32 || d == DType::F64) return {};
  return fmt::format("numbers of {} are not made", dtype_name(d));
}

void prepare_iota(const KernelQuery& query, void* params) {
  *static_cast<IotaParams*>(params) = {run_extent(query.node.attrs.get_dim(AttrKey::At))};
}

std::string refuse_gather(const KernelQuery& query) {
  const DType d = query.operands[1].dtype;
  if (d == DType::I32 || d == DType::I64 || d == DType::U32) return {};
  return fmt::format("indices are {}, this kernel takes i32, i64 and u32", dtype_name(d));
}

int64_t gather_items(const KernelCall& call) noexcept {
  const AxisSplit s = split_at(call.operands[0], static_cast<const AxisParams*>(call.params)->axis);
  return s.inner == 0 ? 0 : s.outer * element_count(call.operands[1]);
}

int64_t append_items(const KernelCall& call) noexcept {
  const TensorView& x = call.operands[1];
  return extent_product(x, 1, x.rank) == 0 ? 0 : x.dims[0];
}

std::string refuse_nothing(const KernelQuery&) { return {}; }

}  // namespace

void add_movement_rows(std::vector<KernelRow>& rows, Isa isa) {
  const KernelTable& k = kernel_table(isa);
  rows.push_back(make_row(OpKind::Slice, isa, refuse_slice, chunk_items, k.slice, prepare_slice));
  rows.push_back(make_row(OpKind::Transpose, isa, refuse_wide_elements, chunk_items, k.transpose,
                          prepare_transpose));
  rows.push_back(make_row(OpKind::Broadcast, isa, refuse_wide_elements, chunk_items, k.broadcast));
  rows.push_back(
      make_row(OpKind::Concat, isa, refuse_wide_elements, chunk_items, k.concat, prepare_axis));
  rows.push_back(make_row(OpKind::Pad, isa, refuse_pad, row_items, k.pad, prepare_pad));
  rows.push_back(make_row(OpKind::Iota, isa, refuse_iota, chunk_items, k.iota, prepare_iota));
  rows.push_back(
      make_row(OpKind::Gather, isa, refuse_gather, gather_items, k.gather, prepare_axis));
  rows.push_back(make_row(OpKind::Append, isa, refuse_nothing, append_items, k.append));
}

}  // namespace rlx::cpu

// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/params.h"
#include "backends/cpu/kernels/shapes.h"
#include "backends/cpu/rows.h"

// Norms, softmax, reductions, and selection along an axis.

namespace rlx::cpu {
namespace {

void prepare_norm(const KernelQuery& query, void* params) {
  *static_cast<NormParams*>(params) = {
      static_cast<float>(query.node.attrs.get_float(AttrKey::Eps))};
}

void prepare_axis(const KernelQuery& query, void* params) {
  const OpKind op = query.node.op;
  const bool flag = op == OpKind::LogSoftmax ||
                    (op == OpKind::CumSum && query.node.attrs.get_bool(AttrKey::Exclusive));
  *static_cast<AxisParams*>(params) = {axis_of(query), flag};
}

void prepare_reduce(const KernelQuery& query, void* params) {
  const auto rank = static_cast<int64_t>(query.operands[0].rank());
  const auto& axes = query.node.attrs.get_ints(AttrKey::Axes);
  uint32_t reduced = axes.empty() ? (1u << rank) - 1 : 0;
  for (const int64_t axis : axes) reduced |= 1u << (axis < 0 ? axis + rank : axis);
  *static_cast<ReduceParams*>(params) = {query.node.op, reduced};
}

int64_t softmax_items(const KernelCall& call) noexcept {
  const AxisSplit s = split_at(call.results[0], static_cast<const AxisParams*>(call.params)->axis);
  if (s.n == 0) return 0;
  return s.outer * (s.inner == 1 ? 1 : ceil_div(s.inner, column_group));
}

int64_t reduce_items(const KernelCall& call) noexcept {
  return ceil_div(element_count(call.results[0]), column_group);
}

int64_t line_items(const KernelCall& call) noexcept {
  const AxisSplit s = split_at(call.operands[0], static_cast<const AxisParams*>(call.params)->axis);
  return s.n == 0 ? 0 : s.outer * s.inner;
}

constexpr OpKind reductions[] = {OpKind::ReduceSum, OpKind::ReduceMax, OpKind::ReduceMin,
                                 OpKind::ReduceProd, OpKind::ReduceMean};
constexpr uint32_t first = 1;

}  // namespace

void add_reduction_rows(std::vector<KernelRow>& rows, Isa isa) {
  const KernelTable& k = kernel_table(isa);
  rows.push_back(
      make_row(OpKind::RmsNorm, isa, refuse_non_f32, row_items, k.rms_norm, prepare_norm, first));
  rows.push_back(make_row(OpKind::LayerNorm, isa, refuse_non_f32, row_items, k.layer_norm,
                          prepare_norm, first));
  for (const OpKind op : {OpKind::Softmax, OpKind::LogSoftmax}) {
    rows.push_back(
        make_row(op, isa, refuse_non_f32, softmax_items, k.softmax, prepare_axis, first));
  }
  for (const OpKind op : reductions) {
    rows.push_back(make_row(op, isa, refuse_non_f32, reduce_items, k.reduce, prepare_reduce));
  }
  rows.push_back(
      make_row(OpKind::ArgMax, isa, refuse_non_f32, line_items, k.arg_max, prepare_axis));
  rows.push_back(make_row(OpKind::TopK, isa, refuse_non_f32, line_items, k.top_k, prepare_axis));
  rows.push_back(
      make_row(OpKind::CumSum, isa, refuse_non_f32, line_items, k.cumsum, prepare_axis, first));
}

}  // namespace rlx::cpu

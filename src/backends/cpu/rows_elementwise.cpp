// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/cpu/kernels/params.h"
#include "backends/cpu/kernels/shapes.h"
#include "backends/cpu/rows.h"

namespace rlx::cpu {
namespace {

void prepare_unary(const KernelQuery& query, void* params) {
  auto& p = *static_cast<UnaryParams*>(params);
  const Attrs& attrs = query.node.attrs;
  p = {query.node.op, false, 0.0f};
  if (p.op == OpKind::Gelu) p.tanh_form = attrs.get_string(AttrKey::Approximate) == "tanh";
  if (p.op == OpKind::Softcap) p.value = static_cast<float>(attrs.get_float(AttrKey::Softcap));
}

void prepare_binary(const KernelQuery& query, void* params) {
  *static_cast<BinaryParams*>(params) = {query.node.op};
}

void prepare_glu(const KernelQuery& query, void* params) {
  const std::string& f = query.node.attrs.get_string(AttrKey::Activation);
  *static_cast<Gate*>(params) = f == "silu"   ? Gate::Silu
                                : f == "gelu" ? Gate::Gelu
                                              : Gate::GeluTanh;
}

std::string refuse_non_bool(const KernelQuery& query) {
  for (size_t i = 0; i < query.operands.size(); ++i) {
    std::string reason = refuse_other_dtype(query, i, DType::Bool);
    if (!reason.empty()) return reason;
  }
  return {};
}

std::string refuse_where(const KernelQuery& query) {
  const DType dtype = query.operands[1].dtype;
  const int64_t bytes = element_bytes(dtype);
  if (bytes >= 1 && bytes <= 8) return {};
  return fmt::format("elements of {} are not moved", dtype_name(dtype));
}

/// Types that the cast kernel holds exactly in a double or an int64.
bool casts(DType d) {
  switch (d) {
    case DType::F64:
    case DType::F32:
    case DType::F16:
    case DType::BF16:
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64:
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::Bool: return true;
    default: return false;
  }
}

std::string refuse_cast(const KernelQuery& query) {
  const DType from = query.operands[0].dtype, to = query.node.attrs.get_dtype(AttrKey::To);
  // 16-bit floats are rounded from f32, which wide numbers would have to be rounded to first.
  const bool wide =
      from == DType::F64 || from == DType::I32 || from == DType::I64 || from == DType::U32;
  const bool half = to == DType::F16 || to == DType::BF16;
  if (casts(from) && casts(to) && !(wide && half)) return {};
  return fmt::format("{} to {} is not vectorised", dtype_name(from), dtype_name(to));
}

constexpr OpKind unary_ops[] = {OpKind::Neg,   OpKind::Abs,   OpKind::Sign,    OpKind::Exp,
                                OpKind::Log,   OpKind::Sqrt,  OpKind::Sin,     OpKind::Cos,
                                OpKind::Tanh,  OpKind::Erf,   OpKind::Floor,   OpKind::Ceil,
                                OpKind::Round, OpKind::Rsqrt, OpKind::Sigmoid, OpKind::Relu,
                                OpKind::Silu,  OpKind::Gelu,  OpKind::Softcap};
constexpr OpKind binary_ops[] = {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Div,
                                 OpKind::Max, OpKind::Min, OpKind::Pow, OpKind::Mod};
constexpr OpKind comparisons[] = {OpKind::Equal, OpKind::Less, OpKind::LessEqual};
constexpr OpKind logical_ops[] = {OpKind::And, OpKind::Or, OpKind::Not};

// in_place: each element is read before the result's element of the same place is written.
constexpr uint32_t first = 1, first_two = 3, second_and_third = 6;

}  // namespace

void add_elementwise_rows(std::vector<KernelRow>& rows, Isa isa) {
  const KernelTable& k = kernel_table(isa);
  for (const OpKind op : unary_ops) {
    rows.push_back(make_row(op, isa, refuse_non_f32, chunk_items, k.unary, prepare_unary, first));
  }
  for (const OpKind op : binary_ops) {
    rows.push_back(
        make_row(op, isa, refuse_non_f32, chunk_items, k.binary, prepare_binary, first_two));
  }
  for (const OpKind op : comparisons) {
    rows.push_back(make_row(op, isa, refuse_non_f32, chunk_items, k.compare, prepare_binary));
  }
  for (const OpKind op : logical_ops) {
    rows.push_back(
        make_row(op, isa, refuse_non_bool, chunk_items, k.logical, prepare_binary, first_two));
  }
  rows.push_back(
      make_row(OpKind::Glu, isa, refuse_non_f32, chunk_items, k.glu, prepare_glu, first_two));
  rows.push_back(
      make_row(OpKind::Where, isa, refuse_where, chunk_items, k.where, nullptr, second_and_third));
  rows.push_back(make_row(OpKind::Cast, isa, refuse_cast, chunk_items, k.cast));
}

}  // namespace rlx::cpu

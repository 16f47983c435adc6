// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/rows_linear.h"

#include <fmt/core.h>

#include <algorithm>

#include "backends/cpu/kernels/linear/linear.h"
#include "quant/codes.h"

// Rows of linear, expert_linear, quantize to q15 and embedding.
namespace rlx::cpu {
namespace {

struct LevelKernels {
  KernelRun linear_q15, linear_f32, expert_q15, expert_f32, quantize, embedding;
  int64_t (*q15_scratch)(int64_t rows, int64_t k) noexcept;
  int64_t (*f32_scratch)(int64_t rows, int64_t k) noexcept;
};

#define RLX_LEVEL(isa)                                                                  \
  {                                                                                     \
    isa::run_linear_q15, isa::run_linear_f32, isa::run_expert_q15, isa::run_expert_f32, \
        isa::run_quantize_q15, isa::run_embedding, isa::linear_q15_scratch,             \
        isa::linear_f32_scratch                                                         \
  }
#if defined(__x86_64__)
constexpr LevelKernels levels[] = {RLX_LEVEL(isa_v2), RLX_LEVEL(isa_v3), RLX_LEVEL(isa_v4),
                                   RLX_LEVEL(isa_v4_vnni)};
#else
constexpr LevelKernels generic = RLX_LEVEL(isa_generic);
constexpr LevelKernels levels[] = {generic, generic, generic, generic};
#endif
#undef RLX_LEVEL

DType operand_type(const KernelQuery& q, size_t i) { return q.operands[i].dtype; }

/// Empty when operand i has one of the types.
std::string require_type(const KernelQuery& q, size_t i, std::initializer_list<DType> allowed) {
  const DType given = operand_type(q, i);
  if (std::find(allowed.begin(), allowed.end(), given) != allowed.end()) return {};
  std::string names;
  for (const DType d : allowed) {
    names += (names.empty() ? "" : " or ") + std::string(dtype_name(d));
  }
  return fmt::format("operand {} is {}, this kernel reads {}", i, dtype_name(given), names);
}

std::string require_result(const KernelQuery& q, DType wanted) {
  const DType given = q.node.types[0].dtype;
  if (given == wanted) return {};
  return fmt::format("the result is {}, this kernel writes {}", dtype_name(given),
                     dtype_name(wanted));
}

bool has_codes(DType dtype) { return code_format(dtype).has_value(); }

std::string require_weight(const KernelQuery& q, size_t i, bool dense) {
  const DType given = operand_type(q, i);
  if (has_codes(given)) return {};
  if (dense && (given == DType::F32 || given == DType::F16 || given == DType::BF16)) return {};
  return fmt::format("weights are {}, this kernel reads {}packed types", dtype_name(given),
                     dense ? "f32, f16, bf16 and " : "");
}

template <typename... Reasons>
std::string first_reason(Reasons... reasons) {
  std::string found;
  ((found.empty() ? void(found = std::move(reasons)) : void()), ...);
  return found;
}

std::string refuse_product(const KernelQuery& q, DType x, bool dense) {
  return first_reason(require_type(q, 0, {x}), require_weight(q, 1, dense),
                      require_result(q, DType::F32));
}
std::string refuse_linear(const KernelQuery& q, DType x, bool dense) {
  return first_reason(refuse_product(q, x, dense),
                      q.operands.size() > 2 ? require_type(q, 2, {DType::F32}) : std::string());
}
std::string refuse_expert(const KernelQuery& q, DType x, bool dense) {
  return first_reason(refuse_product(q, x, dense), require_type(q, 2, {DType::I64, DType::I32}));
}

std::string refuse_linear_q15(const KernelQuery& q) { return refuse_linear(q, DType::Q15, false); }
std::string refuse_linear_f32(const KernelQuery& q) { return refuse_linear(q, DType::F32, true); }
std::string refuse_expert_q15(const KernelQuery& q) { return refuse_expert(q, DType::Q15, false); }
std::string refuse_expert_f32(const KernelQuery& q) { return refuse_expert(q, DType::F32, true); }

std::string refuse_quantize(const KernelQuery& q) {
  return first_reason(require_type(q, 0, {DType::F32}), require_result(q, DType::Q15));
}
std::string refuse_embedding(const KernelQuery& q) {
  return first_reason(require_weight(q, 0, true), require_type(q, 1, {DType::I64, DType::I32}),
                      require_result(q, DType::F32));
}

void write_params(DType weight, void* params) {
  const DTypeInfo& info = dtype_info(weight);
  LinearParams p{weight, info.block_elements, info.block_bytes, 0, 0, false};
  if (const auto format = code_format(weight)) {
    p.group = format->group;
    p.offset = format->offset;
    p.has_min = format->has_min;
  }
  static_assert(sizeof(LinearParams) <= KernelRow::kMaxParams);
  *static_cast<LinearParams*>(params) = p;
}
void prepare_linear(const KernelQuery& q, void* params) {
  write_params(operand_type(q, 1), params);
}
void prepare_embedding(const KernelQuery& q, void* params) {
  write_params(operand_type(q, 0), params);
}

/// Product of the bounds of all axes of operand i but the last.
int64_t row_bound(const KernelQuery& q, size_t i) {
  const Shape& shape = q.operands[i].shape;
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    rows *= shape[axis].upper_bound(q.symbols);
  }
  return rows;
}
int64_t width(const KernelQuery& q) { return q.operands[1].shape.back().upper_bound(q.symbols); }

template <Isa isa, bool q15>
Workspace linear_workspace(const KernelQuery& q) {
  const LevelKernels& level = levels[static_cast<size_t>(isa)];
  return {0, (q15 ? level.q15_scratch : level.f32_scratch)(row_bound(q, 0), width(q))};
}
template <Isa isa, bool q15>
Workspace expert_workspace(const KernelQuery& q) {
  const LevelKernels& level = levels[static_cast<size_t>(isa)];
  const int64_t pairs = row_bound(q, 2) * q.operands[2].shape.back().upper_bound(q.symbols);
  return {
      0, expert_list_bytes(pairs) + (q15 ? level.q15_scratch : level.f32_scratch)(pairs, width(q))};
}

int64_t rows_of(const TensorView& x) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.rank; ++i) rows *= x.dims[i];
  return rows;
}
/// Items of item_rows weight rows that cover w.
int64_t row_items(const TensorView& w, int64_t item_rows) {
  return round_up(w.dims[w.rank - 2], item_rows) / item_rows;
}

int64_t linear_items(const KernelCall& call) noexcept {
  const int64_t rows = rows_of(call.operands[0]);
  return rows == 0 ? 0 : row_items(call.operands[1], linear_item_rows(rows));
}
int64_t expert_items(const KernelCall& call) noexcept {
  const TensorView& ids = call.operands[2];
  const int64_t pairs = ids.dims[0] * ids.dims[1];
  if (pairs == 0) return 0;
  return row_items(call.operands[1], expert_item_rows) *
         (pairs <= expert_pair_limit ? pairs : call.operands[1].dims[0]);
}
int64_t quantize_items(const KernelCall& call) noexcept {
  const TensorView& x = call.operands[0];
  const int64_t blocks = rows_of(x) * (x.rank == 0 ? 0 : x.dims[x.rank - 1]) / 32;
  return round_up(blocks, quantize_item_blocks) / quantize_item_blocks;
}
int64_t embedding_items(const KernelCall& call) noexcept { return call.operands[1].dims[0]; }

template <Isa isa>
void add_level(std::vector<KernelRow>& rows) {
  const LevelKernels& level = levels[static_cast<size_t>(isa)];
  const auto add = [&](std::string_view name, OpKind op, KernelItems items, KernelRun run,
                       std::string (*refuse)(const KernelQuery&),
                       void (*prepare)(const KernelQuery&, void*),
                       Workspace (*workspace)(const KernelQuery&)) {
    KernelRow row;
    row.name = fmt::format("{}.{}", name, isa_name(isa));
    row.op = op;
    row.refuse = refuse;
    row.prepare = prepare;
    row.workspace = workspace;
    row.items = items;
    row.run = run;
    rows.push_back(std::move(row));
  };
  if (isa == Isa::V4Vnni) {
    add("linear.q15", OpKind::Linear, linear_items, level.linear_q15, refuse_linear_q15,
        prepare_linear, linear_workspace<isa, true>);
    add("expert_linear.q15", OpKind::ExpertLinear, expert_items, level.expert_q15,
        refuse_expert_q15, prepare_linear, expert_workspace<isa, true>);
  }
  add("linear.f32", OpKind::Linear, linear_items, level.linear_f32, refuse_linear_f32,
      prepare_linear, linear_workspace<isa, false>);
  add("expert_linear.f32", OpKind::ExpertLinear, expert_items, level.expert_f32, refuse_expert_f32,
      prepare_linear, expert_workspace<isa, false>);
  add("quantize.q15", OpKind::Quantize, quantize_items, level.quantize, refuse_quantize, nullptr,
      nullptr);
  add("embedding", OpKind::Embedding, embedding_items, level.embedding, refuse_embedding,
      prepare_embedding, nullptr);
}

}  // namespace

void add_linear_rows(std::vector<KernelRow>& rows, Isa isa) {
  switch (isa) {
    case Isa::V2: return add_level<Isa::V2>(rows);
    case Isa::V3: return add_level<Isa::V3>(rows);
    case Isa::V4: return add_level<Isa::V4>(rows);
    case Isa::V4Vnni: return add_level<Isa::V4Vnni>(rows);
  }
}

}  // namespace rlx::cpu

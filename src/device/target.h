// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "device/kernel.h"
#include "ir/graph.h"

namespace rlx {

/// What a row sees when it is asked whether it takes a node: types may be symbolic.
struct KernelQuery {
  const Node& node;
  std::span<const TensorType> operands;
  std::span<const Symbol> symbols;
};

/// Bytes a step needs besides its operands and results, at the bounds of the symbols.
struct Workspace {
  int64_t shared = 0;
  int64_t per_worker = 0;
};

/// An extent in the form a row's params can hold.
RunExtent run_extent(const Dim& dim);

/// One kernel: which nodes it takes (and if not, why not), and how to run it.
struct KernelRow {
  std::string name;  ///< unique in the table, "linear.q15.v4_vnni"
  OpKind op = OpKind::Input;
  /// Why this row cannot run the node; empty when it can.
  std::string (*refuse)(const KernelQuery&) = nullptr;
  /// Writes at most kMaxParams bytes of plain data that `run` reads; may be null.
  void (*prepare)(const KernelQuery&, void* params) = nullptr;
  Workspace (*workspace)(const KernelQuery&) = nullptr;  ///< may be null: none
  KernelItems items = nullptr;
  KernelRun run = nullptr;
  /// Bit i: result 0 may take over the bytes of operand i (same extents, read before written).
  uint32_t in_place = 0;
  /// Set instead of items/run for the oracle-backed fallback: the runtime evaluates the op's
  /// record.
  bool by_reference = false;

  static constexpr size_t kMaxParams = 96;
};

/// What a device is to the compiler: its kernels, best first, and its limits.
struct Target {
  std::string name;                ///< "cpu"
  std::string isa;                 ///< "v4_vnni"
  std::vector<KernelRow> kernels;  ///< for each op the first row that does not refuse is taken
  int64_t max_buffer_bytes = INT64_MAX;
  int64_t alignment = 64;             ///< of every planned offset, bytes
  bool quantize_activations = false;  ///< legalize gives packed linears Q15 operands
  bool bf16_activations = false;  ///< operands of products with bf16 weights are rounded to bf16
};

/// The first row that takes the query, or null; `refusals` (may be null) gets "row: reason" lines.
const KernelRow* select_kernel(const Target& target, const KernelQuery& query,
                               std::vector<std::string>* refusals);

}  // namespace rlx

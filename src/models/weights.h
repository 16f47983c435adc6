// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "import/checkpoint.h"
#include "ir/graph.h"

namespace rlx {

/// A length of a weight's axis and what the architecture calls it: {"embedding_length", 640}.
struct Extent {
  std::string_view name;
  int64_t size;
};

/// Makes weight leaves of a graph out of a checkpoint's tensors; their bytes stay in the mapping. A
/// tensor asked for again is the same leaf. Throws Error: NotFound for a missing tensor,
/// InvalidFile naming the found and the expected shape, Unsupported for a type with no numbers.
class Weights {
 public:
  /// `graph` must outlive it. Without `with_bytes` leaves are typed only: nothing that costs memory
  /// is done.
  Weights(std::shared_ptr<const Checkpoint> checkpoint, Graph& graph, bool with_bytes)
      : checkpoint_(std::move(checkpoint)), graph_(&graph), with_bytes_(with_bytes) {}

  bool has(std::string_view name) const { return checkpoint_->has_tensor(name); }
  /// The whole tensor, of exactly that shape.
  Value get(const std::string& name, std::span<const Extent> shape);
  /// Rows [first, first + count) of a tensor of that shape, as a leaf `leaf_name`.
  Value rows(const std::string& name, const std::string& leaf_name, std::span<const Extent> shape,
             int64_t first, int64_t count);
  /// Matrices "blk.0.ffn_up.<e>.weight" for e below shape[0] as one leaf "blk.0.ffn_up_exps.weight"
  /// of three axes. They are copied together unless they lie one after the other.
  Value stacked(const std::string& module, std::span<const Extent> shape);

  /// Error for a tensor "blk.<n>.…" that was not asked for: a feature this architecture's graph
  /// lacks, or a block behind the last.
  void refuse_unused(int64_t layers) const;

 private:
  const CheckpointTensor& checked(const std::string& name, std::span<const Extent> shape);
  Value add(const std::string& leaf_name, DType dtype, std::span<const int64_t> shape,
            std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::shared_ptr<const Checkpoint> checkpoint_;
  Graph* graph_;
  bool with_bytes_;
  std::unordered_set<std::string> used_;
};

}  // namespace rlx

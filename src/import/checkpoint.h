// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/metadata.h"
#include "ir/dtype.h"

namespace rlx {

/// One weight of a checkpoint. Bytes stay in the file's mapping and live as long as the Checkpoint.
struct CheckpointTensor {
  std::string name;            ///< GGUF spelling: "blk.0.attn_q.weight"
  DType dtype;                 ///< a Packed type runs along the last axis
  std::vector<int64_t> shape;  ///< row-major; of a matrix [out features, in features]
  std::span<const std::byte> bytes;
};

/// How the weights of a source differ from those of a GGUF file of the same architecture. All false
/// for GGUF files, but for separate_experts in old ones.
struct Layout {
  /// Rows of q and k are in their published order, so rope pairs (i, i + d/2) in the llama
  /// architecture too; GGUF files of it have rows permuted for pairs (2i, 2i + 1).
  bool rope_pairs_are_halves = false;
  /// RMS norm weights of gemma are stored as w - 1: add one before use.
  bool norm_weights_lack_one = false;
  /// Matrices of gpt2 are [in features, out features] (token and position tables are not).
  bool linear_is_in_out = false;
  /// Experts are single matrices "blk.0.ffn_gate.7.weight" (ffn_up, ffn_down alike), not one
  /// stacked "blk.0.ffn_gate_exps.weight" of shape [experts, out, in].
  bool separate_experts = false;
};

/// A model's hyper-parameters and weights under GGUF names, whichever kind of file they came from.
/// Immutable, so shareable between threads.
class Checkpoint {
 public:
  enum class Source : uint8_t { Gguf, HuggingFace };

  /// Opens a .gguf file (or any shard of a set), a folder with config.json and safetensors, or a
  /// .safetensors file beside its config.json. Throws Error naming the path.
  static std::shared_ptr<const Checkpoint> open(const std::string& path);

  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();

  Source source() const;
  const Layout& layout() const;
  /// As given to open().
  const std::string& path() const;
  /// The folder of config.json, tokenizer.json, …; empty for GGUF.
  const std::string& folder() const;

  /// GGUF's general.architecture: "llama", "gemma3", …; Error NotFound where the file has none.
  std::string_view architecture() const;
  /// "<architecture>.<name>": key("block_count") is "llama.block_count".
  std::string key(std::string_view name) const;
  /// All key-value pairs under GGUF keys (those of a config.json are translated). Typed look-ups:
  /// metadata().u64(key("block_count")), .find_u64(...), .u64_per_layer(...).
  const Metadata& metadata() const;

  // Short for metadata(): whole keys, errors as there.
  bool has(std::string_view k) const { return metadata().has(k); }
  uint64_t u64(std::string_view k) const { return metadata().u64(k); }
  double f64(std::string_view k) const { return metadata().f64(k); }
  bool boolean(std::string_view k) const { return metadata().boolean(k); }
  std::string_view str(std::string_view k) const { return metadata().string(k); }

  /// Whether there is a tensor of that name (of a known type or not).
  bool has_tensor(std::string_view name) const;
  /// The tensor; Error NotFound naming it, Unsupported where its type is unknown to this build.
  const CheckpointTensor& tensor(std::string_view name) const;
  /// The tensor, or null where there is none; Unsupported as tensor().
  const CheckpointTensor* find_tensor(std::string_view name) const;
  /// Every tensor of a known type, in file order.
  std::span<const CheckpointTensor> tensors() const;

  /// The default chat template (Jinja text), if there is one.
  std::optional<std::string_view> chat_template() const;

  struct Impl;
  explicit Checkpoint(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "models/language_model.h"

#include <string_view>

#include "base/error.h"
#include "models/architectures.h"

namespace rlx {
namespace {

constexpr std::string_view rms = "attention.layer_norm_rms_epsilon";
constexpr std::string_view layer = "attention.layer_norm_epsilon";

/// general.architecture, the key of its norms' epsilon, and what builds it.
struct Architecture {
  std::string_view name;
  std::string_view epsilon_key;
  void (*build)(Decoder&);
};

constexpr Architecture architectures[] = {
    {"gemma", rms, build_gemma}, {"gemma2", rms, build_gemma2}, {"gemma3", rms, build_gemma3},
    {"gpt2", layer, build_gpt2}, {"llama", rms, build_llama},   {"phi3", rms, build_phi3},
    {"qwen2", rms, build_qwen2}, {"qwen3", rms, build_qwen3},   {"qwen3moe", rms, build_qwen3},
};

const Architecture& architecture_of(const Checkpoint& checkpoint) {
  std::string known;
  for (const Architecture& row : architectures) {
    if (row.name == checkpoint.architecture()) return row;
    if (!known.empty()) known += ", ";
    known += row.name;
  }
  fail(ErrorCode::Unsupported, "{}: architecture {} is not supported; supported are {}",
       checkpoint.path(), quote(checkpoint.architecture()), known);
}

LanguageModel build(std::shared_ptr<const Checkpoint> checkpoint,
                    const LanguageModelOptions& options, bool with_bytes) {
  const Architecture& row = architecture_of(*checkpoint);
  Graph graph{std::string(row.name)};
  Decoder decoder(std::move(checkpoint), options, row.epsilon_key, graph, with_bytes);
  row.build(decoder);
  const HyperParameters& h = decoder.hyper();
  return {std::move(graph),  h.vocabulary,          decoder.context(),
          h.trained_context, std::string(row.name), decoder.kv_bytes()};
}

}  // namespace

LanguageModel build_language_model(std::shared_ptr<const Checkpoint> checkpoint,
                                   const LanguageModelOptions& options) {
  return build(std::move(checkpoint), options, true);
}

Support support_of(const Checkpoint& checkpoint) {
  try {
    const std::shared_ptr<const Checkpoint> borrowed(std::shared_ptr<void>(), &checkpoint);
    build(borrowed, {}, false);
    return {true, ""};
  } catch (const Error& error) {
    return {false, error.message()};
  }
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "models/rope_frequencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "models/hyper_parameters.h"
#include "ops/oracle.h"

namespace rlx {
namespace {

constexpr double default_base = 10000;

/// Divides each frequency by its factor in tensor `name`.
void apply_factors(const Checkpoint& checkpoint, const std::string& name, RopeFrequencies& rope) {
  const CheckpointTensor& tensor = checkpoint.tensor(name);
  const auto pairs = static_cast<int64_t>(rope.inv_freq.size());
  if (tensor.shape != std::vector<int64_t>{pairs}) {
    fail(ErrorCode::InvalidFile, "{}: {}: [{}] found, [rope.dimension_count / 2] = [{}] expected",
         checkpoint.path(), name, fmt::join(tensor.shape, ", "), pairs);
  }
  if (!is_float(tensor.dtype)) {
    fail(ErrorCode::Unsupported, "{}: {} has type {}; a float type is needed", checkpoint.path(),
         name, dtype_name(tensor.dtype));
  }
  const OracleTensor factors = oracle_from_bytes(tensor.dtype, tensor.shape, tensor.bytes);
  for (size_t i = 0; i < factors.data.size(); ++i) {
    if (!(factors.data[i] > 0) || !std::isfinite(factors.data[i])) {
      fail(ErrorCode::InvalidFile, "{}: {}[{}] is {}; a finite number above 0 is needed",
           checkpoint.path(), name, i, factors.data[i]);
    }
    rope.inv_freq[i] /= factors.data[i];
  }
}

/// The name of the factor tensor that counts for `context`, empty where there is none.
std::string factor_tensor(const Checkpoint& checkpoint, const Config& config, int64_t context) {
  if (checkpoint.has_tensor("rope_factors_long.weight") ||
      checkpoint.has_tensor("rope_factors_short.weight")) {
    checkpoint.tensor("rope_factors_long.weight");  // one without the other is half a model
    checkpoint.tensor("rope_factors_short.weight");
    const int64_t original =
        config.has("rope.scaling.original_context_length")
            ? config.count("rope.scaling.original_context_length", 1, INT32_MAX)
            : config.count("context_length", 1, INT32_MAX);
    return context > original ? "rope_factors_long.weight" : "rope_factors_short.weight";
  }
  return checkpoint.has_tensor("rope_freqs.weight") ? "rope_freqs.weight" : "";
}

/// How positions are scaled; a factor alone has always meant "linear".
std::string scaling_type(const Config& config) {
  const bool factor = config.has("rope.scaling.factor") || config.has("rope.scale_linear");
  return config.text_or("rope.scaling.type", factor ? "linear" : "none");
}

/// The factor of linear scaling, under its name of today or its first one.
double linear_factor(const Config& config) {
  const bool old_name = !config.has("rope.scaling.factor") && config.has("rope.scale_linear");
  return config.positive(old_name ? "rope.scale_linear" : "rope.scaling.factor");
}

YarnScaling read_yarn(const Config& config) {
  YarnScaling yarn;
  yarn.factor = config.positive("rope.scaling.factor");
  yarn.original_context =
      static_cast<double>(config.has("rope.scaling.original_context_length")
                              ? config.count("rope.scaling.original_context_length", 1, INT32_MAX)
                              : config.count("context_length", 1, INT32_MAX));
  yarn.beta_fast = config.positive_or("rope.scaling.yarn_beta_fast", yarn.beta_fast);
  yarn.beta_slow = config.positive_or("rope.scaling.yarn_beta_slow", yarn.beta_slow);
  return yarn;
}

}  // namespace

RopeFrequencies plain_rope(double base, int64_t dims) {
  RopeFrequencies rope;
  for (int64_t i = 0; i < dims / 2; ++i) {
    rope.inv_freq.push_back(
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dims)));
  }
  return rope;
}

RopeFrequencies yarn_rope(double base, int64_t dims, const YarnScaling& scaling) {
  RopeFrequencies rope = plain_rope(base, dims);
  if (scaling.factor == 1) return rope;
  const auto width = static_cast<double>(dims);
  const auto pair_of_turns = [&](double turns) {
    return width * std::log(scaling.original_context / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(base));
  };
  const double low = std::max(std::floor(pair_of_turns(scaling.beta_fast)), 0.0);
  const double high = std::min(std::ceil(pair_of_turns(scaling.beta_slow)), width - 1);
  for (size_t i = 0; i < rope.inv_freq.size(); ++i) {
    const double slowed =
        std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
    rope.inv_freq[i] *= slowed / scaling.factor + (1 - slowed);
  }
  rope.magnitude = scaling.factor > 1 ? 1 + 0.1 * std::log(scaling.factor) : 1;
  return rope;
}

RopeFrequencies read_rope(const Checkpoint& checkpoint, int64_t dims, int64_t context) {
  const Config config(checkpoint);
  const double base = config.positive_or("rope.freq_base", default_base);
  const std::string type = scaling_type(config);
  const std::string factors = factor_tensor(checkpoint, config, context);
  double attention_factor = config.positive_or("rope.scaling.attn_factor", 1);
  RopeFrequencies rope;
  if (type == "yarn") {
    rope = yarn_rope(base, dims, read_yarn(config));
    // Hugging Face's attention_factor stands instead of YaRN's own, GGUF's is on top of it.
    const bool replaces = checkpoint.source() == Checkpoint::Source::HuggingFace &&
                          config.has("rope.scaling.attn_factor");
    if (replaces) rope.magnitude = 1;
  } else if (type == "none" || type == "linear" || (type == "longrope" && !factors.empty())) {
    rope = plain_rope(base, dims);
    const double slow = type == "linear" ? linear_factor(config) : 1;
    for (double& frequency : rope.inv_freq) frequency /= slow;
  } else {
    fail(ErrorCode::Unsupported,
         "{} is {}; supported are none, linear, yarn and, with rope_factors tensors, longrope",
         config.place("rope.scaling.type"), quote(type));
  }
  if (!factors.empty()) apply_factors(checkpoint, factors, rope);
  rope.magnitude *= attention_factor;
  return rope;
}

int64_t read_rope_dims(const Checkpoint& checkpoint, int64_t head_dim) {
  const Config config(checkpoint);
  const int64_t dims = config.count_or("rope.dimension_count", head_dim, 0, INT32_MAX);
  if (dims < 2 || dims % 2 != 0 || dims > head_dim) {
    fail(ErrorCode::InvalidFile, "{} is {}; an even number from 2 to {} (a head) is needed",
         config.place("rope.dimension_count"), dims, head_dim);
  }
  return dims;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "models/hyper_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace rlx {
namespace {

constexpr int64_t max_heads = int64_t{1} << 16;
constexpr int64_t max_head_dim = int64_t{1} << 16;
constexpr int64_t max_experts = int64_t{1} << 16;
constexpr int64_t max_context = INT32_MAX;

int64_t checked(const Config& config, std::string_view name, uint64_t value, int64_t low,
                int64_t high) {
  if (value < static_cast<uint64_t>(low) || value > static_cast<uint64_t>(high)) {
    fail(ErrorCode::InvalidFile, "{} is {}; {} to {} is allowed", config.place(name), value, low,
         high);
  }
  return static_cast<int64_t>(value);
}

/// One more than the largest n of a tensor "blk.<n>.…", but no more than there are tensors.
int64_t blocks_in_file(const Checkpoint& checkpoint) {
  constexpr std::string_view prefix = "blk.";
  int64_t blocks = 0;
  for (const CheckpointTensor& tensor : checkpoint.tensors()) {
    if (!tensor.name.starts_with(prefix)) continue;
    const char* begin = tensor.name.data() + prefix.size();
    const char* end = tensor.name.data() + tensor.name.size();
    int32_t number = 0;
    const auto result = std::from_chars(begin, end, number);
    if (result.ec == std::errc() && result.ptr != end && *result.ptr == '.' && number >= 0) {
      blocks = std::max<int64_t>(blocks, int64_t{number} + 1);
    }
  }
  return std::min(blocks, static_cast<int64_t>(checkpoint.tensors().size()));
}

int64_t read_layers(const Checkpoint& checkpoint, const Config& config) {
  const int64_t blocks = blocks_in_file(checkpoint);
  const int64_t layers = config.count("block_count", 1, INT64_MAX);
  if (layers > blocks) {
    fail(ErrorCode::InvalidFile, "{} is {}; the file has tensors of {} blocks",
         config.place("block_count"), layers, blocks);
  }
  return layers;
}

int64_t read_key_length(const Config& config, const HyperParameters& h) {
  if (config.has("attention.key_length")) {
    return config.count("attention.key_length", 1, max_head_dim);
  }
  if (h.embedding % h.heads[0] != 0) {
    fail(ErrorCode::InvalidFile, "{} is {}; embedding_length {} is no multiple of it",
         config.place("attention.head_count"), h.heads[0], h.embedding);
  }
  return h.embedding / h.heads[0];
}

int64_t read_head_dim(const Config& config, const HyperParameters& h) {
  const int64_t key = read_key_length(config, h);
  const int64_t value = config.count_or("attention.value_length", key, 1, max_head_dim);
  if (key != value) {
    const bool given = config.has("attention.key_length");
    fail(ErrorCode::Unsupported, "{} is {} and attention.key_length{} {}; they must be equal",
         config.place("attention.value_length"), value,
         given ? "" : " (missing, so embedding_length / head_count)", key);
  }
  return key;
}

void read_heads(const Config& config, HyperParameters& h) {
  h.heads = config.counts("attention.head_count", h.layers, 1, max_heads);
  h.kv_heads = config.has("attention.head_count_kv")
                   ? config.counts("attention.head_count_kv", h.layers, 1, max_heads)
                   : h.heads;
  for (size_t i = 0; i < h.heads.size(); ++i) {
    if (h.heads[i] % h.kv_heads[i] != 0) {
      fail(ErrorCode::InvalidFile, "{} is {} in layer {}; attention.head_count {} is no multiple",
           config.place("attention.head_count_kv"), h.kv_heads[i], i, h.heads[i]);
    }
  }
  h.head_dim = read_head_dim(config, h);
}

void read_feed_forward(const Config& config, HyperParameters& h) {
  h.experts = config.count_or("expert_count", 0, 0, max_experts);
  h.experts_used = h.experts == 0 ? 0 : config.count("expert_used_count", 1, h.experts);
  const bool dense_width = config.has("feed_forward_length") || h.experts == 0;
  if (dense_width) {
    h.feed_forward = config.counts("feed_forward_length", h.layers, 1, kMaxWidth);
  }
  if (h.experts == 0) {
    h.expert_feed_forward = 0;
  } else if (dense_width) {
    h.expert_feed_forward =
        config.count_or("expert_feed_forward_length", h.feed_forward[0], 1, kMaxWidth);
  } else {
    h.expert_feed_forward = config.count("expert_feed_forward_length", 1, kMaxWidth);
  }
}

/// A key with a meaning that no graph here has, unless it holds one of these numbers.
struct Neutral {
  std::string_view name;
  double first;
  double second;
};

constexpr Neutral neutral_values[] = {
    {"attention.max_alibi_bias", 0, 0},
    {"attention.clamp_kqv", 0, 0},
    {"attention.causal", 1, 1},
    {"attention.shared_kv_layers", 0, 0},
    {"attention.temperature_scale", 0, 0},
    {"expert_shared_count", 0, 0},
    {"expert_group_count", 0, 1},
    {"expert_weights_scale", 0, 1},
    {"expert_gating_func", 0, 1},
    {"leading_dense_block_count", 0, 0},
    {"nextn_predict_layers", 0, 0},
    {"logit_scale", 0, 1},
    {"residual_scale", 0, 1},
    {"embedding_scale", 0, 1},
    {"router_logit_softcapping", 0, 0},
    {"rope.scaling.yarn_ext_factor", -1, 1},
    {"rope.scaling.yarn_attn_factor", 1, 1},
    {"rope.scaling.yarn_log_multiplier", 0, 0},
    {"use_parallel_residual", 0, 0},
};

void refuse_unknown_meaning(const Checkpoint& checkpoint, const Config& config) {
  for (const Neutral& row : neutral_values) {
    const MetaValue* value = checkpoint.metadata().find(checkpoint.key(row.name));
    if (value == nullptr) continue;
    std::optional<double> number = value->to_f64();
    if (const auto integer = value->to_i64()) number = static_cast<double>(*integer);
    if (const auto flag = value->to_bool()) number = *flag ? 1 : 0;
    if (number && (*number == row.first || *number == row.second)) continue;
    fail(ErrorCode::Unsupported, "{} is {}; only {} is supported for {}", config.place(row.name),
         number ? fmt::format("{}", *number) : value->type_text(), row.second,
         checkpoint.architecture());
  }
}

double softcap(const Config& config, std::string_view name) {
  return config.has(name) ? config.positive(name) : 0;
}

}  // namespace

bool Config::has(std::string_view name) const { return checkpoint_->has(checkpoint_->key(name)); }

std::string Config::place(std::string_view name) const {
  return fmt::format("{}: {}", checkpoint_->path(), checkpoint_->key(name));
}

int64_t Config::count(std::string_view name, int64_t low, int64_t high) const {
  return checked(*this, name, checkpoint_->u64(checkpoint_->key(name)), low, high);
}

int64_t Config::count_or(std::string_view name, int64_t fallback, int64_t low, int64_t high) const {
  return has(name) ? count(name, low, high) : fallback;
}

std::vector<int64_t> Config::counts(std::string_view name, int64_t layers, int64_t low,
                                    int64_t high) const {
  std::vector<int64_t> out;
  const auto values =
      checkpoint_->metadata().u64_per_layer(checkpoint_->key(name), static_cast<size_t>(layers));
  for (const uint64_t value : values) out.push_back(checked(*this, name, value, low, high));
  return out;
}

double Config::positive(std::string_view name) const {
  const double value = checkpoint_->f64(checkpoint_->key(name));
  if (!(value > 0) || !std::isfinite(value)) {
    fail(ErrorCode::InvalidFile, "{} is {}; a finite number above 0 is needed", place(name), value);
  }
  return value;
}

double Config::positive_or(std::string_view name, double fallback) const {
  return has(name) ? positive(name) : fallback;
}

std::string Config::text_or(std::string_view name, std::string_view fallback) const {
  const std::string key = checkpoint_->key(name);
  return std::string(checkpoint_->has(key) ? checkpoint_->str(key) : fallback);
}

bool Config::flag_or(std::string_view name, bool fallback) const {
  return has(name) ? checkpoint_->boolean(checkpoint_->key(name)) : fallback;
}

HyperParameters read_hyper_parameters(const Checkpoint& checkpoint, std::string_view epsilon_key) {
  const Config config(checkpoint);
  HyperParameters h{};
  h.layers = read_layers(checkpoint, config);
  h.embedding = config.count("embedding_length", 1, kMaxWidth);
  h.trained_context = config.count("context_length", 1, max_context);
  read_heads(config, h);
  read_feed_forward(config, h);
  h.window = config.count_or("attention.sliding_window", 0, 0, max_context);
  h.epsilon = config.positive(epsilon_key);
  h.attention_scale =
      config.positive_or("attention.scale", 1.0 / std::sqrt(static_cast<double>(h.head_dim)));
  h.attention_softcap = softcap(config, "attn_logit_softcapping");
  h.logit_softcap = softcap(config, "final_logit_softcapping");
  const CheckpointTensor& tokens = checkpoint.tensor("token_embd.weight");
  if (tokens.shape.size() != 2 || tokens.shape[1] != h.embedding) {
    fail(ErrorCode::InvalidFile, "{}: token_embd.weight: [{}] found, [vocabulary, {}] expected",
         checkpoint.path(), fmt::join(tokens.shape, ", "), h.embedding);
  }
  h.vocabulary = tokens.shape[0];
  const int64_t declared = config.count_or("vocab_size", h.vocabulary, 1, INT64_MAX);
  if (declared != h.vocabulary) {
    fail(ErrorCode::InvalidFile, "{} is {}; token_embd.weight has {} rows",
         config.place("vocab_size"), declared, h.vocabulary);
  }
  refuse_unknown_meaning(checkpoint, config);
  return h;
}

}  // namespace rlx

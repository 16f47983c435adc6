// SPDX-License-Identifier: Apache-2.0
#include "import/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "import/hf_section.h"
#include "import/json_file.h"
#include "import/paths.h"

namespace rlx {
namespace {

using nlohmann::json;

/// One model_type: its GGUF architecture, what differs in its weights, and the values its published
/// configuration class takes where config.json leaves them out.
struct Family {
  std::string_view model_type;
  std::string_view architecture;
  Layout layout;
  std::string_view activation;  ///< the only one the architecture's graph has
  bool tied_by_default;
  double rope_base;
  double epsilon;
  uint64_t head_dim;  ///< 0: embedding width / heads
};

constexpr uint64_t largest_rotary_width = 65536;
constexpr Layout plain{.rope_pairs_are_halves = true};
constexpr Layout gemma{.rope_pairs_are_halves = true, .norm_weights_lack_one = true};
constexpr Layout conv1d{.linear_is_in_out = true};
constexpr Layout experts{.rope_pairs_are_halves = true, .separate_experts = true};

constexpr Family families[] = {
    {"gemma3_text", "gemma3", gemma, "gelu_pytorch_tanh", true, 1e6, 1e-6, 256},
    {"gpt2", "gpt2", conv1d, "gelu_new", true, 0, 1e-5, 0},
    {"llama", "llama", plain, "silu", false, 1e4, 1e-6, 0},
    {"mistral", "llama", plain, "silu", false, 1e4, 1e-6, 0},
    {"mixtral", "llama", experts, "silu", false, 1e6, 1e-5, 0},
    {"phi3", "phi3", plain, "silu", false, 1e4, 1e-5, 0},
    {"qwen2", "qwen2", plain, "silu", false, 1e4, 1e-6, 0},
    {"qwen3", "qwen3", plain, "silu", false, 1e4, 1e-6, 128},
    {"qwen3_moe", "qwen3moe", experts, "silu", false, 1e4, 1e-6, 0},
};

constexpr Rename common_names[] = {
    {"block_count", "num_hidden_layers", Kind::Count, Need::Must},
    {"context_length", "max_position_embeddings", Kind::Count, Need::Must},
    {"embedding_length", "hidden_size", Kind::Count, Need::Must},
    {"feed_forward_length", "intermediate_size", Kind::Count, Need::Must},
    {"attention.head_count", "num_attention_heads", Kind::Count, Need::Must},
    {"vocab_size", "vocab_size", Kind::Count, Need::May},
    {"expert_count", "num_local_experts", Kind::Count, Need::May},
    {"expert_count", "num_experts", Kind::Count, Need::May},
    {"expert_used_count", "num_experts_per_tok", Kind::Count, Need::May},
    {"expert_feed_forward_length", "moe_intermediate_size", Kind::Count, Need::May},
    {"attn_logit_softcapping", "attn_logit_softcapping", Kind::Real, Need::May},
    {"final_logit_softcapping", "final_logit_softcapping", Kind::Real, Need::May},
    {"rope.freq_base_swa", "rope_local_base_freq", Kind::Real, Need::May},
    {"attention.sliding_window_pattern", "sliding_window_pattern", Kind::Count, Need::May},
};

constexpr Rename gpt2_names[] = {
    {"block_count", "n_layer", Kind::Count, Need::Must},
    {"context_length", "n_positions", Kind::Count, Need::Must},
    {"embedding_length", "n_embd", Kind::Count, Need::Must},
    {"attention.head_count", "n_head", Kind::Count, Need::Must},
    {"vocab_size", "vocab_size", Kind::Count, Need::May},
};

constexpr Rename scaling_names[] = {
    {"rope.scaling.factor", "factor", Kind::Real, Need::May},
    {"rope.scaling.attn_factor", "attention_factor", Kind::Real, Need::May},
    {"rope.scaling.yarn_beta_fast", "beta_fast", Kind::Real, Need::May},
    {"rope.scaling.yarn_beta_slow", "beta_slow", Kind::Real, Need::May},
};

const Family& family_of(const Section& config) {
  const auto type = config.find_text("model_type");
  if (!type) config.missing("model_type");
  for (const Family& family : families) {
    if (family.model_type == *type) return family;
  }
  fail(ErrorCode::Unsupported, "{}: model_type {} is not supported; supported are {}",
       config.place(), quote(*type), known_model_types());
}

void check_activation(const Section& config, const Family& family) {
  for (const char* key : {"hidden_activation", "hidden_act", "activation_function"}) {
    const auto found = config.find_text(key);
    if (found && *found != family.activation) {
      fail(ErrorCode::Unsupported, "{}: {} is {}; only '{}' is supported for {}", config.place(),
           key, quote(*found), family.activation, family.model_type);
    }
    if (found) return;
  }
}

/// The frequency factors of Llama 3.1's rope scaling: waves shorter than context / high stay, those
/// longer than context / low are slowed by `factor`, and between the two it is interpolated.
/// Source: "rope_type": "llama3" of the model cards of Llama 3.1.
std::vector<float> llama3_factors(const Section& scaling, double base, uint64_t dims) {
  const double factor = scaling.real("factor");
  const double low = scaling.real("low_freq_factor");
  const double high = scaling.real("high_freq_factor");
  const double context = scaling.real("original_max_position_embeddings");
  if (!(factor > 0) || !(low > 0) || !(high > low) || !(context > 0)) {
    fail(ErrorCode::InvalidFile,
         "{}: factor {}, low_freq_factor {}, high_freq_factor {} and "
         "original_max_position_embeddings {} must be positive, high above low",
         scaling.place(), factor, low, high, context);
  }
  std::vector<float> factors;
  for (uint64_t i = 0; i < dims / 2; ++i) {
    const double wave = 2 * std::numbers::pi *
                        std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(dims));
    const double smooth = std::clamp((context / wave - low) / (high - low), 0.0, 1.0);
    factors.push_back(static_cast<float>(1.0 / ((1.0 - smooth) / factor + smooth)));
  }
  return factors;
}

void add_longrope(const Section& config, const Section& scaling, uint64_t dims, KeyWriter& out,
                  HfConfig& result) {
  auto original = scaling.find_count("original_max_position_embeddings");
  if (!original) original = config.find_count("original_max_position_embeddings");
  if (!original) config.missing("original_max_position_embeddings");
  if (*original < 2) {
    fail(ErrorCode::InvalidFile, "{}: original_max_position_embeddings is {}; at least 2 is needed",
         config.place(), *original);
  }
  out.text("rope.scaling.type", "longrope");
  out.count("rope.scaling.original_context_length", *original);
  if (!scaling.find("attention_factor")) {
    const double stretch =
        static_cast<double>(out.written("context_length")) / static_cast<double>(*original);
    // LongRoPE (arXiv 2402.13753), as its published configurations use it.
    out.real("rope.scaling.attn_factor",
             stretch <= 1
                 ? 1.0
                 : std::sqrt(1 + std::log(stretch) / std::log(static_cast<double>(*original))));
  }
  result.vectors.push_back({"rope_factors_long.weight", scaling.reals("long_factor", dims / 2)});
  result.vectors.push_back({"rope_factors_short.weight", scaling.reals("short_factor", dims / 2)});
}

void add_scaling(const Section& config, const Section& scaling, double base, uint64_t dims,
                 KeyWriter& out, HfConfig& result) {
  auto type = scaling.find_text("rope_type");
  if (!type) type = scaling.find_text("type");
  if (!type || *type == "default") return;
  if (*type == "llama3") {
    result.vectors.push_back({"rope_freqs.weight", llama3_factors(scaling, base, dims)});
    return;
  }
  if (*type == "longrope" || *type == "su") {
    add_longrope(config, scaling, dims, out, result);
  } else if (*type == "linear" || *type == "yarn") {
    scaling.real("factor");
    out.text("rope.scaling.type", *type);
    const auto original = scaling.find_count("original_max_position_embeddings");
    if (*type == "yarn") {
      out.count("rope.scaling.original_context_length",
                original.value_or(out.written("context_length")));
    }
  } else {
    fail(ErrorCode::Unsupported,
         "{}: rope type {} is not supported; supported are default, linear, llama3, longrope and "
         "yarn",
         scaling.place(), quote(*type));
  }
  out.renamed(scaling, scaling_names);
}

/// Rope keys of every family but gpt2. Newer files have "rope_parameters" (one, or one per kind of
/// layer), older ones "rope_theta" and "rope_scaling".
void add_rope(const Section& config, const Family& family, uint64_t head_dim, KeyWriter& out,
              HfConfig& result) {
  std::optional<Section> scaling = config.find_section("rope_scaling");
  double base = config.find_real("rope_theta").value_or(family.rope_base);
  if (const auto parameters = config.find_section("rope_parameters")) {
    scaling = parameters;
    if (const auto full = parameters->find_section("full_attention")) scaling = full;
    base = scaling->find_real("rope_theta").value_or(base);
    const auto local = parameters->find_section("sliding_attention");
    const auto local_base = local ? local->find_real("rope_theta") : std::nullopt;
    if (local_base) out.real("rope.freq_base_swa", *local_base);
  }
  out.real("rope.freq_base", base);
  const double part = config.find_real("partial_rotary_factor").value_or(1.0);
  if (!(part > 0 && part <= 1)) {
    fail(ErrorCode::InvalidFile, "{}: partial_rotary_factor is {}; above 0 to 1 is allowed",
         config.place(), part);
  }
  const auto dims = static_cast<uint64_t>(static_cast<double>(head_dim) * part);
  if (dims > largest_rotary_width) {
    fail(ErrorCode::LimitExceeded,
         "{}: rope would turn {} dimensions of a head; at most {} are read", config.place(), dims,
         largest_rotary_width);
  }
  out.count("rope.dimension_count", dims);
  if (scaling) add_scaling(config, *scaling, base, dims, out, result);
}

/// Keys that need more than a new name.
void add_attention(const Section& config, const Family& family, KeyWriter& out, HfConfig& result) {
  const uint64_t heads = out.written("attention.head_count");
  if (heads == 0) {
    fail(ErrorCode::InvalidFile, "{}: num_attention_heads is 0; at least 1 is needed",
         config.place());
  }
  out.count("attention.head_count_kv", config.find_count("num_key_value_heads").value_or(heads));
  const uint64_t by_default =
      family.head_dim != 0 ? family.head_dim : out.written("embedding_length") / heads;
  const uint64_t head_dim = config.find_count("head_dim").value_or(by_default);
  out.count("attention.key_length", head_dim);
  out.count("attention.value_length", head_dim);
  out.real("attention.layer_norm_rms_epsilon",
           config.find_real("rms_norm_eps").value_or(family.epsilon));
  const auto window = config.find_count("sliding_window");
  if (window && config.find_flag("use_sliding_window").value_or(true)) {
    out.count("attention.sliding_window", *window);
  }
  if (const auto scalar = config.find_real("query_pre_attn_scalar")) {
    if (!(*scalar > 0)) {
      fail(ErrorCode::InvalidFile, "{}: query_pre_attn_scalar is {}; above 0 is needed",
           config.place(), *scalar);
    }
    out.real("attention.scale", 1.0 / std::sqrt(*scalar));
  }
  add_rope(config, family, head_dim, out, result);
}

void add_experts(const Section& config, const Family& family, KeyWriter& out) {
  if (!family.layout.separate_experts) return;
  const bool all_layers = config.find_count("decoder_sparse_step").value_or(1) == 1;
  const json* dense = config.find("mlp_only_layers");
  if (!all_layers || (dense != nullptr && !dense->empty())) {
    fail(ErrorCode::Unsupported,
         "{}: layers without experts (decoder_sparse_step, mlp_only_layers) are not supported",
         config.place());
  }
  out.flag("expert_weights_norm",
           config.find_flag("norm_topk_prob").value_or(family.model_type == "mixtral"));
}

void add_gpt2(const Section& config, const Family& family, KeyWriter& out) {
  out.renamed(config, gpt2_names);
  out.count("feed_forward_length",
            config.find_count("n_inner").value_or(4 * out.written("embedding_length")));
  out.real("attention.layer_norm_epsilon",
           config.find_real("layer_norm_epsilon").value_or(family.epsilon));
}

}  // namespace

std::string known_model_types() {
  std::string list;
  for (const Family& family : families) {
    if (!list.empty()) list += ", ";
    list += family.model_type;
  }
  return list;
}

void read_hf_config(const std::string& folder, HfConfig& result) {
  const std::string path = folder + "/config.json";
  const json document = read_json_file(path);
  if (!document.is_object()) {
    fail(ErrorCode::InvalidFile, "{}: the document is no object", path);
  }
  const Section config(document, path);
  const Family& family = family_of(config);
  check_activation(config, family);
  result.architecture = family.architecture;
  result.layout = family.layout;
  result.tied_embeddings = config.find_flag("tie_word_embeddings").value_or(family.tied_by_default);
  KeyWriter out(result);
  out.whole_text("general.architecture", family.architecture);
  if (!file_name(folder).empty() && file_name(folder) != ".") {
    out.whole_text("general.name", file_name(folder));
  }
  if (family.architecture == "gpt2") {
    add_gpt2(config, family, out);
    return;
  }
  out.renamed(config, common_names);
  add_attention(config, family, out, result);
  add_experts(config, family, out);
}

}  // namespace rlx

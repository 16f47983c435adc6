// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "import/hf_config.h"

namespace rlx {
namespace {

/// A module of a Hugging Face model and its GGUF name; "#" stands for a number, in turn the layer's
/// and the expert's. An empty architecture is any; the first row that fits counts.
struct Row {
  std::string_view module;
  std::string_view gguf;
  std::string_view architecture = {};
};

constexpr Row rows[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"layers.#.input_layernorm", "blk.#.attn_norm"},
    {"layers.#.self_attn.q_proj", "blk.#.attn_q"},
    {"layers.#.self_attn.k_proj", "blk.#.attn_k"},
    {"layers.#.self_attn.v_proj", "blk.#.attn_v"},
    {"layers.#.self_attn.qkv_proj", "blk.#.attn_qkv"},
    {"layers.#.self_attn.o_proj", "blk.#.attn_output"},
    {"layers.#.self_attn.q_norm", "blk.#.attn_q_norm"},
    {"layers.#.self_attn.k_norm", "blk.#.attn_k_norm"},
    {"layers.#.post_attention_layernorm", "blk.#.post_attention_norm", "gemma3"},
    {"layers.#.post_attention_layernorm", "blk.#.ffn_norm"},
    {"layers.#.pre_feedforward_layernorm", "blk.#.ffn_norm"},
    {"layers.#.post_feedforward_layernorm", "blk.#.post_ffw_norm"},
    {"layers.#.mlp.gate_proj", "blk.#.ffn_gate"},
    {"layers.#.mlp.up_proj", "blk.#.ffn_up"},
    {"layers.#.mlp.gate_up_proj", "blk.#.ffn_up"},
    {"layers.#.mlp.down_proj", "blk.#.ffn_down"},
    {"layers.#.mlp.gate", "blk.#.ffn_gate_inp"},
    {"layers.#.mlp.experts.#.gate_proj", "blk.#.ffn_gate.#"},
    {"layers.#.mlp.experts.#.up_proj", "blk.#.ffn_up.#"},
    {"layers.#.mlp.experts.#.down_proj", "blk.#.ffn_down.#"},
    {"layers.#.block_sparse_moe.gate", "blk.#.ffn_gate_inp"},
    {"layers.#.block_sparse_moe.experts.#.w1", "blk.#.ffn_gate.#"},
    {"layers.#.block_sparse_moe.experts.#.w3", "blk.#.ffn_up.#"},
    {"layers.#.block_sparse_moe.experts.#.w2", "blk.#.ffn_down.#"},
    {"layers.#.self_attn.rotary_emb", ""},
    {"wte", "token_embd"},
    {"wpe", "position_embd"},
    {"ln_f", "output_norm"},
    {"h.#.ln_1", "blk.#.attn_norm"},
    {"h.#.attn.c_attn", "blk.#.attn_qkv"},
    {"h.#.attn.c_proj", "blk.#.attn_output"},
    {"h.#.ln_2", "blk.#.ffn_norm"},
    {"h.#.mlp.c_fc", "blk.#.ffn_up"},
    {"h.#.mlp.c_proj", "blk.#.ffn_down"},
    {"h.#.attn", ""},  // "bias" and "masked_bias" here are the causal mask
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `module` with every number replaced by "#"; the numbers go to `numbers`.
std::string generalize(std::string_view module, std::vector<std::string_view>& numbers) {
  std::string out;
  while (true) {
    const size_t dot = module.find('.');
    const std::string_view part = module.substr(0, dot);
    if (is_number(part)) {
      numbers.push_back(part);
      out += '#';
    } else {
      out += part;
    }
    if (dot == std::string_view::npos) return out;
    out += '.';
    module.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string gguf_tensor_name(std::string_view hf_name, std::string_view architecture) {
  std::string_view module = hf_name;
  for (const std::string_view prefix : {"model.", "transformer."}) {
    if (module.starts_with(prefix)) module.remove_prefix(prefix.size());
  }
  const size_t dot = module.rfind('.');
  if (dot == std::string_view::npos) return std::string(hf_name);
  const std::string_view leaf = module.substr(dot + 1);
  std::vector<std::string_view> numbers;
  const std::string pattern = generalize(module.substr(0, dot), numbers);
  for (const Row& row : rows) {
    if (row.module != pattern) continue;
    if (!row.architecture.empty() && row.architecture != architecture) continue;
    if (row.gguf.empty()) return "";
    std::string name;
    size_t next = 0;
    for (const char c : row.gguf) {
      if (c == '#') {
        name += numbers[next++];
      } else {
        name += c;
      }
    }
    return name + "." + std::string(leaf);
  }
  return std::string(hf_name);
}

}  // namespace rlx

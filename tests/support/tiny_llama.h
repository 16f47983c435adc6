// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gguf_writer.h"
#include "quant/q8_0.h"

namespace rlx::test {

/// A random llama of any small size, token ids only. Weights are q8_0 blocks or f32.
struct TinyLlama {
  uint32_t embedding = 64, heads = 2, kv_heads = 1, head_width = 32, ffn = 96, layers = 2;
  uint32_t vocabulary = 96, context = 1024;
  bool quantized = false;
  float poison = 0;  ///< replaces one number of output.weight where it is not 0

  GgufWriter writer() const {
    GgufWriter w("llama");
    w.add("llama.context_length", context);
    w.add("llama.embedding_length", embedding);
    w.add("llama.block_count", layers);
    w.add("llama.feed_forward_length", ffn);
    w.add("llama.attention.head_count", heads);
    w.add("llama.attention.head_count_kv", kv_heads);
    w.add("llama.attention.key_length", head_width);
    w.add("llama.attention.value_length", head_width);
    w.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    w.add("llama.rope.dimension_count", head_width);
    w.add("llama.vocab_size", vocabulary);
    matrix(w, "token_embd.weight", vocabulary, embedding);
    matrix(w, "output.weight", vocabulary, embedding);
    norm(w, "output_norm.weight");
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string b = "blk." + std::to_string(i) + ".";
      norm(w, b + "attn_norm.weight");
      norm(w, b + "ffn_norm.weight");
      matrix(w, b + "attn_q.weight", heads * head_width, embedding);
      matrix(w, b + "attn_k.weight", kv_heads * head_width, embedding);
      matrix(w, b + "attn_v.weight", kv_heads * head_width, embedding);
      matrix(w, b + "attn_output.weight", embedding, heads * head_width);
      matrix(w, b + "ffn_gate.weight", ffn, embedding);
      matrix(w, b + "ffn_up.weight", ffn, embedding);
      matrix(w, b + "ffn_down.weight", embedding, ffn);
    }
    return w;
  }

 private:
  std::vector<float> random(const std::string& name, size_t count, float scale) const {
    std::mt19937 rng(static_cast<uint32_t>(std::hash<std::string>()(name)));
    std::vector<float> v(count);
    for (float& x : v) x = (static_cast<float>(rng() >> 8) / 8388608.0f - 1.0f) * scale;
    return v;
  }
  void norm(GgufWriter& w, const std::string& name) const {
    std::vector<float> v = random(name, embedding, 0.2f);
    for (float& x : v) x += 1.0f;
    w.add_tensor_f32(name, {embedding}, v);
  }
  void matrix(GgufWriter& w, const std::string& name, uint64_t rows, uint64_t columns) const {
    std::vector<float> v =
        random(name, rows * columns, 2.0f / std::sqrt(static_cast<float>(columns)));
    if (poison != 0 && name == "output.weight") v[columns + 1] = poison;
    if (!quantized || columns % 32 != 0) return w.add_tensor_f32(name, {rows, columns}, v);
    std::vector<std::byte> blocks(v.size() / 32 * 34);
    quantize_q8_0(v.data(), blocks.data(), v.size());
    const auto* bytes = reinterpret_cast<const char*>(blocks.data());
    w.add_tensor(name, {rows, columns}, 8, std::string(bytes, blocks.size()));
  }
};

}  // namespace rlx::test

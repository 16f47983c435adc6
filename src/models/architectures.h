// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>

#include "models/decoder.h"

namespace rlx {

// One function per architecture, in the file of its family: the whole forward pass over a Decoder,
// from embed_tokens() to finish(). The table in language_model.cpp lists them.
void build_gemma(Decoder& model);
void build_gemma2(Decoder& model);
void build_gemma3(Decoder& model);
void build_gpt2(Decoder& model);
void build_llama(Decoder& model);
void build_phi3(Decoder& model);
void build_qwen2(Decoder& model);
void build_qwen3(Decoder& model);

/// Scale of scores in Gemma 2 and 3: 1 / sqrt(key_length), but for the 27B model, told by its
/// number of layers, which divides by the width per head. A scale that the file names goes before
/// both.
double gemma_attention_scale(const Decoder& model, int64_t layers_of_27b);

}  // namespace rlx

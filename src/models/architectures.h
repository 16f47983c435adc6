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

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "import/gguf.h"
#include "models/vocabulary.h"

namespace {

/// Reads everything that a value views.
size_t walk(const rlx::MetaValue& value) {
  if (const auto text = value.to_string()) return rlx::printable(*text, text->size()).size();
  const auto array = value.to_array();
  if (!array) return value.to_u64().value_or(1) + value.to_bool().value_or(false);
  size_t sum = 0;
  for (const rlx::MetaValue element : *array) sum += walk(element);
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  volatile size_t sum = 0;
  try {
    const auto bytes = std::as_bytes(std::span(data, size));
    const rlx::GgufContents contents = rlx::parse_gguf(bytes, "input");
    for (const auto& entry : contents.metadata.entries()) sum = sum + walk(entry.value);
    uint64_t used = 0;
    for (const rlx::GgufTensor& tensor : contents.tensors) {
      for (const std::byte b : tensor.bytes) sum = sum + static_cast<size_t>(b);
      used += tensor.bytes.size();
    }
    if (used > size) std::abort();  // tensors that do not overlap cannot be more than the file
    (void)rlx::models::vocabulary_from_gguf(contents.metadata);
  } catch (const rlx::Error&) {
  }
  return 0;
}

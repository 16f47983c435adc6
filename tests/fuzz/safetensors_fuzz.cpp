// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "import/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  volatile size_t sum = 0;
  try {
    const auto bytes = std::as_bytes(std::span(data, size));
    const rlx::SafetensorsContents contents = rlx::parse_safetensors(bytes, "input");
    uint64_t used = 0;
    for (const auto& tensor : contents.tensors) {
      for (const std::byte b : tensor.bytes) sum = sum + static_cast<size_t>(b);
      used += tensor.bytes.size();
    }
    if (used > size) std::abort();  // every byte of the data belongs to one tensor
  } catch (const rlx::Error&) {
  }
  return 0;
}

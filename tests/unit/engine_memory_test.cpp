// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include "../support/temp_folder.h"
#include "../support/tiny_llama.h"
#include "engine/generate.h"

using namespace rlx;

namespace {

/// Anonymous memory of this process, bytes.
int64_t anonymous_bytes() {
  std::ifstream file("/proc/self/status");
  std::string line;
  int64_t total = 0;
  while (std::getline(file, line)) {
    for (const char* key : {"RssAnon:", "VmSwap:"}) {
      if (line.rfind(key, 0) == 0) total += std::stoll(line.substr(8)) * 1024;
    }
  }
  return total;
}

}  // namespace

TEST_CASE("memory: 360 more tokens cost no more than their part of the cache (llm-bugs/103)") {
  const test::TempFolder folder;
  test::TinyLlama model;
  model.writer().write(folder.path("m.gguf"));
  EngineOptions options;
  options.threads = 2;
  auto engine = Engine::load(folder.path("m.gguf"), options);
  GenerateOptions o;
  o.sampling.temperature = 0;
  const std::vector<uint32_t> prompt{1, 2, 3};
  const auto grown = [&](int64_t tokens) {
    engine->rewind(0);
    o.max_tokens = tokens;
    generate(*engine, prompt, o, nullptr, nullptr);
    return anonymous_bytes();
  };
  const int64_t after_40 = grown(40), after_400 = grown(400);
  // Keys and values in f16: 2 layers * 2 * 32 wide * 2 bytes a token; pages are 4 KiB.
  const int64_t cache = int64_t{2} * 2 * 32 * 2 * 360 + 16 * 4096;
  CHECK(after_400 - after_40 < cache + (1 << 20));
  for (int i = 0; i < 10; ++i) grown(400);
  CHECK(anonymous_bytes() - after_400 < (1 << 20));
}

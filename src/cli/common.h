// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace CLI {
class App;
}

namespace rlx::cli {

/// Options that every command running a model takes.
struct EngineFlags {
  std::string model;
  int64_t context = 0;
  int threads = 0;
  std::string isa;
  std::string kv = "f16";

  void add_to(CLI::App& command);
  EngineOptions options() const;
};

/// Becomes true at the first Ctrl-C after catch_interrupt(); a second one ends the process at once.
const std::atomic<bool>& interrupted();
void catch_interrupt();

/// All of it, or an Error Io (a closed pipe included). Flushes.
void write_stdout(std::string_view text);

/// Bytes of the prompt text file or, for "-", of standard input.
std::string read_input(const std::string& path);

/// A JSON array of token ids, [1, 2, 3]; Error naming the path, the place and what was found.
std::vector<uint32_t> read_ids(const std::string& path);

/// The largest resident set this process had, bytes.
int64_t peak_rss_bytes();

/// A progress bar on standard error where that is a terminal, nothing elsewhere.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  void update(int64_t done, int64_t total);

 private:
  std::string label_;
  bool visible_;
};

}  // namespace rlx::cli

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
/// Makes the next Ctrl-C a first one again.
void forget_interrupt();

/// Waits until `fd` has something to read or is at its end; false when Ctrl-C came first, also one
/// from just before the call.
bool wait_for_input(int fd);

/// All of it, or an Error Io (a closed pipe included). Flushes.
void write_stdout(std::string_view text);
/// As much of it as standard error takes: it may be closed.
void write_stderr(std::string_view text) noexcept;

/// Most bytes of a prompt or text, and of a JSON file of ids or messages.
inline constexpr size_t most_text_bytes = size_t{256} << 20;
inline constexpr size_t most_json_bytes = size_t{32} << 20;

/// Bytes of a text file, a pipe or device, or, for "-", of standard input; LimitExceeded over
/// `most`, Cancelled when Ctrl-C comes while waiting.
std::string read_input(const std::string& path, size_t most = most_text_bytes);

/// Error InvalidArgument naming `what` and the first byte that is not UTF-8.
void require_utf8(std::string_view what, std::string_view text);

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

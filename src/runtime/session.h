// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/kernel.h"
#include "runtime/executable.h"

namespace rlx {

/// The caller's bytes for one input: row-major, of the input's dtype at this run's extents.
struct InputBinding {
  std::string_view name;
  DType dtype;
  std::span<const std::byte> bytes;
};

struct SymbolBinding {
  std::string_view name;
  int64_t value;
};

struct SessionOptions {
  int threads = 1;  ///< workers of the team, the calling thread included; 1 to 256
};

/// Buffers, state and threads for one user of an Executable. Not thread-safe; make one per user. A
/// steady-state run allocates nothing and takes no lock.
class Session {
 public:
  Session(std::shared_ptr<const Executable> executable, const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs every step at the given extents. All symbols and inputs must be bound, by name, with the
  /// right dtype and byte length (Error otherwise, and nothing ran). When `*cancel` becomes true
  /// the run stops early with Error Cancelled; states are then undefined from the run's position
  /// on.
  void run(std::span<const SymbolBinding> symbols, std::span<const InputBinding> inputs,
           const std::atomic<bool>* cancel = nullptr);

  /// Output `index` of the last run: extents of that run, bytes valid until the next.
  TensorView output(size_t index) const;
  /// Bytes of a state, row-major at its full extents; writable between runs.
  std::span<std::byte> state(std::string_view name);

  const Executable& executable() const { return *executable_; }
  int threads() const;

 private:
  struct Impl;
  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlx

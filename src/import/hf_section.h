// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/hf_config.h"

// Reading config.json and writing it down as GGUF keys; internal to import/.
namespace rlx {

/// One object of config.json with typed look-ups; null counts as missing. A wrong type is an Error
/// (InvalidFile) naming the place and the key.
class Section {
 public:
  /// `object` must outlive the section; `place` starts error texts.
  Section(const nlohmann::json& object, std::string place)
      : object_(&object), place_(std::move(place)) {}
  const std::string& place() const { return place_; }

  const nlohmann::json* find(const char* key) const;
  std::optional<double> find_real(const char* key) const;
  /// An integer that fits 32 bits.
  std::optional<uint64_t> find_count(const char* key) const;
  std::optional<bool> find_flag(const char* key) const;
  std::optional<std::string> find_text(const char* key) const;
  std::optional<Section> find_section(const char* key) const;
  /// The number; NotFound.
  double real(const char* key) const;
  /// An array of exactly `count` numbers; NotFound.
  std::vector<float> reals(const char* key, uint64_t count) const;
  [[noreturn]] void missing(const char* key) const;
  [[noreturn]] void refuse(const char* key, const nlohmann::json& found,
                           std::string_view wanted) const;

 private:
  const nlohmann::json* object_;
  std::string place_;
};

enum class Kind : uint8_t { Count, Real };
enum class Need : uint8_t { Must, May };

/// One number of config.json that only gets another name.
struct Rename {
  std::string_view gguf;  ///< without the architecture in front
  const char* config;
  Kind kind;
  Need need;
};

/// Adds pairs to a configuration, encoded as a GGUF file would hold them. Names get the
/// architecture in front.
class KeyWriter {
 public:
  explicit KeyWriter(HfConfig& config) : config_(config) {}
  void count(std::string_view name, uint64_t value);
  void real(std::string_view name, double value);
  void flag(std::string_view name, bool value);
  void text(std::string_view name, std::string_view value);
  /// The same for a whole key.
  void whole_text(std::string key, std::string_view value);
  void renamed(const Section& from, std::span<const Rename> names);
  /// A count added before.
  uint64_t written(std::string_view name) const { return config_.metadata.u64(full(name)); }

 private:
  std::string full(std::string_view name) const;
  void put(std::string key, MetaType type, const void* bytes, size_t size);
  HfConfig& config_;
};

}  // namespace rlx

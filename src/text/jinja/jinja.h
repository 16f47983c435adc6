// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/jinja/value.h"

namespace rlx::text::jinja {

struct Program;

/// What one rendering may use before it ends with LimitExceeded.
struct RenderLimits {
  uint64_t max_steps = 20'000'000;              ///< nodes evaluated and values walked
  uint64_t max_work_bytes = uint64_t{1} << 30;  ///< bytes of values made, all together
  size_t max_output = size_t{32} << 20;         ///< bytes of the result, and of any one string
  uint32_t max_depth = 1200;                    ///< nodes inside each other, through macros too
  int64_t max_range = 100'000;                  ///< items of range()
};

/// A chat template in the language of Jinja2 3.1, as Hugging Face's tokenizers run it: immutable
/// sandbox, trim_blocks, lstrip_blocks, loop controls, raise_exception, strftime_now, `generation`
/// blocks and tojson as json.dumps without ASCII escapes. Integers have 64 bits; include, import,
/// extends, autoescape blocks and the filters random and urlize are refused.
class Template {
 public:
  /// Error InvalidFile (with the line) for text that is not a template, LimitExceeded for one that
  /// is too long or nests too deep.
  static Template parse(std::string_view source);

  /// The text for variables `vars` (a Dict). A string under "now", "2026-01-02T03:04:05", is the
  /// time that strftime_now and datetime see; without it they see the clock. Error InvalidArgument
  /// (with the line) where the template raises or does what its values do not allow, LimitExceeded,
  /// Unsupported. Threads may render one Template at the same time.
  std::string render(const Value& vars, const RenderLimits& limits = {}) const;

 private:
  explicit Template(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

/// The value of a JSON document; objects keep their order. Error InvalidFile for broken JSON and
/// for integers of more than 64 bits, LimitExceeded for nesting.
Value parse_json(std::string_view json);

/// How json.dumps writes.
struct JsonStyle {
  bool ensure_ascii = false, sort_keys = false, indented = false;
  std::string indent;  ///< of one level
  std::string item_separator = ", ", key_separator = ": ";
};

/// Python's json.dumps; an error for values that JSON has not.
std::string to_json(const Value& v, const JsonStyle& style);

}  // namespace rlx::text::jinja

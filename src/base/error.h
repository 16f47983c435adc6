// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/core.h>

#include <exception>
#include <string>
#include <vector>

namespace rlx {

/// What kind of outside cause an Error has. Front ends map it to their own codes.
enum class ErrorCode {
  InvalidArgument,  ///< an option, id or value the caller gave is not allowed
  InvalidFile,      ///< bytes of a file contradict its format
  Unsupported,      ///< well-formed, but this build or target cannot do it
  NotFound,         ///< a file, tensor, key or name is missing
  Io,               ///< the operating system refused
  LimitExceeded,    ///< a size, depth or step limit was reached
  Cancelled,        ///< the caller asked to stop
};

/// The one exception type for everything the outside caused. `message` says what was found and what
/// was allowed, "softmax: axis 3 is outside rank 2"; stages add "while ..." notes as it passes.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message);
  const char* what() const noexcept override { return text_.c_str(); }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// Appends a "while ..." line to what().
  void add_note(std::string note);

 private:
  ErrorCode code_;
  std::string message_;
  std::vector<std::string> notes_;
  std::string text_;
};

/// Throws an Error of `code` with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

namespace detail {
[[noreturn]] void check_failed(const char* file, int line, const char* condition) noexcept;
}

/// Aborts with the place when `condition` is false: for bugs of ours, never for input.
#define RLX_CHECK(condition) \
  ((condition) ? (void)0 : ::rlx::detail::check_failed(__FILE__, __LINE__, #condition))

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace rlx {

Error::Error(ErrorCode code, std::string message)
    : code_(code), message_(std::move(message)), text_(message_) {}

void Error::add_note(std::string note) {
  text_ += "\n  while ";
  text_ += note;
  notes_.push_back(std::move(note));
}

namespace detail {

void check_failed(const char* file, int line, const char* condition) noexcept {
  std::fprintf(stderr, "rlx: internal error at %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace detail
}  // namespace rlx

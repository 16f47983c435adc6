// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/error.h"

namespace rlx::test {

/// The message of the rlx::Error that `f()` throws; "no error" where it throws none.
template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

}  // namespace rlx::test

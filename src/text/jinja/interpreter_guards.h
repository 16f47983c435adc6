// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/jinja/interpreter.h"

namespace rlx::text::jinja {

/// One level of recursion of the interpreter, and one step.
struct Interpreter::Level {
  explicit Level(Interpreter& i) : in(i) {
    in.step();
    if (++in.depth_ > in.limits_.max_depth)
      fail(ErrorCode::LimitExceeded, "the template nests or recurses deeper than {} levels",
           in.limits_.max_depth);
  }
  ~Level() { --in.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  Interpreter& in;
};

/// Runs in a scope, and into a buffer where one is given, while it lives.
struct Interpreter::Inside {
  Inside(Interpreter& i, Scope* scope, std::string* out)
      : in(i), old_scope(i.scope_), old_out(i.out_) {
    in.scope_ = scope;
    if (out) in.out_ = out;
  }
  ~Inside() {
    in.scope_ = old_scope;
    in.out_ = old_out;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Interpreter& in;
  Scope* old_scope;
  std::string* old_out;
};

}  // namespace rlx::text::jinja

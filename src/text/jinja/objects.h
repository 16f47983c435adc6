// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/jinja/interpreter.h"

namespace rlx::text::jinja {

/// namespace(...): the one object whose attributes a template may assign.
struct NamespaceData : ObjectData {
  std::vector<std::pair<std::string, Value>> attributes;
  std::string type_name() const override { return "Namespace"; }
  void set(std::string_view name, Value value);
  bool attribute(Interpreter& in, std::string_view name, Value& out) override;
  void append_repr(std::string& out, int level) const override;
};

/// A macro, or the body of a call block as `caller`.
struct MacroData : ObjectData {
  const Stmt* statement = nullptr;
  Scope* scope = nullptr;  ///< where it was defined
  std::string type_name() const override { return "Macro"; }
  bool callable() const override { return true; }
  Value call(Interpreter& in, Arguments& args) override;
  bool attribute(Interpreter& in, std::string_view name, Value& out) override;
  void append_repr(std::string& out, int level) const override;
};

/// The `loop` variable of a for.
struct LoopData : ObjectData {
  const Stmt* statement = nullptr;
  Scope* scope = nullptr;  ///< around the for
  IteratorPtr items;
  int64_t known_length = -1;
  int64_t index0 = -1, depth0 = 0;
  std::optional<Value> before, current, after;
  std::optional<std::vector<Value>> changed;

  bool next(Value& out);
  /// The item after the current one, or null.
  const Value* peek();
  int64_t length(Interpreter& in);
  std::string type_name() const override { return "LoopContext"; }
  bool callable() const override { return true; }
  Value call(Interpreter& in, Arguments& args) override;
  bool attribute(Interpreter& in, std::string_view name, Value& out) override;
  void append_repr(std::string& out, int level) const override;
};

/// A function of ours that templates may call.
struct FunctionData : ObjectData {
  using Function = Value (*)(Interpreter& in, Arguments& args);
  std::string_view name;
  Function function = nullptr;
  std::string type_name() const override { return "function"; }
  bool callable() const override { return true; }
  Value call(Interpreter& in, Arguments& args) override { return function(in, args); }
  void append_repr(std::string& out, int level) const override;
};

using MethodFunction = Value (*)(Interpreter& in, const Value& self, const Arguments& args);

/// A method taken from a value: 'x'.upper
struct MethodData : ObjectData {
  Value self;
  std::string_view name;
  MethodFunction function = nullptr;
  std::string type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  Value call(Interpreter& in, Arguments& args) override { return function(in, self, args); }
};

/// A loop.changed, loop.cycle, cycler.next, ...: a function of an object.
struct ObjectMethodData : ObjectData {
  using Function = Value (*)(Interpreter& in, ObjectData& self, Arguments& args);
  Value self;
  Function function = nullptr;
  std::string type_name() const override { return "method"; }
  bool callable() const override { return true; }
  Value call(Interpreter& in, Arguments& args) override {
    return function(in, self.as<ObjectData>(), args);
  }
};

/// The method `name` that a value of this kind has, or null.
MethodFunction find_method(const Value& v, std::string_view name, std::string_view& full_name);
/// Whether `name` is a method that would change the value, which the sandbox forbids.
bool is_forbidden_method(const Value& v, std::string_view name);

/// Sets `out` to an attribute that is no method (real, grouper, ...), where there is one.
bool plain_attribute(const Value& v, std::string_view name, Value& out);

/// Items of a list without a copy.
struct ListIterator : IteratorData {
  explicit ListIterator(Value list) : list_(std::move(list)) { depth = list_.depth() + 1; }
  bool next(Value& out) override;

 private:
  Value list_;
  size_t at_ = 0;
};

/// Items made beforehand.
struct VectorIterator : IteratorData {
  explicit VectorIterator(std::vector<Value> items);
  bool next(Value& out) override;

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// Namespaces, macros and loops.
#include "text/jinja/objects.h"

#include <algorithm>

namespace rlx::text::jinja {
namespace {

Value bind_object_method(ObjectData& self, ObjectMethodData::Function function) {
  auto m = std::make_shared<ObjectMethodData>();
  // Loops live in the interpreter's arena until the rendering ends.
  m->self = Value::object(std::shared_ptr<ObjectData>(std::shared_ptr<void>(), &self));
  m->function = function;
  return Value::object(std::move(m));
}

Value loop_cycle(Interpreter&, ObjectData& self, Arguments& args) {
  const auto& loop = static_cast<LoopData&>(self);
  if (args.positional.empty()) raise("no items for cycling given");
  const auto count = static_cast<int64_t>(args.positional.size());
  return args.positional[static_cast<size_t>(std::max<int64_t>(loop.index0, 0) % count)];
}

Value loop_changed(Interpreter& in, ObjectData& self, Arguments& args) {
  auto& loop = static_cast<LoopData&>(self);
  const bool same =
      loop.changed && loop.changed->size() == args.positional.size() &&
      std::equal(args.positional.begin(), args.positional.end(), loop.changed->begin(),
                 [&](const Value& a, const Value& b) { return in.equal(a, b); });
  if (!same) loop.changed = args.positional;
  return Value::boolean(!same);
}

}  // namespace

void NamespaceData::set(std::string_view name, Value value) {
  for (auto& [key, old] : attributes) {
    if (key != name) continue;
    old = std::move(value);
    return;
  }
  attributes.emplace_back(std::string(name), std::move(value));
}

bool NamespaceData::attribute(Interpreter& in, std::string_view name, Value& out) {
  in.step(attributes.size() / 16);
  for (const auto& [key, value] : attributes) {
    if (key != name) continue;
    out = value;
    return true;
  }
  return false;
}

void NamespaceData::append_repr(std::string& out, int level) const {
  out += "<Namespace {";
  const char* separator = "";
  for (const auto& [key, value] : attributes) {
    out += separator;
    separator = ", ";
    jinja::append_repr(out, Value::string(key), level + 1);
    out += ": ";
    jinja::append_repr(out, value, level + 1);
  }
  out += "}>";
}

Value MacroData::call(Interpreter& in, Arguments& args) { return in.call_macro(*this, args); }

bool MacroData::attribute(Interpreter&, std::string_view name, Value& out) {
  const MacroParts& m = *statement->macro;
  if (name == "name") {
    out = Value::string(m.name);
  } else if (name == "arguments") {
    std::vector<Value> names;
    for (const std::string& n : m.names) names.push_back(Value::string(n));
    out = Value::tuple(std::move(names));
  } else if (name == "catch_kwargs" || name == "catch_varargs" || name == "caller") {
    out = Value::boolean(name == "caller"         ? m.uses_caller
                         : name == "catch_kwargs" ? m.uses_kwargs
                                                  : m.uses_varargs);
  } else {
    return false;
  }
  return true;
}

void MacroData::append_repr(std::string& out, int) const {
  const bool anonymous = statement->kind == StmtKind::CallBlock;
  out += anonymous ? "<Macro anonymous>" : fmt::format("<Macro '{}'>", statement->macro->name);
}

bool LoopData::next(Value& out) {
  if (after) {
    out = std::move(*after);
    after.reset();
  } else if (!items->next(out)) {
    return false;
  }
  ++index0;
  before = std::move(current);
  current = out;
  return true;
}

const Value* LoopData::peek() {
  if (after) return &*after;
  Value v;
  if (!items->next(v)) return nullptr;
  after = std::move(v);
  return &*after;
}

int64_t LoopData::length(Interpreter& in) {
  if (known_length >= 0) return known_length;
  std::vector<Value> rest = in.collect(Value::iterator(items));
  known_length = static_cast<int64_t>(rest.size()) + index0 + 1 + (after ? 1 : 0);
  items = std::make_shared<VectorIterator>(std::move(rest));
  return known_length;
}

Value LoopData::call(Interpreter& in, Arguments& args) {
  const Bound bound("loop", args, {"iterable"}, 1);
  return in.call_loop(*this, bound[0]);
}

bool LoopData::attribute(Interpreter& in, std::string_view name, Value& out) {
  if (name == "index")
    out = Value::integer(index0 + 1);
  else if (name == "index0")
    out = Value::integer(index0);
  else if (name == "depth")
    out = Value::integer(depth0 + 1);
  else if (name == "depth0")
    out = Value::integer(depth0);
  else if (name == "first")
    out = Value::boolean(index0 == 0);
  else if (name == "last")
    out = Value::boolean(peek() == nullptr);
  else if (name == "length")
    out = Value::integer(length(in));
  else if (name == "revindex")
    out = Value::integer(length(in) - index0);
  else if (name == "revindex0")
    out = Value::integer(length(in) - index0 - 1);
  else if (name == "previtem")
    out = before && index0 > 0 ? *before : Value::undefined("there is no previous item");
  else if (name == "nextitem") {
    const Value* next_item = peek();
    out = next_item ? *next_item : Value::undefined("there is no next item");
  } else if (name == "cycle")
    out = bind_object_method(*this, loop_cycle);
  else if (name == "changed")
    out = bind_object_method(*this, loop_changed);
  else
    return false;
  return true;
}

void LoopData::append_repr(std::string& out, int) const {
  out += fmt::format("<LoopContext {}/{}>", index0 + 1, std::max<int64_t>(known_length, 0));
}

void FunctionData::append_repr(std::string& out, int) const {
  out += fmt::format("<function {}>", name);
}

}  // namespace rlx::text::jinja

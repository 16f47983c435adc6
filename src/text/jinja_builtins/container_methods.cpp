// SPDX-License-Identifier: Apache-2.0
// Methods and attributes of lists, dicts and numbers, and the look-up of methods.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "text/jinja_builtins/method_tables.h"

namespace rlx::text::jinja {
namespace {

Value make_view(const Value& dict, ViewData::Part part) {
  auto view = std::make_shared<ViewData>();
  view->depth = dict.depth() + 1;
  view->weight = dict.weight();
  view->part = part;
  view->dict = std::static_pointer_cast<const DictData>(dict.shared());
  if (view->depth > max_value_depth)
    fail(ErrorCode::LimitExceeded, "values nest deeper than {} levels", max_value_depth);
  return make_value(Kind::View, std::move(view));
}

template <ViewData::Part part>
Value dict_view(Interpreter&, const Value& self, const Arguments& args) {
  const Bound b("dict view", args, {});
  return make_view(self, part);
}

Value dict_get(Interpreter& in, const Value& self, const Arguments& args) {
  if (!args.named.empty()) raise("dict.get() takes no keyword arguments");
  const Bound b("get", args, {"key", "default"}, 1);
  in.walk(b[0]);
  const Value* found = self.dict_data().find(b[0]);
  return found ? *found : b.get(1, Value());
}

Value copy_of(Interpreter&, const Value& self, const Arguments& args) {
  const Bound b("copy", args, {});
  return self;  // values do not change, so a copy is the value
}

Value dict_fromkeys(Interpreter& in, const Value&, const Arguments& args) {
  const Bound b("fromkeys", args, {"iterable", "value"}, 1);
  auto d = std::make_shared<DictData>();
  for (const Value& key : in.collect(b[0])) {
    in.charge(128);
    d->set(key, b.get(1, Value()));
  }
  return Value::dict(std::move(d));
}

Value list_count(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("count", args, {"value"}, 1);
  int64_t count = 0;
  const IteratorPtr it = in.iterate(self);
  Value item;
  while (it->next(item)) {
    in.step();
    count += in.equal(item, b[0]);
  }
  return Value::integer(count);
}

Value list_index(Interpreter& in, const Value& self, const Arguments& args) {
  const Bound b("index", args, {"value", "start", "stop"}, 1);
  const int64_t length = sized_length(self);
  const auto clamp = [&](int64_t i) { return i < 0 ? std::max<int64_t>(i + length, 0) : i; };
  const int64_t start = clamp(b.integer(1, 0)), stop = clamp(b.integer(2, length));
  const IteratorPtr it = in.iterate(self);
  Value item;
  for (int64_t i = 0; it->next(item); ++i) {
    in.step();
    if (i >= start && i < stop && in.equal(item, b[0])) return Value::integer(i);
  }
  raise("the value is not in the {}", type_name(self));
}

Value number_bit_length(Interpreter&, const Value& self, const Arguments&) {
  const int64_t v = self.as_int();
  const uint64_t m = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  return Value::integer(std::bit_width(m));
}

Value number_is_integer(Interpreter&, const Value& self, const Arguments&) {
  const double d = self.as_double();
  return Value::boolean(std::isfinite(d) && d == std::floor(d));
}

Value number_conjugate(Interpreter&, const Value& self, const Arguments&) { return self; }

constexpr NamedMethod dict_methods[] = {
    {"copy", copy_of},
    {"fromkeys", dict_fromkeys},
    {"get", dict_get},
    {"items", dict_view<ViewData::Part::Items>},
    {"keys", dict_view<ViewData::Part::Keys>},
    {"values", dict_view<ViewData::Part::Values>},
};
constexpr NamedMethod list_methods[] = {
    {"copy", copy_of}, {"count", list_count}, {"index", list_index}};
constexpr NamedMethod tuple_methods[] = {{"count", list_count}, {"index", list_index}};
constexpr NamedMethod int_methods[] = {{"bit_length", number_bit_length},
                                       {"conjugate", number_conjugate}};
constexpr NamedMethod float_methods[] = {{"is_integer", number_is_integer},
                                         {"conjugate", number_conjugate}};

MethodFunction find_in(std::span<const NamedMethod> methods, std::string_view name,
                       std::string_view& full_name) {
  for (const NamedMethod& m : methods) {
    if (m.name != name) continue;
    full_name = m.name;
    return m.function;
  }
  return nullptr;
}

}  // namespace

MethodFunction find_method(const Value& v, std::string_view name, std::string_view& full_name) {
  switch (v.kind()) {
    case Kind::String: {
      const MethodFunction f = v.is_markup() ? find_in(markup_methods(), name, full_name) : nullptr;
      return f ? f : find_in(text_methods(), name, full_name);
    }
    case Kind::Dict: return find_in(dict_methods, name, full_name);
    case Kind::List: return find_in(list_methods, name, full_name);
    case Kind::Range:
    case Kind::Tuple: return find_in(tuple_methods, name, full_name);
    case Kind::Bool:
    case Kind::Int: return find_in(int_methods, name, full_name);
    case Kind::Float: return find_in(float_methods, name, full_name);
    default: return nullptr;
  }
}

bool is_forbidden_method(const Value& v, std::string_view name) {
  static constexpr std::array<std::string_view, 8> of_lists = {
      "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
  static constexpr std::array<std::string_view, 5> of_dicts = {"clear", "pop", "popitem",
                                                               "setdefault", "update"};
  if (v.is(Kind::List)) return std::find(of_lists.begin(), of_lists.end(), name) != of_lists.end();
  return v.is(Kind::Dict) && std::find(of_dicts.begin(), of_dicts.end(), name) != of_dicts.end();
}

bool plain_attribute(const Value& v, std::string_view name, Value& out) {
  if (v.is(Kind::Int) || v.is(Kind::Bool) || v.is(Kind::Float)) {
    const bool is_float = v.is(Kind::Float);
    if (name == "real" || (name == "numerator" && !is_float))
      out = is_float ? v : Value::integer(v.as_int());
    else if (name == "imag")
      out = is_float ? Value::number(0) : Value::integer(0);
    else if (name == "denominator" && !is_float)
      out = Value::integer(1);
    else
      return false;
    return true;
  }
  if (v.is(Kind::Range) && (name == "start" || name == "stop" || name == "step")) {
    const auto& r = v.as<RangeData>();
    out = Value::integer(name == "start" ? r.start : name == "stop" ? r.stop : r.step);
    return true;
  }
  if (!v.is(Kind::Tuple) || !v.as<ListData>().group) return false;
  if (name != "grouper" && name != "list") return false;
  out = v.items()[name == "grouper" ? 0 : 1];
  return true;
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// The built-in tests: {{ x is defined }}
#include <algorithm>

#include "base/utf8.h"
#include "text/jinja/interpreter.h"
#include "text/jinja_builtins/filters.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

template <Kind kind>
bool is_kind(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("test", args, {});
  return v.is(kind);
}

bool is_defined(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("defined", args, {});
  return !v.is_undefined();
}

template <bool wanted>
bool is_bool(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("true or false", args, {});
  return v.is(Kind::Bool) && (v.as_int() != 0) == wanted;
}

bool is_number_test(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("number", args, {});
  return v.is_number();
}

bool is_sequence(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("sequence", args, {});
  return sized_length(v) >= 0 && !v.is(Kind::View);
}

bool is_iterable(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("iterable", args, {});
  return sized_length(v) >= 0 || v.is(Kind::Iterator);
}

bool is_callable(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("callable", args, {});
  return v.is_undefined() || (v.is(Kind::Object) && v.as<ObjectData>().callable());
}

bool is_escaped(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("escaped", args, {});
  return v.is_markup();
}

bool is_divisible(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("divisibleby", args, {"num"}, 1);
  return equal(in.binary(Op::Modulo, v, b[0]), Value::integer(0));
}

template <int rest>
bool is_parity(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("odd or even", args, {});
  return equal(in.binary(Op::Modulo, v, Value::integer(2)), Value::integer(rest));
}

template <Op op>
bool compares(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("comparison test", args, {"other"}, 1);
  return in.compare(op, v, b[0]);
}

bool is_in(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("in", args, {"seq"}, 1);
  return in.contains(b[0], v);
}

bool is_same(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("sameas", args, {"other"}, 1);
  if (v.kind() != b[0].kind()) return false;
  if (v.is_none()) return true;
  if (v.is_number()) return equal(v, b[0]);
  return v.shared() == b[0].shared() || (v.is_string() && v.text() == b[0].text());
}

/// Whether the text of `v` has cased characters, all of one case.
template <bool upper>
bool is_case(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("lower or upper", args, {});
  const std::string s = in.to_text(v);
  bool any = false;
  for (size_t at = 0; at < s.size();) {
    const uint32_t c = decode_utf8(s, at);
    if (!is_cased(c)) continue;
    if (upper ? !is_upper(c) : !is_lower(c)) return false;
    any = true;
  }
  return any;
}

bool is_filter_name(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("filter", args, {});
  hash(v);  // refuses lists and dicts, as Python does
  return v.is_string() && find_filter(v.text());
}

bool is_test_name(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("test", args, {});
  hash(v);
  return v.is_string() && find_test(v.text());
}

struct NamedTest {
  std::string_view name;
  TestFunction function;
};

constexpr NamedTest tests[] = {
    {"!=", compares<Op::NotEqual>},
    {"<", compares<Op::Less>},
    {"<=", compares<Op::LessEqual>},
    {"==", compares<Op::Equal>},
    {">", compares<Op::Greater>},
    {">=", compares<Op::GreaterEqual>},
    {"boolean", is_kind<Kind::Bool>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", compares<Op::Equal>},
    {"equalto", compares<Op::Equal>},
    {"escaped", is_escaped},
    {"even", is_parity<0>},
    {"false", is_bool<false>},
    {"filter", is_filter_name},
    {"float", is_kind<Kind::Float>},
    {"ge", compares<Op::GreaterEqual>},
    {"greaterthan", compares<Op::Greater>},
    {"gt", compares<Op::Greater>},
    {"in", is_in},
    {"integer", is_kind<Kind::Int>},
    {"iterable", is_iterable},
    {"le", compares<Op::LessEqual>},
    {"lessthan", compares<Op::Less>},
    {"lower", is_case<false>},
    {"lt", compares<Op::Less>},
    {"mapping", is_kind<Kind::Dict>},
    {"ne", compares<Op::NotEqual>},
    {"none", is_kind<Kind::None>},
    {"number", is_number_test},
    {"odd", is_parity<1>},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::String>},
    {"test", is_test_name},
    {"true", is_bool<true>},
    {"undefined", is_kind<Kind::Undefined>},
    {"upper", is_case<true>},
};

}  // namespace

TestFunction find_test(std::string_view name) {
  for (const NamedTest& t : tests)
    if (t.name == name) return t.function;
  return nullptr;
}

}  // namespace rlx::text::jinja

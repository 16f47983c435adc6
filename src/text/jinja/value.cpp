// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/value.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace rlx::text::jinja {
namespace {

constexpr size_t index_from = 9;  // smaller dicts are searched entry by entry

uint64_t saturating_add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

void adopt(Shared& parent, const Value& child) {
  parent.depth = std::max(parent.depth, child.depth() + 1);
  if (parent.depth > max_value_depth)
    fail(ErrorCode::LimitExceeded, "values nest deeper than {} levels", max_value_depth);
  parent.weight = saturating_add(parent.weight, saturating_add(child.weight(), 16));
}

Value make_string(std::string text, bool markup) {
  auto s = std::make_shared<StringData>();
  s->length = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  s->weight = 32 + text.size();
  s->text = std::move(text);
  s->markup = markup;
  return make_value(Kind::String, std::move(s));
}

Value make_list(Kind kind, std::vector<Value> items) {
  auto l = std::make_shared<ListData>();
  for (const Value& v : items) adopt(*l, v);
  l->items = std::move(items);
  return make_value(kind, std::move(l));
}

size_t mix(size_t seed, size_t h) {
  return seed ^ (h + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

size_t hash_number(const Value& v) {
  if (!v.is(Kind::Float)) return mix(1, static_cast<size_t>(v.as_int()));
  const double d = v.as_double();
  if (d >= -0x1p63 && d < 0x1p63 && d == std::floor(d))
    return mix(1, static_cast<size_t>(static_cast<int64_t>(d)));
  return mix(2, std::hash<double>{}(d));
}

size_t hash_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

/// -1, 0, 1, or 2 where one of them is NaN.
int compare_numbers(const Value& a, const Value& b) {
  if (!a.is(Kind::Float) && !b.is(Kind::Float))
    return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  if (a.is(Kind::Float) && b.is(Kind::Float)) {
    const double x = a.as_double(), y = b.as_double();
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  }
  if (a.is(Kind::Float)) {
    const int r = compare_numbers(b, a);
    return r == 2 ? 2 : -r;
  }
  const double y = b.as_double();
  if (std::isnan(y)) return 2;
  if (y >= 0x1p63) return -1;
  if (y < -0x1p63) return 1;
  const int64_t whole = static_cast<int64_t>(y);  // towards zero
  if (a.as_int() != whole) return a.as_int() < whole ? -1 : 1;
  const double rest = y - static_cast<double>(whole);
  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

bool equal_dicts(const DictData& a, const DictData& b) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const auto& e) {
    const Value* other = b.find(e.first);
    return other && equal(e.second, *other);
  });
}

bool equal_ranges(const RangeData& a, const RangeData& b) {
  const int64_t n = a.length();
  return n == b.length() && (n == 0 || (a.start == b.start && (n == 1 || a.step == b.step)));
}

bool equal_views(const ViewData& a, const ViewData& b) {
  if (a.part != b.part || a.part == ViewData::Part::Values) return false;
  if (a.part == ViewData::Part::Items) return equal_dicts(*a.dict, *b.dict);
  if (a.dict->entries.size() != b.dict->entries.size()) return false;
  return std::all_of(a.dict->entries.begin(), a.dict->entries.end(),
                     [&](const auto& e) { return b.dict->find(e.first) != nullptr; });
}

}  // namespace

Value make_value(Kind kind, std::shared_ptr<Shared> shared) {
  Value v;
  v.kind_ = kind;
  v.shared_ = std::move(shared);
  return v;
}

Value Value::boolean(bool b) {
  Value v;
  v.kind_ = Kind::Bool;
  v.int_ = b;
  return v;
}

Value Value::integer(int64_t i) {
  Value v;
  v.kind_ = Kind::Int;
  v.int_ = i;
  return v;
}

Value Value::number(double d) {
  Value v;
  v.kind_ = Kind::Float;
  v.double_ = d;
  return v;
}

Value Value::string(std::string text) { return make_string(std::move(text), false); }
Value Value::markup(std::string text) { return make_string(std::move(text), true); }
Value Value::list(std::vector<Value> items) { return make_list(Kind::List, std::move(items)); }
Value Value::tuple(std::vector<Value> items) { return make_list(Kind::Tuple, std::move(items)); }

Value Value::dict(std::shared_ptr<const DictData> entries) {
  return make_value(Kind::Dict, std::const_pointer_cast<DictData>(std::move(entries)));
}

Value Value::range(int64_t start, int64_t stop, int64_t step) {
  auto r = std::make_shared<RangeData>();
  r->start = start;
  r->stop = stop;
  r->step = step;
  return make_value(Kind::Range, std::move(r));
}

Value Value::iterator(std::shared_ptr<IteratorData> it) {
  if (it->depth > max_value_depth)
    fail(ErrorCode::LimitExceeded, "values nest deeper than {} levels", max_value_depth);
  return make_value(Kind::Iterator, std::move(it));
}

Value Value::object(std::shared_ptr<ObjectData> o) {
  return make_value(Kind::Object, std::move(o));
}

Value Value::undefined(std::string hint) {
  auto u = std::make_shared<UndefinedData>();
  u->hint = std::move(hint);
  return make_value(Kind::Undefined, std::move(u));
}

bool Value::is_markup() const { return kind_ == Kind::String && as<StringData>().markup; }
const std::string& Value::text() const { return as<StringData>().text; }
size_t Value::text_length() const { return as<StringData>().length; }
const std::vector<Value>& Value::items() const { return as<ListData>().items; }
const DictData& Value::dict_data() const { return as<DictData>(); }

const Value* DictData::find_hashed(const Value& key, size_t key_hash) const {
  const auto [first, last] = index_.equal_range(key_hash);
  for (auto it = first; it != last; ++it)
    if (equal(entries[it->second].first, key)) return &entries[it->second].second;
  return nullptr;
}

const Value* DictData::find(const Value& key) const {
  const size_t key_hash = hash(key);  // also refuses lists, as Python does
  if (entries.size() >= index_from) return find_hashed(key, key_hash);
  for (const auto& [k, v] : entries)
    if (equal(k, key)) return &v;
  return nullptr;
}

const Value* DictData::find(std::string_view key) const {
  if (entries.size() < index_from) {
    for (const auto& [k, v] : entries)
      if (k.is_string() && k.text() == key) return &v;
    return nullptr;
  }
  const auto [first, last] = index_.equal_range(hash_text(key));
  for (auto it = first; it != last; ++it) {
    const auto& [k, v] = entries[it->second];
    if (k.is_string() && k.text() == key) return &v;
  }
  return nullptr;
}

void DictData::set(Value key, Value value) {
  if (const Value* old = find(key)) {
    adopt(*this, value);
    *const_cast<Value*>(old) = std::move(value);
    return;
  }
  adopt(*this, key);
  adopt(*this, value);
  entries.emplace_back(std::move(key), std::move(value));
  if (entries.size() == index_from) {
    for (size_t i = 0; i < entries.size(); ++i) index_.emplace(hash(entries[i].first), i);
  } else if (entries.size() > index_from) {
    index_.emplace(hash(entries.back().first), entries.size() - 1);
  }
}

int64_t RangeData::length() const {
  const uint64_t gap =
      step > 0 ? (start < stop ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) : 0)
               : (stop < start ? static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) : 0);
  if (gap == 0) return 0;
  const uint64_t by = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  return static_cast<int64_t>(std::min<uint64_t>((gap - 1) / by + 1, INT64_MAX));
}

Value range_item(const RangeData& r, int64_t i) { return Value::integer(r.start + i * r.step); }

Value ObjectData::call(Interpreter&, Arguments&) {
  raise("'{}' object is not callable", type_name());
}

bool ObjectData::attribute(Interpreter&, std::string_view, Value&) { return false; }

void ObjectData::append_repr(std::string& out, int) const {
  out += fmt::format("<{} object>", type_name());
}

std::string type_name(const Value& v) {
  switch (v.kind()) {
    case Kind::Undefined: return "Undefined";
    case Kind::None: return "NoneType";
    case Kind::Bool: return "bool";
    case Kind::Int: return "int";
    case Kind::Float: return "float";
    case Kind::String: return v.is_markup() ? "Markup" : "str";
    case Kind::List: return "list";
    case Kind::Tuple: return "tuple";
    case Kind::Dict: return "dict";
    case Kind::View: {
      const auto part = v.as<ViewData>().part;
      return part == ViewData::Part::Keys     ? "dict_keys"
             : part == ViewData::Part::Values ? "dict_values"
                                              : "dict_items";
    }
    case Kind::Range: return "range";
    case Kind::Iterator: return "generator";
    case Kind::Object: return v.as<ObjectData>().type_name();
  }
  return "object";
}

bool truth(const Value& v) {
  switch (v.kind()) {
    case Kind::Undefined:
    case Kind::None: return false;
    case Kind::Bool:
    case Kind::Int: return v.as_int() != 0;
    case Kind::Float: return v.as_double() != 0;
    case Kind::String: return !v.text().empty();
    case Kind::List:
    case Kind::Tuple: return !v.items().empty();
    case Kind::Dict: return !v.dict_data().entries.empty();
    case Kind::View: return !v.as<ViewData>().dict->entries.empty();
    case Kind::Range: return v.as<RangeData>().length() != 0;
    case Kind::Iterator:
    case Kind::Object: return true;
  }
  return true;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  if (a.shared() && a.shared() == b.shared()) return true;
  switch (a.kind()) {
    case Kind::Undefined:
    case Kind::None: return true;
    case Kind::String: return a.text() == b.text();
    case Kind::List:
    case Kind::Tuple:
      return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                        equal);
    case Kind::Dict: return equal_dicts(a.dict_data(), b.dict_data());
    case Kind::View: return equal_views(a.as<ViewData>(), b.as<ViewData>());
    case Kind::Range: return equal_ranges(a.as<RangeData>(), b.as<RangeData>());
    default: return false;
  }
}

bool less(const Value& a, const Value& b, const char* sign) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == -1;
  if (a.is_string() && b.is_string()) return a.text() < b.text();
  if (a.kind() == b.kind() && (a.is(Kind::List) || a.is(Kind::Tuple))) {
    const auto &x = a.items(), &y = b.items();
    for (size_t i = 0; i < x.size() && i < y.size(); ++i)
      if (!equal(x[i], y[i])) return less(x[i], y[i], sign);
    return x.size() < y.size();
  }
  require_defined(a);
  require_defined(b);
  raise("'{}' not supported between instances of '{}' and '{}'", sign, type_name(a), type_name(b));
}

size_t hash(const Value& v) {
  switch (v.kind()) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::Float: return hash_number(v);
    case Kind::String: return hash_text(v.text());
    case Kind::Undefined:
    case Kind::None: return static_cast<size_t>(v.kind());
    case Kind::Tuple: {
      size_t h = 7;
      for (const Value& item : v.items()) h = mix(h, hash(item));
      return h;
    }
    case Kind::Range: return static_cast<size_t>(v.as<RangeData>().length());
    case Kind::Iterator:
    case Kind::Object: return std::hash<const void*>{}(v.shared().get());
    default: raise("unhashable type: '{}'", type_name(v));
  }
}

void require_defined(const Value& v) {
  if (v.is_undefined()) raise_undefined(v);
}

void raise_undefined(const Value& v) { raise("{}", v.as<UndefinedData>().hint); }

}  // namespace rlx::text::jinja

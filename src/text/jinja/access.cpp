// SPDX-License-Identifier: Apache-2.0
// Iteration, membership, attributes, items and slices.
#include <algorithm>

#include "base/utf8.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/objects.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

struct CharacterIterator : IteratorData {
  Value text;
  size_t at = 0;
  bool next(Value& out) override {
    const std::string& s = text.text();
    if (at >= s.size()) return false;
    const size_t size = sequence_length(s[at]);
    out = Value::string(s.substr(at, size));  // of markup too: that is how Python iterates it
    at += size;
    return true;
  }
};

struct ViewIterator : IteratorData {
  std::shared_ptr<const DictData> dict;
  ViewData::Part part = ViewData::Part::Keys;
  size_t at = 0;
  bool next(Value& out) override {
    if (at >= dict->entries.size()) return false;
    const auto& [key, value] = dict->entries[at++];
    out = part == ViewData::Part::Keys     ? key
          : part == ViewData::Part::Values ? value
                                           : Value::tuple({key, value});
    return true;
  }
};

struct RangeIterator : IteratorData {
  RangeData range;
  int64_t at = 0;
  bool next(Value& out) override {
    if (at >= range.length()) return false;
    out = range_item(range, at++);
    return true;
  }
};

IteratorPtr iterate_view(std::shared_ptr<const DictData> dict, ViewData::Part part) {
  auto it = std::make_shared<ViewIterator>();
  it->depth = dict->depth + 1;
  it->dict = std::move(dict);
  it->part = part;
  return it;
}

/// "'dict object' has no attribute 'x'", as Jinja words it.
Value missing(const Value& v, const Value& key) {
  const std::string owner = v.is_none() ? "None" : type_name(v) + " object";
  if (key.is_string())
    return Value::undefined(fmt::format("'{}' has no attribute '{}'", owner, key.text()));
  return Value::undefined(key.weight() < 4096
                              ? fmt::format("{} has no element {}", owner, repr(key))
                              : fmt::format("{} has no such element", owner));
}

/// Python's rules for the bounds of a slice: what `i` means for `length` items.
int64_t clamp_bound(const Value& v, int64_t length, int64_t otherwise, bool down) {
  if (v.is_none()) return otherwise;
  int64_t i = v.as_int();
  const int64_t low = down ? -1 : 0, high = down ? length - 1 : length;
  if (i < 0) i += length;  // cannot overflow: the signs differ
  return std::clamp(i, low, high);
}

struct SliceRange {
  int64_t start, stop, step, count;
};

SliceRange resolve_slice(int64_t length, const Value& start, const Value& stop, int64_t step) {
  const bool down = step < 0;
  RangeData r;
  r.start = clamp_bound(start, length, down ? length - 1 : 0, down);
  r.stop = clamp_bound(stop, length, down ? -1 : length, down);
  r.step = step;
  return {r.start, r.stop, step, r.length()};
}

/// What a range counts at place `i`, which may be just outside of it.
int64_t range_bound(const RangeData& range, int64_t i) {
  int64_t offset = 0, bound = 0;
  if (__builtin_mul_overflow(i, range.step, &offset) ||
      __builtin_add_overflow(range.start, offset, &bound))
    raise("a bound of a slice of a range is outside of 64 bits");
  return bound;
}

std::string slice_text(const std::string& s, size_t length, SliceRange r) {
  if (r.count == 0) return {};
  if (r.step == 1) {
    const auto start = static_cast<size_t>(r.start), count = static_cast<size_t>(r.count);
    if (length == s.size()) return s.substr(start, count);
    const size_t begin = offset_of(s, start);
    return s.substr(begin, offset_of(std::string_view(s).substr(begin), count));
  }
  std::vector<size_t> offsets;
  for (size_t at = 0; at < s.size(); at += sequence_length(s[at])) offsets.push_back(at);
  std::string out;
  for (int64_t k = 0; k < r.count; ++k) {
    const size_t at = offsets[static_cast<size_t>(r.start + k * r.step)];
    out.append(s, at, sequence_length(s[at]));
  }
  return out;
}

}  // namespace

bool ListIterator::next(Value& out) {
  if (at_ >= list_.items().size()) return false;
  out = list_.items()[at_++];
  return true;
}

VectorIterator::VectorIterator(std::vector<Value> items) : items_(std::move(items)) {
  for (const Value& v : items_) depth = std::max(depth, v.depth() + 1);
}

bool VectorIterator::next(Value& out) {
  if (at_ >= items_.size()) return false;
  out = items_[at_++];
  return true;
}

int64_t sized_length(const Value& v) {
  switch (v.kind()) {
    case Kind::Undefined: return 0;
    case Kind::String: return static_cast<int64_t>(v.text_length());
    case Kind::List:
    case Kind::Tuple: return static_cast<int64_t>(v.items().size());
    case Kind::Dict: return static_cast<int64_t>(v.dict_data().entries.size());
    case Kind::View: return static_cast<int64_t>(v.as<ViewData>().dict->entries.size());
    case Kind::Range: return v.as<RangeData>().length();
    default: return -1;
  }
}

IteratorPtr Interpreter::iterate(const Value& v) {
  switch (v.kind()) {
    case Kind::Undefined: return std::make_shared<VectorIterator>(std::vector<Value>());
    case Kind::String: {
      auto it = std::make_shared<CharacterIterator>();
      it->text = v;
      return it;
    }
    case Kind::List:
    case Kind::Tuple: return std::make_shared<ListIterator>(v);
    case Kind::Dict:
      return iterate_view(std::static_pointer_cast<const DictData>(v.shared()),
                          ViewData::Part::Keys);
    case Kind::View: return iterate_view(v.as<ViewData>().dict, v.as<ViewData>().part);
    case Kind::Range: {
      auto it = std::make_shared<RangeIterator>();
      it->range = v.as<RangeData>();
      return it;
    }
    case Kind::Iterator: return std::static_pointer_cast<IteratorData>(v.shared());
    default: raise("'{}' object is not iterable", type_name(v));
  }
}

std::vector<Value> Interpreter::collect(const Value& v) {
  if (v.is(Kind::List) || v.is(Kind::Tuple)) {
    charge(v.items().size() * sizeof(Value));
    step(v.items().size() / 16);
    return v.items();
  }
  const IteratorPtr it = iterate(v);
  std::vector<Value> items;
  Value next;
  while (it->next(next)) {
    step();
    charge(sizeof(Value) + (next.is_string() ? 96 : 0));
    items.push_back(std::move(next));
  }
  return items;
}

bool Interpreter::contains(const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::String:
      require_defined(item);
      if (!item.is_string())
        raise("'in <string>' requires string as left operand, not {}", type_name(item));
      step(container.text().size() / 64);
      return find_text(container.text(), item.text()) != std::string::npos;
    case Kind::Dict: walk(item); return container.dict_data().find(item) != nullptr;
    case Kind::View:
      if (container.as<ViewData>().part != ViewData::Part::Keys) break;
      walk(item);
      return container.as<ViewData>().dict->find(item) != nullptr;
    case Kind::None:
    case Kind::Bool:
    case Kind::Int:
    case Kind::Float:
    case Kind::Object: raise("argument of type '{}' is not iterable", type_name(container));
    default: break;
  }
  const IteratorPtr it = iterate(container);
  Value next;
  while (it->next(next)) {
    step();
    if (equal(next, item)) return true;
  }
  return false;
}

Value Interpreter::attribute(const Value& v, std::string_view name) {
  require_defined(v);
  Value out;
  if (v.is(Kind::Object)) {
    if (v.as<ObjectData>().attribute(*this, name, out)) return out;
    return missing(v, Value::string(std::string(name)));
  }
  std::string_view full_name;
  if (const MethodFunction f = find_method(v, name, full_name)) {
    auto m = std::make_shared<MethodData>();
    m->depth = v.depth() + 1;
    m->self = v;
    m->name = full_name;
    m->function = f;
    return Value::object(std::move(m));
  }
  if (is_forbidden_method(v, name))
    return Value::undefined(
        fmt::format("access to attribute '{}' of '{}' object is unsafe", name, type_name(v)));
  if (plain_attribute(v, name, out)) return out;
  if (v.is(Kind::Dict))
    if (const Value* found = v.dict_data().find(name)) return *found;
  return missing(v, Value::string(std::string(name)));
}

Value Interpreter::item(const Value& v, const Value& key) {
  require_defined(v);
  const bool index = key.is(Kind::Int) || key.is(Kind::Bool);
  if (v.is(Kind::Dict)) {
    walk(key);
    if (!key.is(Kind::List) && !key.is(Kind::Dict))
      if (const Value* found = v.dict_data().find(key)) return *found;
  } else if (index &&
             (v.is_string() || v.is(Kind::List) || v.is(Kind::Tuple) || v.is(Kind::Range))) {
    const int64_t length = sized_length(v);
    int64_t i = key.as_int();
    if (i < 0) i += length;
    if (i < 0 || i >= length) return missing(v, key);
    if (v.is(Kind::Range)) return range_item(v.as<RangeData>(), i);
    if (!v.is_string()) return v.items()[static_cast<size_t>(i)];
    step(v.text().size() / 64);
    return text_like(v, slice_text(v.text(), v.text_length(), {i, i + 1, 1, 1}));
  }
  if (!key.is_string()) return missing(v, key);
  return attribute(v, key.text());
}

Value Interpreter::slice(const Value& v, const Value& start, const Value& stop,
                         const Value& step_by) {
  require_defined(v);
  const auto bound_ok = [](const Value& b) {
    return b.is_none() || b.is(Kind::Int) || b.is(Kind::Bool);
  };
  const bool sliceable =
      v.is_string() || v.is(Kind::List) || v.is(Kind::Tuple) || v.is(Kind::Range);
  if (!sliceable) raise("'{}' object cannot be sliced", type_name(v));
  if (!bound_ok(start) || !bound_ok(stop) || !bound_ok(step_by))
    raise("slice indices must be integers or None");
  const int64_t by = step_by.is_none() ? 1 : step_by.as_int();
  if (by == 0) raise("slice step cannot be zero");
  if (by == INT64_MIN) raise("slice step {} is outside of 64 bits when negated", by);
  const SliceRange r = resolve_slice(sized_length(v), start, stop, by);
  if (v.is(Kind::Range)) {
    const auto& range = v.as<RangeData>();
    int64_t leap = 0;
    if (__builtin_mul_overflow(range.step, by, &leap) || leap == INT64_MIN)
      raise("slice step {} is too large for {}", by, repr(v));
    return Value::range(range_bound(range, r.start), range_bound(range, r.stop), leap);
  }
  if (v.is_string()) {
    step(v.text().size() / 64);
    charge(r.step == 1 ? 0 : v.text().size() * sizeof(size_t));
    return text_like(v, slice_text(v.text(), v.text_length(), r));
  }
  step(static_cast<uint64_t>(r.count) / 16);
  charge(static_cast<uint64_t>(r.count) * sizeof(Value));
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(r.count));
  for (int64_t k = 0; k < r.count; ++k)
    items.push_back(v.items()[static_cast<size_t>(r.start + k * r.step)]);
  return v.is(Kind::List) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// Filters that choose, order or change items: map, select, sort, groupby, ...
#include <algorithm>
#include <unordered_map>

#include "text/jinja_builtins/attribute_getter.h"
#include "text/jinja_builtins/filters.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {

AttributeGetter::AttributeGetter(const Value& attribute, std::optional<Value> otherwise)
    : otherwise_(std::move(otherwise)) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  const std::string& text = attribute.text();
  for (size_t at = 0; at <= text.size();) {
    const size_t dot = std::min(text.find('.', at), text.size());
    const std::string part = text.substr(at, dot - at);
    const bool index =
        !part.empty() && part.size() < 10 &&
        std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    parts_.push_back(index ? Value::integer(std::stol(part)) : Value::string(part));
    at = dot + 1;
  }
}

Value AttributeGetter::get(Interpreter& in, const Value& v) const {
  Value out = v;
  for (const Value& part : parts_) {
    in.step();
    out = in.item(out, part);
    if (out.is_undefined() && otherwise_) out = *otherwise_;
  }
  return out;
}

SortKey::SortKey(const Value& attribute, bool case_sensitive, std::optional<Value> otherwise)
    : getter_(attribute, std::move(otherwise)), case_sensitive_(case_sensitive) {}

Value SortKey::get(Interpreter& in, const Value& v) const {
  Value key = getter_.get(in, v);
  if (case_sensitive_ || !key.is_string()) return key;
  in.walk(key);
  return in.text(to_lower(key.text()));
}

namespace {

/// What select, map and their kin do to one item.
struct Transform {
  virtual ~Transform() = default;
  /// Sets `out` and gives true where the item is kept.
  virtual bool apply(Interpreter& in, const Value& item, Value& out) = 0;
};

/// Items of a source through a transform that is made when the first one is asked for.
struct TransformIterator : IteratorData {
  using Make = std::unique_ptr<Transform> (*)(const Arguments& args);
  Interpreter* in = nullptr;
  Value items;
  IteratorPtr source;
  Arguments args;
  Make make = nullptr;
  std::unique_ptr<Transform> transform;
  bool next(Value& out) override {
    if (!transform) {
      transform = make(args);
      source = in->iterate(items);
    }
    Value item;
    while (source->next(item)) {
      in->step();
      if (transform->apply(*in, item, out)) return true;
    }
    return false;
  }
};

Value transformed(Interpreter& in, const Value& v, const Arguments& args,
                  TransformIterator::Make make) {
  if (!truth(v)) return Value::iterator(std::make_shared<VectorIterator>(std::vector<Value>()));
  auto it = std::make_shared<TransformIterator>();
  it->in = &in;
  it->items = v;
  it->depth = v.depth() + 1;
  for (const Value& a : args.positional) it->depth = std::max(it->depth, a.depth() + 1);
  for (const auto& [name, a] : args.named) it->depth = std::max(it->depth, a.depth() + 1);
  it->args = args;
  it->make = make;
  return Value::iterator(std::move(it));
}

Arguments without_first(const Arguments& args, size_t count) {
  Arguments rest = args;
  rest.positional.erase(rest.positional.begin(),
                        rest.positional.begin() + static_cast<ptrdiff_t>(count));
  return rest;
}

struct MapFilter : Transform {
  FilterFunction filter = nullptr;
  Arguments args;
  bool apply(Interpreter& in, const Value& item, Value& out) override {
    out = filter(in, item, args);
    return true;
  }
};

struct MapAttribute : Transform {
  explicit MapAttribute(AttributeGetter g) : getter(std::move(g)) {}
  AttributeGetter getter;
  bool apply(Interpreter& in, const Value& item, Value& out) override {
    out = getter.get(in, item);
    return true;
  }
};

std::unique_ptr<Transform> make_map(const Arguments& args) {
  const auto named = [&](std::string_view name) -> const Value* {
    for (const auto& [key, value] : args.named)
      if (key == name) return &value;
    return nullptr;
  };
  const Value* attribute = named("attribute");
  if (args.positional.empty() && attribute) {
    const Value* otherwise = named("default");
    if (args.named.size() > (otherwise ? 2 : 1)) raise("map: unexpected keyword argument");
    const bool use = otherwise && !otherwise->is_none();
    return std::make_unique<MapAttribute>(
        AttributeGetter(*attribute, use ? std::optional(*otherwise) : std::nullopt));
  }
  if (args.positional.empty()) raise("map requires a filter argument");
  auto map = std::make_unique<MapFilter>();
  const Value& name = args.positional[0];
  map->filter = name.is_string() ? find_filter(name.text()) : nullptr;
  if (!map->filter) raise("no filter named '{}'", to_text(name));
  map->args = without_first(args, 1);
  return map;
}

struct Select : Transform {
  AttributeGetter getter{Value()};
  TestFunction test = nullptr;
  Arguments args;
  bool wanted = true;
  bool apply(Interpreter& in, const Value& item, Value& out) override {
    const Value v = getter.get(in, item);
    if ((test ? test(in, v, args) : truth(v)) != wanted) return false;
    out = item;
    return true;
  }
};

template <bool wanted, bool by_attribute>
std::unique_ptr<Transform> make_select(const Arguments& args) {
  auto select = std::make_unique<Select>();
  select->wanted = wanted;
  constexpr size_t skipped = by_attribute ? 1 : 0;
  if (by_attribute) {
    if (args.positional.empty()) raise("the name of an attribute is missing");
    select->getter = AttributeGetter(args.positional[0]);
  }
  if (args.positional.size() <= skipped) return select;
  const Value& name = args.positional[skipped];
  select->test = name.is_string() ? find_test(name.text()) : nullptr;
  if (!select->test) raise("no test named '{}'", to_text(name));
  select->args = without_first(args, skipped + 1);
  return select;
}

Value filter_map(Interpreter& in, const Value& v, const Arguments& args) {
  return transformed(in, v, args, make_map);
}

template <bool wanted, bool by_attribute>
Value filter_select(Interpreter& in, const Value& v, const Arguments& args) {
  return transformed(in, v, args, make_select<wanted, by_attribute>);
}

struct Keyed {
  Value key, item;
};

std::vector<Keyed> keyed_items(Interpreter& in, const Value& v, const SortKey& key) {
  std::vector<Keyed> out;
  for (Value& item : in.collect(v)) {
    in.charge(sizeof(Keyed));
    Value k = key.get(in, item);
    out.push_back({std::move(k), std::move(item)});
  }
  return out;
}

void sort_keyed(Interpreter& in, std::vector<Keyed>& items, bool reverse) {
  const auto before = [&](const Keyed& a, const Keyed& b) {
    in.step();
    const Value &x = reverse ? b.key : a.key, &y = reverse ? a.key : b.key;
    return in.compare(Op::Less, x, y);
  };
  std::stable_sort(items.begin(), items.end(), before);
}

Value items_of(Interpreter& in, std::vector<Keyed> keyed) {
  std::vector<Value> items;
  for (Keyed& k : keyed) items.push_back(std::move(k.item));
  return in.list(std::move(items));
}

/// The keys of 'a,b' (or of one attribute), which sort compares as a list: equal ones need no
/// order.
std::vector<SortKey> sort_keys(const Value& attribute, bool case_sensitive) {
  std::vector<SortKey> keys;
  if (!attribute.is_string()) {
    keys.emplace_back(attribute, case_sensitive);
    return keys;
  }
  const std::string& text = attribute.text();
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    keys.emplace_back(Value::string(text.substr(at, comma - at)), case_sensitive);
    at = comma + 1;
  }
  return keys;
}

Value filter_sort(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("sort", args, {"reverse", "case_sensitive", "attribute"});
  const std::vector<SortKey> keys = sort_keys(b.get(2, Value()), b.flag(1, false));
  std::vector<Keyed> keyed;
  for (Value& item : in.collect(v)) {
    std::vector<Value> parts;
    for (const SortKey& key : keys) parts.push_back(key.get(in, item));
    keyed.push_back({in.list(std::move(parts)), std::move(item)});
  }
  sort_keyed(in, keyed, b.flag(0, false));
  return items_of(in, std::move(keyed));
}

Value filter_dictsort(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("dictsort", args, {"case_sensitive", "by", "reverse"});
  const std::string by = b.has(1) ? b.text(1) : "key";
  if (by != "key" && by != "value") raise("dictsort: by is '{}', allowed are key and value", by);
  require_defined(v);
  if (!v.is(Kind::Dict)) raise("'{} object' has no attribute 'items'", type_name(v));
  Arguments none;
  const Value pairs = in.call(in.attribute(v, "items"), none);
  const SortKey key(Value::integer(by == "value"), b.flag(0, false));
  std::vector<Keyed> keyed = keyed_items(in, pairs, key);
  sort_keyed(in, keyed, b.flag(2, false));
  return items_of(in, std::move(keyed));
}

Value filter_groupby(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("groupby", args, {"attribute", "default", "case_sensitive"}, 1);
  const bool case_sensitive = b.flag(2, false);
  const auto otherwise = b.has(1) && !b[1].is_none() ? std::optional(b[1]) : std::nullopt;
  std::vector<Keyed> keyed = keyed_items(in, v, SortKey(b[0], case_sensitive, otherwise));
  sort_keyed(in, keyed, false);
  const AttributeGetter getter(b[0], otherwise);
  std::vector<Value> groups;
  for (size_t i = 0; i < keyed.size();) {
    size_t end = i;
    std::vector<Value> members;
    while (end < keyed.size() && in.equal(keyed[end].key, keyed[i].key))
      members.push_back(keyed[end++].item);
    if (end == i) members.push_back(keyed[end++].item);  // NaN equals nothing
    const Value name = getter.get(in, members[0]);
    const Value group = Value::tuple({name, in.list(std::move(members))});
    group.as<ListData>().group = true;
    groups.push_back(group);
    i = end;
  }
  return in.list(std::move(groups));
}

Value filter_unique(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("unique", args, {"case_sensitive", "attribute"});
  const SortKey key(b.get(1, Value()), b.flag(0, false));
  DictData seen;
  std::vector<Value> items;
  for (Keyed& k : keyed_items(in, v, key)) {
    in.walk(k.key);
    if (seen.find(k.key)) continue;
    seen.set(k.key, Value());
    in.charge(128);
    items.push_back(std::move(k.item));
  }
  return Value::iterator(std::make_shared<VectorIterator>(std::move(items)));
}

template <bool largest>
Value filter_extreme(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b(largest ? "max" : "min", args, {"case_sensitive", "attribute"});
  std::vector<Keyed> keyed = keyed_items(in, v, SortKey(b.get(1, Value()), b.flag(0, false)));
  if (keyed.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  size_t best = 0;
  for (size_t i = 1; i < keyed.size(); ++i) {
    in.step();
    const Value &a = keyed[i].key, &c = keyed[best].key;
    if (largest ? in.compare(Op::Greater, a, c) : in.compare(Op::Less, a, c)) best = i;
  }
  return keyed[best].item;
}

Value filter_sum(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("sum", args, {"attribute", "start"});
  const AttributeGetter getter(b.get(0, Value()));
  Value total = b.get(1, Value::integer(0));
  if (total.is_string()) raise("sum() can't sum strings [use ''.join(seq) instead]");
  const IteratorPtr it = in.iterate(v);
  Value next;
  while (it->next(next)) {
    in.step();
    total = in.binary(Op::Add, total, getter.get(in, next));
  }
  return total;
}

constexpr NamedFilter filters[] = {
    {"dictsort", filter_dictsort},
    {"groupby", filter_groupby},
    {"map", filter_map},
    {"max", filter_extreme<true>},
    {"min", filter_extreme<false>},
    {"reject", filter_select<false, false>},
    {"rejectattr", filter_select<false, true>},
    {"select", filter_select<true, false>},
    {"selectattr", filter_select<true, true>},
    {"sort", filter_sort},
    {"sum", filter_sum},
    {"unique", filter_unique},
};

}  // namespace

std::span<const NamedFilter> selection_filters() { return filters; }

}  // namespace rlx::text::jinja

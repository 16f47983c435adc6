// SPDX-License-Identifier: Apache-2.0
// Filters that take sequences apart or put them together.
#include <algorithm>

#include "text/jinja_builtins/attribute_getter.h"
#include "text/jinja_builtins/filters.h"
#include "text/jinja_builtins/text_methods.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

Value filter_length(Interpreter&, const Value& v, const Arguments& args) {
  const Bound b("length", args, {});
  const int64_t length = sized_length(v);
  if (length < 0) raise("object of type '{}' has no len()", type_name(v));
  return Value::integer(length);
}

Value filter_list(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("list", args, {});
  return Value::list(in.collect(v));
}

Value filter_first(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("first", args, {});
  Value out;
  if (in.iterate(v)->next(out)) return out;
  return Value::undefined("No first item, sequence was empty.");
}

Value filter_last(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("last", args, {});
  const int64_t length = sized_length(v);
  if (length < 0) raise("'{}' object is not reversible", type_name(v));
  if (length == 0) return Value::undefined("No last item, sequence was empty.");
  if (v.is(Kind::List) || v.is(Kind::Tuple)) return v.items().back();
  if (v.is_string() || v.is(Kind::Range)) return in.item(v, Value::integer(-1));
  return in.collect(v).back();
}

Value iterator_over(std::vector<Value> items) {
  return Value::iterator(std::make_shared<VectorIterator>(std::move(items)));
}

Value filter_reverse(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("reverse", args, {});
  if (v.is_string()) return in.slice(v, Value(), Value(), Value::integer(-1));
  std::vector<Value> items = in.collect(v);
  std::reverse(items.begin(), items.end());
  return v.is(Kind::Iterator) ? Value::list(std::move(items)) : iterator_over(std::move(items));
}

Value filter_join(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("join", args, {"d", "attribute"});
  const std::string separator = b.has(0) ? in.to_text(b[0]) : "";
  std::vector<std::string> parts;
  const bool by_attribute = b.has(1) && !b[1].is_none();
  const AttributeGetter getter(by_attribute ? b[1] : Value());
  const IteratorPtr it = in.iterate(v);
  Value next;
  while (it->next(next)) {
    in.step();
    parts.push_back(in.to_text(by_attribute ? getter.get(in, next) : next));
    in.charge(parts.back().size() + sizeof(std::string));
  }
  return in.text(join_texts(in, separator, parts));
}

/// Groups of `linecount` items, the last filled up; made as they are asked for.
struct BatchIterator : IteratorData {
  Interpreter* in = nullptr;
  IteratorPtr source;
  int64_t line_count = 0;
  Value fill;
  std::vector<Value> group;
  bool ended = false;
  bool next(Value& out) override {
    Value item;
    while (!ended) {
      if (!source->next(item)) {
        ended = true;
        if (group.empty()) return false;
        const auto size = static_cast<int64_t>(group.size());
        if (!fill.is_none() && size < line_count) {
          in->charge(static_cast<uint64_t>(line_count) * sizeof(Value));
          group.resize(static_cast<size_t>(line_count), fill);
        }
        out = in->list(std::move(group));
        return true;
      }
      in->step();
      const bool full = static_cast<int64_t>(group.size()) == line_count;
      if (full) out = in->list(std::exchange(group, {}));
      group.push_back(std::move(item));
      if (full) return true;
    }
    return false;
  }
};

Value filter_batch(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("batch", args, {"linecount", "fill_with"}, 1);
  auto it = std::make_shared<BatchIterator>();
  it->in = &in;
  it->source = in.iterate(v);
  it->depth = it->source->depth + 1;
  it->line_count = b.integer(0, 0);
  it->fill = b.get(1, Value());
  it->depth = std::max(it->depth, it->fill.depth() + 1);
  return Value::iterator(std::move(it));
}

Value filter_slice(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("slice", args, {"slices", "fill_with"}, 1);
  const std::vector<Value> items = in.collect(v);
  const auto length = static_cast<int64_t>(items.size());
  const int64_t slices = b.integer(0, 0);
  if (slices == 0) raise("slice: integer division or modulo by zero");
  in.charge(static_cast<uint64_t>(std::max<int64_t>(slices, 0)) * 128);
  std::vector<Value> out;
  int64_t offset = 0;
  for (int64_t i = 0; i < slices; ++i) {
    in.step();
    const int64_t start = offset + i * (length / slices);
    if (i < length % slices) ++offset;
    const int64_t end = offset + (i + 1) * (length / slices);
    std::vector<Value> part(items.begin() + start, items.begin() + end);
    if (b.has(1) && !b[1].is_none() && i >= length % slices) part.push_back(b[1]);
    out.push_back(in.list(std::move(part)));
  }
  return iterator_over(std::move(out));
}

Value filter_items(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("items", args, {});
  if (v.is_undefined()) return iterator_over({});
  if (!v.is(Kind::Dict)) raise("items: pairs come only from a mapping, not {}", type_name(v));
  Arguments none;
  const Value view = in.call(in.attribute(v, "items"), none);
  return Value::iterator(in.iterate(view));
}

/// `v` with the entries of all its dicts by rising key, as pprint shows them.
Value sorted_dicts(Interpreter& in, const Value& v) {
  in.step();
  if (v.is(Kind::List) || v.is(Kind::Tuple)) {
    std::vector<Value> items;
    for (const Value& item : v.items()) items.push_back(sorted_dicts(in, item));
    return v.is(Kind::List) ? in.list(std::move(items)) : Value::tuple(std::move(items));
  }
  if (!v.is(Kind::Dict)) return v;
  std::vector<std::pair<Value, Value>> entries = v.dict_data().entries;
  const auto by_key = [](const auto& a, const auto& b) {
    const bool ordered = (a.first.is_number() && b.first.is_number()) ||
                         (a.first.is_string() && b.first.is_string());
    return ordered ? less(a.first, b.first) : type_name(a.first) < type_name(b.first);
  };
  std::stable_sort(entries.begin(), entries.end(), by_key);
  auto d = std::make_shared<DictData>();
  in.charge(entries.size() * 128);
  for (auto& [key, value] : entries) d->set(key, sorted_dicts(in, value));
  return Value::dict(std::move(d));
}

Value filter_pprint(Interpreter& in, const Value& v, const Arguments& args) {
  const Bound b("pprint", args, {});
  in.walk(v);
  std::string out = repr(sorted_dicts(in, v));
  constexpr size_t one_line = 80;
  if (count_code_points(out) > one_line)
    fail(ErrorCode::Unsupported, "pprint: values of more than {} characters are not supported",
         one_line);
  return in.text(std::move(out));
}

Value filter_random(Interpreter&, const Value&, const Arguments&) {
  fail(ErrorCode::Unsupported, "the filter random is not supported");
}

constexpr NamedFilter filters[] = {
    {"batch", filter_batch},   {"count", filter_length},    {"first", filter_first},
    {"items", filter_items},   {"join", filter_join},       {"last", filter_last},
    {"length", filter_length}, {"list", filter_list},       {"pprint", filter_pprint},
    {"random", filter_random}, {"reverse", filter_reverse}, {"slice", filter_slice},
};

}  // namespace

std::span<const NamedFilter> sequence_filters() { return filters; }

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// The global names of templates, and how calls bind their arguments.
#include <algorithm>

#include "text/jinja/objects.h"

namespace rlx::text::jinja {

Bound::Bound(std::string_view who, const Arguments& args,
             std::initializer_list<std::string_view> names, size_t required)
    : who_(who), values_(names.size(), nullptr) {
  if (args.positional.size() > names.size())
    raise("{} takes at most {} argument(s), got {}", who, names.size(), args.positional.size());
  for (size_t i = 0; i < args.positional.size(); ++i) values_[i] = &args.positional[i];
  for (const auto& [name, value] : args.named) {
    const auto* at = std::find(names.begin(), names.end(), std::string_view(name));
    if (at == names.end()) raise("{} got an unexpected keyword argument '{}'", who, name);
    const Value*& slot = values_[static_cast<size_t>(at - names.begin())];
    if (slot) raise("{} got multiple values for argument '{}'", who, name);
    slot = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!values_[i])
      raise("{} is missing its argument '{}'", who, *(names.begin() + static_cast<ptrdiff_t>(i)));
}

int64_t Bound::integer(size_t i, int64_t otherwise) const {
  if (!has(i)) return otherwise;
  const Value& v = *values_[i];
  require_defined(v);
  if (!v.is(Kind::Int) && !v.is(Kind::Bool))
    raise("{}: argument {} must be an integer, not {}", who_, i + 1, type_name(v));
  return v.as_int();
}

const std::string& Bound::text(size_t i) const {
  const Value& v = *values_[i];
  require_defined(v);
  if (!v.is_string()) raise("{}: argument {} must be str, not {}", who_, i + 1, type_name(v));
  return v.text();
}

namespace {

Value make_range(Interpreter& in, Arguments& args) {
  const Bound b("range", args, {"start", "stop", "step"}, 1);
  const int64_t first = b.integer(0, 0), step = b.integer(2, 1);
  if (step == 0) raise("range() arg 3 must not be zero");
  const Value v = b.has(1) ? Value::range(first, b.integer(1, 0), step) : Value::range(0, first, 1);
  const int64_t length = v.as<RangeData>().length();
  if (length > in.limits().max_range)
    fail(ErrorCode::LimitExceeded, "a range of {} items is too long (allowed: {})", length,
         in.limits().max_range);
  return v;
}

/// Adds a mapping's items, or an iterable's pairs, to `d`.
void add_pairs(Interpreter& in, DictData& d, const Value& source) {
  require_defined(source);
  if (source.is(Kind::Dict)) {
    for (const auto& [key, value] : source.dict_data().entries) {
      in.step();
      in.charge(128);
      d.set(key, value);
    }
    return;
  }
  const IteratorPtr it = in.iterate(source);
  Value next;
  while (it->next(next)) {
    in.step();
    in.charge(128);
    const std::vector<Value> pair = in.collect(next);
    if (pair.size() != 2)
      raise("dictionary update sequence element has length {}; 2 is required", pair.size());
    in.walk(pair[0]);
    d.set(pair[0], pair[1]);
  }
}

std::shared_ptr<DictData> dict_of(Interpreter& in, const Arguments& args, std::string_view who) {
  auto d = std::make_shared<DictData>();
  if (args.positional.size() > 1)
    raise("{} expected at most 1 argument, got {}", who, args.positional.size());
  if (!args.positional.empty()) add_pairs(in, *d, args.positional[0]);
  for (const auto& [name, value] : args.named) d->set(Value::string(name), value);
  return d;
}

Value make_dict(Interpreter& in, Arguments& args) { return Value::dict(dict_of(in, args, "dict")); }

Value make_namespace(Interpreter& in, Arguments& args) {
  const auto entries = dict_of(in, args, "namespace");
  auto ns = std::make_unique<NamespaceData>();
  for (const auto& [key, value] : entries->entries) {
    if (!key.is_string()) raise("namespace: names must be strings, not {}", type_name(key));
    ns->attributes.emplace_back(key.text(), value);
  }
  return in.own(std::move(ns));
}

Value raise_exception(Interpreter& in, Arguments& args) {
  const Bound b("raise_exception", args, {"message"}, 1);
  raise("{}", in.to_text(b[0]));
}

Value strftime_now(Interpreter& in, Arguments& args) {
  const Bound b("strftime_now", args, {"format"}, 1);
  return in.text(in.now().format(b.text(0)));
}

Value refuse_lipsum(Interpreter&, Arguments&) {
  fail(ErrorCode::Unsupported, "lipsum is not supported: its text is random");
}

/// cycler('a', 'b'): next() gives its values in turn.
struct CyclerData : ObjectData {
  std::vector<Value> values;
  size_t at = 0;
  std::string type_name() const override { return "Cycler"; }
  bool attribute(Interpreter& in, std::string_view name, Value& out) override;
};

Value cycler_next(Interpreter&, ObjectData& self, Arguments&) {
  auto& cycler = static_cast<CyclerData&>(self);
  Value v = cycler.values[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.values.size();
  return v;
}

Value cycler_reset(Interpreter&, ObjectData& self, Arguments&) {
  static_cast<CyclerData&>(self).at = 0;
  return Value();
}

bool CyclerData::attribute(Interpreter&, std::string_view name, Value& out) {
  if (name == "current") {
    out = values[at];
    return true;
  }
  if (name != "next" && name != "reset") return false;
  auto m = std::make_shared<ObjectMethodData>();
  m->self = Value::object(std::shared_ptr<ObjectData>(std::shared_ptr<void>(), this));
  m->function = name == "next" ? cycler_next : cycler_reset;
  out = Value::object(std::move(m));
  return true;
}

Value make_cycler(Interpreter& in, Arguments& args) {
  if (args.positional.empty() || !args.named.empty())
    raise("cycler takes one or more positional arguments");
  auto c = std::make_unique<CyclerData>();
  c->values = args.positional;
  return in.own(std::move(c));
}

/// joiner(', '): '' at its first call, the separator after that.
struct JoinerData : ObjectData {
  Value separator;
  bool used = false;
  std::string type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Value call(Interpreter&, Arguments&) override {
    return std::exchange(used, true) ? separator : Value::string("");
  }
};

Value make_joiner(Interpreter& in, Arguments& args) {
  const Bound b("joiner", args, {"sep"});
  auto j = std::make_unique<JoinerData>();
  j->separator = b.get(0, Value::string(", "));
  return in.own(std::move(j));
}

/// `self`, whose blocks cannot be called here.
struct SelfData : ObjectData {
  std::string type_name() const override { return "TemplateReference"; }
  void append_repr(std::string& out, int) const override { out += "<TemplateReference None>"; }
};

constexpr std::pair<std::string_view, FunctionData::Function> functions[] = {
    {"range", make_range},          {"dict", make_dict},
    {"namespace", make_namespace},  {"raise_exception", raise_exception},
    {"strftime_now", strftime_now}, {"lipsum", refuse_lipsum},
    {"cycler", make_cycler},        {"joiner", make_joiner},
};

}  // namespace

std::optional<Value> builtin(std::string_view name) {
  for (const auto& [key, function] : functions) {
    if (key != name) continue;
    auto f = std::make_shared<FunctionData>();
    f->name = key;
    f->function = function;
    return Value::object(std::move(f));
  }
  if (name == "self") return Value::object(std::make_shared<SelfData>());
  if (name == "datetime") return datetime_module();
  return std::nullopt;
}

}  // namespace rlx::text::jinja

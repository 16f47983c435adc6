// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace rlx::text::jinja {

/// What a template value is. View is a dict's keys(), values() or items(); Iterator is a one-shot
/// generator; Object is everything with behaviour (namespaces, macros, loops, bound methods).
enum class Kind : uint8_t {
  Undefined,
  None,
  Bool,
  Int,
  Float,
  String,
  List,
  Tuple,
  Dict,
  View,
  Range,
  Iterator,
  Object,
};

/// Shared part of a value. Containers never change once a template can see them, so `depth` (levels
/// of nesting) and `weight` (roughly the bytes a full walk touches, saturating) stay true.
struct Shared {
  uint32_t depth = 1;
  uint64_t weight = 32;
  virtual ~Shared() = default;
};

struct StringData;
struct ListData;
struct DictData;
struct ViewData;
struct RangeData;
struct IteratorData;
struct ObjectData;

/// How deep lists and dicts may nest (they are walked recursively).
constexpr uint32_t max_value_depth = 500;

/// One value of a template: a number, a string, a container, ... Copies share their contents.
class Value {
 public:
  Value() : kind_(Kind::None), int_(0) {}
  static Value boolean(bool v);
  static Value integer(int64_t v);
  static Value number(double v);
  static Value string(std::string text);
  /// A string marked as safe for HTML, as the `safe` and `escape` filters give.
  static Value markup(std::string text);
  /// Error LimitExceeded where the result would nest deeper than max_value_depth.
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  static Value dict(std::shared_ptr<const DictData> entries);
  static Value range(int64_t start, int64_t stop, int64_t step);
  static Value iterator(std::shared_ptr<IteratorData> it);
  static Value object(std::shared_ptr<ObjectData> o);
  /// A missing value; `hint` says what is missing ("'x' is undefined").
  static Value undefined(std::string hint);

  Kind kind() const { return kind_; }
  bool is(Kind k) const { return kind_ == k; }
  bool is_none() const { return kind_ == Kind::None; }
  bool is_undefined() const { return kind_ == Kind::Undefined; }
  bool is_string() const { return kind_ == Kind::String; }
  bool is_markup() const;
  bool is_number() const {
    return kind_ == Kind::Int || kind_ == Kind::Float || kind_ == Kind::Bool;
  }
  /// Bool or Int as an integer.
  int64_t as_int() const { return int_; }
  /// Any number as a double.
  double as_double() const { return kind_ == Kind::Float ? double_ : static_cast<double>(int_); }
  /// Contents of a string.
  const std::string& text() const;
  /// Number of characters (code points) of a string.
  size_t text_length() const;
  /// Items of a List or Tuple.
  const std::vector<Value>& items() const;
  const DictData& dict_data() const;
  const std::shared_ptr<Shared>& shared() const { return shared_; }
  template <typename T>
  T& as() const {
    return static_cast<T&>(*shared_);
  }

  uint32_t depth() const { return shared_ ? shared_->depth : 0; }
  uint64_t weight() const { return shared_ ? shared_->weight : 16; }

 private:
  friend Value make_value(Kind kind, std::shared_ptr<Shared> shared);
  Kind kind_;
  union {
    int64_t int_;
    double double_;
  };
  std::shared_ptr<Shared> shared_;
};

Value make_value(Kind kind, std::shared_ptr<Shared> shared);

struct UndefinedData : Shared {
  std::string hint;
};

struct StringData : Shared {
  std::string text;
  size_t length = 0;  ///< in code points
  bool markup = false;
};

struct ListData : Shared {
  std::vector<Value> items;
  bool group = false;  ///< a tuple of groupby, which also has .grouper and .list
};

/// A mapping that keeps its order of insertion.
struct DictData : Shared {
  std::vector<std::pair<Value, Value>> entries;

  /// The value under `key`, or null. Error for keys that cannot be hashed.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  /// Inserts or replaces (a replaced key keeps its place). Only while nobody else sees the dict.
  void set(Value key, Value value);

 private:
  const Value* find_hashed(const Value& key, size_t hash) const;
  std::unordered_multimap<size_t, size_t> index_;  ///< hash to entry, once there are many
};

struct ViewData : Shared {
  enum class Part : uint8_t { Keys, Values, Items } part = Part::Keys;
  std::shared_ptr<const DictData> dict;
};

struct RangeData : Shared {
  int64_t start = 0, stop = 0, step = 1;
  int64_t length() const;
};

/// A one-shot sequence; next() gives false at its end.
struct IteratorData : Shared {
  virtual bool next(Value& out) = 0;
};

class Interpreter;
struct Arguments;

/// A value with behaviour of its own; the defaults refuse.
struct ObjectData : Shared {
  virtual std::string type_name() const = 0;
  virtual bool callable() const { return false; }
  virtual Value call(Interpreter& in, Arguments& args);
  /// Sets `out` and gives true where there is an attribute `name`.
  virtual bool attribute(Interpreter& in, std::string_view name, Value& out);
  virtual void append_repr(std::string& out, int level) const;
};

/// Throws the error of a template that did something its values do not allow.
template <typename... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::InvalidArgument, format, std::forward<Args>(args)...);
}

/// The name Python gives the value's type: "str", "NoneType", "dict_items", ...
std::string type_name(const Value& v);
bool truth(const Value& v);
/// Python's ==; never an error.
bool equal(const Value& a, const Value& b);
/// Python's <; an error for types that have no order.
bool less(const Value& a, const Value& b, const char* sign = "<");
/// Python's hash, for dict keys; an error for lists and dicts.
size_t hash(const Value& v);
/// Throws for an undefined value, with its hint.
void require_defined(const Value& v);
[[noreturn]] void raise_undefined(const Value& v);

/// Python's str(v).
std::string to_text(const Value& v);
/// Python's repr(v).
std::string repr(const Value& v);
void append_repr(std::string& out, const Value& v, int level = 0);
/// The shortest text that reads back as `v`, laid out as Python does: 1e-05, 1.0, inf.
std::string float_repr(double v);

/// Item `i` of a range.
Value range_item(const RangeData& r, int64_t i);

}  // namespace rlx::text::jinja

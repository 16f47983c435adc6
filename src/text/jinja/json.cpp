// SPDX-License-Identifier: Apache-2.0
// JSON in (parse_json) and out (json.dumps).
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "text/jinja/jinja.h"

namespace rlx::text::jinja {
namespace {

/// Builds values while the parser reads, so that nesting and big integers are seen.
class Builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return add(Value()); }
  bool boolean(bool v) { return add(Value::boolean(v)); }
  bool number_integer(number_integer_t v) { return add(Value::integer(v)); }
  bool number_unsigned(number_unsigned_t v) {
    if (v > static_cast<number_unsigned_t>(INT64_MAX)) fail_integer(std::to_string(v));
    return add(Value::integer(static_cast<int64_t>(v)));
  }
  bool number_float(number_float_t v, const string_t& text) {
    if (text.find_first_of(".eE") == string_t::npos) fail_integer(text);
    return add(Value::number(v));
  }
  bool string(string_t& v) { return add(Value::string(std::move(v))); }
  bool binary(binary_t&) { return false; }
  bool start_object(size_t) { return open(true); }
  bool start_array(size_t) { return open(false); }
  bool key(string_t& k) {
    open_.back().key = Value::string(std::move(k));
    return true;
  }
  bool end_object() {
    Value v = Value::dict(std::move(open_.back().dict));
    open_.pop_back();
    return add(std::move(v));
  }
  bool end_array() {
    Value v = Value::list(std::move(open_.back().items));
    open_.pop_back();
    return add(std::move(v));
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    fail(ErrorCode::InvalidFile, "not JSON at byte {}", position > 0 ? position - 1 : 0);
  }

  Value result() { return std::move(result_); }

 private:
  struct Open {
    std::shared_ptr<DictData> dict;  ///< null for a list
    Value key;
    std::vector<Value> items;
  };

  [[noreturn]] static void fail_integer(const std::string& text) {
    fail(ErrorCode::InvalidFile, "JSON: the integer {} needs more than 64 bits",
         text.size() > 40 ? text.substr(0, 40) + "..." : text);
  }

  bool open(bool object) {
    if (open_.size() >= max_value_depth)
      fail(ErrorCode::LimitExceeded, "JSON: values nest deeper than {} levels", max_value_depth);
    open_.emplace_back();
    if (object) open_.back().dict = std::make_shared<DictData>();
    return true;
  }

  bool add(Value v) {
    if (open_.empty())
      result_ = std::move(v);
    else if (open_.back().dict)
      open_.back().dict->set(std::move(open_.back().key), std::move(v));
    else
      open_.back().items.push_back(std::move(v));
    return true;
  }

  std::vector<Open> open_;
  Value result_;
};

class Writer {
 public:
  explicit Writer(const JsonStyle& style) : style_(style) {}

  void write(const Value& v) {
    switch (v.kind()) {
      case Kind::None: out_ += "null"; break;
      case Kind::Bool: out_ += v.as_int() ? "true" : "false"; break;
      case Kind::Int: out_ += std::to_string(v.as_int()); break;
      case Kind::Float: out_ += number(v.as_double()); break;
      case Kind::String: write_string(v.text()); break;
      case Kind::List:
      case Kind::Tuple: write_list(v.items()); break;
      case Kind::Dict: write_dict(v.dict_data()); break;
      default: raise("Object of type {} is not JSON serializable", type_name(v));
    }
    constexpr size_t max_json = size_t{64} << 20;
    if (out_.size() > max_json)
      fail(ErrorCode::LimitExceeded, "a JSON text of more than {} bytes is too large", max_json);
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string number(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return float_repr(d);
  }

  void write_string(std::string_view s) {
    out_ += '"';
    for (size_t at = 0; at < s.size();) {
      const uint32_t c = decode_utf8(s, at);
      switch (c) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        case '\f': out_ += "\\f"; break;
        case '\b': out_ += "\\b"; break;
        default: write_character(c);
      }
    }
    out_ += '"';
  }

  void write_character(uint32_t c) {
    if (c < 0x20 || (style_.ensure_ascii && c > 0x7e && c < 0x10000))
      out_ += fmt::format("\\u{:04x}", c);
    else if (style_.ensure_ascii && c >= 0x10000)
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10),
                          0xdc00 + ((c - 0x10000) & 0x3ff));
    else
      append_utf8(out_, c);
  }

  void new_line() {
    if (!style_.indented) return;
    out_ += '\n';
    for (int i = 0; i < level_; ++i) out_ += style_.indent;
  }

  void write_list(const std::vector<Value>& items) {
    out_ += '[';
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out_ += style_.item_separator;
      new_line();
      write(items[i]);
    }
    --level_;
    if (!items.empty()) new_line();
    out_ += ']';
  }

  static std::string key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::String: return key.text();
      case Kind::Bool: return key.as_int() ? "true" : "false";
      case Kind::None: return "null";
      case Kind::Int: return std::to_string(key.as_int());
      case Kind::Float: return number(key.as_double());
      default: raise("keys must be str, int, float, bool or None, not {}", type_name(key));
    }
  }

  void write_dict(const DictData& d) {
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& e : d.entries) entries.push_back(&e);
    if (style_.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto* a, const auto* b) { return less(a->first, b->first); });
    out_ += '{';
    ++level_;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i) out_ += style_.item_separator;
      new_line();
      write_string(key_text(entries[i]->first));
      out_ += style_.key_separator;
      write(entries[i]->second);
    }
    --level_;
    if (!entries.empty()) new_line();
    out_ += '}';
  }

  const JsonStyle& style_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

Value parse_json(std::string_view json) {
  Builder builder;
  nlohmann::json::sax_parse(json.begin(), json.end(), &builder);
  return builder.result();
}

std::string to_json(const Value& v, const JsonStyle& style) {
  Writer writer(style);
  writer.write(v);
  return writer.take();
}

}  // namespace rlx::text::jinja

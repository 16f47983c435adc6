// SPDX-License-Identifier: Apache-2.0
#include "ops/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/half.h"
#include "base/utf8.h"
#include "ops/builder.h"
#include "ops/verify.h"

namespace rlx {
namespace {

constexpr int kMaxDepth = 64;

enum class TokenKind { End, Word, Name, Number, String, Punct };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;
  size_t line = 1, column = 1;
};

/// Splits the text into tokens, one at a time with one of look-ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token take() {
    Token t = token_;
    advance();
    return t;
  }
  [[noreturn]] void reject(const std::string& expected) const {
    fail(ErrorCode::InvalidFile, "line {}, column {}: found {}, expected {}", token_.line,
         token_.column, token_.kind == TokenKind::End ? "the end" : quote(token_.text), expected);
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  void skip_blanks() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '#') {
        while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
      } else if (c == '\n') {
        ++line_;
        line_start_ = ++pos_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++pos_;
      } else {
        return;
      }
    }
  }

  void advance() {
    skip_blanks();
    token_ = {TokenKind::End, "", line_, pos_ - line_start_ + 1};
    if (pos_ >= text_.size()) return;
    const size_t start = pos_;
    const char c = text_[pos_];
    if (c == '%') {
      for (++pos_; is_word(at(pos_)) || at(pos_) == '.' || at(pos_) == '-';) ++pos_;
      token_.kind = TokenKind::Name;
      token_.text = std::string(text_.substr(start + 1, pos_ - start - 1));
      if (token_.text.empty()) reject("a name after '%'");
      return;
    }
    if (c == '"') return read_string();
    if (is_digit(c) || (c == '.' && is_digit(at(pos_ + 1)))) {
      while (is_word(at(pos_)) || at(pos_) == '.' ||
             ((at(pos_) == '-' || at(pos_) == '+') &&
              (at(pos_ - 1) == 'e' || at(pos_ - 1) == 'E') && is_digit(at(pos_ + 1)))) {
        ++pos_;
      }
      token_.kind = TokenKind::Number;
    } else if (is_word(c)) {
      while (is_word(at(pos_)) || at(pos_) == '.') ++pos_;
      token_.kind = TokenKind::Word;
    } else {
      pos_ += c == '<' && at(pos_ + 1) == '=' ? 2 : 1;
      token_.kind = TokenKind::Punct;
    }
    token_.text = std::string(text_.substr(start, pos_ - start));
  }

  void read_string() {
    token_.kind = TokenKind::String;
    for (++pos_; at(pos_) != '"'; ++pos_) {
      if (pos_ >= text_.size() || at(pos_) == '\n') {
        token_.text.assign(1, '"');
        reject("a closing '\"'");
      }
      if (at(pos_) == '\\') ++pos_;
      token_.text += at(pos_);
    }
    ++pos_;
  }

  std::string_view text_;
  size_t pos_ = 0, line_ = 1, line_start_ = 0;
  Token token_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lex_(text) {}

  Graph graph() {
    expect_word("graph");
    Graph g(expect(TokenKind::Word, "the graph's name").text);
    expect_punct("{");
    body(g, "output", 0);
    if (lex_.peek().kind != TokenKind::End) lex_.reject("the end of the text");
    return g;
  }

 private:
  bool is_punct(std::string_view p) const {
    return lex_.peek().kind == TokenKind::Punct && lex_.peek().text == p;
  }
  bool accept_punct(std::string_view p) {
    if (!is_punct(p)) return false;
    lex_.take();
    return true;
  }
  void expect_punct(std::string_view p) {
    if (!accept_punct(p)) lex_.reject(fmt::format("'{}'", p));
  }
  bool is_word(std::string_view w) const {
    return lex_.peek().kind == TokenKind::Word && lex_.peek().text == w;
  }
  void expect_word(std::string_view w) {
    if (!is_word(w)) lex_.reject(fmt::format("'{}'", w));
    lex_.take();
  }
  Token expect(TokenKind kind, const std::string& what) {
    if (lex_.peek().kind != kind) lex_.reject(what);
    return lex_.take();
  }

  /// The statements up to the closing brace; `last` is "output" or "yield".
  void body(Graph& g, std::string_view last, int depth) {
    if (depth > kMaxDepth) lex_.reject(fmt::format("at most {} nested bodies", kMaxDepth));
    while (!is_word(last)) statement(g, depth);
    lex_.take();
    std::vector<Value> outputs{value(g)};
    while (accept_punct(",")) outputs.push_back(value(g));
    g.set_outputs(std::move(outputs));
    expect_punct("}");
  }

  void statement(Graph& g, int depth) {
    const Token at = lex_.peek();
    try {
      if (is_word("dims")) return dims(g);
      for (const OpKind leaf : {OpKind::Input, OpKind::Weight, OpKind::Constant, OpKind::State}) {
        if (is_word(op_name(leaf))) return declaration(g, leaf);
      }
      if (at.kind != TokenKind::Name) {
        lex_.reject("a declaration, an op, 'output' or 'yield'");
      }
      operation(g, depth);
    } catch (Error& e) {
      if (e.message().rfind("line ", 0) == 0) throw;
      fail(e.code(), "line {}, column {}: {}", at.line, at.column, e.message());
    }
  }

  void dims(Graph& g) {
    lex_.take();
    do {
      const std::string name = expect(TokenKind::Word, "the name of an extent").text;
      expect_punct("<=");
      g.add_symbol(name, integer());
    } while (accept_punct(","));
  }

  void declaration(Graph& g, OpKind kind) {
    lex_.take();
    const std::string name = expect(TokenKind::Name, "a name like %x").text;
    expect_punct(":");
    TensorType type = tensor_type(g);
    switch (kind) {
      case OpKind::Input: g.add_input(name, std::move(type)); return;
      case OpKind::Weight: g.add_weight(name, std::move(type), {}); return;
      case OpKind::State: g.add_state(name, std::move(type)); return;
      default: break;
    }
    expect_punct("=");
    auto bytes = std::make_shared<std::vector<std::byte>>(literal(type));
    const std::span<const std::byte> view = *bytes;
    g.add_constant(name, std::move(type), {view, std::move(bytes)});
  }

  void operation(Graph& g, int depth) {
    std::vector<std::string> names{lex_.take().text};
    while (accept_punct(",")) names.push_back(expect(TokenKind::Name, "a name like %x").text);
    expect_punct("=");
    const Token op_token = expect(TokenKind::Word, "an op's name");
    const auto op = op_from_name(op_token.text);
    if (!op || is_leaf(*op)) {
      fail(ErrorCode::InvalidFile, "line {}, column {}: there is no op '{}'", op_token.line,
           op_token.column, op_token.text);
    }
    std::vector<Value> operands;
    if (lex_.peek().kind == TokenKind::Name) {
      do {
        operands.push_back(value(g));
      } while (accept_punct(","));
    }
    Attrs attrs;
    if (is_punct("{")) attributes(g, attrs);
    Builder b(g);
    const auto results = b.ops(*op, std::move(operands), std::move(attrs), names);
    if (results.size() != names.size()) {
      fail(ErrorCode::InvalidFile, "{} has {} results, {} names are given", op_token.text,
           results.size(), names.size());
    }
    if (accept_punct(":")) check_types(g, results);
    while (accept_punct("{")) {
      auto inner = std::make_unique<Graph>("body");
      for (const Symbol& s : g.symbols()) inner->add_symbol(s.name, s.bound);
      body(*inner, "yield", depth + 1);
      g.add_body(results[0].node, std::move(inner));
    }
  }

  void check_types(const Graph& g, const std::vector<Value>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (i != 0) expect_punct(",");
      const TensorType declared = tensor_type(g);
      if (declared == g.type(results[i])) continue;
      fail(ErrorCode::InvalidFile, "%{} is declared {}, but is {}", g.value_name(results[i]),
           to_string(declared, g.symbols()), to_string(g.type(results[i]), g.symbols()));
    }
  }

  void attributes(const Graph& g, Attrs& attrs) {
    expect_punct("{");
    do {
      const Token name = expect(TokenKind::Word, "an attribute's name");
      const auto key = attr_from_name(name.text);
      if (!key) fail(ErrorCode::InvalidFile, "there is no attribute '{}'", name.text);
      if (attrs.find(*key) != nullptr) {
        fail(ErrorCode::InvalidFile, "attribute '{}' is given twice", name.text);
      }
      expect_punct("=");
      attrs.set(*key, attribute_value(g, attr_kind(*key)));
    } while (accept_punct(","));
    expect_punct("}");
  }

  AttrValue attribute_value(const Graph& g, AttrKind kind) {
    switch (kind) {
      case AttrKind::Int: return AttrValue::of_int(integer());
      case AttrKind::Float: return AttrValue::of_float(number());
      case AttrKind::Bool: return AttrValue::of_bool(boolean());
      case AttrKind::String:
        return AttrValue::of_string(expect(TokenKind::String, "a string").text);
      case AttrKind::DType: return AttrValue::of_dtype(dtype());
      case AttrKind::Dim: return AttrValue::of_dim(extent(g));
      case AttrKind::Dims: return AttrValue::of_dims(shape(g));
      case AttrKind::Ints: break;
    }
    std::vector<int64_t> values;
    expect_punct("[");
    while (!is_punct("]")) {
      values.push_back(integer());
      if (!accept_punct(",")) break;
    }
    expect_punct("]");
    return AttrValue::of_ints(std::move(values));
  }

  DType dtype() {
    const Token t = expect(TokenKind::Word, "an element type like f32");
    const auto d = dtype_from_name(t.text);
    if (!d) fail(ErrorCode::InvalidFile, "there is no element type '{}'", t.text);
    return *d;
  }

  TensorType tensor_type(const Graph& g) {
    TensorType type;
    type.dtype = dtype();
    type.shape = shape(g);
    return type;
  }

  Shape shape(const Graph& g) {
    Shape dims_read;
    expect_punct("[");
    while (!is_punct("]")) {
      dims_read.push_back(extent(g));
      if (!accept_punct(",")) break;
    }
    expect_punct("]");
    return dims_read;
  }

  /// `2*T+P-1`.
  Dim extent(const Graph& g) {
    Dim sum;
    bool negative = accept_punct("-");
    for (;;) {
      Dim term(1);
      if (lex_.peek().kind == TokenKind::Number) {
        term = Dim(unsigned_integer());
        if (accept_punct("*")) term = term * g.dim(expect(TokenKind::Word, "an extent").text);
      } else {
        term = g.dim(expect(TokenKind::Word, "a number or a declared extent").text);
      }
      sum = negative ? sum - term : sum + term;
      if (accept_punct("+")) {
        negative = false;
      } else if (accept_punct("-")) {
        negative = true;
      } else {
        return sum;
      }
    }
  }

  int64_t unsigned_integer() { return whole_number<int64_t>(""); }
  int64_t integer() { return whole_number<int64_t>(accept_punct("-") ? "-" : ""); }

  /// The next token behind `sign`, as a T.
  template <typename T>
  T whole_number(std::string_view sign) {
    Token t = expect(TokenKind::Number, "a whole number");
    t.text.insert(0, sign);
    T v = 0;
    const char* end = t.text.data() + t.text.size();
    const auto result = std::from_chars(t.text.data(), end, v);
    if (result.ec != std::errc() || result.ptr != end) {
      fail(ErrorCode::InvalidFile, "line {}, column {}: '{}' is no whole number of 64 bits", t.line,
           t.column, t.text);
    }
    return v;
  }

  double number() {
    const bool negative = accept_punct("-");
    if (is_word("inf") || is_word("nan")) {
      const double v = lex_.take().text == "inf" ? HUGE_VAL : __builtin_nan("");
      return negative ? -v : v;
    }
    const Token t = expect(TokenKind::Number, "a number");
    double v = 0;
    const char* end = t.text.data() + t.text.size();
    const auto result = std::from_chars(t.text.data(), end, v);
    if (result.ec != std::errc() || result.ptr != end) {
      fail(ErrorCode::InvalidFile, "line {}, column {}: '{}' is no number", t.line, t.column,
           t.text);
    }
    return negative ? -v : v;
  }

  bool boolean() {
    if (!is_word("true") && !is_word("false")) lex_.reject("true or false");
    return lex_.take().text == "true";
  }

  Value value(const Graph& g) {
    const Token t = expect(TokenKind::Name, "a value like %x");
    const Value v = g.find(t.text);
    if (!v.valid()) {
      fail(ErrorCode::InvalidFile, "line {}, column {}: %{} is not defined", t.line, t.column,
           t.text);
    }
    return v;
  }

  /// One element of a constant, appended in its storage form.
  void element(DType d, std::vector<std::byte>& out) {
    const auto put = [&](auto v) {
      const auto* p = reinterpret_cast<const std::byte*>(&v);
      out.insert(out.end(), p, p + sizeof v);
    };
    switch (d) {
      case DType::F64: return put(number());
      case DType::F32: return put(static_cast<float>(number()));
      case DType::F16: return put(f32_to_f16(static_cast<float>(number())));
      case DType::BF16: return put(f32_to_bf16(static_cast<float>(number())));
      case DType::I8: return put(static_cast<int8_t>(integer_within(-128, 127)));
      case DType::I16: return put(static_cast<int16_t>(integer_within(INT16_MIN, INT16_MAX)));
      case DType::I32: return put(static_cast<int32_t>(integer_within(INT32_MIN, INT32_MAX)));
      case DType::I64: return put(integer());
      case DType::U8: return put(static_cast<uint8_t>(integer_within(0, UINT8_MAX)));
      case DType::U16: return put(static_cast<uint16_t>(integer_within(0, UINT16_MAX)));
      case DType::U32: return put(static_cast<uint32_t>(integer_within(0, UINT32_MAX)));
      case DType::U64: return put(whole_number<uint64_t>(""));
      case DType::Bool: return put(static_cast<uint8_t>(boolean()));
      default: fail(ErrorCode::Unsupported, "a {} constant is spelled as hex", dtype_name(d));
    }
  }

  int64_t integer_within(int64_t low, int64_t high) {
    const int64_t v = integer();
    if (v < low || v > high) {
      fail(ErrorCode::InvalidFile, "{} is outside {} to {}", v, low, high);
    }
    return v;
  }

  std::vector<std::byte> literal(const TensorType& type) {
    std::vector<std::byte> bytes;
    const int64_t count = element_count(type.shape).static_value("the size of a constant");
    const int64_t size = byte_count(type).static_value("the size of a constant");
    if (size < 0 || size > kMaxConstantBytes) {
      fail(ErrorCode::LimitExceeded, "a constant of {} bytes is above the limit of {}", size,
           kMaxConstantBytes);
    }
    if (is_word("hex")) {
      lex_.take();
      return hex();
    }
    if (is_word("splat")) {
      lex_.take();
      element(type.dtype, bytes);
      const size_t width = bytes.size();
      bytes.resize(static_cast<size_t>(count) * width);
      for (size_t i = width; i < bytes.size(); ++i) bytes[i] = bytes[i - width];
      return bytes;
    }
    if (type.shape.empty()) {
      element(type.dtype, bytes);
      return bytes;
    }
    expect_punct("[");
    int64_t found = 0;
    for (; !is_punct("]"); ++found) {
      element(type.dtype, bytes);
      if (!accept_punct(",")) {
        ++found;
        break;
      }
    }
    expect_punct("]");
    if (found != count) {
      fail(ErrorCode::InvalidFile, "{} numbers are given, the shape has {}", found, count);
    }
    return bytes;
  }

  std::vector<std::byte> hex() {
    const Token t = lex_.take();
    const auto digit = [&](size_t i) -> unsigned {
      const char c = i < t.text.size() ? t.text[i] : '\0';
      if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
      if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
      fail(ErrorCode::InvalidFile, "line {}: bytes must be pairs of hexadecimal digits", t.line);
    };
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < t.text.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(digit(i) * 16 + digit(i + 1)));
    }
    return bytes;
  }

  static constexpr int64_t kMaxConstantBytes = int64_t{1} << 26;
  Lexer lex_;
};

}  // namespace

Graph parse_graph(std::string_view text) {
  Graph g = Parser(text).graph();
  verify(g);
  return g;
}

}  // namespace rlx

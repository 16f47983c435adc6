// SPDX-License-Identifier: Apache-2.0
// Expressions of the template language.
#include "text/jinja/parser.h"

#include <charconv>
#include <cstdlib>

#include "text/jinja/parser_nesting.h"
#include "text/jinja_builtins/filters.h"

namespace rlx::text::jinja {
namespace {

constexpr uint32_t max_expression_depth = 400;

std::string_view describe(TokenKind kind) {
  switch (kind) {
    case TokenKind::Text: return "template text";
    case TokenKind::PrintBegin: return "{{";
    case TokenKind::PrintEnd: return "}}";
    case TokenKind::BlockBegin: return "{%";
    case TokenKind::BlockEnd: return "%}";
    case TokenKind::End: return "the end of the template";
    default: return "";
  }
}

ExprPtr constant(int line, Value v) {
  auto e = std::make_unique<Expr>();
  e->line = line;
  e->constant = std::move(v);
  return e;
}

}  // namespace

Parser::Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
  program_.loop = symbol("loop");
  program_.caller = symbol("caller");
  program_.kwargs = symbol("kwargs");
  program_.varargs = symbol("varargs");
}

const Token& Parser::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token Parser::take() {
  Token t = peek();
  line_ = t.line;
  if (at_ + 1 < tokens_.size()) ++at_;
  return t;
}

bool Parser::at_operator(std::string_view op) const {
  return peek().kind == TokenKind::Operator && peek().text == op;
}

bool Parser::at_name(std::string_view name) const {
  return peek().kind == TokenKind::Name && peek().text == name;
}

bool Parser::skip_operator(std::string_view op) {
  if (!at_operator(op)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  take();
  return true;
}

void Parser::expect_operator(std::string_view op) {
  if (!skip_operator(op)) fail_found(fmt::format("'{}'", op));
}

std::string Parser::expect_name(const char* what) {
  if (peek().kind != TokenKind::Name) fail_found(what);
  return take().text;
}

void Parser::fail_found(std::string_view expected) const {
  const Token& t = peek();
  const std::string_view kind = describe(t.kind);
  fail_syntax(t.line, fmt::format("expected {}, found '{}'", expected,
                                  kind.empty() ? t.text : std::string(kind)));
}

uint32_t Parser::symbol(const std::string& name) {
  const auto [it, added] =
      symbol_ids_.emplace(name, static_cast<uint32_t>(program_.symbols.size()));
  if (added) program_.symbols.push_back(name);
  return it->second;
}

ExprPtr Parser::measured(ExprPtr e) {
  const auto count = [&](const ExprPtr& p) {
    if (p) e->depth = std::max(e->depth, p->depth + 1);
  };
  for (const ExprPtr& p : e->parts) count(p);
  if (e->call) {
    for (const ExprPtr& p : e->call->positional) count(p);
    for (const auto& [name, p] : e->call->named) count(p);
    count(e->call->star);
    count(e->call->star_star);
  }
  if (e->depth > max_expression_depth)
    fail(ErrorCode::LimitExceeded, "template line {}: an expression nests deeper than {} levels",
         e->line, max_expression_depth);
  return e;
}

ExprPtr Parser::make(ExprKind kind, std::vector<ExprPtr> parts) {
  auto e = std::make_unique<Expr>();
  e->kind = kind;
  e->line = peek().line;
  e->parts = std::move(parts);
  return measured(std::move(e));
}

ExprPtr Parser::with_call(ExprPtr e, std::unique_ptr<CallParts> call) {
  e->call = std::move(call);
  return measured(std::move(e));
}

ExprPtr Parser::binary(Op op, ExprPtr left, ExprPtr right) {
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(left));
  parts.push_back(std::move(right));
  ExprPtr e = make(ExprKind::Binary, std::move(parts));
  e->op = op;
  return e;
}

ExprPtr Parser::expression(bool with_condition) {
  const Nesting level(*this);
  const size_t unknown_before = unknown_.size();
  ExprPtr e = or_expression();
  if (!with_condition) return e;
  while (skip_name("if")) {
    const bool was_soft = std::exchange(soft_, true);
    std::vector<ExprPtr> parts;
    parts.push_back(std::move(e));
    parts.push_back(or_expression());
    parts.push_back(skip_name("else") ? expression() : nullptr);
    soft_ = was_soft;
    unknown_.resize(unknown_before);
    e = make(ExprKind::Conditional, std::move(parts));
  }
  return e;
}

ExprPtr Parser::or_expression() {
  ExprPtr left = and_expression();
  while (skip_name("or")) {
    left = binary(Op::Add, std::move(left), and_expression());
    left->kind = ExprKind::Or;
  }
  return left;
}

ExprPtr Parser::and_expression() {
  ExprPtr left = not_expression();
  while (skip_name("and")) {
    left = binary(Op::Add, std::move(left), not_expression());
    left->kind = ExprKind::And;
  }
  return left;
}

ExprPtr Parser::not_expression() {
  if (!at_name("not")) return comparison();
  const Nesting level(*this);
  take();
  std::vector<ExprPtr> parts;
  parts.push_back(not_expression());
  ExprPtr e = make(ExprKind::Unary, std::move(parts));
  e->op = Op::Not;
  return e;
}

ExprPtr Parser::comparison() {
  static constexpr std::pair<std::string_view, Op> signs[] = {
      {"==", Op::Equal},     {"!=", Op::NotEqual}, {"<", Op::Less},
      {"<=", Op::LessEqual}, {">", Op::Greater},   {">=", Op::GreaterEqual}};
  std::vector<ExprPtr> parts;
  std::vector<Op> ops;
  parts.push_back(sum());
  while (true) {
    const size_t before = ops.size();
    for (const auto& [sign, op] : signs)
      if (ops.size() == before && skip_operator(sign)) ops.push_back(op);
    if (ops.size() == before && skip_name("in")) ops.push_back(Op::In);
    if (ops.size() == before && at_name("not") && peek(1).kind == TokenKind::Name &&
        peek(1).text == "in") {
      take();
      take();
      ops.push_back(Op::NotIn);
    }
    if (ops.size() == before) break;
    parts.push_back(sum());
  }
  if (ops.empty()) return std::move(parts[0]);
  ExprPtr e = make(ExprKind::Compare, std::move(parts));
  e->ops = std::move(ops);
  return e;
}

ExprPtr Parser::sum() {
  ExprPtr left = concatenation();
  while (at_operator("+") || at_operator("-")) {
    const Op op = take().text == "+" ? Op::Add : Op::Subtract;
    left = binary(op, std::move(left), concatenation());
  }
  return left;
}

ExprPtr Parser::concatenation() {
  ExprPtr first = product();
  if (!at_operator("~")) return first;
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(first));
  while (skip_operator("~")) parts.push_back(product());
  return make(ExprKind::Concat, std::move(parts));
}

ExprPtr Parser::product() {
  static constexpr std::pair<std::string_view, Op> signs[] = {
      {"*", Op::Multiply}, {"/", Op::Divide}, {"//", Op::FloorDivide}, {"%", Op::Modulo}};
  ExprPtr left = power();
  for (bool found = true; found;) {
    found = false;
    for (const auto& [sign, op] : signs) {
      if (found || !skip_operator(sign)) continue;
      left = binary(op, std::move(left), power());
      found = true;
    }
  }
  return left;
}

ExprPtr Parser::power() {
  ExprPtr left = unary(true);
  while (skip_operator("**")) left = binary(Op::Power, std::move(left), unary(true));
  return left;
}

ExprPtr Parser::unary(bool with_filters) {
  ExprPtr e;
  if (at_operator("-") || at_operator("+")) {
    const Nesting level(*this);
    const Op op = take().text == "-" ? Op::Negative : Op::Positive;
    std::vector<ExprPtr> parts;
    parts.push_back(unary(false));
    e = make(ExprKind::Unary, std::move(parts));
    e->op = op;
  } else {
    e = primary();
  }
  e = postfix(std::move(e));
  return with_filters ? filters_and_tests(std::move(e)) : std::move(e);
}

ExprPtr Parser::name_or_constant() {
  const Token t = take();
  if (t.text == "true" || t.text == "True") return constant(t.line, Value::boolean(true));
  if (t.text == "false" || t.text == "False") return constant(t.line, Value::boolean(false));
  if (t.text == "none" || t.text == "None") return constant(t.line, Value());
  for (MacroParts* m : macros_) {
    m->uses_caller |= t.text == "caller";
    m->uses_kwargs |= t.text == "kwargs";
    m->uses_varargs |= t.text == "varargs";
  }
  ExprPtr e = make(ExprKind::Name);
  e->line = t.line;
  e->symbol = symbol(t.text);
  return e;
}

ExprPtr Parser::number() {
  const Token t = take();
  if (t.kind == TokenKind::Float)
    return constant(t.line, Value::number(std::strtod(t.text.c_str(), nullptr)));
  std::string_view digits = t.text;
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && digits[1] > '9') {
    base = (digits[1] | 0x20) == 'x' ? 16 : (digits[1] | 0x20) == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  int64_t value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (end.ec != std::errc())
    fail_syntax(t.line, fmt::format("the integer {} needs more than 64 bits", t.text));
  return constant(t.line, Value::integer(value));
}

ExprPtr Parser::primary() {
  const Token& t = peek();
  switch (t.kind) {
    case TokenKind::Name: return name_or_constant();
    case TokenKind::Integer:
    case TokenKind::Float: return number();
    case TokenKind::String: {
      const int line = t.line;
      std::string text = take().text;
      while (peek().kind == TokenKind::String) text += take().text;
      return constant(line, Value::string(std::move(text)));
    }
    default: break;
  }
  if (skip_operator("(")) {
    ExprPtr e = tuple(true, TupleEnd::Normal, true);
    expect_operator(")");
    return e;
  }
  if (at_operator("[")) return list_display();
  if (at_operator("{")) return dict_display();
  fail_found("an expression");
}

ExprPtr Parser::list_display() {
  take();
  std::vector<ExprPtr> items;
  while (!at_operator("]")) {
    if (!items.empty()) expect_operator(",");
    if (at_operator("]")) break;
    items.push_back(expression());
  }
  take();
  return make(ExprKind::List, std::move(items));
}

ExprPtr Parser::dict_display() {
  take();
  std::vector<ExprPtr> parts;
  while (!at_operator("}")) {
    if (!parts.empty()) expect_operator(",");
    if (at_operator("}")) break;
    parts.push_back(expression());
    expect_operator(":");
    parts.push_back(expression());
  }
  take();
  return make(ExprKind::Dict, std::move(parts));
}

ExprPtr Parser::postfix(ExprPtr node) {
  while (true) {
    if (skip_operator(".")) {
      const Token t = take();
      std::vector<ExprPtr> parts;
      parts.push_back(std::move(node));
      if (t.kind == TokenKind::Name) {
        node = make(ExprKind::Attribute, std::move(parts));
        node->name = t.text;
      } else if (t.kind == TokenKind::Integer) {
        --at_;
        parts.push_back(number());
        node = make(ExprKind::Item, std::move(parts));
      } else {
        fail_syntax(t.line, "expected a name or number after '.'");
      }
    } else if (at_operator("[")) {
      node = subscript(std::move(node));
    } else if (at_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::call(ExprPtr node) {
  auto arguments = call_arguments();
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(node));
  return with_call(make(ExprKind::Call, std::move(parts)), std::move(arguments));
}

ExprPtr Parser::subscript(ExprPtr node) {
  take();
  std::vector<ExprPtr> keys;
  bool comma = false;
  while (!at_operator("]")) {
    if (!keys.empty()) {
      expect_operator(",");
      comma = true;
    }
    keys.push_back(slice_or_expression());
  }
  take();
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(node));
  if (comma || keys.empty())  // x[] looks up the empty tuple
    parts.push_back(make(ExprKind::Tuple, std::move(keys)));
  else
    parts.push_back(std::move(keys[0]));
  return make(ExprKind::Item, std::move(parts));
}

ExprPtr Parser::slice_or_expression() {
  std::vector<ExprPtr> bounds(3);
  const auto at_bound_end = [&] {
    return at_operator(":") || at_operator("]") || at_operator(",");
  };
  if (!at_operator(":")) {
    ExprPtr first = expression();
    if (!at_operator(":")) return first;
    bounds[0] = std::move(first);
  }
  take();
  if (!at_bound_end()) bounds[1] = expression();
  if (skip_operator(":") && !at_bound_end()) bounds[2] = expression();
  return make(ExprKind::Slice, std::move(bounds));
}

std::string Parser::dotted_name() {
  std::string name = expect_name("a filter or test name");
  while (skip_operator(".")) name += "." + expect_name("a name");
  return name;
}

ExprPtr Parser::filters_and_tests(ExprPtr node) {
  while (true) {
    if (at_operator("|")) {
      node = filter_chain(std::move(node));
    } else if (at_name("is")) {
      node = test(std::move(node));
    } else if (at_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr Parser::filter_chain(ExprPtr node) {
  while (skip_operator("|")) node = filter(std::move(node));
  return node;
}

ExprPtr Parser::filter(ExprPtr node) {
  const int line = peek().line;
  std::string name = dotted_name();
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(node));
  auto call = at_operator("(") ? call_arguments() : std::make_unique<CallParts>();
  ExprPtr e = make(ExprKind::Filter, std::move(parts));
  e->line = line;
  e->filter = find_filter(name);
  if (!e->filter) note_unknown("filter", name, line);
  e->name = std::move(name);
  return with_call(std::move(e), std::move(call));
}

void Parser::note_unknown(const char* what, const std::string& name, int line) {
  if (soft_) return;
  unknown_.push_back({TokenKind::Name, line, fmt::format("no {} named '{}'", what, name)});
}

ExprPtr Parser::test(ExprPtr node) {
  const int line = take().line;
  const bool negated = skip_name("not");
  std::string name = dotted_name();
  auto call = std::make_unique<CallParts>();
  const TokenKind kind = peek().kind;
  if (at_operator("(")) {
    call = call_arguments();
  } else if (at_name("is")) {
    fail_syntax(peek().line, "tests cannot be chained with 'is'");
  } else if (((kind == TokenKind::Name && !at_name("else") && !at_name("or") && !at_name("and")) ||
              kind == TokenKind::String || kind == TokenKind::Integer || kind == TokenKind::Float ||
              at_operator("[") || at_operator("{"))) {
    call->positional.push_back(postfix(primary()));
  }
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(node));
  ExprPtr e = make(ExprKind::Test, std::move(parts));
  e->line = line;
  e->test = find_test(name);
  if (!e->test) note_unknown("test", name, line);
  e->name = std::move(name);
  e = with_call(std::move(e), std::move(call));
  if (!negated) return e;
  std::vector<ExprPtr> inner;
  inner.push_back(std::move(e));
  ExprPtr negation = make(ExprKind::Unary, std::move(inner));
  negation->op = Op::Not;
  return negation;
}

std::unique_ptr<CallParts> Parser::call_arguments() {
  const Nesting level(*this);
  auto call = std::make_unique<CallParts>();
  take();
  bool first = true;
  while (!at_operator(")")) {
    if (!first) expect_operator(",");
    first = false;
    if (at_operator(")")) break;
    if (!call->star && !call->star_star && skip_operator("*")) {
      call->star = expression();
    } else if (!call->star_star && skip_operator("**")) {
      call->star_star = expression();
    } else if (!call->star_star && peek().kind == TokenKind::Name &&
               peek(1).kind == TokenKind::Operator && peek(1).text == "=") {
      std::string name = take().text;
      take();
      call->named.emplace_back(std::move(name), expression());
    } else {
      if (call->star || call->star_star || !call->named.empty())
        fail_syntax(peek().line, "a positional argument follows a named or starred one");
      call->positional.push_back(expression());
    }
  }
  take();
  return call;
}

bool Parser::at_tuple_end(TupleEnd end) const {
  const TokenKind kind = peek().kind;
  if (kind == TokenKind::PrintEnd || kind == TokenKind::BlockEnd || at_operator(")")) return true;
  return end == TupleEnd::Recursive && at_name("recursive");
}

ExprPtr Parser::tuple(bool with_condition, TupleEnd end, bool in_brackets) {
  std::vector<ExprPtr> items;
  bool comma = false;
  while (true) {
    if (!items.empty() && comma && at_tuple_end(end)) break;
    if (items.empty() && at_tuple_end(end)) break;
    items.push_back(expression(with_condition));
    if (!skip_operator(",")) break;
    comma = true;
  }
  if (!comma && items.size() == 1) return std::move(items[0]);
  if (items.empty() && !in_brackets) fail_found("an expression");
  return make(ExprKind::Tuple, std::move(items));
}

}  // namespace rlx::text::jinja

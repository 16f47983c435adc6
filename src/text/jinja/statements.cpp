// SPDX-License-Identifier: Apache-2.0
// Statements of the template language.
#include <algorithm>

#include "base/utf8.h"
#include "text/jinja/parser.h"
#include "text/jinja/parser_nesting.h"

namespace rlx::text::jinja {
namespace {

constexpr size_t max_source = size_t{1} << 20;

/// Sets a flag of the parser for a while.
class Temporarily {
 public:
  Temporarily(bool& flag, bool value) : flag_(flag), old_(flag) { flag = value; }
  ~Temporarily() { flag_ = old_; }
  Temporarily(const Temporarily&) = delete;
  Temporarily& operator=(const Temporarily&) = delete;

 private:
  bool& flag_;
  bool old_;
};

bool is_reserved(std::string_view name) {
  static constexpr std::string_view reserved[] = {"true", "True", "false", "False", "none", "None"};
  return std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
}

/// Whether the target of a for (names and tuples of them) sets the variable.
bool assigns(const Expr& target, uint32_t symbol) {
  if (target.kind == ExprKind::Name) return target.symbol == symbol;
  return std::any_of(target.parts.begin(), target.parts.end(),
                     [&](const ExprPtr& p) { return assigns(*p, symbol); });
}

}  // namespace

Program parse_program(std::string_view source) {
  if (source.size() > max_source)
    fail(ErrorCode::LimitExceeded, "the template has {} bytes, allowed are {}", source.size(),
         max_source);
  if (const size_t at = find_invalid_utf8(source); at != std::string_view::npos)
    fail(ErrorCode::InvalidFile, "the template is not UTF-8 at byte {}", at);
  return Parser(tokenize(source)).run();
}

Program Parser::run() {
  program_.body = statements({}, "", 1);
  if (!unknown_.empty()) fail_syntax(unknown_[0].line, unknown_[0].text);
  return std::move(program_);
}

std::unique_ptr<Stmt> Parser::make_statement(StmtKind kind) {
  auto s = std::make_unique<Stmt>();
  s->kind = kind;
  s->line = line_;
  return s;
}

/// The end of a tag that opens a body; a colon may stand before it.
void Parser::open_body() {
  skip_operator(":");
  expect_block_end();
}

void Parser::expect_block_end() {
  if (peek().kind != TokenKind::BlockEnd) fail_found("'%}'");
  take();
}

/// Statements up to one of the tags `ends`, whose name is left as the current token.
Block Parser::statements(const Tags& ends, std::string_view inside, int opened) {
  const Nesting level(*this);
  Block block;
  while (true) {
    const Token t = take();
    if (t.kind == TokenKind::Text) {
      block.push_back(make_statement(StmtKind::Text));
      block.back()->text = t.text;
    } else if (t.kind == TokenKind::PrintBegin) {
      block.push_back(make_statement(StmtKind::Print));
      block.back()->expr = tuple(true);
      if (peek().kind != TokenKind::PrintEnd) fail_found("'}}'");
      take();
    } else if (t.kind == TokenKind::BlockBegin) {
      if (peek().kind != TokenKind::Name) fail_found("a tag name");
      if (std::find(ends.begin(), ends.end(), peek().text) != ends.end()) return block;
      block.push_back(statement());
      expect_block_end();
    } else if (ends.empty()) {
      return block;
    } else {
      fail_syntax(opened, fmt::format("'{}' is not closed with '{}'", inside, ends.back()));
    }
  }
}

std::unique_ptr<Stmt> Parser::statement() {
  const std::string tag = take().text;
  if (tag == "if") return if_statement();
  if (tag == "for") return for_statement();
  if (tag == "set") return set_statement();
  if (tag == "macro") return macro_statement();
  if (tag == "call") return call_statement();
  if (tag == "filter") return filter_statement();
  if (tag == "with") return with_statement();
  if (tag == "print") return print_statement();
  if (tag == "generation" || tag == "block") return scope_statement(tag);
  if (tag == "break" || tag == "continue") return loop_control(tag);
  if (tag == "include" || tag == "import" || tag == "from" || tag == "extends")
    return refused_statement(tag);
  if (tag == "autoescape")
    fail(ErrorCode::Unsupported, "template line {}: 'autoescape' blocks are not supported", line_);
  fail_syntax(line_, fmt::format("unknown tag '{}'", tag));
}

/// The tag `tag`, which statements() stopped at.
void Parser::end_tag(std::string_view tag) {
  if (!skip_name(tag)) fail_found(fmt::format("'{}'", tag));
}

std::unique_ptr<Stmt> Parser::print_statement() {
  auto s = make_statement(StmtKind::Print);
  s->expr = tuple(true);
  return s;
}

std::unique_ptr<Stmt> Parser::if_statement() {
  auto s = make_statement(StmtKind::If);
  const int opened = line_;
  const Temporarily soft(soft_, true);
  for (bool more = true; more;) {
    Branch branch;
    branch.condition = tuple(false);
    open_body();
    branch.body = statements({"elif", "else", "endif"}, "if", opened);
    s->branches.push_back(std::move(branch));
    more = skip_name("elif");
  }
  if (skip_name("else")) {
    open_body();
    s->branches.push_back({nullptr, statements({"endif"}, "if", opened)});
  }
  end_tag("endif");
  return s;
}

std::unique_ptr<Stmt> Parser::for_statement() {
  auto s = make_statement(StmtKind::For);
  const int opened = line_;
  s->target = target(false);
  if (assigns(*s->target, program_.loop))
    fail_syntax(opened, "'loop' cannot be the variable of a for");
  if (!skip_name("in")) fail_found("'in'");
  s->expr = tuple(false, TupleEnd::Recursive);
  const Temporarily soft(soft_, false);
  if (skip_name("if")) s->condition = expression();
  s->is_recursive = skip_name("recursive");
  open_body();
  {
    const Temporarily loop(in_loop_, true);
    s->body = statements({"else", "endfor"}, "for", opened);
  }
  if (skip_name("else")) {
    open_body();
    s->otherwise = statements({"endfor"}, "for", opened);
  }
  end_tag("endfor");
  return s;
}

ExprPtr Parser::target_item(bool with_namespace) {
  if (skip_operator("(")) {
    const Nesting level(*this);
    ExprPtr inner = target(with_namespace);
    expect_operator(")");
    return inner;
  }
  const int line = peek().line;
  const std::string name = expect_name("a variable name");
  if (is_reserved(name)) fail_syntax(line, fmt::format("'{}' cannot be assigned to", name));
  const bool dotted = with_namespace && skip_operator(".");
  ExprPtr e = make(dotted ? ExprKind::NamespaceAttribute : ExprKind::Name);
  e->line = line;
  e->symbol = symbol(name);
  if (dotted) e->name = expect_name("an attribute name");
  return e;
}

ExprPtr Parser::target(bool with_namespace) {
  std::vector<ExprPtr> items;
  bool comma = false;
  do {
    if (comma && at_tuple_end(TupleEnd::Normal)) break;
    items.push_back(target_item(with_namespace));
    comma |= at_operator(",");
  } while (skip_operator(","));
  if (!comma) return std::move(items[0]);
  return make(ExprKind::Tuple, std::move(items));
}

std::unique_ptr<Stmt> Parser::set_statement() {
  auto s = make_statement(StmtKind::Set);
  const int opened = line_;
  s->target = target(true);
  if (skip_operator("=")) {
    s->expr = tuple(true);
    return s;
  }
  s->kind = StmtKind::SetBlock;
  s->expr = filter_chain(nullptr);
  open_body();
  const Temporarily soft(soft_, false);
  s->body = statements({"endset"}, "set", opened);
  end_tag("endset");
  return s;
}

void Parser::signature(MacroParts& macro) {
  expect_operator("(");
  while (!at_operator(")")) {
    if (!macro.names.empty()) expect_operator(",");
    const int line = peek().line;
    const std::string name = expect_name("a parameter name");
    if (is_reserved(name)) fail_syntax(line, fmt::format("'{}' cannot be assigned to", name));
    macro.names.push_back(name);
    macro.parameters.push_back(symbol(name));
    if (skip_operator("="))
      macro.defaults.push_back(expression());
    else if (name == "caller")
      fail_syntax(line, "the parameter 'caller' needs a default");
    else if (!macro.defaults.empty())
      fail_syntax(line, fmt::format("parameter '{}' without a default follows one with", name));
  }
  take();
}

/// The body of a macro or call block up to its end tag.
void Parser::macro_body(Stmt& s, std::string_view tag) {
  const int opened = s.line;
  open_body();
  const std::string end = "end" + std::string(tag);
  const Temporarily soft(soft_, false), loop(in_loop_, false);
  macros_.push_back(s.macro.get());
  s.body = statements({end}, tag, opened);
  macros_.pop_back();
  end_tag(end);
}

std::unique_ptr<Stmt> Parser::macro_statement() {
  auto s = make_statement(StmtKind::Macro);
  s->macro = std::make_unique<MacroParts>();
  s->macro->name = expect_name("a macro name");
  s->symbol = symbol(s->macro->name);
  {
    const Temporarily soft(soft_, false);
    signature(*s->macro);
  }
  macro_body(*s, "macro");
  return s;
}

std::unique_ptr<Stmt> Parser::call_statement() {
  auto s = make_statement(StmtKind::CallBlock);
  s->macro = std::make_unique<MacroParts>();
  s->macro->name = "caller";
  if (at_operator("(")) signature(*s->macro);
  s->expr = expression();
  if (s->expr->kind != ExprKind::Call) fail_syntax(s->line, "a call block needs a call");
  macro_body(*s, "call");
  return s;
}

std::unique_ptr<Stmt> Parser::filter_statement() {
  auto s = make_statement(StmtKind::FilterBlock);
  s->expr = filter_chain(filter(nullptr));
  open_body();
  const Temporarily soft(soft_, false);
  s->body = statements({"endfilter"}, "filter", s->line);
  end_tag("endfilter");
  return s;
}

std::unique_ptr<Stmt> Parser::with_statement() {
  auto s = make_statement(StmtKind::With);
  while (peek().kind != TokenKind::BlockEnd) {
    if (!s->bindings.empty()) expect_operator(",");
    ExprPtr name = target_item(false);
    expect_operator("=");
    s->bindings.emplace_back(std::move(name), expression());
  }
  open_body();
  const Temporarily soft(soft_, false);
  s->body = statements({"endwith"}, "with", s->line);
  end_tag("endwith");
  return s;
}

std::unique_ptr<Stmt> Parser::scope_statement(const std::string& tag) {
  auto s = make_statement(StmtKind::Scope);
  std::string name;
  if (tag == "block") {
    name = expect_name("a block name");
    skip_name("scoped");
  }
  open_body();
  const Temporarily soft(soft_, false), loop(in_loop_, false);
  const std::string end = "end" + tag;
  s->body = statements({end}, tag, s->line);
  end_tag(end);
  if (!name.empty()) skip_name(name);
  return s;
}

std::unique_ptr<Stmt> Parser::loop_control(const std::string& tag) {
  if (!in_loop_) fail_syntax(line_, fmt::format("'{}' outside of a loop", tag));
  return make_statement(tag == "break" ? StmtKind::Break : StmtKind::Continue);
}

std::unique_ptr<Stmt> Parser::refused_statement(const std::string& tag) {
  auto s = make_statement(StmtKind::Refused);
  s->text = tag;
  while (peek().kind != TokenKind::BlockEnd && peek().kind != TokenKind::End) take();
  return s;
}

}  // namespace rlx::text::jinja

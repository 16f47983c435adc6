// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <unordered_map>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace rlx::text::jinja {

/// Parses a template. Error InvalidFile names the line and what was found, LimitExceeded a source
/// that is too long or nests too deep.
Program parse_program(std::string_view source);

/// Recursive descent over the tokens: expressions (parser.cpp) and statements (statements.cpp).
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens);
  Program run();

 private:
  struct Nesting;  // counts levels while it lives

  // Tokens.
  const Token& peek(size_t ahead = 0) const;
  Token take();
  bool at_operator(std::string_view op) const;
  bool at_name(std::string_view name) const;
  bool skip_operator(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_operator(std::string_view op);
  std::string expect_name(const char* what);
  void expect_block_end();
  void open_body();
  [[noreturn]] void fail_found(std::string_view expected) const;
  uint32_t symbol(const std::string& name);

  // Expressions, by rising precedence.
  ExprPtr expression(bool with_condition = true);
  ExprPtr or_expression();
  ExprPtr and_expression();
  ExprPtr not_expression();
  ExprPtr comparison();
  ExprPtr sum();
  ExprPtr concatenation();
  ExprPtr product();
  ExprPtr power();
  ExprPtr unary(bool with_filters);
  ExprPtr primary();
  ExprPtr name_or_constant();
  ExprPtr number();
  ExprPtr list_display();
  ExprPtr dict_display();
  ExprPtr postfix(ExprPtr node);
  ExprPtr subscript(ExprPtr node);
  ExprPtr slice_or_expression();
  ExprPtr filters_and_tests(ExprPtr node);
  ExprPtr filter(ExprPtr node);
  ExprPtr filter_chain(ExprPtr node);
  ExprPtr test(ExprPtr node);
  void note_unknown(const char* what, const std::string& name, int line);
  std::string dotted_name();
  std::unique_ptr<CallParts> call_arguments();
  enum class TupleEnd { Normal, Recursive };
  ExprPtr tuple(bool with_condition, TupleEnd end = TupleEnd::Normal, bool in_brackets = false);
  bool at_tuple_end(TupleEnd end) const;
  ExprPtr make(ExprKind kind, std::vector<ExprPtr> parts = {});
  ExprPtr with_call(ExprPtr e, std::unique_ptr<CallParts> call);
  /// `node(...)`, at the opening bracket.
  ExprPtr call(ExprPtr node);
  ExprPtr binary(Op op, ExprPtr left, ExprPtr right);
  /// Sets depth (and refuses chains that nest too deep).
  ExprPtr measured(ExprPtr e);

  // Assignment targets.
  ExprPtr target(bool with_namespace);
  ExprPtr target_item(bool with_namespace);

  // Statements.
  using Tags = std::vector<std::string_view>;
  Block statements(const Tags& ends, std::string_view inside, int opened);
  std::unique_ptr<Stmt> statement();
  std::unique_ptr<Stmt> make_statement(StmtKind kind);
  std::unique_ptr<Stmt> print_statement();
  std::unique_ptr<Stmt> if_statement();
  std::unique_ptr<Stmt> for_statement();
  std::unique_ptr<Stmt> set_statement();
  std::unique_ptr<Stmt> macro_statement();
  std::unique_ptr<Stmt> call_statement();
  std::unique_ptr<Stmt> filter_statement();
  std::unique_ptr<Stmt> with_statement();
  std::unique_ptr<Stmt> scope_statement(const std::string& tag);
  std::unique_ptr<Stmt> loop_control(const std::string& tag);
  std::unique_ptr<Stmt> refused_statement(const std::string& tag);
  void signature(MacroParts& macro);
  void macro_body(Stmt& s, std::string_view tag);
  void end_tag(std::string_view tag);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  int nesting_ = 0;
  bool soft_ = false;     ///< inside a condition: unknown filters and tests fail only when reached
  bool in_loop_ = false;  ///< break and continue are allowed
  std::vector<Token>
      unknown_;  ///< unknown filters and tests; each must turn out to be in a condition
  std::vector<MacroParts*> macros_;  ///< the macros around this place
  Program program_;
  std::unordered_map<std::string, uint32_t> symbol_ids_;
};

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace rlx::text::jinja {

/// Arguments of one call of a function, macro, filter or test.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

using FilterFunction = Value (*)(Interpreter& in, const Value& v, const Arguments& args);
using TestFunction = bool (*)(Interpreter& in, const Value& v, const Arguments& args);

enum class ExprKind : uint8_t {
  Constant,
  Name,
  List,
  Tuple,
  Dict,       ///< parts: key, value, key, value, ...
  Attribute,  ///< parts[0].name
  Item,       ///< parts[0][parts[1]]
  Slice,      ///< parts: start, stop, step; null where left out
  Call,       ///< parts[0](call)
  Filter,     ///< parts[0] | name(call); parts[0] is null for the body of a block
  Test,       ///< parts[0] is name(call)
  Unary,      ///< op parts[0]
  Binary,     ///< parts[0] op parts[1]
  And,
  Or,
  Compare,             ///< parts[0] ops[0] parts[1] ops[1] parts[2] ...
  Concat,              ///< parts joined as text
  Conditional,         ///< parts[0] if parts[1] else parts[2] (may be null)
  NamespaceAttribute,  ///< symbol.name as the target of an assignment
};

enum class Op : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  Negative,
  Positive,
  Not,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn,
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct CallParts {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star, star_star;
};

struct Expr {
  ExprKind kind = ExprKind::Constant;
  Op op = Op::Add;
  int line = 0;
  uint32_t depth = 1;   ///< levels of expressions below, itself included
  uint32_t symbol = 0;  ///< Name, NamespaceAttribute: index into Program::symbols
  std::string name;
  Value constant;
  std::vector<ExprPtr> parts;
  std::vector<Op> ops;
  std::unique_ptr<CallParts> call;  ///< Call, Filter, Test
  FilterFunction filter = nullptr;  ///< null where the name is unknown (an error once reached)
  TestFunction test = nullptr;
};

enum class StmtKind : uint8_t {
  Text,
  Print,
  If,
  For,
  Set,
  SetBlock,
  Macro,
  CallBlock,
  FilterBlock,
  With,
  Scope,  ///< a body with its own variables (generation, block)
  Break,
  Continue,
  Refused,  ///< include, import, from, extends: an error once reached
};

struct Stmt;
using Block = std::vector<std::unique_ptr<Stmt>>;

struct Branch {
  ExprPtr condition;  ///< null for else
  Block body;
};

struct MacroParts {
  std::string name;
  std::vector<uint32_t> parameters;
  std::vector<std::string> names;
  std::vector<ExprPtr> defaults;  ///< of the last parameters
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
};

struct Stmt {
  StmtKind kind = StmtKind::Text;
  int line = 0;
  bool is_recursive = false;
  std::string text;       ///< Text; the tag of Refused
  ExprPtr target;         ///< For, Set, SetBlock
  ExprPtr expr;           ///< Print, Set value, For iterable, CallBlock call, filters of a block
  ExprPtr condition;      ///< For ... if
  uint32_t symbol = 0;    ///< Macro
  Block body, otherwise;  ///< otherwise: else of For
  std::vector<Branch> branches;                       ///< If
  std::vector<std::pair<ExprPtr, ExprPtr>> bindings;  ///< With
  std::unique_ptr<MacroParts> macro;                  ///< Macro, CallBlock
};

/// A parsed template.
struct Program {
  Block body;
  std::vector<std::string> symbols;  ///< every variable name in it, by symbol
  uint32_t loop = 0, caller = 0, kwargs = 0, varargs = 0;
};

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
// Statements: execution, variables, loops and macros.
#include "text/jinja/interpreter.h"
#include "text/jinja/interpreter_guards.h"
#include "text/jinja/objects.h"

namespace rlx::text::jinja {
namespace {

/// The items of a for that pass its `if`.
struct AcceptedIterator : IteratorData {
  Interpreter* in = nullptr;
  const Stmt* statement = nullptr;
  Scope* scope = nullptr;
  IteratorPtr source;
  bool next(Value& out) override {
    while (source->next(out)) {
      in->step();
      if (in->loop_accepts(*statement, scope, out)) return true;
    }
    return false;
  }
};

}  // namespace

void Interpreter::emit(std::string_view text) {
  charge(out_->size() + text.size() > limits_.max_output ? out_->size() + text.size()
                                                         : text.size());
  out_->append(text);
}

const Value* Interpreter::find_variable(uint32_t symbol) {
  uint64_t work = 0;
  for (const Scope* s = scope_; s; s = s->parent) {
    for (const auto& [id, value] : s->variables)
      if (id == symbol) return &value;
    work += 4 + s->variables.size();
  }
  step(work / 64);
  return root_[symbol] ? &*root_[symbol] : nullptr;
}

void Interpreter::set_variable(uint32_t symbol, Value value) {
  if (!scope_) {
    root_[symbol] = std::move(value);
    return;
  }
  step(scope_->variables.size() / 64);
  for (auto& [id, old] : scope_->variables) {
    if (id != symbol) continue;
    old = std::move(value);
    return;
  }
  scope_->variables.emplace_back(symbol, std::move(value));
}

Scope* Interpreter::open_scope(Scope* parent) {
  if (free_scopes_.empty()) {
    charge(sizeof(Scope) + 256);
    scopes_.push_back(std::make_unique<Scope>());
    free_scopes_.push_back(scopes_.back().get());
  }
  Scope* s = free_scopes_.back();
  free_scopes_.pop_back();
  s->parent = parent;
  return s;
}

void Interpreter::close_scope(Scope* scope) {
  if (scope->captured) return;
  scope->variables.clear();
  free_scopes_.push_back(scope);
}

void Interpreter::capture(Scope* scope) {
  for (; scope && !scope->captured; scope = scope->parent) scope->captured = true;
}

void Interpreter::assign(const Expr& target, const Value& value) {
  if (target.kind == ExprKind::Name) return set_variable(target.symbol, value);
  if (target.kind == ExprKind::NamespaceAttribute) return assign_attribute(target, value);
  const std::vector<Value> items = collect(value);
  if (items.size() < target.parts.size())
    raise("not enough values to unpack (expected {}, got {})", target.parts.size(), items.size());
  if (items.size() > target.parts.size())
    raise("too many values to unpack (expected {})", target.parts.size());
  for (size_t i = 0; i < items.size(); ++i) assign(*target.parts[i], items[i]);
}

void Interpreter::assign_attribute(const Expr& target, const Value& value) {
  const Value* v = find_variable(target.symbol);
  auto* ns =
      v && v->is(Kind::Object) ? dynamic_cast<NamespaceData*>(&v->as<ObjectData>()) : nullptr;
  if (!ns)
    raise("cannot assign attribute '{}' of '{}', which is not a namespace", target.name,
          program_.symbols[target.symbol]);
  charge(128);
  step(ns->attributes.size() / 16);
  ns->set(target.name, value);
}

Flow Interpreter::exec(const Block& block) {
  for (const auto& s : block)
    if (const Flow flow = exec(*s); flow != Flow::Normal) return flow;
  return Flow::Normal;
}

Flow Interpreter::exec(const Stmt& s) {
  const Level level(*this);
  line_ = s.line;
  switch (s.kind) {
    case StmtKind::Text: emit(s.text); return Flow::Normal;
    case StmtKind::Print: {
      const Value v = eval(*s.expr);
      if (v.is_string())
        emit(v.text());
      else
        emit(to_text(v));
      return Flow::Normal;
    }
    case StmtKind::If: return exec_if(s);
    case StmtKind::For: return run_loop(s, scope_, eval(*s.expr), 0);
    case StmtKind::Set: assign(*s.target, eval(*s.expr)); return Flow::Normal;
    case StmtKind::SetBlock: return exec_block_set(s);
    case StmtKind::Macro: exec_macro(s); return Flow::Normal;
    case StmtKind::CallBlock: exec_call_block(s); return Flow::Normal;
    case StmtKind::FilterBlock: return exec_filter_block(s);
    case StmtKind::With:
    case StmtKind::Scope: return exec_with(s);
    case StmtKind::Break: return Flow::Break;
    case StmtKind::Continue: return Flow::Continue;
    case StmtKind::Refused:
      fail(ErrorCode::Unsupported, "'{}' is not supported: a chat template stands alone", s.text);
  }
  return Flow::Normal;
}

Flow Interpreter::exec_if(const Stmt& s) {
  for (const Branch& b : s.branches)
    if (!b.condition || truth(eval(*b.condition))) return exec(b.body);
  return Flow::Normal;
}

Flow Interpreter::exec_block_set(const Stmt& s) {
  std::string body;
  Scope* scope = open_scope(scope_);
  {
    const Inside inside(*this, scope, &body);
    if (const Flow flow = exec(s.body); flow != Flow::Normal) return flow;
  }
  close_scope(scope);
  Value value = text(std::move(body));
  if (s.expr) {
    block_input_ = value;
    value = eval(*s.expr);
  }
  assign(*s.target, value);
  return Flow::Normal;
}

Flow Interpreter::exec_filter_block(const Stmt& s) {
  std::string body;
  Scope* scope = open_scope(scope_);
  {
    const Inside inside(*this, scope, &body);
    if (const Flow flow = exec(s.body); flow != Flow::Normal) return flow;
  }
  close_scope(scope);
  block_input_ = text(std::move(body));
  emit(to_text(eval(*s.expr)));
  return Flow::Normal;
}

Flow Interpreter::exec_with(const Stmt& s) {
  Scope* scope = open_scope(scope_);
  for (const auto& [target, expr] : s.bindings) {
    const Value value = eval(*expr);
    const Inside inside(*this, scope, nullptr);
    assign(*target, value);
  }
  const Inside inside(*this, scope, nullptr);
  const Flow flow = exec(s.body);
  close_scope(scope);
  return flow;
}

Value Interpreter::own_macro(const Stmt& s) {
  capture(scope_);
  auto macro = std::make_unique<MacroData>();
  macro->statement = &s;
  macro->scope = scope_;
  return own(std::move(macro));
}

void Interpreter::exec_macro(const Stmt& s) { set_variable(s.symbol, own_macro(s)); }

void Interpreter::exec_call_block(const Stmt& s) {
  const Value caller = own_macro(s);
  const Value f = eval(*s.expr->parts[0]);
  Arguments args = eval_arguments(*s.expr->call);
  args.named.emplace_back("caller", caller);
  line_ = s.line;
  emit(to_text(call(f, args)));
}

/// Sets the parameters of `m` in the current scope.
void Interpreter::bind_macro(const MacroParts& m, const Arguments& args) {
  const size_t count = m.parameters.size(), given = std::min(args.positional.size(), count);
  const size_t first_default = count - m.defaults.size();
  std::vector<bool> used(args.named.size(), false);
  const auto take_named = [&](std::string_view name) -> const Value* {
    for (size_t i = 0; i < args.named.size(); ++i) {
      if (used[i] || args.named[i].first != name) continue;
      used[i] = true;
      return &args.named[i].second;
    }
    return nullptr;
  };
  bool explicit_caller = false;
  for (size_t i = 0; i < count; ++i) {
    const Value* value = i < given ? &args.positional[i] : take_named(m.names[i]);
    explicit_caller |= m.names[i] == "caller";
    if (value)
      set_variable(m.parameters[i], *value);
    else if (i >= first_default)
      set_variable(m.parameters[i], eval(*m.defaults[i - first_default]));
    else
      set_variable(m.parameters[i],
                   Value::undefined(fmt::format("parameter '{}' was not provided", m.names[i])));
  }
  if (m.uses_caller && !explicit_caller) {
    const Value* caller = take_named("caller");
    set_variable(program_.caller, caller ? *caller : Value::undefined("No caller defined"));
  }
  bind_rest(m, args, used);
}

/// Sets kwargs and varargs of a macro that uses them; refuses left-over arguments otherwise.
void Interpreter::bind_rest(const MacroParts& m, const Arguments& args,
                            const std::vector<bool>& used) {
  auto rest = std::make_shared<DictData>();
  for (size_t i = 0; i < args.named.size(); ++i) {
    if (used[i]) continue;
    if (!m.uses_kwargs)
      raise("macro '{}' takes no keyword argument '{}'", m.name, args.named[i].first);
    rest->set(Value::string(args.named[i].first), args.named[i].second);
  }
  if (m.uses_kwargs) set_variable(program_.kwargs, Value::dict(std::move(rest)));
  const size_t count = m.parameters.size(), given = std::min(args.positional.size(), count);
  if (m.uses_varargs)
    set_variable(program_.varargs,
                 Value::tuple({args.positional.begin() + static_cast<ptrdiff_t>(given),
                               args.positional.end()}));
  else if (args.positional.size() > count)
    raise("macro '{}' takes not more than {} argument(s), got {}", m.name, count,
          args.positional.size());
}

Value Interpreter::call_macro(const MacroData& macro, const Arguments& args) {
  const Level level(*this);
  Scope* scope = open_scope(macro.scope);
  std::string out;
  const Inside inside(*this, scope, &out);
  bind_macro(*macro.statement->macro, args);
  exec(macro.statement->body);
  close_scope(scope);
  return text(std::move(out));
}

bool Interpreter::loop_accepts(const Stmt& s, Scope* scope, const Value& item) {
  const Inside inside(*this, scope, nullptr);
  scope->variables.clear();
  set_variable(program_.loop, Value::undefined("'loop' is undefined in the if of a for"));
  assign(*s.target, item);
  return truth(eval(*s.condition));
}

Value Interpreter::call_loop(const LoopData& loop, const Value& items) {
  if (!loop.statement->is_recursive)
    raise("the for of this loop must be marked 'recursive' to be called");
  const Level level(*this);
  std::string out;
  const Inside inside(*this, loop.scope, &out);
  run_loop(*loop.statement, loop.scope, items, loop.depth0 + 1);
  return text(std::move(out));
}

Flow Interpreter::run_loop(const Stmt& s, Scope* outer, const Value& items, int64_t depth) {
  auto loop_data = std::make_unique<LoopData>();
  LoopData& loop = *loop_data;
  loop.statement = &s;
  loop.scope = outer;
  loop.depth0 = depth;
  loop.items = iterate(items);
  if (s.is_recursive) capture(outer);
  if (s.condition) {
    auto accepted = std::make_shared<AcceptedIterator>();
    accepted->in = this;
    accepted->statement = &s;
    accepted->scope = open_scope(outer);
    capture(accepted->scope);  // a stored `loop` may ask for the next item later
    accepted->source = loop.items;
    loop.items = std::move(accepted);
  } else {
    loop.known_length = sized_length(items);
  }
  const Value loop_value = own(std::move(loop_data));
  bool completed = false;  // Jinja's else runs unless the body was run to its end once
  Value current;
  while (loop.next(current)) {
    step();
    Scope* scope = open_scope(outer);
    Flow flow = Flow::Normal;
    {
      const Inside inside(*this, scope, nullptr);
      set_variable(program_.loop, loop_value);
      assign(*s.target, current);
      flow = exec(s.body);
    }
    close_scope(scope);
    if (flow == Flow::Break) break;
    completed |= flow == Flow::Normal;
  }
  if (completed || s.otherwise.empty()) return Flow::Normal;
  Scope* scope = open_scope(outer);
  const Inside inside(*this, scope, nullptr);
  const Flow flow = exec(s.otherwise);
  close_scope(scope);
  return flow;
}

}  // namespace rlx::text::jinja

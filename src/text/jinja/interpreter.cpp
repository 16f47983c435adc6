// SPDX-License-Identifier: Apache-2.0
// Expressions: evaluation, limits, and the entry point.
#include "text/jinja/interpreter.h"

#include "text/jinja/interpreter_guards.h"
#include "text/jinja/objects.h"
#include "text/jinja/parser.h"

namespace rlx::text::jinja {

Template Template::parse(std::string_view source) {
  return Template(std::make_shared<const Program>(parse_program(source)));
}

std::string Template::render(const Value& vars, const RenderLimits& limits) const {
  if (!vars.is(Kind::Dict))
    fail(ErrorCode::InvalidArgument, "template variables are of type {}, allowed is dict",
         type_name(vars));
  return Interpreter(*program_, vars, limits).run();
}

Interpreter::Interpreter(const Program& program, const Value& vars, const RenderLimits& limits)
    : program_(program), limits_(limits), root_(program.symbols.size()) {
  for (size_t i = 0; i < root_.size(); ++i) {
    if (const Value* v = vars.dict_data().find(std::string_view(program.symbols[i])))
      root_[i] = *v;
    else
      root_[i] = builtin(program.symbols[i]);
  }
  if (const Value* now = vars.dict_data().find(std::string_view("now"))) now_value_ = *now;
}

Interpreter::~Interpreter() = default;

std::string Interpreter::run() {
  std::string out;
  out_ = &out;
  try {
    exec(program_.body);
  } catch (const Error& e) {
    fail(e.code(), "template line {}: {}", line_, e.message());
  }
  return out;
}

const DateTime& Interpreter::now() {
  if (!now_) {
    if (now_value_ && !now_value_->is_none() && !now_value_->is_string())
      raise("'now' is of type {}, allowed is a string like 2026-01-02T03:04:05",
            type_name(*now_value_));
    now_ = now_value_ && now_value_->is_string() ? DateTime::parse(now_value_->text())
                                                 : DateTime::clock();
  }
  return *now_;
}

void Interpreter::step(uint64_t n) {
  steps_ += n;
  if (steps_ > limits_.max_steps || steps_ < n)
    fail(ErrorCode::LimitExceeded, "the template takes more than {} steps", limits_.max_steps);
}

void Interpreter::charge(uint64_t bytes) {
  if (bytes > limits_.max_output)
    fail(ErrorCode::LimitExceeded, "a value of {} bytes is too large (allowed: {})", bytes,
         limits_.max_output);
  work_bytes_ += bytes;
  if (work_bytes_ > limits_.max_work_bytes)
    fail(ErrorCode::LimitExceeded, "the template makes values of more than {} bytes",
         limits_.max_work_bytes);
}

Value Interpreter::text(std::string s) {
  charge(s.size() + 64);
  return Value::string(std::move(s));
}

Value Interpreter::text_like(const Value& model, std::string s) {
  charge(s.size() + 64);
  return model.is_markup() ? Value::markup(std::move(s)) : Value::string(std::move(s));
}

Value Interpreter::list(std::vector<Value> items) {
  charge(64 + items.size() * sizeof(Value));
  return Value::list(std::move(items));
}

std::string Interpreter::to_text(const Value& v) {
  walk(v);
  return jinja::to_text(v);
}

bool Interpreter::equal(const Value& a, const Value& b) {
  step(std::min(a.weight(), b.weight()) / 64);
  return jinja::equal(a, b);
}

Value Interpreter::eval(const Expr& e) {
  const Level level(*this);
  switch (e.kind) {
    case ExprKind::Constant: return e.constant;
    case ExprKind::Name: return eval_name(e.symbol);
    case ExprKind::List:
    case ExprKind::Tuple: return eval_items(e);
    case ExprKind::Dict: return eval_dict(e);
    case ExprKind::Attribute: {
      const Value v = eval(*e.parts[0]);
      line_ = e.line;
      return attribute(v, e.name);
    }
    case ExprKind::Item: return eval_item(e);
    case ExprKind::Call: return eval_call(e);
    case ExprKind::Filter: return eval_filter(e);
    case ExprKind::Test: return Value::boolean(eval_test(e));
    case ExprKind::Unary: return eval_unary(e);
    case ExprKind::Binary: return eval_binary(e);
    case ExprKind::And:
    case ExprKind::Or: {
      Value left = eval(*e.parts[0]);
      return truth(left) == (e.kind == ExprKind::Or) ? left : eval(*e.parts[1]);
    }
    case ExprKind::Compare: return eval_compare(e);
    case ExprKind::Concat: return eval_concat(e);
    case ExprKind::Conditional: return eval_conditional(e);
    case ExprKind::Slice: raise("a slice may stand only directly in [ ]");
    case ExprKind::NamespaceAttribute: break;
  }
  raise("a namespace attribute is not an expression");
}

Value Interpreter::eval_name(uint32_t symbol) {
  if (const Value* v = find_variable(symbol)) return *v;
  return Value::undefined(fmt::format("'{}' is undefined", program_.symbols[symbol]));
}

Value Interpreter::eval_items(const Expr& e) {
  std::vector<Value> items;
  items.reserve(e.parts.size());
  for (const ExprPtr& p : e.parts) items.push_back(eval(*p));
  charge(64 + items.size() * sizeof(Value));
  return e.kind == ExprKind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

Value Interpreter::eval_dict(const Expr& e) {
  auto d = std::make_shared<DictData>();
  charge(64 + e.parts.size() * sizeof(Value));
  for (size_t i = 0; i < e.parts.size(); i += 2) {
    Value key = eval(*e.parts[i]);
    walk(key);
    d->set(std::move(key), eval(*e.parts[i + 1]));
  }
  return Value::dict(std::move(d));
}

Value Interpreter::eval_item(const Expr& e) {
  const Value v = eval(*e.parts[0]);
  const Expr& index = *e.parts[1];
  if (index.kind != ExprKind::Slice) {
    const Value key = eval(index);
    line_ = e.line;
    return item(v, key);
  }
  const auto bound = [&](size_t i) { return index.parts[i] ? eval(*index.parts[i]) : Value(); };
  const Value start = bound(0), stop = bound(1), step_by = bound(2);
  line_ = e.line;
  return slice(v, start, stop, step_by);
}

Arguments Interpreter::eval_arguments(const CallParts& call) {
  Arguments args;
  args.positional.reserve(call.positional.size());
  for (const ExprPtr& p : call.positional) args.positional.push_back(eval(*p));
  if (call.star)
    for (Value& v : collect(eval(*call.star))) args.positional.push_back(std::move(v));
  for (const auto& [name, e] : call.named) args.named.emplace_back(name, eval(*e));
  if (!call.star_star) return args;
  const Value more = eval(*call.star_star);
  require_defined(more);
  if (!more.is(Kind::Dict)) raise("argument after ** must be a mapping, not {}", type_name(more));
  for (const auto& [key, value] : more.dict_data().entries) {
    step();
    if (!key.is_string()) raise("keywords must be strings");
    args.named.emplace_back(key.text(), value);
  }
  return args;
}

Value Interpreter::eval_call(const Expr& e) {
  const Value f = eval(*e.parts[0]);
  Arguments args = eval_arguments(*e.call);
  line_ = e.line;
  return call(f, args);
}

Value Interpreter::call(const Value& f, Arguments& args) {
  require_defined(f);
  if (!f.is(Kind::Object) || !f.as<ObjectData>().callable())
    raise("'{}' object is not callable", type_name(f));
  return f.as<ObjectData>().call(*this, args);
}

Value Interpreter::eval_filter(const Expr& e) {
  const Value input = e.parts[0] ? eval(*e.parts[0]) : block_input_;
  const Arguments args = eval_arguments(*e.call);
  line_ = e.line;
  if (!e.filter) raise("no filter named '{}'", e.name);
  return e.filter(*this, input, args);
}

bool Interpreter::eval_test(const Expr& e) {
  const Value input = eval(*e.parts[0]);
  const Arguments args = eval_arguments(*e.call);
  line_ = e.line;
  if (!e.test) raise("no test named '{}'", e.name);
  return e.test(*this, input, args);
}

Value Interpreter::eval_unary(const Expr& e) {
  const Value v = eval(*e.parts[0]);
  if (e.op == Op::Not) return Value::boolean(!truth(v));
  line_ = e.line;
  if (e.op == Op::Negative) return negative(v);
  require_defined(v);
  if (!v.is_number()) raise("bad operand type for unary +: '{}'", type_name(v));
  return v.is(Kind::Float) ? v : Value::integer(v.as_int());
}

Value Interpreter::eval_binary(const Expr& e) {
  const Value a = eval(*e.parts[0]);
  const Value b = eval(*e.parts[1]);
  line_ = e.line;
  return binary(e.op, a, b);
}

Value Interpreter::eval_compare(const Expr& e) {
  Value left = eval(*e.parts[0]);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    Value right = eval(*e.parts[i + 1]);
    line_ = e.line;
    if (!compare(e.ops[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::eval_concat(const Expr& e) {
  std::string out;
  for (const ExprPtr& p : e.parts) {
    const Value v = eval(*p);
    if (v.is_string()) {
      charge(out.size() + v.text().size());
      out += v.text();
    } else {
      out += to_text(v);
    }
  }
  return text(std::move(out));
}

Value Interpreter::eval_conditional(const Expr& e) {
  if (truth(eval(*e.parts[1]))) return eval(*e.parts[0]);
  if (e.parts[2]) return eval(*e.parts[2]);
  return Value::undefined(fmt::format(
      "the inline if-expression on line {} evaluated to false and has no else", e.line));
}

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <optional>

#include "text/jinja/ast.h"
#include "text/jinja/jinja.h"
#include "text/jinja_text/date_time.h"

namespace rlx::text::jinja {

using IteratorPtr = std::shared_ptr<IteratorData>;

/// The arguments of one call, by parameter.
class Bound {
 public:
  /// Throws where `args` has unknown, doubled or too many arguments or lacks one of the first
  /// `required`. `who` is the called name, for messages. `args` must outlive this.
  Bound(std::string_view who, const Arguments& args, std::initializer_list<std::string_view> names,
        size_t required = 0);
  bool has(size_t i) const { return values_[i] != nullptr; }
  const Value& operator[](size_t i) const { return *values_[i]; }
  Value get(size_t i, Value otherwise) const { return has(i) ? *values_[i] : otherwise; }
  bool flag(size_t i, bool otherwise) const { return has(i) ? truth(*values_[i]) : otherwise; }
  /// An integer argument; an error for other types.
  int64_t integer(size_t i, int64_t otherwise) const;
  /// The text of a string argument; an error for other types.
  const std::string& text(size_t i) const;

 private:
  std::string who_;
  std::vector<const Value*> values_;
};

/// Variables of one block; the parent's are seen through it.
struct Scope {
  Scope* parent = nullptr;
  bool captured = false;  ///< a macro or iterator may look at it later: not to be reused
  std::vector<std::pair<uint32_t, Value>> variables;
};

enum class Flow : uint8_t { Normal, Break, Continue };

struct MacroData;
struct LoopData;

/// One rendering of a program.
class Interpreter {
 public:
  Interpreter(const Program& program, const Value& vars, const RenderLimits& limits);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  std::string run();

  // Limits.
  void step(uint64_t n = 1);
  /// Counts `bytes` that are about to be made as one value.
  void charge(uint64_t bytes);
  /// Counts a full walk over `v`.
  void walk(const Value& v) { step(v.weight() / 64); }
  const RenderLimits& limits() const { return limits_; }

  // Values.
  Value text(std::string s);
  /// A string that is markup where `model` is.
  Value text_like(const Value& model, std::string s);
  Value list(std::vector<Value> items);
  IteratorPtr iterate(const Value& v);
  /// list(v)
  std::vector<Value> collect(const Value& v);
  std::string to_text(const Value& v);
  bool equal(const Value& a, const Value& b);
  bool contains(const Value& container, const Value& item);

  // Operations of the language.
  Value call(const Value& f, Arguments& args);
  Value attribute(const Value& v, std::string_view name);
  Value item(const Value& v, const Value& key);
  Value slice(const Value& v, const Value& start, const Value& stop, const Value& step);
  Value binary(Op op, const Value& a, const Value& b);
  Value negative(const Value& v);
  bool compare(Op op, const Value& a, const Value& b);

  Value call_macro(const MacroData& macro, const Arguments& args);
  /// The text of a recursive loop's body run over `items`.
  Value call_loop(const LoopData& loop, const Value& items);
  Flow run_loop(const Stmt& s, Scope* scope, const Value& items, int64_t depth);
  /// Evaluates the `if` of a for for one item.
  bool loop_accepts(const Stmt& s, Scope* scope, const Value& item);

  /// Keeps a value that others point to until the rendering ends.
  template <typename T>
  Value own(std::unique_ptr<T> object) {
    charge(256);
    T* raw = object.get();
    arena_.push_back(std::move(object));
    return Value::object(std::shared_ptr<ObjectData>(std::shared_ptr<void>(), raw));
  }
  const DateTime& now();

 private:
  struct Level;
  struct Inside;

  Value eval(const Expr& e);
  Value eval_name(uint32_t symbol);
  Value eval_items(const Expr& e);
  Value eval_dict(const Expr& e);
  Value eval_item(const Expr& e);
  Value eval_call(const Expr& e);
  Value eval_filter(const Expr& e);
  bool eval_test(const Expr& e);
  Value eval_unary(const Expr& e);
  Value eval_binary(const Expr& e);
  Value eval_compare(const Expr& e);
  Value eval_concat(const Expr& e);
  Value eval_conditional(const Expr& e);
  Arguments eval_arguments(const CallParts& call);

  Flow exec(const Block& block);
  Flow exec(const Stmt& s);
  Flow exec_if(const Stmt& s);
  Flow exec_block_set(const Stmt& s);
  Flow exec_filter_block(const Stmt& s);
  Flow exec_with(const Stmt& s);
  void exec_macro(const Stmt& s);
  void exec_call_block(const Stmt& s);

  void emit(std::string_view text);
  void assign(const Expr& target, const Value& value);
  void assign_attribute(const Expr& target, const Value& value);
  void set_variable(uint32_t symbol, Value value);
  const Value* find_variable(uint32_t symbol);
  Scope* open_scope(Scope* parent);
  void close_scope(Scope* scope);
  void capture(Scope* scope);
  Value own_macro(const Stmt& s);
  void bind_macro(const MacroParts& m, const Arguments& args);
  void bind_rest(const MacroParts& m, const Arguments& args, const std::vector<bool>& used);

  const Program& program_;
  const RenderLimits limits_;
  uint64_t steps_ = 0, work_bytes_ = 0;
  uint32_t depth_ = 0;
  int line_ = 1;
  std::vector<std::optional<Value>> root_;  ///< by symbol
  Scope* scope_ = nullptr;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<Scope*> free_scopes_;
  std::vector<std::unique_ptr<ObjectData>> arena_;
  std::string* out_ = nullptr;
  Value block_input_;  ///< what the filters of a set or filter block start from
  std::optional<Value> now_value_;
  std::optional<DateTime> now_;
};

/// len(v), or -1 for values that have none.
int64_t sized_length(const Value& v);

/// A name from a template's globals (range, namespace, strftime_now, ...), or nothing.
std::optional<Value> builtin(std::string_view name);
/// The global `datetime`.
Value datetime_module();

}  // namespace rlx::text::jinja

// SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/thread_team.h"
#include "ir/print.h"
#include "ops/oracle.h"
#include "runtime/memory.h"

namespace rlx {
namespace {

constexpr int kMaxThreads = 256;

/// An extent that follows the symbols: written again whenever they change.
struct Patch {
  int64_t* target;
  Dim dim;
};

/// `extent` must stay within `limit`: rows appended to a state within its rows.
struct Constraint {
  Dim extent;
  int64_t limit;
  std::string_view what;
};

/// An extent that must not be negative for `node` to stay within its operands.
struct Demand {
  Dim slack;
  NodeId node;
};

/// What the types of a node do not say: where a slice ends, and that pads are no cuts.
std::vector<Dim> slacks_of(const Graph& graph, const Node& n) {
  std::vector<Dim> slacks;
  for (const TensorType& t : n.types) slacks.insert(slacks.end(), t.shape.begin(), t.shape.end());
  if (n.op == OpKind::Pad) {
    for (const AttrKey key : {AttrKey::Low, AttrKey::High}) {
      const Shape& pads = n.attrs.get_dims(key);
      slacks.insert(slacks.end(), pads.begin(), pads.end());
    }
  }
  if (n.op == OpKind::Slice) {
    const Shape& x = graph.type(n.operands[0]).shape;
    const Shape& starts = n.attrs.get_dims(AttrKey::Starts);
    const auto& strides = n.attrs.get_ints(AttrKey::Strides);
    for (size_t i = 0; i < x.size(); ++i) {
      const Dim& size = n.types[0].shape[i];
      const Dim steps = size == Dim(0)
                            ? Dim(0)
                            : (size - Dim(1)) * Dim(strides.empty() ? 1 : strides[i]) + Dim(1);
      slacks.push_back(starts[i]);
      slacks.push_back(x[i] - starts[i] - steps);
    }
  }
  return slacks;
}

TensorView make_view(const TensorType& type) {
  TensorView v{};
  v.rank = static_cast<int32_t>(type.rank());
  v.dtype = type.dtype;
  return v;
}

int64_t view_bytes(const TensorView& v) {
  const DTypeInfo& info = dtype_info(v.dtype);
  int64_t count = 1;
  for (int32_t i = 0; i < v.rank; ++i) count *= v.dims[i];
  return count / info.block_elements * info.block_bytes;
}

}  // namespace

struct Session::Impl {
  Impl(const Executable& exe, const SessionOptions& options) : exe(exe), team(options.threads) {
    allocate();
    build_calls();
  }

  // Setting up.

  void allocate() {
    const Graph& g = exe.graph();
    const Plan& plan = exe.plan();
    arena = Pages(plan.arena_bytes);
    outputs = Pages(plan.output_bytes);
    workspace = Pages(plan.workspace_shared + plan.workspace_per_worker * team.size());
    for (const NodeId id : g.leaves(OpKind::State)) {
      states.emplace_back(byte_count(g.node(id).types[0]).static_value("the size of a state"));
    }
    for (const OpKind kind : {OpKind::Weight, OpKind::Constant}) {
      for (const NodeId id : g.leaves(kind)) {
        const Node& n = g.node(id);
        const bool empty = bytes_at_bounds(n.types[0], g.symbols()) == 0;
        if (n.data.bytes.empty() && !empty && !g.uses({id, 0}).empty()) {
          fail(ErrorCode::NotFound, "weight %{} has no bytes", n.names[0]);
        }
        auto* data = const_cast<std::byte*>(n.data.bytes.data());
        (kind == OpKind::Weight ? weights : constants).push_back(data);
      }
    }
    for (const NodeId id : g.leaves(OpKind::Input)) {
      input_nodes.push_back(id);
      input_views.push_back(make_view(g.node(id).types[0]));
    }
    symbols.assign(g.symbols().size(), -1);
  }

  std::byte* base_of(const BufferRef& ref) const {
    switch (ref.region) {
      case Region::Weights: return weights[ref.index];
      case Region::Constants: return constants[ref.index];
      case Region::State: return states[ref.index].data();
      case Region::Inputs: return nullptr;
      case Region::Outputs: return outputs.data() + ref.offset;
      case Region::Arena: return arena.data() + ref.offset;
    }
    return nullptr;
  }

  void patch_view(TensorView& view, const TensorType& type) {
    for (size_t i = 0; i < type.rank(); ++i) {
      view.dims[i] = type.shape[i].constant();
      if (!type.shape[i].is_static()) patches.push_back({&view.dims[i], type.shape[i]});
    }
  }

  void add_view(size_t at, const PlannedValue& p) {
    const TensorType& type = exe.graph().type(p.value);
    views[at] = make_view(type);
    views[at].data = base_of(p.at);
    patch_view(views[at], type);
    if (p.at.region == Region::Inputs) input_uses.push_back({at, p.at.index});
  }

  void build_calls() {
    const Graph& g = exe.graph();
    const Plan& plan = exe.plan();
    size_t count = plan.outputs.size();
    for (const Step& s : plan.steps) count += s.operands.size() + s.results.size();
    views.resize(count);  // never grows again: calls and patches point into it
    size_t at = 0;
    for (const Step& s : plan.steps) {
      KernelCall call{};
      call.operands = &views[at];
      call.operand_count = static_cast<int32_t>(s.operands.size());
      for (const PlannedValue& p : s.operands) add_view(at++, p);
      call.results = &views[at];
      call.result_count = static_cast<int32_t>(s.results.size());
      for (const PlannedValue& p : s.results) add_view(at++, p);
      call.params = s.params;
      call.symbols = symbols.data();
      call.workspace = workspace.data();
      call.scratch = workspace.data() + plan.workspace_shared;
      call.scratch_stride = plan.workspace_per_worker;
      calls.push_back(call);
      const Node& n = g.node(s.node);
      if (n.op == OpKind::Append) {
        const int64_t rows = g.type(n.operands[0]).shape[0].static_value("the rows of a state");
        constraints.push_back({n.types[0].shape[0], rows, g.value_name(n.operands[0])});
      }
    }
    output_views = at;
    for (const PlannedValue& p : plan.outputs) add_view(at++, p);
    for (size_t i = 0; i < input_nodes.size(); ++i) {
      patch_view(input_views[i], g.node(input_nodes[i]).types[0]);
    }
    walk_steps.resize(plan.steps.size());
    for (const NodeId id : g.order()) {
      for (const Dim& slack : slacks_of(g, g.node(id))) {
        if (slack.lower_bound(g.symbols()) < 0) demands.push_back({slack, id});
      }
    }
  }

  // Running.

  void bind_symbols(std::span<const SymbolBinding> bindings) {
    const auto declared = exe.graph().symbols();
    next_symbols.assign(declared.size(), -1);
    for (const SymbolBinding& b : bindings) {
      size_t i = 0;
      while (i < declared.size() && declared[i].name != b.name) ++i;
      if (i == declared.size()) fail(ErrorCode::NotFound, "the graph has no extent {}", b.name);
      if (b.value < 0 || b.value > declared[i].bound) {
        fail(ErrorCode::InvalidArgument, "{} = {} is outside 0 to {}", b.name, b.value,
             declared[i].bound);
      }
      next_symbols[i] = b.value;
    }
    for (size_t i = 0; i < declared.size(); ++i) {
      if (next_symbols[i] < 0) {
        fail(ErrorCode::InvalidArgument, "no value is given for extent {}", declared[i].name);
      }
    }
    for (const Constraint& c : constraints) {
      const int64_t rows = c.extent.value(next_symbols);
      if (rows > c.limit) {
        fail(ErrorCode::LimitExceeded, "state %{} has {} rows, this run needs {}", c.what, c.limit,
             rows);
      }
    }
    for (const Demand& d : demands) {
      if (d.slack.value(next_symbols) >= 0) continue;
      fail(ErrorCode::InvalidArgument, "{}: not possible at these extents ({} is {})",
           print_node(exe.graph(), d.node), to_string(d.slack, declared),
           d.slack.value(next_symbols));
    }
    if (counted && next_symbols == symbols) return;
    counted = true;
    std::copy(next_symbols.begin(), next_symbols.end(), symbols.begin());  // calls point into it
    for (const Patch& p : patches) *p.target = p.dim.value(symbols);
    count_items();
  }

  void bind_inputs(std::span<const InputBinding> bindings) {
    const Graph& g = exe.graph();
    for (TensorView& v : input_views) v.data = nullptr;
    for (const InputBinding& b : bindings) {
      size_t i = 0;
      while (i < input_nodes.size() && g.node(input_nodes[i]).names[0] != b.name) ++i;
      if (i == input_nodes.size()) fail(ErrorCode::NotFound, "the graph has no input %{}", b.name);
      TensorView& v = input_views[i];
      if (b.dtype != v.dtype) {
        fail(ErrorCode::InvalidArgument, "input %{} is {}, not {}", b.name, dtype_name(v.dtype),
             dtype_name(b.dtype));
      }
      if (static_cast<int64_t>(b.bytes.size()) != view_bytes(v)) {
        fail(ErrorCode::InvalidArgument, "input %{} has {} bytes at these extents, {} are given",
             b.name, view_bytes(v), b.bytes.size());
      }
      // Kernels never write operands that lie in the Inputs region: the plan's checker sees to it.
      v.data = const_cast<std::byte*>(b.bytes.data());
      if (v.data == nullptr) v.data = &nothing;
    }
    for (size_t i = 0; i < input_views.size(); ++i) {
      if (input_views[i].data == nullptr) {
        fail(ErrorCode::InvalidArgument, "input %{} is not bound", g.node(input_nodes[i]).names[0]);
      }
    }
    for (const auto& [view, input] : input_uses) views[view].data = input_views[input].data;
  }

  /// Evaluates a node without a kernel by its record, in double precision, on one worker.
  void run_reference(size_t s) noexcept {
    try {
      const Node& n = exe.graph().node(exe.plan().steps[s].node);
      const KernelCall& call = calls[s];
      std::vector<OracleTensor> operands;
      for (int32_t i = 0; i < call.operand_count; ++i) {
        const TensorView& v = call.operands[i];
        operands.push_back(oracle_from_bytes(v.dtype, {v.dims, v.dims + v.rank},
                                             {v.data, static_cast<size_t>(view_bytes(v))}));
      }
      std::vector<OracleTensor*> pointers;
      for (OracleTensor& t : operands) pointers.push_back(&t);
      const auto results = evaluate_node(exe.graph(), n, pointers, symbols);
      for (int32_t r = 0; r < call.result_count; ++r) {
        const auto bytes = oracle_to_bytes(results[static_cast<size_t>(r)]);
        std::memcpy(call.results[r].data, bytes.data(), bytes.size());
      }
    } catch (...) {
      failure = std::current_exception();
      stop.store(true, std::memory_order_relaxed);
    }
  }

  /// Items [begin, end) of step `s`; nothing once the run was stopped.
  void run_items(size_t s, int64_t begin, int64_t end, int worker) noexcept {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      stop.store(true, std::memory_order_relaxed);
    }
    if (stop.load(std::memory_order_relaxed)) return;
    const KernelRow& row = *exe.plan().steps[s].row;
    if (row.by_reference) return run_reference(s);
    row.run(calls[s], begin, end, worker);
  }

  void count_items() {
    const Plan& plan = exe.plan();
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const KernelRow& row = *plan.steps[s].row;
      walk_steps[s] = {row.by_reference ? 1 : row.items(calls[s]), plan.steps[s].barrier};
    }
  }

  const Executable& exe;
  ThreadTeam team;
  Pages arena, outputs, workspace;
  std::vector<Pages> states;
  std::vector<std::byte*> weights, constants;
  std::vector<NodeId> input_nodes;
  std::vector<TensorView> input_views;
  struct InputUse {
    size_t view;
    uint32_t input;
  };
  std::vector<InputUse> input_uses;
  std::vector<TensorView> views;
  std::vector<KernelCall> calls;
  size_t output_views = 0;
  bool counted = false;
  std::vector<Patch> patches;
  std::vector<Constraint> constraints;
  std::vector<Demand> demands;
  std::vector<int64_t> symbols, next_symbols;
  std::vector<WalkStep> walk_steps;
  const std::atomic<bool>* cancel = nullptr;
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::byte nothing{};
};

namespace {

SessionOptions checked(const SessionOptions& options) {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    fail(ErrorCode::InvalidArgument, "{} threads are outside 1 to {}", options.threads,
         kMaxThreads);
  }
  return options;
}

}  // namespace

Session::Session(std::shared_ptr<const Executable> executable, const SessionOptions& options)
    : executable_(std::move(executable)),
      impl_(std::make_unique<Impl>(*executable_, checked(options))) {}

Session::~Session() = default;

void Session::run(std::span<const SymbolBinding> symbols, std::span<const InputBinding> inputs,
                  const std::atomic<bool>* cancel) {
  Impl& s = *impl_;
  s.bind_symbols(symbols);
  s.bind_inputs(inputs);
  s.cancel = cancel;
  s.stop = false;
  s.failure = nullptr;
  s.team.walk(
      s.walk_steps,
      [](void* context, int64_t step, int64_t begin, int64_t end, int worker) noexcept {
        static_cast<Impl*>(context)->run_items(static_cast<size_t>(step), begin, end, worker);
      },
      &s);
  if (s.failure) std::rethrow_exception(s.failure);
  if (s.stop) fail(ErrorCode::Cancelled, "the run was cancelled");
}

TensorView Session::output(size_t index) const {
  RLX_CHECK(index < executable_->plan().outputs.size());
  return impl_->views[impl_->output_views + index];
}

std::span<std::byte> Session::state(std::string_view name) {
  const Graph& g = executable_->graph();
  size_t index = 0;
  for (const NodeId id : g.leaves(OpKind::State)) {
    if (g.node(id).names[0] == name) {
      const Pages& pages = impl_->states[index];
      return {pages.data(), static_cast<size_t>(pages.size())};
    }
    ++index;
  }
  fail(ErrorCode::NotFound, "the graph has no state %{}", name);
}

int Session::threads() const { return impl_->team.size(); }

}  // namespace rlx

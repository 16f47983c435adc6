// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace rlx {

struct Graph::NameTable {
  std::unordered_map<std::string, Value> values;
  uint64_t next = 0;
};

Graph::Graph(std::string name) : name_(std::move(name)), names_(std::make_unique<NameTable>()) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Graph Graph::clone() const {
  Graph copy(name_);
  copy.symbols_ = symbols_;
  copy.uses_ = uses_;
  copy.order_ = order_;
  copy.outputs_ = outputs_;
  *copy.names_ = *names_;
  copy.nodes_.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    if (node == nullptr) {
      copy.nodes_.push_back(nullptr);
      continue;
    }
    auto twin = std::make_unique<Node>();
    twin->id = node->id;
    twin->op = node->op;
    twin->operands = node->operands;
    twin->attrs = node->attrs;
    twin->types = node->types;
    twin->names = node->names;
    twin->data = node->data;
    twin->location = node->location;
    for (const auto& body : node->bodies) {
      twin->bodies.push_back(std::make_unique<Graph>(body->clone()));
    }
    copy.nodes_.push_back(std::move(twin));
  }
  return copy;
}

SymbolId Graph::add_symbol(std::string name, int64_t bound) {
  for (const Symbol& s : symbols_) {
    if (s.name == name) fail(ErrorCode::InvalidArgument, "symbol {} is declared twice", name);
  }
  if (bound < 0) fail(ErrorCode::InvalidArgument, "symbol {}: bound {} is negative", name, bound);
  if (symbols_.size() >= UINT16_MAX) fail(ErrorCode::LimitExceeded, "more than 65535 symbols");
  symbols_.push_back({std::move(name), bound});
  return static_cast<SymbolId>(symbols_.size() - 1);
}

Dim Graph::dim(std::string_view symbol) const {
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].name == symbol) return Dim::of_symbol(static_cast<SymbolId>(i));
  }
  fail(ErrorCode::NotFound, "no symbol named {}", symbol);
}

void Graph::claim_name(std::string& name, Value value) {
  if (name.empty()) {
    do {
      name = fmt::format("{}", names_->next++);
    } while (names_->values.count(name) != 0);
  }
  if (!names_->values.emplace(name, value).second) {
    fail(ErrorCode::InvalidArgument, "%{} is defined twice", name);
  }
}

Value Graph::add_leaf(OpKind op, std::string name, TensorType type, LeafData data, NodeId before) {
  check_type(type, symbols_);
  const NodeId id = add_node(op, {}, {}, {std::move(type)}, {std::move(name)}, before);
  nodes_[id]->data = std::move(data);
  return {id, 0};
}

Value Graph::add_input(std::string name, TensorType type) {
  return add_leaf(OpKind::Input, std::move(name), std::move(type), {});
}

Value Graph::add_state(std::string name, TensorType type) {
  return add_leaf(OpKind::State, std::move(name), std::move(type), {});
}

Value Graph::add_weight(std::string name, TensorType type, LeafData data) {
  if (!data.bytes.empty()) {
    const int64_t want = byte_count(type).static_value("the size of a weight");
    if (static_cast<uint64_t>(want) != data.bytes.size()) {
      fail(ErrorCode::InvalidFile, "weight {}: {} needs {} bytes, found {}", name,
           to_string(type, symbols_), want, data.bytes.size());
    }
  }
  return add_leaf(OpKind::Weight, std::move(name), std::move(type), std::move(data));
}

Value Graph::add_constant(std::string name, TensorType type, LeafData data, NodeId before) {
  const int64_t want = byte_count(type).static_value("the size of a constant");
  if (static_cast<uint64_t>(want) != data.bytes.size()) {
    fail(ErrorCode::InvalidArgument, "constant {}: {} needs {} bytes, found {}", name,
         to_string(type, symbols_), want, data.bytes.size());
  }
  return add_leaf(OpKind::Constant, std::move(name), std::move(type), std::move(data), before);
}

NodeId Graph::add_node(OpKind op, std::vector<Value> operands, Attrs attrs,
                       std::vector<TensorType> types, std::vector<std::string> names,
                       NodeId before) {
  const NodeId id = static_cast<NodeId>(nodes_.size());
  auto node = std::make_unique<Node>();
  node->id = id;
  node->op = op;
  node->operands = std::move(operands);
  node->attrs = std::move(attrs);
  node->types = std::move(types);
  node->names = std::move(names);
  node->names.resize(node->types.size());
  for (size_t r = 0; r < node->names.size(); ++r) {
    claim_name(node->names[r], {id, static_cast<uint32_t>(r)});
  }
  uses_.emplace_back(node->types.size());
  nodes_.push_back(std::move(node));
  const auto& placed = nodes_.back()->operands;
  for (size_t i = 0; i < placed.size(); ++i) link(id, static_cast<uint32_t>(i), placed[i]);
  if (before == kNoNode) {
    order_.push_back(id);
  } else {
    order_.insert(std::find(order_.begin(), order_.end(), before), id);
  }
  return id;
}

void Graph::add_body(NodeId node, std::unique_ptr<Graph> body) {
  nodes_[node]->bodies.push_back(std::move(body));
}

void Graph::set_location(NodeId node, std::string location) {
  nodes_[node]->location = std::move(location);
}

void Graph::set_data(NodeId leaf, LeafData data) { nodes_[leaf]->data = std::move(data); }

void Graph::set_outputs(std::vector<Value> outputs) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    unlink(kNoNode, static_cast<uint32_t>(i), outputs_[i]);
  }
  outputs_ = std::move(outputs);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    link(kNoNode, static_cast<uint32_t>(i), outputs_[i]);
  }
}

void Graph::link(NodeId user, uint32_t operand, Value value) {
  RLX_CHECK(contains(value.node) && value.result < uses_[value.node].size());
  uses_[value.node][value.result].push_back({user, operand});
}

void Graph::unlink(NodeId user, uint32_t operand, Value value) {
  auto& list = uses_[value.node][value.result];
  const auto it = std::find(list.begin(), list.end(), Use{user, operand});
  RLX_CHECK(it != list.end());
  list.erase(it);
}

void Graph::set_operand(NodeId user, uint32_t operand, Value value) {
  Value& slot = user == kNoNode ? outputs_[operand] : nodes_[user]->operands[operand];
  unlink(user, operand, slot);
  slot = value;
  link(user, operand, value);
}

void Graph::replace_uses(Value from, Value to) {
  const std::vector<Use> list = uses_[from.node][from.result];
  for (const Use& use : list) set_operand(use.user, use.operand, to);
}

void Graph::rename(Value value, std::string name) {
  std::string& slot = nodes_[value.node]->names[value.result];
  names_->values.erase(slot);
  claim_name(name, value);
  slot = std::move(name);
}

void Graph::erase(NodeId id) {
  Node& n = *nodes_[id];
  RLX_CHECK(n.op != OpKind::Input && n.op != OpKind::Weight && n.op != OpKind::State);
  for (const auto& list : uses_[id]) RLX_CHECK(list.empty());
  for (size_t i = 0; i < n.operands.size(); ++i) {
    unlink(id, static_cast<uint32_t>(i), n.operands[i]);
  }
  for (const std::string& name : n.names) names_->values.erase(name);
  order_.erase(std::find(order_.begin(), order_.end(), id));
  nodes_[id] = nullptr;
}

std::vector<NodeId> Graph::leaves(OpKind kind) const {
  std::vector<NodeId> found;
  for (const NodeId id : order_) {
    if (nodes_[id]->op == kind) found.push_back(id);
  }
  return found;
}

Value Graph::find(std::string_view name) const {
  const auto it = names_->values.find(std::string(name));
  return it == names_->values.end() ? Value{} : it->second;
}

}  // namespace rlx

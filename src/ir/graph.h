// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/op_kind.h"
#include "ir/type.h"

namespace rlx {

class Graph;

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

/// One result of one node.
struct Value {
  NodeId node = kNoNode;
  uint32_t result = 0;
  bool valid() const { return node != kNoNode; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// One place where a value is read: operand `operand` of `user`, or graph output `operand` when
/// `user` is kNoNode.
struct Use {
  NodeId user;
  uint32_t operand;
  friend bool operator==(const Use&, const Use&) = default;
};

/// Bytes of a weight or constant, row-major in their storage type, and what keeps them alive.
struct LeafData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// An operation or a leaf. Read it freely; change it through its Graph.
struct Node {
  NodeId id = kNoNode;
  OpKind op = OpKind::Input;
  std::vector<Value> operands;
  Attrs attrs;
  std::vector<TensorType> types;               ///< one per result
  std::vector<std::string> names;              ///< one per result, without '%'; unique in the graph
  std::vector<std::unique_ptr<Graph>> bodies;  ///< regions: their inputs are the typed arguments
  LeafData data;                               ///< Weight and Constant only
  std::string location;                        ///< where it came from, "blk.3.attn_q"
};

/// A program: leaves and operations in executable order, with symbolic extents, use lists kept up
/// to date, and a signature (names, types and order of inputs, weights, states and outputs) that no
/// pass may change. Move-only.
class Graph {
 public:
  explicit Graph(std::string name = "main");
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();
  /// A deep copy; weights still refer to the same bytes.
  Graph clone() const;

  const std::string& name() const { return name_; }

  // Symbols.
  SymbolId add_symbol(std::string name, int64_t bound);
  std::span<const Symbol> symbols() const { return symbols_; }
  Dim dim(std::string_view symbol) const;  ///< Error when there is no such symbol

  // Leaves. Names are unique in the graph (Error otherwise), types are checked.
  Value add_input(std::string name, TensorType type);
  Value add_weight(std::string name, TensorType type, LeafData data);
  /// A constant may be placed before a node of the order, as add_node does.
  Value add_constant(std::string name, TensorType type, LeafData data, NodeId before = kNoNode);
  Value add_state(std::string name, TensorType type);

  /// Appends a node, or inserts it before `before`. Result types are the caller's word:
  /// ops/builder.h infers them. Empty names are filled in with fresh numbers.
  NodeId add_node(OpKind op, std::vector<Value> operands, Attrs attrs,
                  std::vector<TensorType> types, std::vector<std::string> names = {},
                  NodeId before = kNoNode);
  void add_body(NodeId node, std::unique_ptr<Graph> body);
  void set_location(NodeId node, std::string location);
  void set_data(NodeId leaf, LeafData data);
  void set_outputs(std::vector<Value> outputs);

  // Changes. Use lists follow.
  void set_operand(NodeId user, uint32_t operand, Value value);
  void replace_uses(Value from, Value to);
  void rename(Value value, std::string name);
  /// Removes a node none of whose results is used; leaves of the signature stay.
  void erase(NodeId node);

  // Reading.
  const Node& node(NodeId id) const { return *nodes_[id]; }
  const TensorType& type(Value v) const { return nodes_[v.node]->types[v.result]; }
  const std::string& value_name(Value v) const { return nodes_[v.node]->names[v.result]; }
  std::span<const Use> uses(Value v) const { return uses_[v.node][v.result]; }
  /// Nodes in order; erased ones are gone. Every operand is defined before its use.
  const std::vector<NodeId>& order() const { return order_; }
  size_t id_bound() const { return nodes_.size(); }  ///< ids are below this
  bool contains(NodeId id) const { return id < nodes_.size() && nodes_[id] != nullptr; }
  std::span<const Value> outputs() const { return outputs_; }
  /// Ids of all leaves of a kind, in the order of the signature.
  std::vector<NodeId> leaves(OpKind kind) const;
  /// The value of that name, invalid if there is none.
  Value find(std::string_view name) const;

 private:
  struct NameTable;
  void link(NodeId user, uint32_t operand, Value value);
  void unlink(NodeId user, uint32_t operand, Value value);
  Value add_leaf(OpKind op, std::string name, TensorType type, LeafData data,
                 NodeId before = kNoNode);
  void claim_name(std::string& name, Value value);

  std::string name_;
  std::vector<Symbol> symbols_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::vector<std::vector<Use>>> uses_;
  std::vector<NodeId> order_;
  std::vector<Value> outputs_;
  std::unique_ptr<NameTable> names_;
};

}  // namespace rlx

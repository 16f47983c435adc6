// SPDX-License-Identifier: Apache-2.0
#include "ops/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "ops/oracle.h"

namespace rlx {
namespace {

std::string known_attrs(const OpDef& def) {
  std::string out;
  for (const AttrSpec& spec : def.attrs) {
    if (!out.empty()) out += ", ";
    out += attr_name(spec.key);
  }
  return out.empty() ? "none" : out;
}

void check_operand_count(const OpDef& def, size_t found) {
  size_t least = 0;
  size_t most = def.operands.size();
  for (const OperandSpec& spec : def.operands) {
    if (spec.arity != OperandSpec::Optional) ++least;
    if (spec.arity == OperandSpec::Variadic) most = SIZE_MAX;
  }
  if (found >= least && found <= most) return;
  fail(ErrorCode::InvalidArgument, "{}: found {} operands, must have {}", op_name(def.op), found,
       most == SIZE_MAX ? fmt::format("at least {}", least)
       : most == least  ? fmt::format("{}", least)
                        : fmt::format("{} to {}", least, most));
}

void count_axis_from_front(int64_t& axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < 0 && axis >= -n) axis += n;
}

}  // namespace

Attrs complete_attrs(const OpDef& def, const Attrs& given) {
  Attrs full;
  for (const AttrSpec& spec : def.attrs) {
    const AttrValue* value = given.find(spec.key);
    if (value == nullptr && !spec.has_default) {
      fail(ErrorCode::InvalidArgument, "{}: attribute '{}' is missing", op_name(def.op),
           attr_name(spec.key));
    }
    full.set(spec.key, value != nullptr ? *value : spec.fallback);
  }
  for (const Attrs::Entry& e : given.entries()) {
    if (full.find(e.key) == nullptr) {
      fail(ErrorCode::InvalidArgument, "{}: attribute '{}' is unknown, allowed: {}",
           op_name(def.op), attr_name(e.key), known_attrs(def));
    }
  }
  return full;
}

Attrs normalize_attrs(OpKind op, std::span<const TensorType> operands, Attrs attrs,
                      std::span<const Symbol> symbols) {
  const size_t rank = operands.empty() ? 0 : operands[0].rank();
  if (const AttrValue* axis = attrs.find(AttrKey::Axis)) {
    int64_t v = axis->i;
    count_axis_from_front(v, rank);
    attrs.set(AttrKey::Axis, AttrValue::of_int(v));
  }
  if (const AttrValue* axes = attrs.find(AttrKey::Axes)) {
    std::vector<int64_t> v = axes->ints;
    for (int64_t& axis : v) count_axis_from_front(axis, rank);
    if (v.empty()) {
      for (size_t i = 0; i < rank; ++i) v.push_back(static_cast<int64_t>(i));
    }
    std::sort(v.begin(), v.end());
    attrs.set(AttrKey::Axes, AttrValue::of_ints(std::move(v)));
  }
  if (const AttrValue* strides = attrs.find(AttrKey::Strides)) {
    const auto& v = strides->ints;
    if (v.size() == rank && std::all_of(v.begin(), v.end(), [](int64_t s) { return s == 1; })) {
      attrs.set(AttrKey::Strides, AttrValue::of_ints({}));
    }
  }
  if (op == OpKind::Reshape) {
    attrs.set(AttrKey::Shape,
              AttrValue::of_dims(infer_types(op, operands, attrs, symbols)[0].shape));
  }
  return attrs;
}

std::vector<TensorType> infer_types(OpKind op, std::span<const TensorType> operands,
                                    const Attrs& attrs, std::span<const Symbol> symbols) {
  const OpDef& def = op_def(op);
  check_operand_count(def, operands.size());
  RLX_CHECK(def.infer != nullptr);
  try {
    std::vector<TensorType> types = def.infer(InferArgs{op, operands, attrs, symbols});
    RLX_CHECK(types.size() == def.results);
    for (const TensorType& type : types) check_type(type, symbols);
    return types;
  } catch (const Error& e) {
    // What extents themselves refuse (an overflow, a product of symbols) does not name the op.
    const std::string prefix = fmt::format("{}: ", op_name(op));
    if (e.message().rfind(prefix, 0) == 0) throw;
    throw Error(e.code(), prefix + e.message());
  }
}

std::vector<Value> Builder::ops(OpKind kind, std::vector<Value> operands, Attrs attrs,
                                std::vector<std::string> names) {
  const OpDef& def = op_def(kind);
  if (is_leaf(kind)) {
    fail(ErrorCode::InvalidArgument, "{}: is a leaf, not an operation", op_name(kind));
  }
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const Value& v : operands) types.push_back(graph_->type(v));
  check_operand_count(def, types.size());
  const auto symbols = graph_->symbols();
  attrs = normalize_attrs(kind, types, complete_attrs(def, attrs), symbols);
  std::vector<TensorType> results = infer_types(kind, types, attrs, symbols);
  const NodeId id = graph_->add_node(kind, std::move(operands), std::move(attrs),
                                     std::move(results), std::move(names), before_);
  if (!location_.empty()) graph_->set_location(id, location_);
  std::vector<Value> values;
  for (uint32_t r = 0; r < def.results; ++r) values.push_back({id, r});
  return values;
}

Value Builder::op(OpKind kind, std::vector<Value> operands, Attrs attrs, std::string name) {
  RLX_CHECK(op_def(kind).results == 1);
  std::vector<std::string> names;
  if (!name.empty()) names.push_back(std::move(name));
  return ops(kind, std::move(operands), std::move(attrs), std::move(names))[0];
}

Value Builder::constant(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values,
                        std::string name) {
  OracleTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.data = values;
  RLX_CHECK(static_cast<size_t>(tensor.count()) == values.size());
  TensorType type{dtype, Shape(tensor.shape.begin(), tensor.shape.end())};
  auto bytes = std::make_shared<std::vector<std::byte>>(oracle_to_bytes(tensor));
  const std::span<const std::byte> view(*bytes);
  return graph_->add_constant(std::move(name), std::move(type), {view, std::move(bytes)}, before_);
}

Value Builder::cast(Value x, DType to) {
  if (type(x).dtype == to) return x;
  return op(OpKind::Cast, {x}, {{AttrKey::To, AttrValue::of_dtype(to)}});
}

Value Builder::reshape(Value x, Shape to) {
  if (shape(x) == to) return x;
  return op(OpKind::Reshape, {x}, {{AttrKey::Shape, AttrValue::of_dims(std::move(to))}});
}

Value Builder::transpose(Value x, std::vector<int64_t> perm) {
  return op(OpKind::Transpose, {x}, {{AttrKey::Perm, AttrValue::of_ints(std::move(perm))}});
}

Value Builder::broadcast(Value x, Shape to) {
  if (shape(x) == to) return x;
  return op(OpKind::Broadcast, {x}, {{AttrKey::Shape, AttrValue::of_dims(std::move(to))}});
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "ir/print.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/half.h"
#include "ir/op_def.h"

namespace rlx {
namespace {

std::string print_float(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <typename T>
T load(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

/// Element `i` of a constant's bytes in the shortest spelling that reads back to the same bits;
/// empty for types that are printed as raw bytes.
std::string print_element(DType dtype, const std::byte* bytes, size_t i) {
  const std::byte* at = bytes + i * dtype_info(dtype).block_bytes;
  switch (dtype) {
    case DType::F64: return print_float(load<double>(at));
    case DType::F32: {
      const float v = load<float>(at);
      if (!std::isfinite(v)) return print_float(v);
      std::string text = fmt::format("{}", v);
      if (text.find_first_of(".e") == std::string::npos) text += ".0";
      return text;
    }
    case DType::F16: return print_float(f16_to_f32(load<uint16_t>(at)));
    case DType::BF16: return print_float(bf16_to_f32(load<uint16_t>(at)));
    case DType::I8: return fmt::format("{}", load<int8_t>(at));
    case DType::I16: return fmt::format("{}", load<int16_t>(at));
    case DType::I32: return fmt::format("{}", load<int32_t>(at));
    case DType::I64: return fmt::format("{}", load<int64_t>(at));
    case DType::U8: return fmt::format("{}", load<uint8_t>(at));
    case DType::U16: return fmt::format("{}", load<uint16_t>(at));
    case DType::U32: return fmt::format("{}", load<uint32_t>(at));
    case DType::U64: return fmt::format("{}", load<uint64_t>(at));
    case DType::Bool: return load<uint8_t>(at) != 0 ? "true" : "false";
    default: return {};
  }
}

std::string print_constant(const Node& n) {
  const DTypeInfo& info = dtype_info(n.types[0].dtype);
  const auto bytes = n.data.bytes;
  const size_t count = bytes.size() / info.block_bytes;
  if (count > 0 && print_element(info.dtype, bytes.data(), 0).empty()) {
    std::string hex = "hex ";
    for (const std::byte b : bytes) hex += fmt::format("{:02x}", static_cast<unsigned>(b));
    return hex;
  }
  if (n.types[0].shape.empty()) return print_element(info.dtype, bytes.data(), 0);
  bool same = count > 4;
  for (size_t i = 1; i < count && same; ++i) {
    same = std::memcmp(bytes.data(), bytes.data() + i * info.block_bytes, info.block_bytes) == 0;
  }
  if (same) return "splat " + print_element(info.dtype, bytes.data(), 0);
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) out += ", ";
    out += print_element(info.dtype, bytes.data(), i);
  }
  return out + "]";
}

std::string print_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string print_attrs(const Graph& graph, const Node& n) {
  std::string out;
  for (const Attrs::Entry& e : n.attrs.entries()) {
    bool is_default = false;
    for (const AttrSpec& spec : op_def(n.op).attrs) {
      is_default =
          is_default || (spec.key == e.key && spec.has_default && spec.fallback == e.value);
    }
    if (is_default) continue;
    out += out.empty() ? " {" : ", ";
    out += fmt::format("{} = {}", attr_name(e.key), print_attr(e.value, graph.symbols()));
  }
  return out.empty() ? out : out + "}";
}

std::string join_values(const Graph& graph, std::span<const Value> values) {
  std::string out;
  for (const Value& v : values) {
    out += fmt::format("{}%{}", out.empty() ? "" : ", ", graph.value_name(v));
  }
  return out;
}

void print_body(const Graph& graph, std::string& out, const std::string& indent, bool nested) {
  if (!nested && !graph.symbols().empty()) {  // bodies have those of the graph around them
    out += indent + "dims";
    for (size_t i = 0; i < graph.symbols().size(); ++i) {
      const Symbol& s = graph.symbols()[i];
      out += fmt::format("{} {} <= {}", i == 0 ? "" : ",", s.name, s.bound);
    }
    out += "\n";
  }
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    out += indent + print_node(graph, id);
    for (const auto& body : n.bodies) {
      out += " {\n";
      print_body(*body, out, indent + "  ", true);
      out += indent + "}";
    }
    if (!n.location.empty()) out += "  # " + n.location;
    out += "\n";
  }
  out += fmt::format("{}{} {}\n", indent, nested ? "yield" : "output",
                     join_values(graph, graph.outputs()));
}

}  // namespace

std::string print_attr(const AttrValue& v, std::span<const Symbol> symbols) {
  switch (v.kind) {
    case AttrKind::Int: return fmt::format("{}", v.i);
    case AttrKind::Float: return print_float(v.f);
    case AttrKind::Bool: return v.i != 0 ? "true" : "false";
    case AttrKind::String: return print_string(v.s);
    case AttrKind::Ints: return fmt::format("[{}]", fmt::join(v.ints, ", "));
    case AttrKind::Dim: return to_string(v.dims.front(), symbols);
    case AttrKind::Dims: return to_string(v.dims, symbols);
    case AttrKind::DType: return std::string(dtype_name(static_cast<DType>(v.i)));
  }
  return {};
}

std::string print_node(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  if (is_leaf(n.op)) {
    std::string line = fmt::format("{} %{} : {}", op_name(n.op), n.names[0],
                                   to_string(n.types[0], graph.symbols()));
    if (n.op == OpKind::Constant) line += " = " + print_constant(n);
    return line;
  }
  std::string line;
  for (const std::string& name : n.names)
    line += fmt::format("{}%{}", line.empty() ? "" : ", ", name);
  line += fmt::format(" = {}", op_name(n.op));
  if (!n.operands.empty()) line += " " + join_values(graph, n.operands);
  line += print_attrs(graph, n) + " :";
  for (size_t r = 0; r < n.types.size(); ++r) {
    line += fmt::format("{} {}", r == 0 ? "" : ",", to_string(n.types[r], graph.symbols()));
  }
  return line;
}

std::string print(const Graph& graph) {
  std::string out = fmt::format("graph {} {{\n", graph.name());
  print_body(graph, out, "  ", false);
  return out + "}\n";
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "cli/ops.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "cli/common.h"
#include "ir/op_def.h"
#include "ir/print.h"
#include "ops/parse.h"

namespace rlx::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t line_width = 100;
constexpr size_t most_near_names = 4;

std::string_view kind_name(AttrKind kind) {
  switch (kind) {
    case AttrKind::Int: return "int";
    case AttrKind::Float: return "float";
    case AttrKind::Bool: return "bool";
    case AttrKind::String: return "string";
    case AttrKind::Ints: return "ints";
    case AttrKind::Dim: return "extent";
    case AttrKind::Dims: return "extents";
    case AttrKind::DType: return "type";
  }
  return {};
}

std::string_view precision_name(PrecisionClass precision) {
  switch (precision) {
    case PrecisionClass::Compute: return "compute";
    case PrecisionClass::Reduction: return "reduction";
    case PrecisionClass::Elementwise: return "elementwise";
    case PrecisionClass::DataMovement: return "data movement";
    case PrecisionClass::Boundary: return "boundary";
  }
  return {};
}

std::string_view nature(const OpDef& def) {
  if (is_leaf(def.op)) return "leaf";
  return def.lower != nullptr ? "composite" : "primitive";
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Names that contain `name` or are a few letters from it, nearest first.
std::vector<std::string_view> near_names(std::string_view name) {
  std::vector<std::pair<size_t, std::string_view>> found;
  for (size_t i = 0; i < kOpCount; ++i) {
    const std::string_view known = op_name(static_cast<OpKind>(i));
    const bool contains = !name.empty() && known.find(name) != std::string_view::npos;
    const size_t distance = edit_distance(name, known);
    if (contains || distance <= std::max<size_t>(2, known.size() / 3)) {
      found.emplace_back(contains ? 1 : distance, known);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> names;
  for (const auto& entry : found) names.push_back(entry.second);
  names.resize(std::min(names.size(), most_near_names));
  return names;
}

const OpDef& find_op(std::string_view name) {
  if (const auto op = op_from_name(name)) return op_def(*op);
  // Names grow with an edit distance; a long argument is no misspelling of one.
  const auto near = name.size() > 40 ? std::vector<std::string_view>{} : near_names(name);
  fail(ErrorCode::NotFound, "there is no op '{}'{}{}", name.substr(0, 40),
       near.empty() ? "; `rlx ops` lists them all" : ", near it: ", fmt::join(near, ", "));
}

std::string operand_text(const OperandSpec& spec) {
  switch (spec.arity) {
    case OperandSpec::Required: return fmt::format("%{}", spec.name);
    case OperandSpec::Optional: return fmt::format("[%{}]", spec.name);
    case OperandSpec::Variadic: return fmt::format("%{}...", spec.name);
  }
  return {};
}

std::string attr_text(const AttrSpec& spec) {
  std::string out = fmt::format("{}: {}", attr_name(spec.key), kind_name(attr_kind(spec.key)));
  if (spec.has_default) out += " = " + print_attr(spec.fallback, {});
  return out;
}

/// "top_k %x {k: int, axis: int} -> 2 results".
std::string signature(const OpDef& def) {
  std::string out(op_name(def.op));
  for (size_t i = 0; i < def.operands.size(); ++i) {
    out += (i == 0 ? " " : ", ") + operand_text(def.operands[i]);
  }
  for (size_t i = 0; i < def.attrs.size(); ++i) {
    out += (i == 0 ? " {" : ", ") + attr_text(def.attrs[i]);
  }
  if (!def.attrs.empty()) out += "}";
  if (def.results != 1) out += fmt::format(" -> {} results", def.results);
  return out;
}

/// Words of `text` in lines no longer than line_width, each behind `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > line_width) {
      out += fmt::format("{}{}\n", indent, line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + fmt::format("{}{}\n", indent, line);
}

std::string entry_text(const OpDef& def) {
  std::string out = wrapped(signature(def), "") + wrapped(def.doc, "    ");
  return out + fmt::format("    {}, {}{}\n", nature(def), precision_name(def.precision),
                           def.needs_f32 ? ", at least f32" : "");
}

/// The sample as a whole graph, result types filled in.
std::string sample_graph(const Sample& sample) {
  return print(parse_graph(fmt::format("graph sample {{ {} }}", sample.graph)));
}

std::string samples_text(const OpDef& def) {
  std::string out;
  for (const Sample& sample : def.samples) {
    out += "\n" + sample_graph(sample);
    if (out.back() != '\n') out += '\n';
    out += wrapped(fmt::format("gives [{}]", fmt::join(sample.expected, ", ")), "");
  }
  return out;
}

ordered_json number_json(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

ordered_json default_json(const AttrValue& value) {
  switch (value.kind) {
    case AttrKind::Int: return value.i;
    case AttrKind::Float: return number_json(value.f);
    case AttrKind::Bool: return value.i != 0;
    case AttrKind::String: return value.s;
    case AttrKind::Ints: return value.ints;
    case AttrKind::Dim:
    case AttrKind::Dims:
    case AttrKind::DType: break;
  }
  return print_attr(value, {});
}

ordered_json entry_json(const OpDef& def) {
  ordered_json entry = {{"name", op_name(def.op)},
                        {"kind", nature(def)},
                        {"class", precision_name(def.precision)},
                        {"needs_f32", def.needs_f32},
                        {"doc", def.doc},
                        {"operands", ordered_json::array()},
                        {"attributes", ordered_json::array()},
                        {"results", def.results}};
  for (const OperandSpec& spec : def.operands) {
    entry["operands"].push_back({{"name", spec.name},
                                 {"optional", spec.arity == OperandSpec::Optional},
                                 {"variadic", spec.arity == OperandSpec::Variadic}});
  }
  for (const AttrSpec& spec : def.attrs) {
    ordered_json attr = {{"name", attr_name(spec.key)}, {"type", kind_name(attr_kind(spec.key))}};
    if (spec.has_default) attr["default"] = default_json(spec.fallback);
    entry["attributes"].push_back(std::move(attr));
  }
  return entry;
}

ordered_json samples_json(const OpDef& def) {
  ordered_json samples = ordered_json::array();
  for (const Sample& sample : def.samples) {
    ordered_json expected = ordered_json::array();
    for (const double x : sample.expected) expected.push_back(number_json(x));
    samples.push_back({{"graph", sample_graph(sample)},
                       {"expected", std::move(expected)},
                       {"tolerance", sample.tolerance}});
  }
  return samples;
}

}  // namespace

std::string ops_text(std::string_view name) {
  if (!name.empty()) {
    const OpDef& def = find_op(name);
    return entry_text(def) + samples_text(def);
  }
  std::string out;
  for (size_t i = 0; i < kOpCount; ++i) out += entry_text(op_def(static_cast<OpKind>(i)));
  return out;
}

std::string ops_json(std::string_view name) {
  ordered_json out = ordered_json::array();
  if (name.empty()) {
    for (size_t i = 0; i < kOpCount; ++i) out.push_back(entry_json(op_def(static_cast<OpKind>(i))));
  } else {
    const OpDef& def = find_op(name);
    out = entry_json(def);
    out["samples"] = samples_json(def);
  }
  return out.dump(2) + "\n";
}

CLI::App* add_ops_command(CLI::App& parent, int& exit_code) {
  struct Flags {
    std::string name;
    bool json = false;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = parent.add_subcommand("ops", "The op catalogue, or one op with samples");
  command->add_option("NAME", flags->name, "an op, such as softmax");
  command->add_flag("--json", flags->json, "as JSON");
  command->callback([flags, &exit_code] {
    write_stdout(flags->json ? ops_json(flags->name) : ops_text(flags->name));
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

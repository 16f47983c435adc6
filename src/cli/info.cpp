// SPDX-License-Identifier: Apache-2.0
#include "cli/info.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/common.h"

namespace rlx::cli {
namespace {

constexpr size_t longest_text = 72;
constexpr uint64_t shown_elements = 6;

/// Rows of equal length to aligned text; columns named in `right` are numbers.
class Table {
 public:
  explicit Table(std::string_view right) : right_(right) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        line += i < right_.size() && right_[i] == '>' ? fmt::format("  {:>{}}", row[i], widths[i])
                                                      : fmt::format("  {:<{}}", row[i], widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::string right_;
  std::vector<std::vector<std::string>> rows_;
};

/// 1234567 as "1,234,567".
std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string value_text(const MetaValue& value) {
  if (const auto number = value.to_i64()) return std::to_string(*number);
  if (const auto number = value.to_u64()) return std::to_string(*number);
  if (const auto number = value.to_f64()) {
    return value.type() == MetaType::F32 ? fmt::format("{}", static_cast<float>(*number))
                                         : fmt::format("{}", *number);
  }
  if (const auto flag = value.to_bool()) return *flag ? "true" : "false";
  if (const auto text = value.to_string()) return printable(*text, longest_text);
  const auto array = value.to_array();
  std::string out = "[";
  auto element = array->begin();
  for (uint64_t i = 0; i < std::min(array->size(), shown_elements); ++i, ++element) {
    if (i > 0) out += ", ";
    out += value_text(*element);
  }
  if (array->size() > shown_elements) out += ", ...";
  return out + "]";
}

std::string tokenizer_text(const ModelInfo& info) {
  if (!info.vocabulary_error.empty()) return "unusable: " + info.vocabulary_error;
  if (!info.vocabulary) return "none";
  const text::Vocabulary& vocabulary = *info.vocabulary;
  std::string out(tokenizer_name(vocabulary.model));
  if (!vocabulary.pre.empty()) out += fmt::format(" ({})", printable(vocabulary.pre, 40));
  out += fmt::format(", {} tokens", grouped(vocabulary.tokens.size()));
  if (!vocabulary.merges.empty())
    out += fmt::format(", {} merges", grouped(vocabulary.merges.size()));
  for (const auto& [name, id] : {std::pair("bos", vocabulary.bos), {"eos", vocabulary.eos}}) {
    if (id) out += fmt::format(", {} {} {}", name, *id, quote(vocabulary.tokens[*id]));
  }
  return out;
}

std::string summary(const ModelInfo& info) {
  uint64_t bytes = 0;
  for (const auto& file : info.files) bytes += file.bytes;
  std::string out = fmt::format("{}\n", printable(info.path, std::string::npos));
  Table table("<<");
  std::string format = info.format == "gguf" ? fmt::format("GGUF version {}", *info.version)
                                             : std::string("safetensors");
  format += fmt::format(", {} bytes", grouped(bytes));
  if (info.files.size() > 1) format += fmt::format(" in {} files", info.files.size());
  table.add({"format", format});
  table.add({"architecture",
             info.architecture.empty() ? "none" : printable(info.architecture, longest_text)});
  table.add({"supported", info.is_supported ? "yes" : "no: " + info.reason});
  table.add({"parameters", fmt::format("{} in {} tensors", grouped(info.parameters),
                                       grouped(info.tensors.size()))});
  if (info.checkpoint) {
    table.add({"tokenizer", tokenizer_text(info)});
    table.add({"chat template", info.has_chat_template ? "yes" : "no"});
  }
  return out + table.text();
}

std::string metadata_text(const ModelInfo& info) {
  Table table("<<<");
  size_t count = 0;
  if (const Metadata* metadata = info.metadata()) {
    count = metadata->entries().size();
    for (const auto& entry : metadata->entries()) {
      table.add({printable(entry.key, 2 * longest_text), entry.value.type_text(),
                 value_text(entry.value)});
    }
  } else {
    count = info.safetensors->metadata().size();
    for (const auto& [key, value] : info.safetensors->metadata()) {
      table.add({printable(key, 2 * longest_text), "string", printable(value, longest_text)});
    }
  }
  return fmt::format("\nmetadata: {} keys\n", count) + table.text();
}

std::string types_text(const ModelInfo& info) {
  Table table("<>>>");
  table.add({"type", "tensors", "elements", "bytes"});
  for (const auto& type : info.types) {
    table.add({type.name, grouped(type.tensors), grouped(type.elements), grouped(type.bytes)});
  }
  return "\ntypes\n" + table.text();
}

std::string tensors_text(const ModelInfo& info) {
  Table table(info.files.size() > 1 ? "<<<>>>" : "<<<>>");
  std::vector<std::string> head = {"name", "type", "shape", "bytes", "offset"};
  if (info.files.size() > 1) head.push_back("file");
  table.add(head);
  for (const auto& tensor : info.tensors) {
    std::vector<std::string> row = {printable(tensor.name, std::string::npos), tensor.type,
                                    fmt::format("[{}]", fmt::join(tensor.shape, ", ")),
                                    tensor.bytes ? grouped(*tensor.bytes) : "?",
                                    grouped(tensor.offset)};
    if (info.files.size() > 1) row.push_back(std::to_string(tensor.file + 1));
    table.add(row);
  }
  return "\ntensors\n" + table.text();
}

}  // namespace

std::string_view tokenizer_name(text::TokenizerModel model) {
  switch (model) {
    case text::TokenizerModel::Spm: return "SentencePiece BPE";
    case text::TokenizerModel::Bpe: return "byte BPE";
    case text::TokenizerModel::WordPiece: return "WordPiece";
    case text::TokenizerModel::Unigram: return "Unigram";
  }
  return "";
}

std::string info_text(const ModelInfo& info) {
  std::string out = summary(info) + metadata_text(info);
  if (!info.tensors.empty()) out += types_text(info) + tensors_text(info);
  return out;
}

CLI::App* add_info_command(CLI::App& parent, int& exit_code) {
  struct Options {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = parent.add_subcommand(
      "info", "Print what is in a GGUF or safetensors file, and whether it is supported");
  command->add_option("FILE", options->path, "a GGUF file, a safetensors file or their folder")
      ->required();
  command->add_flag("--json", options->json, "print one JSON document");
  command->callback([options, &exit_code] {
    const ModelInfo info = gather_info(options->path);
    const std::string text = options->json ? info_json(info) : info_text(info);
    write_stdout(text);
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/template.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/mapped_file.h"
#include "cli/common.h"
#include "import/checkpoint.h"
#include "text/jinja/jinja.h"

namespace rlx::cli {
namespace {

constexpr size_t most_bytes = size_t{64} << 20;

bool is_gguf(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  return bytes.size() >= 4 && std::string_view(reinterpret_cast<const char*>(bytes.data()), 4) ==
                                  std::string_view("GGUF");
}

bool is_model(const std::string& path) {
  return std::filesystem::is_directory(path) || path.ends_with(".gguf") ||
         path.ends_with(".safetensors") ||
         (std::filesystem::is_regular_file(path) && is_gguf(path));
}

std::string template_text(const std::string& path) {
  if (!is_model(path)) return read_input(path, most_bytes);
  const auto checkpoint = Checkpoint::open(path);
  const auto text = checkpoint->chat_template();
  if (!text) fail(ErrorCode::NotFound, "'{}' has no chat template", path);
  return std::string(*text);
}

text::jinja::Value read_vars(const std::string& path) {
  if (path.empty()) return text::jinja::parse_json("{}");
  try {
    return text::jinja::parse_json(read_input(path, most_bytes));
  } catch (Error& e) {
    e.add_note("reading the variables in '" + path + "'");
    throw;
  }
}

}  // namespace

std::string render_template(const std::string& path, const std::string& vars_path) {
  const auto parsed = text::jinja::Template::parse(template_text(path));
  return parsed.render(read_vars(vars_path));
}

CLI::App* add_template_command(CLI::App& parent, int& exit_code) {
  struct Flags {
    std::string path, vars;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      parent.add_subcommand("template", "Print the text a chat template makes of variables");
  command
      ->add_option("FILE", flags->path, "a template ('-': standard input), or a model that has one")
      ->required();
  command->add_option(
      "--vars", flags->vars,
      "a file with a JSON object: messages, add_generation_prompt, tools, bos_token, "
      "now, ... ('-': standard input)");
  command->footer(
      "\"now\": \"2026-01-02T03:04:05\" sets the time that the template sees; without it, it is "
      "the clock's.");
  command->callback([flags, &exit_code] {
    write_stdout(render_template(flags->path, flags->vars));
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

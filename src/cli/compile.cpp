// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "backends/cpu/cpu_target.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "ir/print.h"
#include "models/language_model.h"
#include "ops/parse.h"
#include "passes/pass.h"
#include "runtime/executable.h"

namespace rlx::cli {
namespace {

struct CompileFlags {
  std::string input, after, target = "cpu", output;
  int64_t context = 0;
  bool report = false;
};

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Graph load_graph(const CompileFlags& flags) {
  if (ends_with(flags.input, ".rlx")) {
    try {
      return parse_graph(read_text_file(flags.input));
    } catch (Error& e) {
      e.add_note("reading " + flags.input);
      throw;
    }
  }
  LanguageModelOptions options;
  options.context = flags.context;
  return std::move(build_language_model(Checkpoint::open(flags.input), options).graph);
}

/// "cpu" or "cpu:ISA".
Target parse_target(const std::string& name) {
  if (name == "cpu") return cpu_target({});
  if (name.rfind("cpu:", 0) == 0) return cpu_target({name.substr(4)});
  fail(ErrorCode::InvalidArgument, "--target {}: the targets are cpu and cpu:ISA", name);
}

void write_output(const CompileFlags& flags, const std::string& text) {
  if (flags.output.empty()) return write_stdout(text);
  std::FILE* file = std::fopen(flags.output.c_str(), "wb");
  const bool whole =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((file != nullptr && std::fclose(file) != 0) || !whole) {
    fail(ErrorCode::Io, "cannot write '{}': {}", flags.output, std::strerror(errno));
  }
}

std::string report_text(const std::vector<Event>& events) {
  std::string out;
  for (const Event& e : events) {
    out += e.name + ":";
    for (const auto& [key, value] : e.fields) out += fmt::format(" {}={}", key, value);
    out += "\n";
  }
  return out;
}

void compile(const CompileFlags& flags) {
  Graph graph = load_graph(flags);
  if (flags.after == "build") return write_output(flags, print(graph));
  Target target = parse_target(flags.target);
  if (!flags.after.empty()) {
    std::vector<Event> events;
    PassContext context{target, events};
    run_pipeline(graph, context, flags.after);
    write_output(flags, print(graph));
    if (flags.report) write_stderr(report_text(events));
    return;
  }
  const auto executable = Executable::compile(std::move(graph), std::move(target));
  write_output(flags, print(executable->graph()));
  if (flags.report) write_stderr(report_text(executable->events()));
}

}  // namespace

CLI::App* add_compile_command(CLI::App& parent, int& exit_code) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App* command = parent.add_subcommand(
      "compile", "Print a model's or a text graph's IR, after any pass; it parses back");
  command->add_option("INPUT", flags->input, "a model, or a graph in the text form (*.rlx)")
      ->required();
  std::string names = "build";
  for (const Pass& pass : pipeline()) names += fmt::format(", {}", pass.name);
  command->add_option("--after", flags->after,
                      "stop behind this pass: " + names + " (default: the whole pipeline)");
  command->add_option("--target", flags->target, "cpu or cpu:ISA")->capture_default_str();
  command->add_option("-o,--output", flags->output, "write there instead of standard output");
  command->add_option("--ctx", flags->context, "context to build a language model for")
      ->check(CLI::Range(int64_t{1}, INT64_MAX));
  command->add_flag("--report", flags->report,
                    "tell on standard error what passes and the planner did and why");
  command->callback([flags, &exit_code] {
    compile(*flags);
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

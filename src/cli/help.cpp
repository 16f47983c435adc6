// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <CLI/CLI.hpp>

namespace rlx::cli {
namespace {

class ManualFormatter : public CLI::Formatter {
 public:
  ManualFormatter() {
    column_width(30);
    label("REQUIRED", "");
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
    label("SUBCOMMANDS", "COMMANDS");
    label("Subcommands", "Commands");
  }

  /// "N" or "TEXT" instead of type names with their validators.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return "";
    const std::string type = option->get_type_name().substr(0, option->get_type_name().find(':'));
    const bool number = type == "INT" || type == "UINT" || type == "FLOAT";
    if (option->get_positional()) return "";
    return number ? " N" : " " + (type.empty() ? "TEXT" : type);
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
    return text;
  }
};

}  // namespace

void use_manual_help(CLI::App& app) { app.formatter(std::make_shared<ManualFormatter>()); }

}  // namespace rlx::cli

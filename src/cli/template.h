// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace rlx::cli {

/// Adds "template FILE.jinja|MODEL --vars FILE.json" to the program: it prints the rendered text
/// exactly. Errors are thrown.
CLI::App* add_template_command(CLI::App& parent, int& exit_code);

/// The text of the template in `path` (a template's own text, or a model with one) for the
/// variables of the JSON object in `vars_path` (empty: no variables).
std::string render_template(const std::string& path, const std::string& vars_path);

}  // namespace rlx::cli

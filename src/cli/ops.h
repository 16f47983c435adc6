// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace rlx::cli {

/// Adds "ops [NAME] [--json]" to the program: the op catalogue, printed from the op records.
CLI::App* add_ops_command(CLI::App& parent, int& exit_code);

/// The catalogue as text, or with a name that one op with its samples; Error NotFound naming the
/// nearest ops when there is none of that name.
std::string ops_text(std::string_view name = {});
/// The same as JSON: an array of ops, or one object.
std::string ops_json(std::string_view name = {});

}  // namespace rlx::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "cli/info_data.h"

namespace CLI {
class App;
}

namespace rlx::cli {

/// Adds "info FILE [--json]" to the program; it prints on standard output and sets `exit_code`.
/// Failures are thrown as Error.
CLI::App* add_info_command(CLI::App& parent, int& exit_code);

/// "byte BPE", …; total.
std::string_view tokenizer_name(text::TokenizerModel model);

/// What `rlx info` prints: tables to read, or one JSON document. Every line ends with a newline.
std::string info_text(const ModelInfo& info);
std::string info_json(const ModelInfo& info);

}  // namespace rlx::cli

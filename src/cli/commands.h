// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/info.h"
#include "cli/ops.h"
#include "cli/template.h"

namespace CLI {
class App;
}

namespace rlx::cli {

// Each adds one command to the program. Its callback prints results on standard output, sets
// `exit_code`, and throws Error for what failed.
CLI::App* add_run_command(CLI::App& parent, int& exit_code);
CLI::App* add_tokenize_command(CLI::App& parent, int& exit_code);
CLI::App* add_score_command(CLI::App& parent, int& exit_code);
CLI::App* add_bench_command(CLI::App& parent, int& exit_code);
CLI::App* add_compile_command(CLI::App& parent, int& exit_code);

}  // namespace rlx::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/help.h"

namespace {

constexpr const char* kFooter = R"(Examples:
  rlx run model.gguf -p "Once upon a time" -n 64
  rlx run model.gguf                        chat on a terminal
  rlx bench model.gguf                      how fast it is on this machine
  rlx compile model.gguf --after=legalize   the graph that runs

Exit codes: 0 done, 1 failed (the reason is on standard error), 2 bad usage, 130 Ctrl-C.
'rlx COMMAND --help' tells more about a command.)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("RLX: a compiler and runtime for machine-learning models", "rlx");
  rlx::cli::use_manual_help(app);
  app.set_version_flag("--version", "rlx " RLX_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  rlx::cli::add_run_command(app, exit_code);
  rlx::cli::add_tokenize_command(app, exit_code);
  rlx::cli::add_template_command(app, exit_code);
  rlx::cli::add_score_command(app, exit_code);
  rlx::cli::add_bench_command(app, exit_code);
  rlx::cli::add_info_command(app, exit_code);
  rlx::cli::add_compile_command(app, exit_code);
  rlx::cli::add_ops_command(app, exit_code);
  app.footer(kFooter);  // commands made later would show it too
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const rlx::Error& e) {
    rlx::cli::write_stderr(fmt::format("rlx: {}\n", e.what()));
    return e.code() == rlx::ErrorCode::Cancelled ? 130 : 1;
  } catch (const std::bad_alloc&) {
    rlx::cli::write_stderr("rlx: out of memory\n");
  } catch (const std::exception& e) {
    rlx::cli::write_stderr(fmt::format("rlx: {}\n", e.what()));
  }
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace rlx::cli {

/// Makes --help of `app` and of the commands added afterwards read like a manual: an option, what
/// it takes, what it does, its default.
void use_manual_help(CLI::App& app);

}  // namespace rlx::cli

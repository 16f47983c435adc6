// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "engine/generate.h"

namespace rlx::cli {
namespace {

struct ScoreFlags {
  EngineFlags engine;
  std::string file, ids;
  bool no_bos = false, json = false;
};

ProgressBar* active_bar = nullptr;

nlohmann::ordered_json to_json(const Score& s) {
  auto logprobs = nlohmann::ordered_json::array({nullptr});
  auto argmax = nlohmann::ordered_json::array({nullptr});
  for (size_t i = 1; i < s.logprobs.size(); ++i) {
    logprobs.push_back(s.logprobs[i]);
    argmax.push_back(s.argmax[i]);
  }
  return {{"tokens", s.logprobs.size()},
          {"token_logprobs", std::move(logprobs)},
          {"argmax", std::move(argmax)},
          {"nll_per_token", s.nll_per_token},
          {"perplexity", s.perplexity}};
}

void run_score(const ScoreFlags& flags) {
  // The text decides how long the context must be, and needs the model's tokenizer to be counted:
  // no token is shorter than a byte.
  std::vector<uint32_t> ids;
  std::string text;
  EngineOptions options = flags.engine.options();
  if (!flags.ids.empty()) {
    ids = read_ids(flags.ids);
    options.min_context = static_cast<int64_t>(ids.size());
  } else {
    text = read_input(flags.file.empty() ? "-" : flags.file);
    options.min_context = static_cast<int64_t>(text.size()) + 2;
  }
  const auto engine = Engine::load(flags.engine.model, options);
  if (flags.ids.empty()) {
    text::EncodeOptions encode;
    encode.add_special = !flags.no_bos;
    ids = engine->require_tokenizer().encode(text, encode);
  }
  Score s;
  {
    ProgressBar bar("scoring");
    active_bar = &bar;
    s = score(*engine, ids, &interrupted(),
              [](int64_t done, int64_t total) { active_bar->update(done, total); });
    active_bar = nullptr;
  }
  if (flags.json) return write_stdout(to_json(s).dump() + "\n");
  write_stdout(fmt::format("tokens         {}\nnll per token  {:.6f}\nperplexity     {:.4f}\n",
                           s.logprobs.size(), s.nll_per_token, s.perplexity));
}

}  // namespace

CLI::App* add_score_command(CLI::App& parent, int& exit_code) {
  auto flags = std::make_shared<ScoreFlags>();
  CLI::App* command =
      parent.add_subcommand("score", "Log-likelihood of a text under a model, token by token");
  flags->engine.add_to(*command);
  auto* file = command->add_option("-f,--file", flags->file,
                                   "the text ('-', and the default: standard input)");
  command->add_option("--ids", flags->ids, "a JSON array of token ids instead of a text")
      ->excludes(file);
  command->add_flag("--no-bos", flags->no_bos, "add no start token to the text");
  command->add_flag("--json", flags->json, "print every token's log-probability as JSON");
  command->callback([flags, &exit_code] {
    catch_interrupt();
    run_score(*flags);
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

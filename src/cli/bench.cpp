// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/thread_team.h"
#include "cli/commands.h"
#include "cli/common.h"

namespace rlx::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct BenchFlags {
  EngineFlags engine;
  int64_t prompt = 512, decode = 128, repeats = 5;
  bool json = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Median and range of repeated measurements.
struct Spread {
  double median, min, max;

  explicit Spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    min = values.front();
    max = values.back();
    const size_t n = values.size();
    median = (values[n / 2] + values[(n - 1) / 2]) / 2;
  }
  Json to_json() const { return {{"median", median}, {"min", min}, {"max", max}}; }
};

/// Ids spread over the vocabulary, the same for every run and engine.
std::vector<uint32_t> bench_ids(int64_t count, int64_t vocabulary) {
  std::vector<uint32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<uint32_t>((i * 7919 + 5) % vocabulary));
  }
  return ids;
}

struct Samples {
  std::vector<double> load_ms, first_token_ms, prefill, decode;
};

void measure(const BenchFlags& flags, Samples& samples, ProgressBar& bar) {
  EngineOptions options = flags.engine.options();
  if (options.context == 0) options.context = flags.prompt + flags.decode;
  for (int64_t r = 0; r < flags.repeats; ++r) {
    bar.update(r, flags.repeats);
    const auto start = Clock::now();
    const auto engine = Engine::load(flags.engine.model, options);
    samples.load_ms.push_back(seconds_since(start) * 1e3);
    const std::vector<uint32_t> first = bench_ids(1, engine->vocabulary());
    engine->extend(first, 1, &interrupted());
    samples.first_token_ms.push_back(seconds_since(start) * 1e3);
    engine->rewind(0);
    const auto prompt = bench_ids(flags.prompt, engine->vocabulary());
    const auto before_prefill = Clock::now();
    engine->extend(prompt, 1, &interrupted());
    const double prefill_s = seconds_since(before_prefill);
    samples.prefill.push_back(static_cast<double>(flags.prompt) / prefill_s);
    const auto next = bench_ids(flags.decode, engine->vocabulary());
    const auto before_decode = Clock::now();
    for (const uint32_t id : next) engine->extend({&id, 1}, 1, &interrupted());
    const double decode_s = seconds_since(before_decode);
    samples.decode.push_back(static_cast<double>(flags.decode) / decode_s);
  }
}

void bench(const BenchFlags& flags) {
  Samples samples;
  {
    ProgressBar bar("benchmark");
    measure(flags, samples, bar);
  }
  const int threads = flags.engine.threads == 0 ? available_cores() : flags.engine.threads;
  const std::pair<const char*, Spread> rows[] = {
      {"prefill_tokens_per_s", Spread(samples.prefill)},
      {"decode_tokens_per_s", Spread(samples.decode)},
      {"load_ms", Spread(samples.load_ms)},
      {"first_token_ms", Spread(samples.first_token_ms)},
  };
  if (flags.json) {
    Json out = {{"model", flags.engine.model}};
    for (const auto& [name, spread] : rows) out[name] = spread.to_json();
    out["peak_rss_bytes"] = peak_rss_bytes();
    out["threads"] = threads;
    out["prompt_tokens"] = flags.prompt;
    out["decode_tokens"] = flags.decode;
    out["repeats"] = flags.repeats;
    return write_stdout(out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  std::string text =
      fmt::format("{}, {} threads, {} runs\n{:24} {:>10} {:>10} {:>10}\n", flags.engine.model,
                  threads, flags.repeats, "", "median", "min", "max");
  for (const auto& [name, s] : rows) {
    text += fmt::format("{:24} {:10.2f} {:10.2f} {:10.2f}\n", name, s.median, s.min, s.max);
  }
  write_stdout(text + fmt::format("{:24} {:10.1f} MB\n", "peak_rss", peak_rss_bytes() / 1e6));
}

}  // namespace

CLI::App* add_bench_command(CLI::App& parent, int& exit_code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = parent.add_subcommand(
      "bench", "Measure prefill and decode rates, load time, time to first token, peak memory");
  flags->engine.add_to(*command);
  command->add_option("-p,--prompt-tokens", flags->prompt, "tokens of the prompt")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("-n,--decode-tokens", flags->decode, "tokens decoded one by one")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("-r,--repeats", flags->repeats, "runs; median, minimum and maximum are told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "print one JSON document");
  command->footer(
      "load_ms and first_token_ms are measured from opening the file, in this process.");
  command->callback([flags, &exit_code] {
    catch_interrupt();
    bench(*flags);
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

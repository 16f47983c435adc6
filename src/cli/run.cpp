// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cfloat>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "engine/generate.h"
#include "text/chat_template.h"

namespace rlx::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunFlags {
  EngineFlags engine;
  std::string prompt, file, ids, messages, system;
  bool has_prompt = false, raw = false, json = false;
  GenerateOptions generate;
};

/// Everything a prompt can come from has become one list of ids.
class Prompt {
 public:
  Prompt(const Engine& engine, const RunFlags& flags) : engine_(engine), flags_(flags) {}

  bool uses_template() const {
    return !flags_.raw && (!flags_.messages.empty() || engine_.checkpoint().chat_template());
  }

  std::vector<uint32_t> of_text(const std::string& text) const {
    if (uses_template()) return of_messages(user_message(text));
    if (!flags_.system.empty()) {
      fail(ErrorCode::InvalidArgument,
           "--system: {} has no chat template, so a text has no place for it",
           engine_.checkpoint().path());
    }
    return encode(text);
  }

  /// `messages`: an array of {role, content}.
  std::vector<uint32_t> of_messages(const Json& messages) const {
    const text::Tokenizer& tokenizer = engine_.require_tokenizer();
    const auto source = engine_.checkpoint().chat_template();
    const text::ChatTemplate chat =
        text::ChatTemplate::parse(source ? std::string(*source) : std::string());
    text::ChatInputs inputs;
    inputs.messages_json = messages.dump();
    if (tokenizer.bos()) inputs.bos_token = tokenizer.text(*tokenizer.bos());
    if (tokenizer.eos()) inputs.eos_token = tokenizer.text(*tokenizer.eos());
    return encode(chat.render(inputs));
  }

  Json user_message(const std::string& text) const {
    Json messages = Json::array();
    if (!flags_.system.empty())
      messages.push_back({{"role", "system"}, {"content", flags_.system}});
    require_utf8("the prompt", text);
    messages.push_back({{"role", "user"}, {"content", text}});
    return messages;
  }

 private:
  std::vector<uint32_t> encode(const std::string& text) const {
    text::EncodeOptions options;
    options.parse_special = true;
    return engine_.require_tokenizer().encode(text, options);
  }

  const Engine& engine_;
  const RunFlags& flags_;
};

Json read_messages(const RunFlags& flags) {
  Json messages = Json::parse(read_input(flags.messages, most_json_bytes), nullptr, false);
  if (!messages.is_array()) {
    fail(ErrorCode::InvalidFile, "'{}' must be a JSON array of {{role, content}}", flags.messages);
  }
  if (!flags.system.empty()) {
    messages.insert(messages.begin(), Json{{"role", "system"}, {"content", flags.system}});
  }
  return messages;
}

std::vector<uint32_t> make_prompt(const Engine& engine, const RunFlags& flags) {
  const Prompt prompt(engine, flags);
  if (!flags.ids.empty()) return read_ids(flags.ids);
  if (!flags.messages.empty()) return prompt.of_messages(read_messages(flags));
  if (flags.has_prompt) return prompt.of_text(flags.prompt);
  return prompt.of_text(read_input(flags.file.empty() ? "-" : flags.file));
}

std::string_view finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::Stop: return "stop";
    case FinishReason::Length: return "length";
    case FinishReason::Cancelled: return "cancelled";
  }
  return "";
}

double rate(int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

/// Tokens after the first per second.
double decode_rate(const Generation& g) {
  return g.tokens.empty() ? 0 : rate(static_cast<int64_t>(g.tokens.size()) - 1, g.decode_s);
}

Json logprobs_json(const Engine& engine, const Generation& g) {
  Json all = Json::array();
  for (const auto& alternatives : g.logprobs) {
    Json list = Json::array();
    for (const TokenLogprob& t : alternatives) {
      const auto* tokenizer = engine.tokenizer();
      const bool spelled = tokenizer != nullptr && t.id < tokenizer->size();
      const std::string text = spelled ? replace_invalid_utf8(tokenizer->piece(t.id, true)) : "";
      list.push_back({{"id", t.id}, {"text", text}, {"logprob", t.logprob}});
    }
    all.push_back(std::move(list));
  }
  return all;
}

Json to_json(const Engine& engine, const std::vector<uint32_t>& prompt, const Generation& g,
             double load_s) {
  Json out = {{"prompt_tokens", prompt},
              {"tokens", g.tokens},
              {"text", g.text},
              {"finish_reason", finish_name(g.finish)}};
  if (!g.logprobs.empty()) out["logprobs"] = logprobs_json(engine, g);
  out["timings"] = {{"load_ms", load_s * 1e3},
                    {"first_token_ms", g.first_token_s * 1e3},
                    {"prefill_tokens_per_s", rate(g.prefilled, g.first_token_s)},
                    {"decode_tokens_per_s", decode_rate(g)}};
  out["peak_rss_bytes"] = peak_rss_bytes();
  out["effective"] = {{"device", engine.executable().target().name},
                      {"isa", engine.executable().target().isa},
                      {"threads", engine.threads()},
                      {"context", engine.context()},
                      {"kv_type", dtype_name(engine.kv())}};
  return out;
}

class StdoutSink : public TextSink {
 public:
  void on_text(std::string_view text) override { write_stdout(text); }
};

void print_timings(const Generation& g, double load_s) {
  write_stderr(fmt::format(
      "[load {:.0f} ms, first token {:.0f} ms, prefill {} tokens at {:.1f}/s, decode {} "
      "tokens at {:.1f}/s]\n",
      load_s * 1e3, g.first_token_s * 1e3, g.prefilled, rate(g.prefilled, g.first_token_s),
      g.tokens.size(), decode_rate(g)));
}

/// Reads a line of the terminal; false at its end or at Ctrl-C.
bool read_line(std::string& line) {
  line.clear();
  for (;;) {
    char c;
    if (!wait_for_input(STDIN_FILENO) || ::read(STDIN_FILENO, &c, 1) != 1) return false;
    if (c == '\n') return true;
    line += c;
  }
}

/// Answers one line; `messages` holds what was said and grows by the line and the answer.
void chat_turn(Engine& engine, const RunFlags& flags, const std::string& line, Json& messages,
               double load_s) {
  const Prompt prompt(engine, flags);
  StdoutSink sink;
  require_utf8("this line", line);
  Json said = messages;
  said.push_back({{"role", "user"}, {"content", line}});
  const auto ids = prompt.uses_template() ? prompt.of_messages(said) : prompt.of_text(line);
  const Generation g = generate(engine, ids, flags.generate, &sink, &interrupted());
  write_stdout("\n");
  print_timings(g, load_s);
  said.push_back({{"role", "assistant"}, {"content", g.text}});
  messages = std::move(said);
}

/// The exit code.
int chat(Engine& engine, const RunFlags& flags, double load_s) {
  const bool templated = Prompt(engine, flags).uses_template();
  write_stderr(
      fmt::format("{}; an empty line or Ctrl-D ends it.\n",
                  templated ? "Chat" : "This model has no chat template: it continues your text"));
  Json messages = Json::array();
  if (!flags.system.empty()) messages.push_back({{"role", "system"}, {"content", flags.system}});
  std::string line;
  for (;;) {
    write_stderr("> ");
    if (!read_line(line) || line.empty()) return interrupted() ? 130 : 0;
    try {
      chat_turn(engine, flags, line, messages, load_s);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::Io) throw;
      write_stderr(fmt::format("rlx: {}\n", e.what()));
    }
    forget_interrupt();  // it ended an answer, not the chat
  }
}

int run(const RunFlags& flags) {
  require_utf8("--system", flags.system);
  const auto start = std::chrono::steady_clock::now();
  const auto engine = Engine::load(flags.engine.model, flags.engine.options());
  const double load_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool given =
      flags.has_prompt || !flags.file.empty() || !flags.ids.empty() || !flags.messages.empty();
  if (!given && !flags.json && isatty(STDIN_FILENO) == 1) {
    return chat(*engine, flags, load_s);
  }
  const auto prompt = make_prompt(*engine, flags);
  StdoutSink sink;
  const Generation g =
      generate(*engine, prompt, flags.generate, flags.json ? nullptr : &sink, &interrupted());
  if (flags.json) {
    write_stdout(to_json(*engine, prompt, g, load_s).dump() + "\n");
  } else {
    if (engine->tokenizer() == nullptr) write_stdout(fmt::format("{}", fmt::join(g.tokens, ",")));
    write_stdout("\n");
    print_timings(g, load_s);
  }
  return g.finish == FinishReason::Cancelled ? 130 : 0;
}

void add_prompt_options(CLI::App& command, RunFlags& flags, CLI::Option*& prompt) {
  prompt = command.add_option("-p,--prompt", flags.prompt, "the prompt");
  auto* file = command.add_option("-f,--file", flags.file,
                                  "a file that holds the prompt ('-': standard input)");
  auto* ids = command.add_option("--ids", flags.ids, "a JSON array of token ids: [1, 2, 3]");
  auto* messages = command.add_option("--messages", flags.messages,
                                      "a JSON array of {role, content}, for the chat template");
  file->excludes(prompt);
  ids->excludes(prompt)->excludes(file);
  messages->excludes(prompt)->excludes(file)->excludes(ids);
  auto* raw =
      command.add_flag("--raw", flags.raw, "use no chat template: continue the text as it is");
  auto* system = command.add_option("--system", flags.system, "a system message before the chat");
  raw->excludes(messages)->excludes(system);
  system->excludes(ids);
  for (CLI::Option* o : {prompt, file, ids, messages, raw, system}) o->group("Prompt");
}

/// The whole of `text` as a number.
template <typename T>
std::optional<T> number_of(const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

/// Refuses what is outside [low, high], NaN included.
CLI::Validator number_in(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    const auto value = number_of<double>(text);
    if (value && *value >= low && *value <= high) return "";
    return fmt::format("{} is not a number from {:g} to {:g}", text, low, high);
  };
  return {check, ""};
}

/// Refuses what is not a whole number of 64 bits.
CLI::Validator whole_number() {
  const auto check = [](const std::string& text) -> std::string {
    if (number_of<uint64_t>(text)) return "";
    return fmt::format("{} is not a whole number from 0 to {}", text, UINT64_MAX);
  };
  return {check, ""};
}

std::string not_empty(const std::string& text) { return text.empty() ? "it is empty" : ""; }

void add_sampling_options(CLI::App& command, GenerateOptions& g) {
  auto& s = g.sampling;
  CLI::Option* options[] = {
      command.add_option("-n,--max-tokens", g.max_tokens, "new tokens at most")
          ->check(CLI::Range(int64_t{0}, INT64_MAX)),
      command.add_option("--temp", s.temperature, "temperature; 0 always takes the best token")
          ->check(number_in(0, FLT_MAX)),
      command.add_option("--top-k", s.top_k, "keep the k best tokens; 0 keeps all")
          ->check(CLI::Range(int64_t{0}, INT64_MAX)),
      command
          .add_option("--top-p", s.top_p, "keep the best tokens that together have probability p")
          ->check(number_in(0, 1)),
      command.add_option("--min-p", s.min_p, "keep tokens at least p times as likely as the best")
          ->check(number_in(0, 1)),
      command
          .add_option("--repeat-penalty", s.repeat_penalty,
                      "make tokens of the last 64 less likely; 1 is off")
          ->check(number_in(FLT_MIN, FLT_MAX)),
      command.add_option("--seed", s.seed, "of the random numbers; the same seed, the same text")
          ->check(whole_number()),
      command.add_option("--stop", g.stops, "end before this text; may be given several times")
          ->check(CLI::Validator(not_empty, "")),
      command
          .add_option("--logprobs", g.logprobs, "report the K best tokens at each place (--json)")
          ->check(CLI::Range(int64_t{0}, INT64_MAX)),
  };
  for (CLI::Option* o : options) {
    o->group("Answer");
    if (o->get_name() != "--stop") o->capture_default_str();
  }
}

}  // namespace

CLI::App* add_run_command(CLI::App& parent, int& exit_code) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = parent.add_subcommand(
      "run", "Continue a prompt or chat with a model; text goes to standard output as it is made");
  flags->engine.add_to(*command);
  CLI::Option* prompt = nullptr;
  add_prompt_options(*command, *flags, prompt);
  add_sampling_options(*command, flags->generate);
  command->add_flag("--json", flags->json, "print one JSON document at the end instead of text");
  command->footer(
      "Without a prompt it chats on a terminal, and reads the prompt from a pipe. Sampling works "
      "in\n"
      "the order repeat penalty, top-k, top-p, min-p, temperature. Ctrl-C ends a generation.");
  command->callback([flags, prompt, &exit_code] {
    flags->has_prompt = prompt->count() > 0;
    catch_interrupt();
    exit_code = run(*flags);
  });
  return command;
}

}  // namespace rlx::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "import/checkpoint.h"
#include "models/vocabulary.h"
#include "text/tokenizer.h"

namespace rlx::cli {
namespace {

struct TokenizeFlags {
  std::string model, prompt, file, decode;
  bool has_prompt = false, has_decode = false, no_bos = false, parse_special = false, json = false;
};

/// "1,2,3"; Error for a number that no id can be.
std::vector<uint32_t> split_ids(std::string_view text) {
  std::vector<uint32_t> ids;
  for (;;) {
    const std::string_view part = text.substr(0, text.find(','));
    uint32_t id = 0;
    const auto result = std::from_chars(part.data(), part.data() + part.size(), id);
    if (result.ec != std::errc() || result.ptr != part.data() + part.size()) {
      fail(ErrorCode::InvalidArgument, "--decode: {} is no token id (0 to {})", part, UINT32_MAX);
    }
    ids.push_back(id);
    if (part.size() == text.size()) return ids;
    text.remove_prefix(part.size() + 1);
  }
}

/// Refuses what is not numbers with commas between them; they may still be too large for ids.
std::string id_list_error(const std::string& text) {
  bool number = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool sign = text[i] == '-' && (i == 0 || text[i - 1] == ',');
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (!sign && !digit && !(text[i] == ',' && number)) return "'" + text + "' is not like 1,2,3";
    number = digit;
  }
  return number ? "" : "'" + text + "' is not like 1,2,3";
}

void print_tokens(const text::Tokenizer& tokenizer, const std::vector<uint32_t>& ids,
                  const std::string& text, bool json) {
  if (json) {
    const nlohmann::ordered_json out = {{"tokens", ids}, {"text", replace_invalid_utf8(text)}};
    write_stdout(out.dump() + "\n");
    return;
  }
  std::string out;
  for (const uint32_t id : ids) {
    const nlohmann::json piece = replace_invalid_utf8(tokenizer.piece(id, true));
    out += fmt::format("{:>8}  {}\n", id, piece.dump());
  }
  write_stdout(out + fmt::format("{} tokens\n", ids.size()));
}

void tokenize(const TokenizeFlags& flags) {
  const auto checkpoint = Checkpoint::open(flags.model);
  auto vocabulary = models::read_vocabulary(*checkpoint);
  if (!vocabulary) fail(ErrorCode::NotFound, "{} has no tokenizer", flags.model);
  const auto tokenizer = text::Tokenizer::create(std::move(*vocabulary));
  if (flags.has_decode) {
    const auto ids = split_ids(flags.decode);
    const std::string text = tokenizer.decode(ids);
    if (flags.json) return print_tokens(tokenizer, ids, text, true);
    return write_stdout(text + "\n");
  }
  const std::string text =
      flags.has_prompt ? flags.prompt : read_input(flags.file.empty() ? "-" : flags.file);
  text::EncodeOptions options;
  options.add_special = !flags.no_bos;
  options.parse_special = flags.parse_special;
  print_tokens(tokenizer, tokenizer.encode(text, options), text, flags.json);
}

}  // namespace

CLI::App* add_tokenize_command(CLI::App& parent, int& exit_code) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* command =
      parent.add_subcommand("tokenize", "Turn text into a model's token ids, or ids into text");
  command->add_option("MODEL", flags->model, "a GGUF file or a folder with tokenizer.json")
      ->required();
  auto* prompt = command->add_option("-p,--prompt", flags->prompt, "the text");
  command->add_option("-f,--file", flags->file, "a file that holds the text ('-': standard input)")
      ->excludes(prompt);
  command->add_flag("--no-bos", flags->no_bos, "add no start or end token of the model");
  command->add_flag("--parse-special", flags->parse_special,
                    "read spellings of control tokens, like <|im_end|>, as those tokens");
  auto* decode = command->add_option("--decode", flags->decode, "ids to turn into text: 1,2,3")
                     ->check(CLI::Validator(id_list_error, ""))
                     ->excludes(prompt);
  command->add_flag("--json", flags->json, "print one JSON document {\"tokens\", \"text\"}");
  command->callback([=, &exit_code] {
    flags->has_prompt = prompt->count() > 0;
    flags->has_decode = decode->count() > 0;
    tokenize(*flags);
    exit_code = 0;
  });
  return command;
}

}  // namespace rlx::cli

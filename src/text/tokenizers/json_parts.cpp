// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizers/json_parts.h"

#include "base/error.h"
#include "text/tokenizers/algorithm.h"
#include "text/tokenizers/pretokenizer.h"

namespace rlx::text {
namespace {

using Json = nlohmann::json;

constexpr std::string_view punctuation = R"([!-/:-@\[-`{-~\p{P}])";

[[noreturn]] void not_handled(std::string_view where, const Json& part) {
  const std::string shown = part.dump(-1, ' ', false, Json::error_handler_t::replace);
  fail(ErrorCode::Unsupported, "tokenizer.json: {} {} is not handled", where, shown.substr(0, 200));
}

std::string type_name(const Json& part) { return part.value("type", ""); }

std::string decode_base64(const std::string& text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+') value = 62;
    if (c == '/') value = 63;
    if (value < 0) {
      fail(ErrorCode::InvalidFile, "tokenizer.json: precompiled_charsmap is not base64");
    }
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

/// The pattern of a Split or Replace as PCRE2: a regular expression, or a text taken literally.
std::string pattern_of(const Json& part) {
  const Json& pattern = part.at("pattern");
  if (pattern.contains("Regex")) return pattern.at("Regex").get<std::string>();
  std::string out;
  for (const char c : pattern.at("String").get<std::string>()) {
    if (std::string_view(R"(\^$.[]|()?*+{}-)").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void read_replace(const Json& part, JsonPipeline& out) {
  const Json& pattern = part.at("pattern");
  const std::string content = part.at("content").get<std::string>();
  const bool to_blank = content == " " || content == blank_mark;
  if (pattern.value("String", "") == " " && content == blank_mark) {
    out.marks_blanks = true;
  } else if (to_blank && pattern.value("Regex", "") == " {2,}") {
    out.remove_extra = true;
  } else {
    not_handled("normalizer", part);
  }
}

void read_normalizer(const Json& part, JsonPipeline& out) {
  if (part.is_null()) return;
  const std::string type = type_name(part);
  if (type == "Sequence") {
    for (const Json& p : part.at("normalizers")) read_normalizer(p, out);
  } else if (type == "NFC") {
    out.nfc = true;
  } else if (type == "Prepend" && part.at("prepend") == blank_mark) {
    out.prefixes_blank = true;
  } else if (type == "Replace") {
    read_replace(part, out);
  } else if (type == "Precompiled") {
    out.charsmap = decode_base64(part.at("precompiled_charsmap").get<std::string>());
  } else if (type == "BertNormalizer" && part.value("clean_text", true) &&
             part.value("handle_chinese_chars", true)) {
    out.bert_normalizer = true;
    out.lower_case = part.value("lowercase", true);
    const auto strip = part.find("strip_accents");
    out.strip_accents =
        strip == part.end() || strip->is_null() ? out.lower_case : strip->get<bool>();
  } else if (type == "Strip") {
    // Only met beside the removal of doubled blanks, which takes the outer ones too.
  } else {
    not_handled("normalizer", part);
  }
}

void read_split(const Json& part, JsonPipeline& out) {
  const std::string behavior = part.value("behavior", "");
  const bool invert = part.value("invert", false);
  // Where blanks are U+2581 already, splitting at blanks finds none.
  if (out.marks_blanks && part.at("pattern").value("String", "") == " ") return;
  // "Removed" with "invert" keeps the matches; such patterns cover all of a text.
  const bool keeps_matches = behavior == "Isolated" || (behavior == "Removed" && invert);
  if (!keeps_matches) not_handled("pre_tokenizer", part);
  out.patterns.push_back(pattern_of(part));
}

void read_metaspace(const Json& part, JsonPipeline& out) {
  if (part.value("replacement", std::string(blank_mark)) != blank_mark) {
    not_handled("pre_tokenizer", part);
  }
  out.marks_blanks = true;
  const std::string scheme =
      part.value("prepend_scheme", part.value("add_prefix_space", true) ? "always" : "never");
  out.prefixes_blank |= scheme != "never";
  out.prefix_if_missing = true;
  out.prefix_once = scheme == "first";
  if (part.value("split", true)) out.patterns.push_back(R"(\x{2581}[^\x{2581}]*)");
}

void read_pre_tokenizer(const Json& part, JsonPipeline& out) {
  if (part.is_null()) return;
  if (out.byte_level) not_handled("pre_tokenizer behind ByteLevel,", part);
  const std::string type = type_name(part);
  if (type == "Sequence") {
    for (const Json& p : part.at("pretokenizers")) read_pre_tokenizer(p, out);
  } else if (type == "ByteLevel") {
    out.byte_level = true;
    out.prefixes_blank |= part.value("add_prefix_space", true);
    out.prefix_if_missing = true;
    if (part.value("use_regex", true))
      out.patterns.emplace_back(pre_tokenizer_family("gpt-2").patterns[0]);
  } else if (type == "Split") {
    read_split(part, out);
  } else if (type == "Digits") {
    out.patterns.emplace_back(part.value("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)");
  } else if (type == "Punctuation") {
    const std::string behavior = part.value("behavior", "Isolated");
    if (behavior != "Isolated" && behavior != "Contiguous") not_handled("pre_tokenizer", part);
    out.patterns.push_back(std::string(punctuation) + (behavior == "Contiguous" ? "+" : ""));
  } else if (type == "Metaspace") {
    read_metaspace(part, out);
  } else if (type == "WhitespaceSplit") {
    out.remove_extra = true;
  } else if (type == "BertPreTokenizer") {
    out.bert_words = true;
  } else {
    not_handled("pre_tokenizer", part);
  }
}

uint32_t template_id(const Json& processor, const Json& token) {
  const std::string name = token.at("id").get<std::string>();
  const Json& ids = processor.at("special_tokens").at(name).at("ids");
  if (ids.size() != 1) not_handled("post_processor token", token);
  return ids.at(0).get<uint32_t>();
}

void read_template(const Json& processor, Vocabulary& v) {
  bool behind = false;
  for (const Json& item : processor.at("single")) {
    if (item.contains("Sequence")) {
      behind = true;
      continue;
    }
    auto& id = behind ? v.eos : v.bos;
    auto& add = behind ? v.add_eos : v.add_bos;
    if (*add) not_handled("post_processor", processor.at("single"));
    id = template_id(processor, item.at("SpecialToken"));
    add = true;
  }
}

void read_processor(const Json& part, Vocabulary& v) {
  if (part.is_null()) return;
  const std::string type = type_name(part);
  if (type == "Sequence") {
    for (const Json& p : part.at("processors")) read_processor(p, v);
  } else if (type == "TemplateProcessing") {
    read_template(part, v);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    v.bos = part.at("cls").at(1).get<uint32_t>();
    v.eos = part.at("sep").at(1).get<uint32_t>();
    v.add_bos = v.add_eos = true;
  } else if (type != "ByteLevel") {
    not_handled("post_processor", part);
  }
}

const Json& part_of(const Json& file, const char* name) {
  static const Json none;
  const auto found = file.find(name);
  return found == file.end() ? none : *found;
}

}  // namespace

JsonPipeline read_json_pipeline(const Json& file) {
  JsonPipeline out;
  read_normalizer(part_of(file, "normalizer"), out);
  read_pre_tokenizer(part_of(file, "pre_tokenizer"), out);
  return out;
}

void read_json_post_processor(const Json& file, Vocabulary& vocabulary) {
  vocabulary.add_bos = false;
  vocabulary.add_eos = false;
  read_processor(part_of(file, "post_processor"), vocabulary);
}

}  // namespace rlx::text

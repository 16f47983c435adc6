// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/tokenizers/pretokenizer.h"

#include <pcre2.h>
#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/utf8.h"

namespace rlx::text {
namespace {

using Piece = PreTokenizer::Piece;

/// Splits before every digit that has a multiple of three digits up to the end of its run. Matched
/// one place at a time, the time grows with the square of the run's length, so it is done by hand.
constexpr std::string_view threes_from_right = R"((?=(\d{3})+(?!\d)))";

/// White_Space of Unicode. PCRE2's \s takes U+180E as well, which left that set in Unicode 6.3.
constexpr std::string_view white_space = R"(\t-\r\x{85}\p{Z})";

/// Scripts that patterns name. PCRE2's \p{Han} goes by script extensions and so takes punctuation
/// such as U+3002 as well; \p{sc:Han} goes by the script alone, as other engines do.
constexpr std::string_view scripts[] = {
    "Arabic",   "Armenian",  "Bengali",   "Bopomofo", "Common",   "Cyrillic", "Devanagari",
    "Ethiopic", "Georgian",  "Greek",     "Gujarati", "Gurmukhi", "Han",      "Hangul",
    "Hebrew",   "Hiragana",  "Inherited", "Kannada",  "Katakana", "Khmer",    "Lao",
    "Latin",    "Malayalam", "Mongolian", "Myanmar",  "Oriya",    "Sinhala",  "Tamil",
    "Telugu",   "Thai",      "Tibetan"};

/// What `\p{NAME}` at the start of `text` is to be after its brace, "sc:" for a script.
std::string_view property_prefix(std::string_view text) {
  if (!text.starts_with("\\p{") && !text.starts_with("\\P{")) return "";
  const std::string_view name = text.substr(3, text.find('}') - 3);
  return std::find(std::begin(scripts), std::end(scripts), name) != std::end(scripts) ? "sc:" : "";
}

/// `pattern` with \s, \S and scripts spelled out, and the end anchor of "\s+$" kept from being
/// tried anew at each blank of a run.
std::string respelled(std::string_view pattern) {
  if (pattern == R"(\s+$)") pattern = R"((?<!\s)\s++$)";
  std::string out;
  bool in_class = false;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\' && at + 1 < pattern.size()) {
      const std::string_view prefix = property_prefix(pattern.substr(at));
      const char escaped = pattern[++at];
      if (!prefix.empty()) {
        out += pattern.substr(at - 1, 3);
        out += prefix;
        ++at;
      } else if (escaped == 's') {
        out += in_class ? std::string(white_space) : fmt::format("[{}]", white_space);
      } else if (escaped == 'S' && !in_class) {
        out += fmt::format("[^{}]", white_space);
      } else {
        out += c;
        out += escaped;
      }
      continue;
    }
    if (in_class && c == '&' && pattern.substr(at, 2) == "&&") {
      fail(ErrorCode::Unsupported,
           "pre-tokenizer pattern \"{}\": intersections of classes (&&) are not supported",
           pattern);
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

struct MatchState {
  MatchState()
      : data(pcre2_match_data_create(1, nullptr)), context(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context, UINT32_MAX);
    pcre2_set_depth_limit(context, UINT32_MAX);
  }
  ~MatchState() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  MatchState(const MatchState&) = delete;
  MatchState& operator=(const MatchState&) = delete;
  pcre2_match_data* data;
  pcre2_match_context* context;
};

bool match(const pcre2_code* code, std::string_view text, size_t from, MatchState& state) {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int rc =
      pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, state.data, state.context);
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
    // The compiled matcher's stack is fixed; the interpreter's grows with the text.
    rc = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                     state.data, state.context);
  }
  if (rc == PCRE2_ERROR_NOMATCH) return false;
  if (rc < 0) {
    fail(ErrorCode::LimitExceeded, "pre-tokenizer: matching failed at byte {} of {} (PCRE2 {})",
         from, text.size(), rc);
  }
  return true;
}

bool is_digit(std::string_view text, size_t at) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(decode_utf8(text, at))) ==
         UTF8PROC_CATEGORY_ND;
}

void split_threes(std::string_view text, size_t base, std::vector<Piece>& out) {
  size_t begin = 0;
  const auto cut = [&](size_t at) {
    if (at > begin) out.push_back({base + begin, at - begin});
    begin = at;
  };
  std::vector<size_t> run;  // where the digits of a run begin
  for (size_t at = 0; at < text.size();) {
    run.clear();
    while (at < text.size() && is_digit(text, at)) {
      run.push_back(at);
      decode_utf8(text, at);
    }
    for (size_t k = run.size() % 3; k < run.size(); k += 3) cut(run[k]);
    if (at < text.size()) decode_utf8(text, at);
  }
  cut(text.size());
}

}  // namespace

struct PreTokenizer::Pattern {
  explicit Pattern(std::string_view pattern) : threes(pattern == threes_from_right) {
    if (threes) return;
    const std::string text = respelled(pattern);
    int error = 0;
    PCRE2_SIZE place = 0;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                         PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr);
    if (code == nullptr) {
      PCRE2_UCHAR message[128] = {};
      pcre2_get_error_message(error, message, sizeof message);
      fail(ErrorCode::Unsupported, "pre-tokenizer pattern \"{}\" does not compile: {} at byte {}",
           text, reinterpret_cast<const char*>(message), place);
    }
    // Where no memory may be executable this fails and the interpreter is used.
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  }
  ~Pattern() { pcre2_code_free(code); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  void split(std::string_view text, size_t base, MatchState& state, std::vector<Piece>& out) const {
    if (threes) return split_threes(text, base, out);
    size_t begin = 0;  // of the piece not yet handed out
    size_t from = 0;
    while (from < text.size() && match(code, text, from, state)) {
      const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state.data);
      if (range[0] > begin) out.push_back({base + begin, range[0] - begin});
      begin = range[0];
      from = range[1];
      if (range[1] > range[0]) {
        out.push_back({base + range[0], range[1] - range[0]});
        begin = range[1];
      } else if (from < text.size()) {
        decode_utf8(text, from);
      }
    }
    if (begin < text.size()) out.push_back({base + begin, text.size() - begin});
  }

  bool threes = false;
  pcre2_code* code = nullptr;
};

PreTokenizer::PreTokenizer(std::span<const std::string_view> patterns) {
  for (const std::string_view pattern : patterns) {
    patterns_.push_back(std::make_unique<Pattern>(pattern));
  }
}

PreTokenizer::~PreTokenizer() = default;

std::vector<Piece> PreTokenizer::split(std::string_view text) const {
  std::vector<Piece> pieces, next;
  if (!text.empty()) pieces.push_back({0, text.size()});
  MatchState state;
  for (const auto& pattern : patterns_) {
    next.clear();
    for (const Piece piece : pieces) {
      pattern->split(text.substr(piece.begin, piece.size), piece.begin, state, next);
    }
    pieces.swap(next);
  }
  return pieces;
}

}  // namespace rlx::text

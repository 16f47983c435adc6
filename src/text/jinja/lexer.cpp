// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/utf8.h"
#include "text/jinja_text/unicode.h"

namespace rlx::text::jinja {
namespace {

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

std::string normalize_line_ends(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

/// Decodes the escapes of a string literal, as Python's unicode-escape codec does.
class Unescaper {
 public:
  Unescaper(std::string_view text, int line) : text_(text), line_(line) {}

  std::string run() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\\')
        escape();
      else
        out_ += c;
    }
    return std::move(out_);
  }

 private:
  void escape() {
    const char c = text_[at_++];  // the lexer never ends a literal on a lone backslash
    static constexpr std::string_view from = "\\'\"abfnrtv", to = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t k = from.find(c); k != std::string_view::npos) {
      out_ += to[k];
    } else if (c == '\n') {
      return;
    } else if (c >= '0' && c <= '7') {
      --at_;
      octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      hexadecimal(c, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      fail_syntax(line_, "\\N{...} character names are not supported in strings");
    } else {
      out_ += '\\';
      out_ += c;
    }
  }

  void octal() {
    uint32_t value = 0;
    for (int k = 0; k < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++k)
      value = value * 8 + static_cast<uint32_t>(text_[at_++] - '0');
    append_utf8(out_, value);
  }

  void hexadecimal(char kind, size_t digits) {
    uint32_t value = 0;
    for (size_t k = 0; k < digits; ++k) {
      const char d = at_ < text_.size() ? text_[at_] : ' ';
      const size_t v = std::string_view("0123456789abcdefABCDEF").find(d);
      if (v == std::string_view::npos)
        fail_syntax(line_,
                    fmt::format("\\{} in a string needs {} hexadecimal digits", kind, digits));
      value = value * 16 + static_cast<uint32_t>(v < 16 ? v : v - 6);
      ++at_;
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
      fail_syntax(line_, fmt::format("\\{}{:x} in a string is not a character", kind, value));
    append_utf8(out_, value);
  }

  std::string_view text_;
  int line_;
  size_t at_ = 0;
  std::string out_;
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_line_ends(source)), src_(source_) {}

  std::vector<Token> run() {
    while (at_ < src_.size()) root();
    add(TokenKind::End, "");
    return std::move(tokens_);
  }

 private:
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, line_, std::move(text)}); }

  /// Moves behind `count` bytes and counts their lines.
  void advance(size_t count) {
    const auto begin = src_.begin() + static_cast<ptrdiff_t>(at_);
    line_ += static_cast<int>(std::count(begin, begin + static_cast<ptrdiff_t>(count), '\n'));
    at_ += count;
    if (count) line_starting_ = src_[at_ - 1] == '\n';
  }

  bool looking_at(std::string_view text) const { return src_.substr(at_).starts_with(text); }

  size_t skip_space(size_t at) const {
    while (at < src_.size()) {
      size_t next = at;
      if (!is_space(decode_utf8(src_, next))) break;
      at = next;
    }
    return at;
  }

  /// Emits the text before the tag at `tag` and moves there. `sign` is the tag's - or +.
  void text_before(size_t tag, char sign, bool strip_line) {
    const int line = line_;
    std::string_view text = src_.substr(at_, tag - at_);
    if (sign == '-') {
      text = strip_space(text, false, true);
    } else if (sign != '+' && strip_line) {
      const size_t start = text.rfind('\n') + 1;  // npos + 1 is 0
      if ((start > 0 || line_starting_) && strip_space(text.substr(start)).empty())
        text = text.substr(0, start);
    }
    if (!text.empty()) tokens_.push_back({TokenKind::Text, line, std::string(text)});
    advance(tag - at_);
  }

  char sign_at(size_t at) const {
    return at < src_.size() && (src_[at] == '-' || src_[at] == '+') ? src_[at] : '\0';
  }

  /// Template text up to the next tag, and that tag.
  void root() {
    size_t tag = at_;
    while ((tag = src_.find('{', tag)) != std::string_view::npos) {
      const char next = tag + 1 < src_.size() ? src_[tag + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    if (tag == std::string_view::npos) {
      add(TokenKind::Text, std::string(src_.substr(at_)));
      advance(src_.size() - at_);
      return;
    }
    const char kind = src_[tag + 1], sign = sign_at(tag + 2);
    text_before(tag, sign, kind != '{');
    const size_t inside = sign ? 3 : 2;
    if (kind == '#') {
      comment(inside);
    } else if (const size_t raw_end = kind == '%' ? raw_begin_end(tag + inside) : 0) {
      raw(raw_end);
    } else {
      add(kind == '%' ? TokenKind::BlockBegin : TokenKind::PrintBegin, "");
      advance(inside);
      code(kind == '%');
    }
  }

  void comment(size_t inside) {
    const size_t close = src_.find("#}", at_ + inside);
    if (close == std::string_view::npos) fail_syntax(line_, "a comment is not closed with #}");
    const char sign = close > at_ + inside ? sign_at(close - 1) : '\0';
    advance(end_of_tag(close + 2, sign) - at_);
  }

  /// Where the text goes on behind a block or comment end: past a newline, or all white space.
  size_t end_of_tag(size_t behind, char sign) const {
    if (sign == '-') return skip_space(behind);
    const bool newline = sign != '+' && behind < src_.size() && src_[behind] == '\n';
    return newline ? behind + 1 : behind;
  }

  /// Position behind `word` and the white space around it, or 0.
  size_t skip_word(size_t at, std::string_view word) const {
    at = skip_space(at);
    return src_.substr(at).starts_with(word) ? skip_space(at + word.size()) : 0;
  }

  /// Where a raw block's contents start, if the inside of a block tag at `at` is "raw"; else 0.
  size_t raw_begin_end(size_t at) const {
    const size_t end = skip_word(at, "raw");
    if (!end) return 0;
    if (src_.substr(end).starts_with("%}")) return end + 2;
    return src_.substr(end).starts_with("-%}") ? skip_space(end + 3) : 0;
  }

  void raw(size_t contents) {
    advance(contents - at_);
    for (size_t tag = at_; (tag = src_.find("{%", tag)) != std::string_view::npos; ++tag) {
      const char sign = sign_at(tag + 2);
      const size_t end = skip_word(tag + (sign ? 3 : 2), "endraw");
      if (!end) continue;
      const char end_sign = sign_at(end);
      const size_t close = end + (end_sign ? 1 : 0);
      if (!src_.substr(close).starts_with("%}")) continue;
      text_before(tag, sign, true);
      advance(end_of_tag(close + 2, end_sign) - at_);
      return;
    }
    fail_syntax(line_, "a raw block is not closed with endraw");
  }

  /// The tokens of a tag up to and with its end.
  void code(bool block) {
    const int opened = line_;
    open_.clear();
    while (true) {
      advance(skip_space(at_) - at_);
      if (at_ >= src_.size())
        fail_syntax(opened, block ? "a {% tag is not closed" : "a {{ tag is not closed");
      if (open_.empty() && tag_end(block)) return;
      const char c = src_[at_];
      if (is_ascii_digit(c))
        number();
      else if (c == '\'' || c == '"')
        string(c);
      else if (!name())
        operator_token();
    }
  }

  bool tag_end(bool block) {
    const std::string_view close = block ? "%}" : "}}";
    char sign = sign_at(at_);
    if (sign == '+' && !block) sign = '\0';
    if (!src_.substr(at_ + (sign ? 1 : 0)).starts_with(close)) return false;
    add(block ? TokenKind::BlockEnd : TokenKind::PrintEnd, "");
    const size_t behind = at_ + (sign ? 3 : 2);
    advance((block || sign ? end_of_tag(behind, sign) : behind) - at_);
    return true;
  }

  bool name() {
    size_t end = at_;
    while (end < src_.size()) {
      size_t next = end;
      if (!is_word(decode_utf8(src_, next))) break;
      end = next;
    }
    if (end == at_) return false;
    add(TokenKind::Name, std::string(src_.substr(at_, end - at_)));
    advance(end - at_);
    return true;
  }

  void string(char quote) {
    size_t end = at_ + 1;
    while (end < src_.size() && src_[end] != quote) end += src_[end] == '\\' ? 2 : 1;
    if (end >= src_.size()) fail_syntax(line_, "a string is not closed");
    add(TokenKind::String, Unescaper(src_.substr(at_ + 1, end - at_ - 1), line_).run());
    advance(end + 1 - at_);
  }

  /// End of a run of digits with single underscores between them, or `at`.
  template <typename IsDigit>
  size_t skip_digits(size_t at, IsDigit is_digit_here) const {
    const auto ok = [&](size_t i) { return i < src_.size() && is_digit_here(src_[i]); };
    if (!ok(at)) return at;
    while (ok(at) || (at < src_.size() && src_[at] == '_' && ok(at + 1))) ++at;
    return at;
  }

  size_t skip_decimal(size_t at) const { return skip_digits(at, is_ascii_digit); }

  /// End of a float literal at the current place, or 0.
  size_t float_end() const {
    if (at_ > 0 && src_[at_ - 1] == '.') return 0;
    const size_t whole = skip_decimal(at_);
    size_t end = whole;
    if (end < src_.size() && src_[end] == '.') {
      const size_t fraction = skip_decimal(end + 1);
      if (fraction > end + 1) end = fraction;
    }
    if (end < src_.size() && (src_[end] == 'e' || src_[end] == 'E')) {
      const size_t digits = end + (sign_at(end + 1) ? 2 : 1);
      const size_t exponent = skip_decimal(digits);
      if (exponent > digits) return exponent;
    }
    return end > whole ? end : 0;
  }

  size_t integer_end() const {
    const char second = at_ + 1 < src_.size() ? static_cast<char>(src_[at_ + 1] | 0x20) : '\0';
    const size_t digits = at_ + 2 + (at_ + 2 < src_.size() && src_[at_ + 2] == '_' ? 1 : 0);
    size_t end = digits;
    if (src_[at_] == '0' && second == 'x')
      end = skip_digits(digits, [](char c) {
        return is_ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
      });
    else if (src_[at_] == '0' && second == 'o')
      end = skip_digits(digits, [](char c) { return c >= '0' && c <= '7'; });
    else if (src_[at_] == '0' && second == 'b')
      end = skip_digits(digits, [](char c) { return c == '0' || c == '1'; });
    if (end > digits) return end;
    if (src_[at_] == '0') return skip_digits(at_, [](char c) { return c == '0'; });
    return skip_decimal(at_);
  }

  void number() {
    const size_t as_float = float_end();
    const size_t end = as_float ? as_float : integer_end();
    std::string text(src_.substr(at_, end - at_));
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    add(as_float ? TokenKind::Float : TokenKind::Integer, std::move(text));
    advance(end - at_);
  }

  void operator_token() {
    static constexpr std::array<std::string_view, 6> pairs = {"//", "**", "==", "!=", ">=", "<="};
    for (const std::string_view p : pairs) {
      if (!looking_at(p)) continue;
      add(TokenKind::Operator, std::string(p));
      advance(2);
      return;
    }
    const char c = src_[at_];
    if (std::string_view("+-/*%~[](){}=><.:|,;").find(c) == std::string_view::npos)
      fail_syntax(line_,
                  fmt::format("unexpected character '{}'", src_.substr(at_, sequence_length(c))));
    balance(c);
    add(TokenKind::Operator, std::string(1, c));
    advance(1);
  }

  void balance(char c) {
    if (c == '(' || c == '[' || c == '{') {
      open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) fail_syntax(line_, fmt::format("unexpected '{}'", c));
      if (open_.back() != c)
        fail_syntax(line_, fmt::format("unexpected '{}', expected '{}'", c, open_.back()));
      open_.pop_back();
    }
  }

  std::string source_;
  std::string_view src_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string open_;  ///< the closing brackets that are due
  std::vector<Token> tokens_;
};

}  // namespace

void fail_syntax(int line, std::string_view message) {
  fail(ErrorCode::InvalidFile, "template line {}: {}", line, message);
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace rlx::text::jinja

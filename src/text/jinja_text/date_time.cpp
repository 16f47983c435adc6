// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_text/date_time.h"

#include <fmt/core.h>

#include <chrono>
#include <vector>

#include "text/jinja/value.h"

namespace rlx::text::jinja {
namespace {

/// Reads `digits` digits at `at` and moves behind them.
int read_digits(std::string_view text, size_t& at, int digits) {
  int value = 0;
  for (int k = 0; k < digits; ++k, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9')
      raise("'now' is '{}', allowed are times like 2026-01-02T03:04:05", text);
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool skip(std::string_view text, size_t& at, std::string_view any_of) {
  if (at >= text.size() || any_of.find(text[at]) == std::string_view::npos) return false;
  ++at;
  return true;
}

bool is_date(const std::tm& t) {
  static constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int year = t.tm_year + 1900;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (year < 1 || t.tm_mon < 0 || t.tm_mon > 11 || t.tm_mday < 1) return false;
  return t.tm_mday <= days[t.tm_mon] + (leap && t.tm_mon == 1 ? 1 : 0);
}

/// Fills in the day of the week and of the year.
void complete(std::tm& t) {
  std::tm copy = t;
  copy.tm_isdst = 0;
  timegm(&copy);
  t.tm_wday = copy.tm_wday;
  t.tm_yday = copy.tm_yday;
  t.tm_isdst = -1;
}

}  // namespace

DateTime DateTime::parse(std::string_view text) {
  DateTime d;
  size_t at = 0;
  d.fields.tm_year = read_digits(text, at, 4) - 1900;
  const bool date_marks = skip(text, at, "-");
  d.fields.tm_mon = read_digits(text, at, 2) - 1;
  if (date_marks && !skip(text, at, "-")) raise("'now' is '{}', which is not a date", text);
  d.fields.tm_mday = read_digits(text, at, 2);
  if (skip(text, at, "T ")) {
    d.fields.tm_hour = read_digits(text, at, 2);
    if (skip(text, at, ":")) d.fields.tm_min = read_digits(text, at, 2);
    if (skip(text, at, ":")) d.fields.tm_sec = read_digits(text, at, 2);
    if (skip(text, at, ".,")) {
      int scale = 100'000;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
        d.microsecond += (text[at] - '0') * scale;
    }
  }
  const bool zone = skip(text, at, "Z+-");  // a zone is read over: the time is shown as written
  const bool time_ok = d.fields.tm_hour < 24 && d.fields.tm_min < 60 && d.fields.tm_sec < 60;
  if ((!zone && at != text.size()) || !time_ok || !is_date(d.fields))
    raise("'now' is '{}', allowed are times like 2026-01-02T03:04:05", text);
  complete(d.fields);
  return d;
}

DateTime DateTime::clock() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  DateTime d;
  localtime_r(&seconds, &d.fields);
  const auto part = now.time_since_epoch() % std::chrono::seconds(1);
  d.microsecond =
      static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(part).count());
  return d;
}

std::string DateTime::format(std::string_view pattern) const {
  constexpr size_t max_pattern = 4096;
  if (pattern.size() > max_pattern)
    raise("strftime: the format has {} bytes, allowed are {}", pattern.size(), max_pattern);
  std::string prepared;  // without what strftime(3) does otherwise
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%') {
      prepared += pattern[i];
      continue;
    }
    ++i;
    if (next == 'f')
      prepared += fmt::format("{:06}", microsecond);
    else if (next == 'z' || next == 'Z')
      continue;  // a naive time has no zone
    else if (next == '\0')
      prepared += "%%";
    else
      prepared += {'%', next};
  }
  prepared += ' ';  // an empty result is no error then
  if (prepared.find('\0') != std::string::npos)
    raise("strftime: the format holds a null character");
  std::vector<char> buffer(prepared.size() * 32 + 256);
  const size_t size = std::strftime(buffer.data(), buffer.size(), prepared.c_str(), &fields);
  if (size == 0) raise("strftime: the result of a format of {} bytes is too long", pattern.size());
  return std::string(buffer.data(), size - 1);
}

std::string DateTime::iso(char separator, bool with_time) const {
  const std::string date =
      fmt::format("{:04}-{:02}-{:02}", fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday);
  if (!with_time) return date;
  std::string time =
      fmt::format("{}{:02}:{:02}:{:02}", separator, fields.tm_hour, fields.tm_min, fields.tm_sec);
  if (microsecond) time += fmt::format(".{:06}", microsecond);
  return date + time;
}

}  // namespace rlx::text::jinja

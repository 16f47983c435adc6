// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/jinja.h"

#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/mapped_file.h"

using namespace rlx;
using namespace rlx::text::jinja;

namespace {

std::string render(std::string_view source, std::string_view vars = "{}") {
  return Template::parse(source).render(parse_json(vars));
}

/// The error of rendering (or parsing), or "none".
std::string error_of(std::string_view source, std::string_view vars = "{}",
                     ErrorCode* code = nullptr) {
  try {
    render(source, vars);
  } catch (const Error& e) {
    if (code) *code = e.code();
    return e.what();
  }
  return "none";
}

ErrorCode code_of(std::string_view source, std::string_view vars = "{}") {
  ErrorCode code = ErrorCode::Io;  // no template gives this one
  error_of(source, vars, &code);
  return code;
}

std::string repeat(std::string_view s, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

TEST_CASE("templates give what Jinja2 gives") {
  const auto file =
      nlohmann::ordered_json::parse(read_text_file(RLX_TEST_DATA "/jinja_cases.json"));
  const Value shared = parse_json(file["shared"].dump());
  size_t texts = 0, errors = 0;
  for (const auto& c : file["cases"]) {
    const std::string source = c["template"];
    CAPTURE(source);
    Value vars = parse_json("{}");
    if (c.contains("vars")) vars = c["vars"].is_string() ? shared : parse_json(c["vars"].dump());
    if (c.contains("error")) {
      ++errors;
      CHECK_THROWS_AS(Template::parse(source).render(vars), Error);
      continue;
    }
    ++texts;
    try {
      CHECK(Template::parse(source).render(vars) == c["want"].get<std::string>());
    } catch (const Error& e) {
      FAIL_CHECK(source << ": " << e.what());
    }
  }
  CHECK(texts > 1000);
  CHECK(errors > 200);
}

TEST_CASE("errors name the line and what was found") {
  CHECK(error_of("a\nb {{ 1 + }}") == "template line 2: expected an expression, found '}}'");
  CHECK(error_of("{% if x %}\n\n") == "template line 1: 'if' is not closed with 'endif'");
  CHECK(error_of("\n{% bogus %}") == "template line 2: unknown tag 'bogus'");
  CHECK(error_of("{{ 'a }}") == "template line 1: a string is not closed");
  CHECK(error_of("{{ x.y }}") == "template line 1: 'x' is undefined");
  CHECK(error_of("\n\n{{ 1 + 'a' }}") ==
        "template line 3: unsupported operand type(s) for +: 'int' and 'str'");
  CHECK(error_of("{{ raise_exception('no ' ~ 1) }}") == "template line 1: no 1");
  CHECK(error_of("{{ d.foo.bar }}", R"({"d": {}})") ==
        "template line 1: 'dict object' has no attribute 'foo'");
  CHECK(code_of("{{ ( }}") == ErrorCode::InvalidFile);
  CHECK(code_of("{{ \xff }}") == ErrorCode::InvalidFile);
  CHECK(code_of("{{ none + 1 }}") == ErrorCode::InvalidArgument);
}

TEST_CASE("what stands outside of a chat template is refused, once reached") {
  CHECK(code_of("{% include 'x' %}") == ErrorCode::Unsupported);
  CHECK(code_of("{% extends 'x' %}") == ErrorCode::Unsupported);
  CHECK(code_of("{% autoescape true %}{% endautoescape %}") == ErrorCode::Unsupported);
  CHECK(code_of("{{ [1] | random }}") == ErrorCode::Unsupported);
  CHECK(render("{% if false %}{% import 'x' as y %}{% endif %}ok") == "ok");
  CHECK(error_of("{{ [].append(1) }}").find("unsafe") != std::string::npos);
  CHECK(error_of("{{ {}.update({}) }}").find("unsafe") != std::string::npos);
  CHECK(render("{{ ''.__class__ }}|{{ [].__len__ is defined }}") == "|False");
}

TEST_CASE("time comes from `now`, or from the clock") {
  const char* vars = R"({"now": "2026-01-02T03:04:05.25"})";
  CHECK(render("{{ strftime_now('%d %b %Y %H:%M:%S.%f %A %j') }}", vars) ==
        "02 Jan 2026 03:04:05.250000 Friday 002");
  CHECK(render("{{ datetime.now().strftime('%Y') }} {{ datetime.datetime.now().isoformat() }} "
               "{{ datetime.date.today() }} {{ datetime.now().weekday() }}",
               vars) == "2026 2026-01-02T03:04:05.250000 2026-01-02 4");
  CHECK(render("{{ strftime_now('100%%') }}{{ strftime_now('') }}") == "100%");
  CHECK(render("{{ strftime_now('%Y') | int > 2023 }}") == "True");
  CHECK(error_of("{{ strftime_now('%Y') }}", R"({"now": "soon"})").find("'soon'") !=
        std::string::npos);
  CHECK(error_of("{{ strftime_now('%Y') }}", R"({"now": "2026-02-30"})") != "none");
}

TEST_CASE("a template that never ends is stopped soon") {
  const auto start = std::chrono::steady_clock::now();
  const std::string loops =
      repeat("{% for x in range(100000) %}", 4) + "{{ x }}" + repeat("{% endfor %}", 4);
  for (const std::string& source :
       {loops,
        std::string("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
        std::string("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}"),
        std::string("{% set ns = namespace(s='ab') %}{% for i in range(100) %}"
                    "{% set ns.s = ns.s ~ ns.s %}{% endfor %}"),
        std::string("{% set ns = namespace(s=[1]) %}{% for i in range(100) %}"
                    "{% set ns.s = ns.s + ns.s %}{% endfor %}"),
        std::string("{% set ns = namespace(s=[1]) %}{% for i in range(100) %}"
                    "{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}"),
        std::string("{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(100) %}"
                    "{% set ns.s = [ns.s, ns.s] %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}"
                    "{{ ns.s == ns.t }}"),
        std::string("{% set ns = namespace(s=[1]) %}{% for i in range(100000) %}"
                    "{% set ns.s = [ns.s] %}{% endfor %}"),
        std::string("{% set ns = namespace(s=[1]) %}{% for i in range(100000) %}"
                    "{% set ns.s = ns.s | map('upper') %}{% endfor %}{{ ns.s | list }}"),
        std::string("{% set ns = namespace() %}{% set ns.s = [ns] %}{{ ns }}"),
        std::string("{{ 'a' * 99999999999 }}"),
        std::string("{{ [1] * 99999999999 }}"),
        std::string("{{ range(10 ** 12) | list }}"),
        std::string("{{ 'x'.center(10 ** 12) }}"),
        std::string("{{ '%999999999999d' % 1 }}"),
        std::string("{{ '{:999999999999}'.format(1) }}"),
        std::string("{{ 'x' | indent(10 ** 12) }}"),
        std::string("{{ [1] | batch(10**12, 1) | list }}"),
        std::string("{{ [1] | slice(10**12) | list }}"),
        std::string("{% set a = 'a' * 1000000 %}{% for i in range(100000) %}{% set b = a ~ i %}"
                    "{% endfor %}"),
        std::string("{% set a = 'a' * 1000000 %}{{ a.replace('', a) }}"),
        std::string("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}")}) {
    CAPTURE(source.substr(0, 80));
    CHECK(code_of(source) == ErrorCode::LimitExceeded);
  }
  // A quadratic search would take hours.
  CHECK(render("{% set a = 'a' * 4000000 %}{{ ('a' * 2000000 ~ 'b') in a }}") == "False");
  CHECK(render("{% set a = 'a' * 4000000 %}{{ a.rfind('b' ~ 'a' * 2000000) }}") == "-1");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(120));
}

TEST_CASE("deep nesting is an error, not a crash") {
  const size_t n = 20000;
  for (const std::string& source :
       {"{{ " + repeat("(", n) + "1" + repeat(")", n) + " }}",
        "{{ " + repeat("[", n) + repeat("]", n) + " }}",
        "{{ " + repeat("{1:", n) + "1" + repeat("}", n) + " }}", "{{ " + repeat("-", n) + "1 }}",
        "{{ " + repeat("not ", n) + "1 }}", "{{ " + repeat("f(", n) + repeat(")", n) + " }}",
        "{{ x" + repeat("[x", n) + repeat("]", n) + " }}", "{{ 1" + repeat(" + 1", n) + " }}",
        "{{ x" + repeat(".x", n) + " }}", "{{ x" + repeat("()", n) + " }}",
        "{{ x" + repeat("|e", n) + " }}", "{{ 1" + repeat(" if 1 else 1", n) + " }}",
        "{{ 1" + repeat(" ** 1", n) + " }}", repeat("{% if 1 %}", n), repeat("{% for x in y %}", n),
        repeat("{% macro m() %}", n),
        "{% set " + repeat("(", n) + "x" + repeat(")", n) + " = 1 %}"}) {
    CAPTURE(source.substr(0, 40));
    CHECK(code_of(source) == ErrorCode::LimitExceeded);
  }
  CHECK(render("{{ 1" + repeat(" ~ 1", 5000) + " }}").size() == 5001);
  const std::string elifs = repeat("{% elif 0 %}x", n / 4);
  CHECK(render("{% if 0 %}" + elifs + "{% else %}y{% endif %}") == "y");
  const std::string nested = repeat("{% if 1 %}", 100) + "z" + repeat("{% endif %}", 100);
  CHECK(render(nested) == "z");
}

TEST_CASE("limits can be set and are reported") {
  RenderLimits limits;
  limits.max_output = 10;
  CHECK_THROWS_WITH_AS(
      Template::parse("{{ 'abcdefgh' }}{{ 'ijk' }}").render(parse_json("{}"), limits),
      "template line 1: a value of 11 bytes is too large (allowed: 10)", Error);
  limits = {};
  limits.max_steps = 50;
  CHECK_THROWS_WITH_AS(
      Template::parse("{% for i in range(99) %}\n{% endfor %}").render(parse_json("{}"), limits),
      "template line 1: the template takes more than 50 steps", Error);
  CHECK(code_of(repeat("x", (1 << 20) + 1)) == ErrorCode::LimitExceeded);
}

TEST_CASE("integers have 64 bits and say so") {
  CHECK(render("{{ 9223372036854775807 }} {{ -9223372036854775807 - 1 }}") ==
        "9223372036854775807 -9223372036854775808");
  CHECK(code_of("{{ 9223372036854775807 + 1 }}") == ErrorCode::LimitExceeded);
  CHECK(code_of("{{ 10 ** 19 }}") == ErrorCode::LimitExceeded);
  CHECK(code_of("{{ -(-9223372036854775807 - 1) }}") == ErrorCode::LimitExceeded);
  CHECK(code_of("{{ (-9223372036854775807 - 1) // -1 }}") == ErrorCode::LimitExceeded);
  CHECK(code_of("{{ (-9223372036854775807 - 1) | abs }}") == ErrorCode::LimitExceeded);
  CHECK(render("{{ (-9223372036854775807 - 1) % -1 }}") == "0");
  CHECK(code_of("{{ 9223372036854775808 }}") == ErrorCode::InvalidFile);
  CHECK(code_of("{{ 1e30 | int }}") == ErrorCode::LimitExceeded);
}

TEST_CASE("JSON keeps order, takes the last of equal keys, and refuses what it cannot hold") {
  CHECK(repr(parse_json(R"({"b": 1, "a": [true, null, 1.5, "x"], "b": 2})")) ==
        "{'b': 2, 'a': [True, None, 1.5, 'x']}");
  CHECK_THROWS_AS(parse_json("[1, 2"), Error);
  CHECK_THROWS_AS(parse_json(""), Error);
  CHECK_THROWS_AS(parse_json("18446744073709551615"), Error);
  CHECK_THROWS_AS(parse_json("123456789012345678901234567890"), Error);
  CHECK_THROWS_AS(parse_json(repeat("[", 100000)), Error);
  CHECK_THROWS_AS(Template::parse("x").render(parse_json("[]")), Error);
  std::string many = "{";
  for (int i = 0; i < 1000; ++i)
    many += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
  CHECK(render("{{ k7 + k999 }} {{ d.k500 }} {{ d | length }} {{ 'k1000' in d }}",
               many + ",\"d\":" + many + "}}") == "1006 500 1000 False");
}

TEST_CASE("a template can be rendered again and with other variables") {
  const Template t = Template::parse("{% set x = x | default(1) + 1 %}{{ x }}");
  CHECK(t.render(parse_json("{}")) == "2");
  CHECK(t.render(parse_json(R"({"x": 5})")) == "6");
  CHECK(t.render(parse_json("{}")) == "2");
}

// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../support/expect_error.h"
#include "../support/gguf_writer.h"
#include "import/gguf.h"

using namespace rlx;
using rlx::test::GgufWriter;
using rlx::test::message_of;

namespace {

/// A file kept in memory together with what was read from it.
struct Parsed {
  explicit Parsed(const GgufWriter& writer)
      : bytes(writer.bytes()), contents(parse_gguf(std::as_bytes(std::span(bytes)), "f")) {}
  const Metadata& metadata() const { return contents.metadata; }
  std::string bytes;
  GgufContents contents;
};

}  // namespace

TEST_CASE("metadata: every scalar type is read, integers from any width where they fit") {
  GgufWriter w;
  w.add("u8", uint8_t{255});
  w.add("i8", int8_t{-128});
  w.add("u16", uint16_t{65535});
  w.add("i16", int16_t{-2});
  w.add("u32", uint32_t{4000000000u});
  w.add("i32", int32_t{-7});
  w.add("u64", std::numeric_limits<uint64_t>::max());
  w.add("i64", std::numeric_limits<int64_t>::min());
  w.add("f32", 0.5f);
  w.add("f64", 1e300);
  w.add("yes", true);
  w.add("no", false);
  w.add("text", "żółw");
  const Parsed p(w);
  const Metadata& m = p.metadata();
  CHECK(m.entries().size() == 13);
  CHECK(m.u64("u8") == 255);
  CHECK(m.i64("i8") == -128);
  CHECK(m.u64("u16") == 65535);
  CHECK(m.i64("i16") == -2);
  CHECK(m.i64("u32") == 4000000000);
  CHECK(m.i64("i32") == -7);
  CHECK(m.u64("u64") == std::numeric_limits<uint64_t>::max());
  CHECK(m.i64("i64") == std::numeric_limits<int64_t>::min());
  CHECK(m.f64("f32") == 0.5);
  CHECK(m.f64("f64") == 1e300);
  CHECK(m.boolean("yes"));
  CHECK_FALSE(m.boolean("no"));
  CHECK(m.string("text") == "żółw");
  CHECK(m.find_u64("absent") == std::nullopt);
  CHECK_FALSE(m.has("absent"));
}

TEST_CASE("metadata: errors name the key, its type and value, and what was wanted") {
  GgufWriter w;
  w.add("minus", int32_t{-1});
  w.add("big", std::numeric_limits<uint64_t>::max());
  w.add("text", "abc");
  w.add("number", uint32_t{3});
  w.add_array("list", std::vector<float>{1, 2, 3});
  const Parsed p(w);
  const Metadata& m = p.metadata();
  CHECK(message_of([&] { m.u64("a.b"); }) == "f: key 'a.b' is missing");
  CHECK(message_of([&] { m.u64("minus"); }) ==
        "f: key 'minus' is i32 (-1); wanted an integer from 0 to 2^64 - 1");
  CHECK(message_of([&] { m.i64("big"); }) ==
        "f: key 'big' is u64 (18446744073709551615); wanted an integer from -2^63 to 2^63 - 1");
  CHECK(message_of([&] { m.f64("text"); }) == "f: key 'text' is string ('abc'); wanted f32 or f64");
  CHECK(message_of([&] { m.f64("number"); }) == "f: key 'number' is u32 (3); wanted f32 or f64");
  CHECK(message_of([&] { m.boolean("number"); }) == "f: key 'number' is u32 (3); wanted bool");
  CHECK(message_of([&] { m.string("list"); }) == "f: key 'list' is array of 3 f32; wanted string");
  CHECK(message_of([&] { m.array("text"); }) == "f: key 'text' is string ('abc'); wanted array");
  CHECK(message_of([&] { m.find_u64("text"); }) ==
        "f: key 'text' is string ('abc'); wanted an integer from 0 to 2^64 - 1");
  CHECK(message_of([&] { m.u64_array("list"); }) ==
        "f: element 0 of key 'list' is f32 (1); wanted an integer from 0 to 2^64 - 1");
}

TEST_CASE("metadata: arrays of every element type, and what stands behind them (llm-bugs 073)") {
  GgufWriter w;
  w.add_array("u8", std::vector<uint8_t>{1, 2, 3});
  w.add_array("i16", std::vector<int16_t>{-1, 5});
  w.add_array("bool", std::vector<bool>{true, false, true});
  w.add_array("f64", std::vector<double>{1.5});
  w.add_array("u64", std::vector<uint64_t>{uint64_t{1} << 40});
  w.add_array("none", std::vector<float>{});
  w.add_array("text", std::vector<std::string>{"", "a", "bc"});
  w.add("last", "seen");
  const Parsed p(w);
  const Metadata& m = p.metadata();
  CHECK(m.u64_array("u8") == std::vector<uint64_t>{1, 2, 3});
  CHECK(m.i64_array("i16") == std::vector<int64_t>{-1, 5});
  CHECK(m.f64_array("f64") == std::vector<double>{1.5});
  CHECK(m.u64_array("u64") == std::vector<uint64_t>{uint64_t{1} << 40});
  CHECK(m.f64_array("none").empty());
  CHECK(m.string_array("text") == std::vector<std::string_view>{"", "a", "bc"});
  std::string flags;
  for (const MetaValue flag : m.array("bool")) flags += *flag.to_bool() ? '1' : '0';
  CHECK(flags == "101");
  CHECK(m.string("last") == "seen");
}

TEST_CASE("metadata: arrays in arrays are walked, up to eight levels") {
  const auto nested = [](int depth) {
    std::string value;
    for (int i = 1; i < depth; ++i) {
      rlx::test::put(value, uint32_t{9});
      rlx::test::put(value, uint64_t{1});
    }
    rlx::test::put(value, uint32_t{4});
    rlx::test::put(value, uint64_t{2});
    rlx::test::put(value, uint32_t{10});
    rlx::test::put(value, uint32_t{11});
    GgufWriter w;
    w.add_raw("nest", 9, value);
    w.add("last", uint8_t{1});
    return w;
  };
  const Parsed p(nested(8));
  MetaArray array = p.metadata().array("nest");
  for (int i = 1; i < 8; ++i) {
    CHECK(array.size() == 1);
    array = *(*array.begin()).to_array();
  }
  CHECK(*(*array.begin()).to_u64() == 10);
  CHECK(p.metadata().u64("last") == 1);
  CHECK(message_of([&] { Parsed deeper(nested(9)); }) ==
        "f: key 'nest' nests arrays deeper than 8");
}

TEST_CASE("metadata: a number for each layer, or one for all") {
  GgufWriter w;
  w.add("one", uint32_t{4});
  w.add_array("each", std::vector<uint32_t>{1, 2, 3});
  const Parsed p(w);
  CHECK(p.metadata().u64_per_layer("one", 3) == std::vector<uint64_t>{4, 4, 4});
  CHECK(p.metadata().u64_per_layer("each", 3) == std::vector<uint64_t>{1, 2, 3});
  CHECK(message_of([&] { p.metadata().u64_per_layer("each", 2); }) ==
        "f: key 'each' has 3 elements; wanted one for each of 2 layers");
}

TEST_CASE("quote: what a file spells cannot disturb a terminal or a message") {
  CHECK(quote("plain ż") == "'plain ż'");
  CHECK(quote(std::string_view("a\n\x1b[0m\0", 7)) == "'a\\x0a\\x1b[0m\\x00'");
  CHECK(quote("\xff\xc5") == "'\\xff\\xc5'");
  CHECK(quote(std::string(200, 'x')) == "'" + std::string(80, 'x') + "...' (200 bytes)");
  CHECK(printable("abcdef", 3) == "abc...");
}

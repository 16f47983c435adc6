// SPDX-License-Identifier: Apache-2.0
#include "import/safetensors.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "../support/expect_error.h"
#include "../support/safetensors_writer.h"
#include "../support/temp_folder.h"

using namespace rlx;
using rlx::test::message_of;
using rlx::test::safetensors_bytes;
using rlx::test::SafetensorsWriter;
using rlx::test::TempFolder;

namespace {

SafetensorsContents parse(std::string_view bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "f");
}

std::string parse_error(std::string_view bytes) {
  return message_of([&] { parse(bytes); });
}

/// The error of a file with this header and 16 bytes of data.
std::string header_error(std::string_view header) {
  return parse_error(safetensors_bytes(header, std::string(16, '\0')));
}

std::string small() {
  SafetensorsWriter w;
  w.add("a", "F32", {2, 1}, "12345678");
  w.add("b", "BF16", {4}, "abcdefgh");
  w.add("scalar", "I64", {}, "ABCDEFGH");
  w.add("empty", "U8", {3, 0}, "");
  w.add("odd", "BOOL", {3}, std::string("\1\0\1", 3));
  return w.bytes();
}

}  // namespace

TEST_CASE("safetensors: tensors have the type, shape and bytes of the file") {
  const std::string bytes = small();
  const SafetensorsContents c = parse(bytes);
  REQUIRE(c.tensors.size() == 5);
  CHECK(c.tensors[0].name == "a");
  CHECK(c.tensors[0].dtype == DType::F32);
  CHECK(c.tensors[0].shape == std::vector<int64_t>{2, 1});
  CHECK(c.tensors[1].dtype == DType::BF16);
  CHECK(c.tensors[1].bytes[0] == std::byte{'a'});
  CHECK(bytes[c.tensors[1].offset] == 'a');
  CHECK(c.tensors[2].shape.empty());
  CHECK(c.tensors[2].bytes.size() == 8);
  CHECK(c.tensors[3].bytes.empty());
  CHECK(c.tensors[4].dtype == DType::Bool);
}

TEST_CASE("safetensors: every type name of the format") {
  for (const auto& [name, dtype] : {std::pair("F64", DType::F64),
                                    {"F32", DType::F32},
                                    {"F16", DType::F16},
                                    {"BF16", DType::BF16},
                                    {"F8_E4M3", DType::F8E4M3},
                                    {"F8_E5M2", DType::F8E5M2},
                                    {"I8", DType::I8},
                                    {"I16", DType::I16},
                                    {"I32", DType::I32},
                                    {"I64", DType::I64},
                                    {"U8", DType::U8},
                                    {"U16", DType::U16},
                                    {"U32", DType::U32},
                                    {"U64", DType::U64},
                                    {"BOOL", DType::Bool},
                                    {"C64", DType::C64}}) {
    SafetensorsWriter w;
    w.add("t", name, {2}, std::string(2 * dtype_info(dtype).block_bytes, '\0'));
    const std::string bytes = w.bytes();
    CHECK(parse(bytes).tensors[0].dtype == dtype);
  }
  SafetensorsWriter w;
  w.add("t", "F4", {2}, "x");
  const std::string bytes = w.bytes();
  CHECK_FALSE(parse(bytes).tensors[0].dtype.has_value());
  CHECK(parse(bytes).tensors[0].type_name == "F4");
}

TEST_CASE("safetensors: metadata is kept") {
  const auto c = parse(safetensors_bytes(R"({"__metadata__":{"format":"pt","x":"y"}})", ""));
  REQUIRE(c.metadata.size() == 2);
  CHECK(c.metadata[0] == std::pair<std::string, std::string>("format", "pt"));
  CHECK(c.tensors.empty());
}

TEST_CASE("safetensors: cut off at any byte, a file is refused") {
  const std::string bytes = small();
  CHECK(parse_error(bytes) == "no error");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    CAPTURE(size);
    CHECK(parse_error(cut).starts_with("f: "));
  }
}

TEST_CASE("safetensors: with any bit flipped, a file is refused or read within its bounds") {
  const std::string bytes = small();
  int refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    try {
      const SafetensorsContents c = parse(flipped);
      unsigned sum = 0;
      for (const auto& tensor : c.tensors) {
        for (const std::byte b : tensor.bytes) sum += static_cast<unsigned>(b);
      }
      CHECK(sum > 0);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("safetensors: the length of the header is checked") {
  CHECK(parse_error("1234567") ==
        "f: not a safetensors file: 7 bytes are too few for the length of a header");
  CHECK(parse_error(std::string("\5\0\0\0\0\0\0\0{}", 10)) ==
        "f: not a whole safetensors file: a header of 5 bytes is declared, 2 bytes follow");
  CHECK(parse_error(std::string(8, '\xff')) ==
        "f: not a whole safetensors file: a header of 18446744073709551615 bytes is declared, 0 "
        "bytes follow");
  CHECK(header_error("") == "f: not a safetensors file: its header does not start with '{'");
  CHECK(header_error("[]") == "f: not a safetensors file: its header does not start with '{'");
  std::string huge(8 + 100'000'001, ' ');
  const uint64_t size = 100'000'001;
  huge.replace(0, 8, std::string(reinterpret_cast<const char*>(&size), 8));
  CHECK(parse_error(huge) == "f: the header has 100000001 bytes; at most 100000000 are read");
}

TEST_CASE("safetensors: a header of another form is refused with the place") {
  CHECK(header_error("{") == "f: the header is not JSON at byte 9 of the file");
  CHECK(header_error("{\"a\":}") == "f: the header is not JSON at byte 13 of the file");
  CHECK(header_error("{} {}") == "f: the header is not JSON at byte 11 of the file");
  CHECK(header_error("{\"\xff\":1}") == "f: the header is not JSON at byte 10 of the file");
  CHECK(header_error(R"({"a":1})") == "f: the entry of 'a': found 1; wanted an object");
  CHECK(header_error(R"({"a":[1]})") == "f: the entry of 'a': found an array; wanted an object");
  CHECK(header_error(R"({"__metadata__":{"k":1}})") == "f: metadata 'k': found 1; wanted text");
  CHECK(header_error(R"({"a":{"dtype":4}})") == "f: dtype of tensor 'a': found 4; wanted text");
  CHECK(header_error(R"({"a":{"shape":[-1]}})") ==
        "f: shape of tensor 'a': found -1; wanted numbers from 0 to 2^63 - 1");
  CHECK(header_error(R"({"a":{"shape":[1e3]}})") ==
        "f: shape of tensor 'a': found 1e3; wanted numbers from 0 to 2^63 - 1");
  CHECK(header_error(R"({"a":{"shape":[9223372036854775808]}})") ==
        "f: shape of tensor 'a' has dimension 9223372036854775808; at most 2^63 - 1 is allowed");
  CHECK(header_error(R"({"a":{"data_offsets":[0]}})") ==
        "f: data_offsets of tensor 'a' has 1 elements; wanted 2");
  CHECK(header_error(R"({"a":{"data_offsets":[0,1,2]}})") ==
        "f: data_offsets of tensor 'a': found 2; wanted two numbers from 0 to 2^64 - 1");
  CHECK(header_error(R"({"a":{"dtype":"F32","shape":[4]}})") ==
        "f: tensor 'a' has no 'data_offsets'");
  CHECK(header_error(R"({"a":{"stride":[4]}})") ==
        "f: tensor 'a' has the key 'stride'; dtype, shape and data_offsets are allowed");
  CHECK(header_error(R"({"a":{"shape":[4],"shape":[4]}})") ==
        "f: key 'shape' is there twice in the header");
  CHECK(header_error(R"({"a":{"dtype":"U8","shape":[16],"data_offsets":[0,16]},"a":{}})") ==
        "f: name 'a' is there twice in the header");
}

TEST_CASE("safetensors: deep nesting costs nothing") {
  std::string header = R"({"a":{"shape":)" + std::string(5'000'000, '[');
  CHECK(header_error(header) ==
        "f: shape of tensor 'a': found an array; wanted numbers from 0 to 2^63 - 1");
}

TEST_CASE("safetensors: tensors cover the data once, with the size of their shape") {
  CHECK(header_error(R"({"a":{"dtype":"U8","shape":[16],"data_offsets":[16,0]}})") ==
        "f: tensor 'a' has data_offsets [16, 0]; the tensor data has 16 bytes");
  CHECK(header_error(R"({"a":{"dtype":"U8","shape":[17],"data_offsets":[0,17]}})") ==
        "f: tensor 'a' has data_offsets [0, 17]; the tensor data has 16 bytes");
  CHECK(header_error(R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,16]}})") ==
        "f: tensor 'a' of F32 and shape [2, 1] has 8 bytes; its data_offsets [0, 16] have 16");
  CHECK(header_error(
            R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})") ==
        "f: tensor 'a' of shape [4294967296, 4294967296] does not fit 64 bits");
  CHECK(header_error(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},
                         "b":{"dtype":"U8","shape":[9],"data_offsets":[7,16]}})") ==
        "f: tensors 'a' (data bytes 0 to 8) and 'b' (data bytes 7 to 16) overlap");
  CHECK(header_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
                         "b":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}})") ==
        "f: data bytes 4 to 8 before tensor 'b' belong to no tensor");
  CHECK(header_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})") ==
        "f: the tensors end at data byte 4, but there are 16 data bytes");
}

namespace {

std::string one_tensor(std::string_view name) {
  SafetensorsWriter w;
  w.add(name, "U8", {8}, "abcdefgh");
  return w.bytes();
}

std::string open_error(const std::string& path) {
  return message_of([&] { SafetensorsFile::open(path); });
}

}  // namespace

TEST_CASE("safetensors: a folder is opened by its index, or as one file") {
  const TempFolder folder;
  CHECK(open_error(folder.path()) ==
        "'" + folder.path() +
            "' is a folder without model.safetensors or model.safetensors.index.json");
  folder.write("model.safetensors", one_tensor("only"));
  CHECK(SafetensorsFile::open(folder.path())->find_tensor("only") != nullptr);

  const std::string index = folder.write(
      "model.safetensors.index.json",
      R"({"weight_map":{"x":"model-00001-of-00002.safetensors","y":"model-00002-of-00002.safetensors"}})");
  folder.write("model-00001-of-00002.safetensors", one_tensor("x"));
  const std::string second = folder.path("model-00002-of-00002.safetensors");
  CHECK(open_error(folder.path()) == index + ": there is no file '" + second + "'");
  folder.write("model-00002-of-00002.safetensors", one_tensor("y"));
  auto file = SafetensorsFile::open(folder.path());
  CHECK(file->files().size() == 2);
  REQUIRE(file->find_tensor("y") != nullptr);
  CHECK(file->find_tensor("y")->file == 1);
  file = SafetensorsFile::open(folder.path("model-00002-of-00002.safetensors"));
  CHECK(file->find_tensor("x") != nullptr);
  folder.write("model-00002-of-00002.safetensors", one_tensor("x"));
  CHECK(open_error(folder.path()) == second + ": tensor 'x' is in an earlier file of the set too");
  folder.write("model-00002-of-00002.safetensors", one_tensor("z"));
  CHECK(open_error(folder.path()) ==
        index + ": tensor 'y' is not in 'model-00002-of-00002.safetensors' as weight_map says");
}

TEST_CASE("safetensors: an index cannot name files elsewhere") {
  const TempFolder folder;
  const std::string index = folder.path("model.safetensors.index.json");
  for (const std::string name : {"../x.safetensors", "/etc/passwd", ".", "", "a/b"}) {
    folder.write("model.safetensors.index.json", R"({"weight_map":{"x":")" + name + "\"}}");
    CHECK(open_error(folder.path()) ==
          index + ": weight_map of 'x' is '" + name +
              "'; a plain name of a file in the same folder is needed");
  }
  folder.write("model.safetensors.index.json", R"({"weight_map":{}})");
  CHECK(open_error(folder.path()) == index + ": there is no object 'weight_map' with an entry");
  folder.write("model.safetensors.index.json", std::string(1'000'000, '['));
  CHECK(open_error(folder.path()) == index + ": JSON is nested deeper than 100 levels");
  folder.write("model.safetensors.index.json", "{");
  CHECK(open_error(folder.path()) == index + ": not JSON at byte 1");
}

// SPDX-License-Identifier: Apache-2.0
#include "import/gguf.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "../support/expect_error.h"
#include "../support/gguf_writer.h"
#include "../support/temp_folder.h"

using namespace rlx;
using rlx::test::GgufWriter;
using rlx::test::message_of;
using rlx::test::put;
using rlx::test::put_text;
using rlx::test::TempFolder;

namespace {

GgufContents parse(std::string_view bytes) {
  return parse_gguf(std::as_bytes(std::span(bytes)), "f.gguf");
}

std::string parse_error(std::string_view bytes) {
  return message_of([&] { parse(bytes); });
}

/// A small file with a bit of everything; it ends with the last byte of a tensor.
GgufWriter small() {
  GgufWriter w("llama");
  w.add("n", uint32_t{7});
  w.add("flag", true);
  w.add_array("words", std::vector<std::string>{"one", "", "three"});
  w.add_array("numbers", std::vector<int16_t>{1, -2});
  w.add_tensor_f32("a", {2, 4}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  w.add_tensor("b", {1, 64}, 8, std::string(68, '\x01'));  // q8_0: two blocks
  w.add_tensor_f32("c", {8}, std::vector<float>(8, 1.0f));
  return w;
}

/// The header of a file with these counts and nothing behind.
std::string header(uint32_t version, uint64_t tensors, uint64_t keys) {
  std::string out = "GGUF";
  put(out, version);
  put(out, tensors);
  put(out, keys);
  return out;
}

std::string tensor_info(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                        uint64_t offset) {
  std::string out;
  put_text(out, name);
  put(out, static_cast<uint32_t>(dims.size()));
  for (const uint64_t dim : dims) put(out, dim);
  put(out, type);
  put(out, offset);
  return out;
}

/// A file with these tensor infos, aligned to 32, and `room` bytes of tensor data.
std::string with_tensors(const std::vector<std::string>& infos, size_t room) {
  std::string out = header(3, infos.size(), 0);
  for (const auto& info : infos) out += info;
  out.append((32 - out.size() % 32) % 32, '\0');
  return out + std::string(room, '\0');
}

}  // namespace

TEST_CASE("gguf: tensors have the type, dims, shape, offset and bytes of the file") {
  const std::string bytes = small().bytes();
  const GgufContents c = parse(bytes);
  CHECK(c.version == 3);
  CHECK(c.alignment == 32);
  REQUIRE(c.tensors.size() == 3);
  const GgufTensor& a = c.tensors[0];
  CHECK(a.name == "a");
  CHECK(a.dtype == DType::F32);
  CHECK(a.dims == std::vector<int64_t>{4, 2});
  CHECK(a.shape() == std::vector<int64_t>{2, 4});
  CHECK(a.offset == c.data_offset);
  CHECK(a.elements() == 8);
  REQUIRE(a.bytes.size() == 32);
  float last;
  std::memcpy(&last, a.bytes.data() + 28, 4);
  CHECK(last == 7.0f);
  CHECK(c.tensors[1].dtype == DType::Q8_0);
  CHECK(c.tensors[1].bytes.size() == 68);
  CHECK(c.tensors[1].bytes[0] == std::byte{1});
  CHECK(c.tensors[2].offset == c.data_offset + 128);
}

TEST_CASE("gguf: versions 2 and 3 are read, others refused by name (llm-bugs 077)") {
  GgufWriter w = small();
  w.version = 2;
  CHECK(parse(w.bytes()).version == 2);
  w.version = 1;
  CHECK(parse_error(w.bytes()) == "f.gguf: GGUF version 1 is not supported; versions 2 and 3 are");
  w.version = 4;
  CHECK(parse_error(w.bytes()) == "f.gguf: GGUF version 4 is not supported; versions 2 and 3 are");
  w.version = 0;
  CHECK(parse_error(w.bytes()) == "f.gguf: GGUF version 0 is not supported; versions 2 and 3 are");
  w.version = 0x03000000;
  CHECK(
      parse_error(w.bytes()) ==
      "f.gguf: the byte order of this GGUF file is big-endian; only little-endian files are read");
}

TEST_CASE("gguf: a file with another magic is refused with what it starts with") {
  CHECK(parse_error("GGML1234") ==
        "f.gguf: not a GGUF file: it starts with 'GGML', not with 'GGUF'");
  CHECK(parse_error("") == "f.gguf: not a GGUF file: it starts with '', not with 'GGUF'");
  CHECK(parse_error("GG") == "f.gguf: not a GGUF file: it starts with 'GG', not with 'GGUF'");
}

TEST_CASE("gguf: cut off at any byte, a file is refused") {
  const std::string bytes = small().bytes();
  CHECK(parse_error(bytes) == "no error");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);  // its own allocation, for ASan
    CAPTURE(size);
    const std::string message = parse_error(cut);
    CHECK(message.starts_with("f.gguf: "));
  }
  CHECK(parse_error(bytes.substr(0, bytes.size() - 1)) ==
        "f.gguf: tensor 'c' needs 32 bytes at offset 128 of the tensor data, which has 159 bytes");
}

TEST_CASE("gguf: with any bit flipped, a file is refused or read within its bounds") {
  const std::string bytes = small().bytes();
  int refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    try {
      const GgufContents c = parse(flipped);
      unsigned sum = 0;
      for (const GgufTensor& tensor : c.tensors) {
        for (const std::byte b : tensor.bytes) sum += static_cast<unsigned>(b);
      }
      for (const auto& entry : c.metadata.entries()) {
        if (const auto array = entry.value.to_array()) {
          for (const MetaValue value : *array) sum += value.to_string().value_or("").size();
        }
      }
      CHECK(sum > 0);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("gguf: counts that the file cannot hold are refused at once (llm-bugs 067, 070, 071)") {
  CHECK(parse_error(header(3, uint64_t{1} << 40, 500'000'000)) ==
        "f.gguf: the header declares 1099511627776 tensors, but the 8 bytes left hold at most 0");
  CHECK(parse_error(header(3, 0, ~uint64_t{0})) ==
        "f.gguf: the header declares 18446744073709551615 metadata keys, but the 0 bytes left hold "
        "at most 0");
  GgufWriter w;
  std::string array;
  put(array, uint32_t{4});
  put(array, uint64_t{1} << 63);
  w.add_raw("a", 9, array + std::string(16, '\0'));
  CHECK(
      parse_error(w.bytes()) ==
      "f.gguf: key 'a' is an array of 9223372036854775808 u32, but the 47 bytes left hold at most "
      "11");
  w = GgufWriter();
  std::string text;
  put(text, ~uint64_t{0});
  w.add_raw("a", 8, text + std::string(16, 'x'));
  CHECK(
      parse_error(w.bytes()) ==
      "f.gguf: key 'a' needs 18446744073709551615 bytes at byte 45, but the file ends at byte 64");
  CHECK(parse_error(with_tensors({tensor_info("w", {4, 4, 4, 4, 4}, 0, 0)}, 64)) ==
        "f.gguf: tensor 'w' has 5 dimensions; 1 to 4 are allowed");
  CHECK(parse_error(with_tensors({tensor_info("w", {}, 0, 0)}, 64)) ==
        "f.gguf: tensor 'w' has 0 dimensions; 1 to 4 are allowed");
}

TEST_CASE("gguf: keys are 1 to 65535 bytes, unique, and of a known type (llm-bugs 065)") {
  GgufWriter w("llama");
  w.add("", uint32_t{1});
  CHECK(parse_error(w.bytes()) ==
        "f.gguf: metadata key 2 of 2 is empty; a key has 1 to 65535 bytes");
  w = GgufWriter();
  w.add(std::string(65535, 'k'), uint8_t{1});
  CHECK(parse_error(w.bytes()) == "no error");
  w = GgufWriter();
  w.add(std::string(65536, 'k'), uint8_t{1});
  CHECK(parse_error(w.bytes()) == "f.gguf: metadata key '" + std::string(80, 'k') +
                                      "...' (65536 bytes) has 65536 bytes; at most 65535 are "
                                      "allowed");
  w = GgufWriter("llama");
  w.add("general.architecture", "qwen2");
  CHECK(parse_error(w.bytes()) == "f.gguf: key 'general.architecture' is there twice");
  w = GgufWriter();
  w.add_raw("k", 13, "xxxx");
  CHECK(parse_error(w.bytes()) == "f.gguf: key 'k' has value type 13; types are 0 to 12");
  w = GgufWriter();
  w.add_raw("k", 7, "\x02");
  CHECK(parse_error(w.bytes()) == "f.gguf: key 'k' holds the bool 2; only 0 and 1 are allowed");
}

TEST_CASE("gguf: general.alignment is any positive multiple of 8 (llm-bugs 074, 076)") {
  for (const uint32_t alignment : {8u, 24u, 256u, 4096u}) {
    CAPTURE(alignment);
    GgufWriter w = small();
    w.alignment = alignment;
    w.add("general.alignment", alignment);
    const std::string bytes = w.bytes();
    const GgufContents c = parse(bytes);
    CHECK(c.alignment == alignment);
    CHECK(c.data_offset % alignment == 0);
    float last;
    std::memcpy(&last, c.tensors[0].bytes.data() + 28, 4);
    CHECK(last == 7.0f);
  }
  for (const uint32_t alignment : {0u, 1u, 4u, 12u}) {
    GgufWriter w = small();
    w.add("general.alignment", alignment);
    CHECK(parse_error(w.bytes()) == "f.gguf: general.alignment is " + std::to_string(alignment) +
                                        "; a positive multiple of 8 is needed");
  }
  GgufWriter w = small();
  w.add("general.alignment", "32");
  CHECK(parse_error(w.bytes()) ==
        "f.gguf: key 'general.alignment' is string ('32'); wanted an integer from 0 to 2^64 - 1");
  w = small();
  w.add("general.alignment", ~uint64_t{7});
  CHECK(parse_error(w.bytes()).starts_with("f.gguf: tensor 'a' needs 32 bytes at offset 0"));
}

TEST_CASE("gguf: dimensions are at least 1 and their product fits (llm-bugs 068)") {
  CHECK(parse_error(with_tensors({tensor_info("w", {4, 0}, 0, 0)}, 64)) ==
        "f.gguf: dimension 1 of tensor 'w' is 0; 1 to 2^63 - 1 is allowed");
  CHECK(parse_error(with_tensors({tensor_info("w", {uint64_t{1} << 63}, 0, 0)}, 64)) ==
        "f.gguf: dimension 0 of tensor 'w' is 9223372036854775808; 1 to 2^63 - 1 is allowed");
  const uint64_t a = (uint64_t{1} << 42) + 1, b = uint64_t{1} << 22;
  CHECK(
      parse_error(with_tensors({tensor_info("w", {a, b}, 0, 0)}, 64)) ==
      "f.gguf: the dimensions 4398046511105 x 4194304 of tensor 'w' have a product over 2^63 - 1");
  CHECK(parse_error(with_tensors({tensor_info("w", {uint64_t{1} << 62}, 0, 0)}, 64)) ==
        "f.gguf: tensor 'w' of 4611686018427387904 f32 does not fit 64 bits");
  CHECK(parse_error(with_tensors({tensor_info("w", {48, 2}, 2, 0)}, 64)) ==
        "f.gguf: tensor 'w' has rows of 48 elements; q4_0 needs a multiple of 32");
}

TEST_CASE("gguf: tensor names are 1 to 64 bytes and unique (llm-bugs 080, 082, 083)") {
  const std::string longest(64, 'w');
  const std::string bytes = with_tensors({tensor_info(longest, {8}, 0, 0)}, 32);
  CHECK(parse(bytes).tensors[0].name == longest);
  CHECK(parse_error(with_tensors({tensor_info(longest + "w", {8}, 0, 0)}, 32)) ==
        "f.gguf: the name of tensor '" + longest + "w' has 65 bytes; at most 64 are allowed");
  CHECK(parse_error(with_tensors({tensor_info("", {8}, 0, 0)}, 32)) ==
        "f.gguf: the name of tensor 1 of 1 is empty; it has 1 to 64 bytes");
  CHECK(parse_error(with_tensors({tensor_info("w", {8}, 0, 0), tensor_info("w", {8}, 0, 32)},
                                 64)) == "f.gguf: tensor 'w' is there twice");
}

TEST_CASE("gguf: tensors lie at aligned offsets, in the file and apart (llm-bugs 079, 086)") {
  CHECK(parse_error(with_tensors({tensor_info("w", {8}, 0, 4)}, 64)) ==
        "f.gguf: tensor 'w' has offset 4, no multiple of the alignment 32");
  CHECK(parse_error(with_tensors({tensor_info("w", {8}, 0, 64)}, 64)) ==
        "f.gguf: tensor 'w' needs 32 bytes at offset 64 of the tensor data, which has 64 bytes");
  CHECK(parse_error(with_tensors({tensor_info("w", {8}, 0, ~uint64_t{31})}, 64)) ==
        "f.gguf: tensor 'w' starts at offset 18446744073709551584 of the tensor data, which "
        "has 64 bytes");
  const std::string message =
      parse_error(with_tensors({tensor_info("v", {8}, 0, 32), tensor_info("w", {9}, 0, 0)}, 64));
  CHECK(message == "f.gguf: tensors 'w' (bytes 96 to 132) and 'v' (bytes 128 to 160) overlap");
  CHECK(parse_error(with_tensors({tensor_info("v", {8}, 0, 32), tensor_info("w", {8}, 0, 0)},
                                 64)) == "no error");
}

TEST_CASE("gguf: a type number of another build is kept, without bytes (llm-bugs 085)") {
  const std::string bytes = with_tensors({tensor_info("w", {31}, 9999, 0)}, 64);
  const GgufContents c = parse(bytes);
  CHECK_FALSE(c.tensors[0].dtype.has_value());
  CHECK(c.tensors[0].type_text() == "unknown type 9999");
  CHECK(c.tensors[0].bytes.empty());
  CHECK(parse_error(with_tensors({tensor_info("w", {31}, 9999, 128)}, 64)) ==
        "f.gguf: tensor 'w' starts at offset 128 of the tensor data, which has 64 bytes");
}

TEST_CASE("gguf: 300,000 tokens are not copied when a file is opened") {
  GgufWriter w("llama");
  std::vector<std::string> words;
  for (int i = 0; i < 300'000; ++i) words.push_back("w" + std::to_string(i));
  w.add_array("tokenizer.ggml.tokens", words);
  const std::string bytes = w.bytes();
  const GgufContents c = parse(bytes);
  const MetaArray array = c.metadata.array("tokenizer.ggml.tokens");
  CHECK(array.size() == words.size());
  const std::string_view first = *(*array.begin()).to_string();
  CHECK(first == "w0");
  CHECK(first.data() > bytes.data());
  CHECK(first.data() < bytes.data() + bytes.size());
}

namespace {

/// Writes a set of two shards, "m-00001-of-00002.gguf" with tensor a and "…2…" with b; `edit` may
/// change either before it is written.
void write_set(
    const TempFolder& folder,
    const std::function<void(int, GgufWriter&)>& edit = [](int, GgufWriter&) {}) {
  for (int no = 0; no < 2; ++no) {
    GgufWriter w(no == 0 ? "llama" : "");
    if (no == 0) w.add("llama.block_count", uint32_t{1});
    w.add_tensor_f32(no == 0 ? "a" : "b", {8}, std::vector<float>(8, static_cast<float>(no)));
    edit(no, w);
    if (w.metadata.find("split.no") == std::string::npos)
      w.add("split.no", static_cast<uint16_t>(no));
    if (w.metadata.find("split.count") == std::string::npos) w.add("split.count", uint16_t{2});
    if (w.metadata.find("split.tensors.count") == std::string::npos) {
      w.add("split.tensors.count", int32_t{2});
    }
    w.write(folder.path(no == 0 ? "m-00001-of-00002.gguf" : "m-00002-of-00002.gguf"));
  }
}

}  // namespace

TEST_CASE("gguf: any shard opens the whole set (llm-bugs 088)") {
  const TempFolder folder;
  write_set(folder);
  for (const char* name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
    const auto file = GgufFile::open(folder.path(name));
    CHECK(file->shards().size() == 2);
    CHECK(file->metadata().u64("llama.block_count") == 1);
    REQUIRE(file->find_tensor("b") != nullptr);
    CHECK(file->find_tensor("b")->shard == 1);
    float value;
    std::memcpy(&value, file->find_tensor("b")->bytes.data(), 4);
    CHECK(value == 1.0f);
    CHECK(file->find_tensor("c") == nullptr);
  }
}

TEST_CASE("gguf: a missing or contradicting shard is named (llm-bugs 089)") {
  const TempFolder folder;
  const std::string first = folder.path("m-00001-of-00002.gguf");
  const std::string second = folder.path("m-00002-of-00002.gguf");
  const auto open_error = [](const std::string& path) {
    return message_of([&] { GgufFile::open(path); });
  };
  write_set(folder);
  std::filesystem::remove(second);
  CHECK(open_error(first) ==
        first + ": shard 2 of 2 is missing: there is no file '" + second + "'");
  write_set(folder);
  std::filesystem::remove(first);
  CHECK(open_error(second) ==
        second + ": shard 1 of 2 is missing: there is no file '" + first + "'");
  write_set(folder, [](int, GgufWriter& w) { w.add("split.tensors.count", uint32_t{3}); });
  CHECK(open_error(first) == first + ": split.tensors.count is 3; the 2 shards hold 2 tensors");
  write_set(folder, [](int no, GgufWriter& w) {
    if (no == 1) w.add("split.count", uint16_t{3});
  });
  CHECK(open_error(first) == second + ": split.count is 3; the first shard has 2");
  write_set(folder, [](int, GgufWriter& w) { w.add("split.no", uint16_t{0}); });
  CHECK(open_error(first) == second + ": split.no is 0; the file name says 1");
  write_set(folder, [](int no, GgufWriter& w) {
    if (no == 1) w.tensors[0].name = "a";
  });
  CHECK(open_error(first) == second + ": tensor 'a' is in an earlier shard too");
  write_set(folder, [](int no, GgufWriter& w) {
    if (no == 1) w.add("general.architecture", "qwen2");
  });
  CHECK(open_error(first) ==
        second + ": general.architecture is 'qwen2'; the first shard has 'llama'");
  write_set(folder, [](int no, GgufWriter& w) {
    if (no == 0) w.add("split.no", uint16_t{2});
  });
  CHECK(open_error(first) == first + ": split.no is 2; with split.count 2 it is 0 to 1");
}

TEST_CASE("gguf: a shard under another name cannot find the others") {
  const TempFolder folder;
  write_set(folder);
  const std::string renamed = folder.path("model.gguf");
  std::filesystem::rename(folder.path("m-00002-of-00002.gguf"), renamed);
  CHECK(message_of([&] { GgufFile::open(renamed); }) ==
        renamed +
            ": this is shard 2 of 2 (split.no 1), so its name must end with -00002-of-00002.gguf "
            "for the others to be found");
}

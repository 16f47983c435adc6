// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "import/gguf.h"

namespace rlx {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is read in place");

constexpr size_t longest_key = 65535;
constexpr size_t longest_tensor_name = 64;
constexpr uint32_t most_dims = 4;
constexpr uint64_t default_alignment = 32;
constexpr int deepest_array = 8;
constexpr uint64_t most_walked = uint64_t{1} << 26;
// The shortest possible entries: a key of one byte with a u8; a name of one byte with one
// dimension.
constexpr uint64_t least_key_bytes = 8 + 1 + 4 + 1;
constexpr uint64_t least_tensor_bytes = 8 + 1 + 4 + 8 + 4 + 8;

/// Reads forward through the file. `where` and `name` say what is being read, for messages.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  size_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }
  const std::byte* data() const { return bytes_.data() + at_; }
  const std::string& source() const { return source_; }

  void set_context(std::string_view where, std::string_view name = {}) {
    where_ = where;
    name_ = name;
  }
  std::string context() const {
    return name_.data() == nullptr ? std::string(where_)
                                   : fmt::format("{} {}", where_, quote(name_));
  }

  void skip(uint64_t count) {
    if (count > left()) {
      fail(ErrorCode::InvalidFile, "{}: {} needs {} bytes at byte {}, but the file ends at byte {}",
           source_, context(), count, at_, bytes_.size());
    }
    at_ += count;
  }

  template <typename T>
  T number() {
    const std::byte* start = data();
    skip(sizeof(T));
    T value;
    std::memcpy(&value, start, sizeof(T));
    return value;
  }

  std::string_view text() {
    const uint64_t size = number<uint64_t>();
    const auto* start = reinterpret_cast<const char*>(data());
    skip(size);
    return {start, size};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& source_;
  size_t at_ = 0;
  std::string_view where_ = "the header";
  std::string_view name_;
};

/// The version of a file whose magic fits; refuses what this build does not read.
uint32_t read_version(Cursor& in) {
  const auto* magic = reinterpret_cast<const char*>(in.data());
  if (in.left() < 4 || std::memcmp(magic, "GGUF", 4) != 0) {
    const size_t shown = static_cast<size_t>(std::min<uint64_t>(in.left(), 4));
    fail(ErrorCode::InvalidFile, "{}: not a GGUF file: it starts with {}, not with 'GGUF'",
         in.source(), quote({magic, shown}));
  }
  in.skip(4);
  const uint32_t version = in.number<uint32_t>();
  if (version == 2 || version == 3) return version;
  if ((version & 0xffffu) == 0 && version != 0) {
    fail(ErrorCode::Unsupported,
         "{}: the byte order of this GGUF file is big-endian; only little-endian files are read",
         in.source());
  }
  fail(ErrorCode::Unsupported, "{}: GGUF version {} is not supported; versions 2 and 3 are",
       in.source(), version);
}

uint64_t read_count(Cursor& in, std::string_view what, uint64_t least_bytes) {
  in.set_context("the header");
  const uint64_t count = in.number<uint64_t>();
  if (count > in.left() / least_bytes) {
    fail(ErrorCode::InvalidFile,
         "{}: the header declares {} {}, but the {} bytes left hold at most {}", in.source(), count,
         what, in.left(), in.left() / least_bytes);
  }
  return count;
}

MetaType read_type(Cursor& in) {
  const uint32_t number = in.number<uint32_t>();
  if (number > static_cast<uint32_t>(MetaType::F64)) {
    fail(ErrorCode::InvalidFile, "{}: {} has value type {}; types are 0 to 12", in.source(),
         in.context(), number);
  }
  return static_cast<MetaType>(number);
}

void check_bools(const Cursor& in, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) {
    if (b > std::byte{1}) {
      fail(ErrorCode::InvalidFile, "{}: {} holds the bool {}; only 0 and 1 are allowed",
           in.source(), in.context(), static_cast<unsigned>(b));
    }
  }
}

/// Moves behind a value, having checked that it is whole.
void skip_value(Cursor& in, MetaType type, int depth = 0) {
  if (type == MetaType::String) {
    in.text();
    return;
  }
  if (type != MetaType::Array) {
    const std::byte* start = in.data();
    in.skip(meta_type_bytes(type));
    if (type == MetaType::Bool) check_bools(in, {start, 1});
    return;
  }
  if (depth == deepest_array) {
    fail(ErrorCode::LimitExceeded, "{}: {} nests arrays deeper than {}", in.source(), in.context(),
         deepest_array);
  }
  const MetaType element = read_type(in);
  const uint64_t count = in.number<uint64_t>();
  const size_t element_bytes = meta_type_bytes(element);
  const uint64_t least = element == MetaType::String  ? 8
                         : element == MetaType::Array ? 12
                                                      : element_bytes;
  if (count > in.left() / least) {
    fail(ErrorCode::InvalidFile,
         "{}: {} is an array of {} {}, but the {} bytes left hold at most {}", in.source(),
         in.context(), count, meta_type_name(element), in.left(), in.left() / least);
  }
  if (element_bytes == 0) {
    // A sparse file has room for any number of empty strings; walking them all would take hours.
    if (count > most_walked) {
      fail(ErrorCode::LimitExceeded, "{}: {} is an array of {} {}; at most {} are read",
           in.source(), in.context(), count, meta_type_name(element), most_walked);
    }
    for (uint64_t i = 0; i < count; ++i) skip_value(in, element, depth + 1);
    return;
  }
  const std::byte* start = in.data();
  in.skip(count * element_bytes);
  if (element == MetaType::Bool) check_bools(in, {start, count});
}

void read_metadata(Cursor& in, uint64_t count, Metadata& metadata) {
  for (uint64_t i = 0; i < count; ++i) {
    in.set_context("a metadata key");
    const std::string_view key = in.text();
    if (key.empty()) {
      fail(ErrorCode::InvalidFile, "{}: metadata key {} of {} is empty; a key has 1 to {} bytes",
           in.source(), i + 1, count, longest_key);
    }
    if (key.size() > longest_key) {
      fail(ErrorCode::InvalidFile, "{}: metadata key {} has {} bytes; at most {} are allowed",
           in.source(), quote(key), key.size(), longest_key);
    }
    in.set_context("key", key);
    const MetaType type = read_type(in);
    const std::byte* start = in.data();
    skip_value(in, type);
    if (!metadata.add(key, MetaValue(type, start))) {
      fail(ErrorCode::InvalidFile, "{}: key {} is there twice", in.source(), quote(key));
    }
  }
}

uint64_t read_alignment(const Metadata& metadata) {
  const uint64_t alignment = metadata.find_u64("general.alignment").value_or(default_alignment);
  if (alignment == 0 || alignment % 8 != 0) {
    fail(ErrorCode::InvalidFile, "{}: general.alignment is {}; a positive multiple of 8 is needed",
         metadata.source(), alignment);
  }
  return alignment;
}

/// The bytes of a tensor whose elements are known to fit 63 bits.
uint64_t tensor_bytes(const Cursor& in, const GgufTensor& tensor) {
  const DTypeInfo& info = dtype_info(*tensor.dtype);
  if (static_cast<uint64_t>(tensor.dims[0]) % info.block_elements != 0) {
    fail(ErrorCode::InvalidFile, "{}: tensor {} has rows of {} elements; {} needs a multiple of {}",
         in.source(), quote(tensor.name), tensor.dims[0], info.name, info.block_elements);
  }
  const uint64_t blocks = tensor.elements() / info.block_elements;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(blocks, uint64_t{info.block_bytes}, &bytes)) {
    fail(ErrorCode::InvalidFile, "{}: tensor {} of {} {} does not fit 64 bits", in.source(),
         quote(tensor.name), tensor.elements(), info.name);
  }
  return bytes;
}

void read_dims(Cursor& in, GgufTensor& tensor) {
  const uint32_t rank = in.number<uint32_t>();
  if (rank < 1 || rank > most_dims) {
    fail(ErrorCode::InvalidFile, "{}: tensor {} has {} dimensions; 1 to {} are allowed",
         in.source(), quote(tensor.name), rank, most_dims);
  }
  int64_t elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint64_t dim = in.number<uint64_t>();
    if (dim < 1 || dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(ErrorCode::InvalidFile, "{}: dimension {} of tensor {} is {}; 1 to 2^63 - 1 is allowed",
           in.source(), i, quote(tensor.name), dim);
    }
    tensor.dims.push_back(static_cast<int64_t>(dim));
    if (__builtin_mul_overflow(elements, tensor.dims.back(), &elements)) {
      fail(ErrorCode::InvalidFile,
           "{}: the dimensions {} of tensor {} have a product over 2^63 - 1", in.source(),
           fmt::join(tensor.dims, " x "), quote(tensor.name));
    }
  }
}

GgufTensor read_tensor(Cursor& in, uint64_t number, uint64_t count) {
  in.set_context("a tensor's name");
  GgufTensor tensor{};
  tensor.name = in.text();
  if (tensor.name.empty()) {
    fail(ErrorCode::InvalidFile, "{}: the name of tensor {} of {} is empty; it has 1 to {} bytes",
         in.source(), number, count, longest_tensor_name);
  }
  if (tensor.name.size() > longest_tensor_name) {
    fail(ErrorCode::InvalidFile, "{}: the name of tensor {} has {} bytes; at most {} are allowed",
         in.source(), quote(tensor.name), tensor.name.size(), longest_tensor_name);
  }
  in.set_context("tensor", tensor.name);
  read_dims(in, tensor);
  tensor.ggml_type = in.number<uint32_t>();
  tensor.dtype = dtype_from_ggml(tensor.ggml_type);
  tensor.offset = in.number<uint64_t>();
  return tensor;
}

/// Turns the offset into one from the start of the file and finds the bytes.
void place(const Cursor& in, std::span<const std::byte> file, const GgufContents& contents,
           GgufTensor& tensor) {
  if (tensor.offset % contents.alignment != 0) {
    fail(ErrorCode::InvalidFile, "{}: tensor {} has offset {}, no multiple of the alignment {}",
         in.source(), quote(tensor.name), tensor.offset, contents.alignment);
  }
  const uint64_t room = file.size() - std::min<uint64_t>(contents.data_offset, file.size());
  const uint64_t bytes = tensor.dtype ? tensor_bytes(in, tensor) : 0;
  if (tensor.offset > room) {
    fail(ErrorCode::InvalidFile,
         "{}: tensor {} starts at offset {} of the tensor data, which has {} bytes", in.source(),
         quote(tensor.name), tensor.offset, room);
  }
  if (bytes > room - tensor.offset) {
    fail(ErrorCode::InvalidFile,
         "{}: tensor {} needs {} bytes at offset {} of the tensor data, which has {} bytes",
         in.source(), quote(tensor.name), bytes, tensor.offset, room);
  }
  tensor.offset += contents.data_offset;
  if (tensor.dtype) tensor.bytes = file.subspan(tensor.offset, bytes);
}

void refuse_duplicates_and_overlaps(const std::string& source,
                                    const std::vector<GgufTensor>& tensors) {
  std::unordered_set<std::string_view> names;
  std::vector<const GgufTensor*> order;
  for (const GgufTensor& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      fail(ErrorCode::InvalidFile, "{}: tensor {} is there twice", source, quote(tensor.name));
    }
    if (tensor.dtype) order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& a = *order[i - 1];
    const GgufTensor& b = *order[i];
    if (b.offset - a.offset >= a.bytes.size()) continue;
    fail(ErrorCode::InvalidFile, "{}: tensors {} (bytes {} to {}) and {} (bytes {} to {}) overlap",
         source, quote(a.name), a.offset, a.offset + a.bytes.size(), quote(b.name), b.offset,
         b.offset + b.bytes.size());
  }
}

}  // namespace

uint64_t GgufTensor::elements() const {
  uint64_t product = 1;
  for (const int64_t dim : dims) product *= static_cast<uint64_t>(dim);
  return product;
}

std::string GgufTensor::type_text() const {
  return dtype ? std::string(dtype_name(*dtype)) : fmt::format("unknown type {}", ggml_type);
}

GgufContents parse_gguf(std::span<const std::byte> bytes, const std::string& source) {
  Cursor in(bytes, source);
  GgufContents contents{read_version(in), default_alignment, 0, Metadata(source), {}};
  const uint64_t tensor_count = read_count(in, "tensors", least_tensor_bytes);
  const uint64_t key_count = read_count(in, "metadata keys", least_key_bytes);
  read_metadata(in, key_count, contents.metadata);
  contents.alignment = read_alignment(contents.metadata);
  for (uint64_t i = 0; i < tensor_count; ++i) {
    contents.tensors.push_back(read_tensor(in, i + 1, tensor_count));
  }
  const uint64_t tail = in.at() % contents.alignment;
  const uint64_t padding = tail == 0 ? 0 : contents.alignment - tail;
  if (__builtin_add_overflow(uint64_t{in.at()}, padding, &contents.data_offset)) {
    fail(ErrorCode::InvalidFile, "{}: general.alignment {} puts the tensor data past 2^64", source,
         contents.alignment);
  }
  for (GgufTensor& tensor : contents.tensors) place(in, bytes, contents, tensor);
  refuse_duplicates_and_overlaps(source, contents.tensors);
  return contents;
}

}  // namespace rlx

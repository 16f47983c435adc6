// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "import/metadata.h"
#include "import/safetensors.h"

namespace rlx {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are read in place");

constexpr uint64_t largest_header = 100'000'000;
constexpr size_t most_dims = 64;

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName type_names[] = {
    {"F64", DType::F64},   {"F32", DType::F32},        {"F16", DType::F16},
    {"BF16", DType::BF16}, {"F8_E4M3", DType::F8E4M3}, {"F8_E5M2", DType::F8E5M2},
    {"I8", DType::I8},     {"I16", DType::I16},        {"I32", DType::I32},
    {"I64", DType::I64},   {"U8", DType::U8},          {"U16", DType::U16},
    {"U32", DType::U32},   {"U64", DType::U64},        {"BOOL", DType::Bool},
    {"C64", DType::C64},
};

std::optional<DType> type_of(std::string_view name) {
  for (const TypeName& row : type_names) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

/// Takes the header's JSON event by event, so that memory stays near its size and nesting costs
/// nothing. Offsets are those of the header, from the start of the data.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  struct Item {
    SafetensorsTensor tensor;
    uint64_t begin, end;
  };

  explicit HeaderReader(const std::string& source) : source_(source) {}
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Item> items;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_float(double, const std::string& text) override { return refuse(text); }
  bool number_integer(int64_t value) override { return refuse(std::to_string(value)); }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool number_unsigned(uint64_t value) override {
    if (state_ == State::Shape) {
      if (item_.tensor.shape.size() == most_dims) {
        fail(ErrorCode::LimitExceeded, "{}: {} has more than {} dimensions", source_, place(),
             most_dims);
      }
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        fail(ErrorCode::InvalidFile, "{}: {} has dimension {}; at most 2^63 - 1 is allowed",
             source_, place(), value);
      }
      item_.tensor.shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (state_ == State::Offsets && offsets_ < 2) {
      (offsets_++ == 0 ? item_.begin : item_.end) = value;
      return true;
    }
    return refuse(std::to_string(value));
  }

  bool string(std::string& text) override {
    if (state_ == State::Metadata) {
      metadata.emplace_back(field_, std::move(text));
      return true;
    }
    if (state_ != State::Tensor || field_ != "dtype") return refuse("text " + quote(text));
    item_.tensor.dtype = type_of(text);
    item_.tensor.type_name = std::move(text);
    return true;
  }

  bool start_object(size_t) override {
    if (state_ == State::Start) {
      state_ = State::Names;
    } else if (state_ == State::Names) {
      state_ = field_ == "__metadata__" ? State::Metadata : State::Tensor;
      item_ = {};
      item_.tensor.name = field_;
      seen_.clear();
    } else {
      return refuse("an object");
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::Tensor) {
      for (const char* needed : {"dtype", "shape", "data_offsets"}) {
        if (seen_.count(needed) == 0) {
          fail(ErrorCode::NotFound, "{}: tensor {} has no '{}'", source_, quote(item_.tensor.name),
               needed);
        }
      }
      items.push_back(std::move(item_));
    }
    state_ = state_ == State::Names ? State::End : State::Names;
    return true;
  }

  bool key(std::string& text) override {
    auto& names = state_ == State::Names ? names_ : seen_;
    if (!names.insert(text).second) {
      fail(ErrorCode::InvalidFile, "{}: {} {} is there twice in the header", source_,
           state_ == State::Names ? "name" : "key", quote(text));
    }
    if (state_ == State::Tensor && text != "dtype" && text != "shape" && text != "data_offsets") {
      fail(ErrorCode::InvalidFile,
           "{}: tensor {} has the key {}; dtype, shape and data_offsets are allowed", source_,
           quote(item_.tensor.name), quote(text));
    }
    field_ = std::move(text);
    return true;
  }

  bool start_array(size_t) override {
    if (state_ != State::Tensor || field_ == "dtype") return refuse("an array");
    state_ = field_ == "shape" ? State::Shape : State::Offsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (state_ == State::Offsets && offsets_ != 2) {
      fail(ErrorCode::InvalidFile, "{}: {} has {} elements; wanted 2", source_, place(), offsets_);
    }
    state_ = State::Tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fail(ErrorCode::InvalidFile, "{}: the header is not JSON at byte {} of the file", source_,
         8 + (position > 0 ? position - 1 : 0));
  }

 private:
  enum class State : uint8_t { Start, Names, Metadata, Tensor, Shape, Offsets, End };

  std::string place() const {
    switch (state_) {
      case State::Start:
      case State::End: return "the header";
      case State::Names: return "the entry of " + quote(field_);
      case State::Metadata: return "metadata " + quote(field_);
      case State::Tensor:
      case State::Shape:
      case State::Offsets: return field_ + " of tensor " + quote(item_.tensor.name);
    }
    return "";
  }

  std::string_view wanted() const {
    switch (state_) {
      case State::Start:
      case State::Names:
      case State::End: return "an object";
      case State::Metadata: return "text";
      case State::Tensor: return field_ == "dtype" ? "text" : "an array";
      case State::Shape: return "numbers from 0 to 2^63 - 1";
      case State::Offsets: return "two numbers from 0 to 2^64 - 1";
    }
    return "";
  }

  bool refuse(const std::string& found) const {
    fail(ErrorCode::InvalidFile, "{}: {}: found {}; wanted {}", source_, place(), found, wanted());
  }

  const std::string& source_;
  State state_ = State::Start;
  std::string field_;
  Item item_{};
  int offsets_ = 0;
  std::unordered_set<std::string> names_, seen_;
};

/// Checks one tensor's range against its shape and the data.
void check_item(const HeaderReader::Item& item, uint64_t data_bytes, const std::string& source) {
  const SafetensorsTensor& tensor = item.tensor;
  const std::string name = quote(tensor.name);
  if (item.begin > item.end || item.end > data_bytes) {
    fail(ErrorCode::InvalidFile,
         "{}: tensor {} has data_offsets [{}, {}]; the tensor data has {} bytes", source, name,
         item.begin, item.end, data_bytes);
  }
  if (!tensor.dtype) return;
  // The zero of an empty tensor hides no overflow: every product is checked before it.
  uint64_t bytes = dtype_info(*tensor.dtype).block_bytes;
  for (const int64_t dim : tensor.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) {
      fail(ErrorCode::InvalidFile, "{}: tensor {} of shape [{}] does not fit 64 bits", source, name,
           fmt::join(tensor.shape, ", "));
    }
  }
  if (bytes != item.end - item.begin) {
    fail(ErrorCode::InvalidFile,
         "{}: tensor {} of {} and shape [{}] has {} bytes; its data_offsets [{}, {}] have {}",
         source, name, tensor.type_name, fmt::join(tensor.shape, ", "), bytes, item.begin, item.end,
         item.end - item.begin);
  }
}

/// Every byte of the data belongs to exactly one tensor.
void check_cover(const std::vector<HeaderReader::Item>& items, uint64_t data_bytes,
                 const std::string& source) {
  std::vector<const HeaderReader::Item*> order;
  for (const auto& item : items) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  uint64_t at = 0;
  const HeaderReader::Item* before = nullptr;
  for (const auto* item : order) {
    if (item->begin < at) {
      fail(ErrorCode::InvalidFile,
           "{}: tensors {} (data bytes {} to {}) and {} (data bytes {} to {}) overlap", source,
           quote(before->tensor.name), before->begin, before->end, quote(item->tensor.name),
           item->begin, item->end);
    }
    if (item->begin > at) {
      fail(ErrorCode::InvalidFile, "{}: data bytes {} to {} before tensor {} belong to no tensor",
           source, at, item->begin, quote(item->tensor.name));
    }
    at = item->end;
    before = item;
  }
  if (at != data_bytes) {
    fail(ErrorCode::InvalidFile, "{}: the tensors end at data byte {}, but there are {} data bytes",
         source, at, data_bytes);
  }
}

}  // namespace

SafetensorsContents parse_safetensors(std::span<const std::byte> bytes, const std::string& source) {
  uint64_t header_bytes = 0;
  if (bytes.size() < 8) {
    fail(ErrorCode::InvalidFile,
         "{}: not a safetensors file: {} bytes are too few for the length of a header", source,
         bytes.size());
  }
  std::memcpy(&header_bytes, bytes.data(), 8);
  if (header_bytes > bytes.size() - 8) {
    fail(ErrorCode::InvalidFile,
         "{}: not a whole safetensors file: a header of {} bytes is declared, {} bytes follow",
         source, header_bytes, bytes.size() - 8);
  }
  if (header_bytes > largest_header) {
    fail(ErrorCode::LimitExceeded, "{}: the header has {} bytes; at most {} are read", source,
         header_bytes, largest_header);
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data() + 8);
  if (header_bytes == 0 || text[0] != '{') {
    fail(ErrorCode::InvalidFile, "{}: not a safetensors file: its header does not start with '{{'",
         source);
  }
  HeaderReader header(source);
  nlohmann::json::sax_parse(text, text + header_bytes, &header);
  const auto data = bytes.subspan(8 + header_bytes);
  for (const auto& item : header.items) check_item(item, data.size(), source);
  check_cover(header.items, data.size(), source);
  SafetensorsContents contents;
  contents.metadata = std::move(header.metadata);
  for (auto& item : header.items) {
    item.tensor.offset = 8 + header_bytes + item.begin;
    item.tensor.bytes = data.subspan(item.begin, item.end - item.begin);
    contents.tensors.push_back(std::move(item.tensor));
  }
  return contents;
}

}  // namespace rlx

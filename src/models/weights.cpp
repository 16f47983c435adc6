// SPDX-License-Identifier: Apache-2.0
#include "models/weights.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/error.h"

namespace rlx {
namespace {

std::string names_of(std::span<const Extent> shape) {
  std::string out;
  for (const Extent& extent : shape) {
    if (!out.empty()) out += ", ";
    out += extent.name;
  }
  return out;
}

std::vector<int64_t> sizes_of(std::span<const Extent> shape) {
  std::vector<int64_t> out;
  for (const Extent& extent : shape) out.push_back(extent.size);
  return out;
}

/// Whether each span starts where the one before it ends.
bool is_contiguous(std::span<const std::span<const std::byte>> parts) {
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i - 1].data() + parts[i - 1].size() != parts[i].data()) return false;
  }
  return true;
}

/// The n of "blk.<n>.…", or -1.
int64_t block_of(std::string_view name) {
  if (!name.starts_with("blk.")) return -1;
  int64_t number = -1;
  const auto result = std::from_chars(name.data() + 4, name.data() + name.size(), number);
  return result.ec == std::errc() ? number : -1;
}

/// Tensors of published files that hold what a graph computes itself.
bool is_derived(std::string_view name) {
  return name.find("rope_freqs") != std::string_view::npos ||
         name.find("attn_rot_embd") != std::string_view::npos ||
         name.find("inv_freq") != std::string_view::npos;
}

}  // namespace

const CheckpointTensor& Weights::checked(const std::string& name, std::span<const Extent> shape) {
  const CheckpointTensor& tensor = checkpoint_->tensor(name);
  used_.insert(name);
  const std::vector<int64_t> expected = sizes_of(shape);
  if (tensor.shape != expected) {
    fail(ErrorCode::InvalidFile, "{}: {}: [{}] found, [{}] = [{}] expected", checkpoint_->path(),
         name, fmt::join(tensor.shape, ", "), names_of(shape), fmt::join(expected, ", "));
  }
  if (!is_float(tensor.dtype) && !is_packed(tensor.dtype)) {
    fail(ErrorCode::Unsupported, "{}: {} has type {}; a float or packed type is needed",
         checkpoint_->path(), name, dtype_name(tensor.dtype));
  }
  return tensor;
}

Value Weights::add(const std::string& leaf_name, DType dtype, std::span<const int64_t> shape,
                   std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  LeafData data;
  if (with_bytes_) data = {bytes, std::move(owner)};
  return graph_->add_weight(leaf_name, {dtype, Shape(shape.begin(), shape.end())}, std::move(data));
}

Value Weights::get(const std::string& name, std::span<const Extent> shape) {
  const CheckpointTensor& tensor = checked(name, shape);
  const Value known = graph_->find(name);
  if (known.valid()) return known;
  return add(name, tensor.dtype, tensor.shape, tensor.bytes, checkpoint_);
}

Value Weights::rows(const std::string& name, const std::string& leaf_name,
                    std::span<const Extent> shape, int64_t first, int64_t count) {
  const CheckpointTensor& tensor = checked(name, shape);
  RLX_CHECK(first >= 0 && count > 0 && first + count <= tensor.shape[0]);
  const size_t row = tensor.bytes.size() / static_cast<size_t>(tensor.shape[0]);
  std::vector<int64_t> part = tensor.shape;
  part[0] = count;
  return add(
      leaf_name, tensor.dtype, part,
      tensor.bytes.subspan(static_cast<size_t>(first) * row, static_cast<size_t>(count) * row),
      checkpoint_);
}

Value Weights::stacked(const std::string& module, std::span<const Extent> shape) {
  const std::string whole = module + "_exps.weight";
  if (has(whole) || !has(module + ".0.weight")) return get(whole, shape);
  std::vector<std::span<const std::byte>> parts;
  DType dtype = DType::F32;
  for (int64_t expert = 0; expert < shape[0].size; ++expert) {
    const std::string name = fmt::format("{}.{}.weight", module, expert);
    const CheckpointTensor& tensor = checked(name, shape.subspan(1));
    if (expert == 0) dtype = tensor.dtype;
    if (tensor.dtype != dtype) {
      fail(ErrorCode::Unsupported, "{}: {} has type {} and expert 0 {}; one type is needed",
           checkpoint_->path(), name, dtype_name(tensor.dtype), dtype_name(dtype));
    }
    parts.push_back(tensor.bytes);
  }
  const size_t step = parts[0].size();
  if (!with_bytes_ || is_contiguous(parts)) {
    return add(whole, dtype, sizes_of(shape), {parts[0].data(), step * parts.size()}, checkpoint_);
  }
  const std::shared_ptr<std::byte[]> copy(new std::byte[step * parts.size()]);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(copy.get() + i * step, parts[i].data(), step);
  }
  return add(whole, dtype, sizes_of(shape), {copy.get(), step * parts.size()}, copy);
}

void Weights::refuse_unused(int64_t layers) const {
  for (const CheckpointTensor& tensor : checkpoint_->tensors()) {
    const int64_t block = block_of(tensor.name);
    if (block < 0 || used_.contains(tensor.name) || is_derived(tensor.name)) continue;
    if (block >= layers) {
      fail(ErrorCode::InvalidFile, "{}: tensor {} is of block {}, but {} is {}",
           checkpoint_->path(), quote(tensor.name), block, checkpoint_->key("block_count"), layers);
    }
    fail(ErrorCode::Unsupported, "{}: tensor {} has no place in the {} graph", checkpoint_->path(),
         quote(tensor.name), checkpoint_->architecture());
  }
}

}  // namespace rlx

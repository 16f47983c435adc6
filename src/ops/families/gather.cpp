// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/oracle.h"
#include "ops/records.h"
#include "ops/rules.h"
#include "ops/walk.h"
#include "quant/q8_0.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_gather(const InferArgs& a) {
  require_class(a, 0, kNumbers | kBools | kPackeds);
  require_class(a, 1, kInts);
  const TensorType& table = a.operands[0];
  const Shape& indices = a.operands[1].shape;
  const size_t axis = require_axis(a, a.attrs.get_int(AttrKey::Axis), table.rank());
  if (is_packed(table.dtype) && axis + 1 == table.rank()) {
    fail_infer(a, "axis {} of {} is the one its blocks run along", axis, operand_text(a, 0));
  }
  Shape out(table.shape.begin(), table.shape.begin() + static_cast<int64_t>(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), table.shape.begin() + static_cast<int64_t>(axis) + 1, table.shape.end());
  return one(table.dtype, std::move(out));
}

void gather_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& table = *a.operands[0];
  const OracleTensor& indices = *a.operands[1];
  OracleTensor& out = results[0];
  const AxisView view(table.shape, static_cast<size_t>(a.attrs.get_int(AttrKey::Axis)));
  const DTypeInfo& info = dtype_info(table.dtype);
  const int64_t row =
      is_packed(table.dtype) ? view.inner / info.block_elements * info.block_bytes : view.inner;
  int64_t to = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (const double index : indices.data) {
      if (!(index >= 0 && index < static_cast<double>(view.n))) {
        fail(ErrorCode::InvalidArgument, "gather: index {} is outside 0 to {}", index, view.n - 1);
      }
      const int64_t from = (o * view.n + static_cast<int64_t>(index)) * row;
      if (is_packed(table.dtype)) {
        std::copy_n(table.packed.begin() + from, row, out.packed.begin() + to);
      } else {
        std::copy_n(table.data.begin() + from, row, out.data.begin() + to);
      }
      to += row;
    }
  }
}

std::vector<TensorType> infer_append(const InferArgs& a) {
  const TensorType& state = a.operands[0];
  const TensorType& x = a.operands[1];
  const DType s = state.dtype;
  if (s != DType::F32 && s != DType::F16 && s != DType::BF16 && s != DType::Q8_0) {
    fail_infer(a, "{} must be f32, f16, bf16 or q8_0", operand_text(a, 0));
  }
  require_dtype(a, 1, DType::F32);
  require_min_rank(a, 0, s == DType::Q8_0 ? 2 : 1);
  require_rank(a, 1, state.rank());
  for (size_t i = 1; i < state.rank(); ++i) {
    require_equal(a, x.shape[i], state.shape[i], "a row of x against a row of the state");
  }
  const Dim& at = a.attrs.get_dim(AttrKey::At);
  Shape out = state.shape;
  out[0] = at + x.shape[0];
  // Only what no run could do is refused here: a run is told when its extents are too large.
  const Dim room = state.shape[0] - out[0];
  if (is_never_allowed(a, at) || is_never_allowed(a, room)) {
    fail_infer(a, "{} rows at {} do not fit {}", text_of(a, x.shape[0]), text_of(a, at),
               operand_text(a, 0));
  }
  return one(s, std::move(out));
}

void append_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  OracleTensor& state = *a.operands[0];
  const OracleTensor& x = *a.operands[1];
  const int64_t at = a.attrs.get_dim(AttrKey::At).value(a.symbols);
  if (at < 0 || at + x.shape[0] > state.shape[0]) {
    fail(ErrorCode::InvalidArgument, "append: {} rows at {} do not fit a state of {} rows",
         x.shape[0], at, state.shape[0]);
  }
  const int64_t row = product(x.shape, 1, x.shape.size());
  if (state.dtype == DType::Q8_0) {
    const DTypeInfo& info = dtype_info(state.dtype);
    const int64_t row_bytes = row / info.block_elements * info.block_bytes;
    const std::vector<float> narrow(x.data.begin(), x.data.end());
    quantize_q8_0(narrow.data(), state.packed.data() + at * row_bytes, narrow.size());
    std::copy_n(state.packed.begin(), results[0].packed.size(), results[0].packed.begin());
    return;
  }
  for (size_t i = 0; i < x.data.size(); ++i) {
    state.data[static_cast<size_t>(at * row) + i] =
        convert_number(DType::F32, state.dtype, x.data[i]);
  }
  std::copy_n(state.data.begin(), results[0].data.size(), results[0].data.begin());
}

}  // namespace

template <>
OpDef make_op<OpKind::Gather>() {
  OpDef d;
  d.op = OpKind::Gather;
  d.doc =
      "y[i.., j.., k..] = table[i.., indices[j..], k..] with `axis` the one looked up (ONNX "
      "Gather: "
      "leading axes are kept); an index outside the axis is an error; packed tables give packed "
      "rows, along any axis but the last.";
  d.operands = {{"table"}, {"indices"}};
  d.attrs = {{AttrKey::Axis}};
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_gather;
  d.reference = gather_reference;
  d.samples = {{"const %t : f32[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
                "const %i : i32[2] = [2, 0] %y = gather %t, %i {axis = 0} output %y",
                {5, 6, 1, 2}},
               {"const %t : f32[2, 3] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] "
                "const %i : i64[1, 2] = [2, 2] %y = gather %t, %i {axis = 1} : f32[2, 1, 2] "
                "output %y",
                {3, 3, 6, 6}}};
  return d;
}

template <>
OpDef make_op<OpKind::Append>() {
  OpDef d;
  d.op = OpKind::Append;
  d.doc =
      "Writes the rows of x into the state from row `at` on, in the state's element type, and "
      "gives "
      "the state's first at + rows(x) rows.";
  d.operands = {{"state"}, {"x"}};
  d.attrs = {{AttrKey::At}};
  d.precision = PrecisionClass::DataMovement;
  d.infer = infer_append;
  d.reference = append_reference;
  d.samples = {{"state %s : f32[4, 2] const %x : f32[1, 2] = [3.0, 4.0] "
                "%y = append %s, %x {at = 1} : f32[2, 2] output %y",
                {0, 0, 3, 4}},
               {"state %s : f16[2, 1] const %x : f32[1, 1] = [2049.0] "
                "%y = append %s, %x {at = 0} : f16[1, 1] output %y",
                {2048}},
               {"state %s : q8_0[2, 32] const %x : f32[1, 32] = splat 127.0 "
                "%y = append %s, %x {at = 0} : q8_0[1, 32] %d = dequantize %y "
                "%m = reduce_sum %d {axes = [0, 1], keep_dims = false} output %m",
                {4064}}};
  return d;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "ops/records.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace rlx {
namespace {

std::vector<TensorType> infer_matmul(const InferArgs& a) {
  require_class(a, 0, kNumbers);
  require_same_dtype(a, 0, 1);
  require_min_rank(a, 0, 2);
  require_min_rank(a, 1, 2);
  const Shape& x = a.operands[0].shape;
  const Shape& y = a.operands[1].shape;
  require_equal(a, y[y.size() - 2], x.back(), "rows of b against columns of a");
  Shape out = broadcast_shapes(a, Shape(x.begin(), x.end() - 2), Shape(y.begin(), y.end() - 2));
  out.push_back(x[x.size() - 2]);
  out.push_back(y.back());
  return one(a.operands[0].dtype, std::move(out));
}

/// One [m, k] x [k, n] product, added up row by row so that memory is read in order.
void multiply(const double* x, const double* y, double* out, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      const double factor = x[i * k + j];
      for (int64_t c = 0; c < n; ++c) out[i * n + c] += factor * y[j * n + c];
    }
  }
}

void matmul_reference(const OracleArgs& a, std::span<OracleTensor> results) {
  const OracleTensor& x = *a.operands[0];
  const OracleTensor& y = *a.operands[1];
  OracleTensor& out = results[0];
  const Extents batch(out.shape.begin(), out.shape.end() - 2);
  const int64_t m = x.shape[x.shape.size() - 2], k = x.shape.back(), n = y.shape.back();
  const Extents x_steps = broadcast_strides({x.shape.begin(), x.shape.end() - 2}, batch);
  const Extents y_steps = broadcast_strides({y.shape.begin(), y.shape.end() - 2}, batch);
  double* to = out.data.data();
  walk<2>(batch, {x_steps, y_steps}, [&](const std::array<int64_t, 2>& at) {
    multiply(x.data.data() + at[0] * m * k, y.data.data() + at[1] * k * n, to, m, k, n);
    to += m * n;
  });
}

}  // namespace

template <>
OpDef make_op<OpKind::Matmul>() {
  OpDef d;
  d.op = OpKind::Matmul;
  d.doc =
      "y[.., m, n] = sum over k of a[.., m, k] * b[.., k, n]; leading axes broadcast as NumPy's.";
  d.operands = {{"a"}, {"b"}};
  d.precision = PrecisionClass::Compute;
  d.infer = infer_matmul;
  d.reference = matmul_reference;
  d.samples = {{"const %a : f32[2, 2] = [1.0, 2.0, 3.0, 4.0] "
                "const %b : f32[2, 3] = [1.0, 0.0, -1.0, 2.0, 1.0, 0.5] "
                "%y = matmul %a, %b output %y",
                {5, 2, 0, 11, 4, -1}},
               {"const %a : f32[2, 1, 2] = [1.0, 2.0, 3.0, 4.0] const %b : f32[2, 1] = [1.0, 10.0] "
                "%y = matmul %a, %b : f32[2, 1, 1] output %y",
                {21, 43}}};
  return d;
}

}  // namespace rlx

// SPDX-License-Identifier: Apache-2.0
#include "ops/walk.h"

namespace rlx {

int64_t product(const Extents& shape, size_t begin, size_t end) {
  int64_t p = 1;
  for (size_t i = begin; i < end; ++i) p *= shape[i];
  return p;
}

Extents strides_of(const Extents& shape) {
  Extents strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Extents broadcast_strides(const Extents& shape, const Extents& out) {
  const Extents own = strides_of(shape);
  Extents strides(out.size(), 0);
  const size_t lead = out.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

void copy_strided(const OracleTensor& source, int64_t base, const Extents& strides,
                  OracleTensor& result) {
  size_t i = 0;
  walk<1>(result.shape, {strides}, [&](const std::array<int64_t, 1>& at) {
    result.data[i++] = source.data[static_cast<size_t>(base + at[0])];
  });
}

}  // namespace rlx

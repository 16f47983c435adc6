// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

#include "device/kernel.h"

namespace rlx::cpu {

/// Entry i of an i32 or i64 tensor when it is within [0, limit), otherwise -1.
[[maybe_unused]] static int64_t read_id(const TensorView& ids, int64_t i, int64_t limit) {
  int64_t id;
  if (ids.dtype == DType::I64) {
    id = reinterpret_cast<const int64_t*>(ids.data)[i];
  } else {
    id = reinterpret_cast<const int32_t*>(ids.data)[i];
  }
  return id >= 0 && id < limit ? id : -1;
}

}  // namespace rlx::cpu

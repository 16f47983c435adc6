// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/vec.h"

#if defined(__AVX512F__)

namespace rlx::cpu::RLX_ISA {

/// Sixteen vectors of sixteen 32-bit lanes, rows to columns.
RLX_INLINE void transpose(VecI (&v)[16]) {
  VecI t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const VecI a = v[2 * i], b = v[2 * i + 1];
    t[2 * i] =
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    t[2 * i + 1] =
        __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const VecI a = t[4 * i + j], b = t[4 * i + 2 + j];
      v[4 * i + 2 * j] =
          __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      v[4 * i + 2 * j + 1] =
          __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
  }
  // v[4 * i + j] holds columns j, 4 + j, 8 + j, 12 + j of rows 4 * i …, four lanes each.
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const VecI a = v[j], b = v[4 + j], c = v[8 + j], d = v[12 + j];
    const VecI ab0 =
        __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    const VecI ab1 =
        __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    const VecI cd0 =
        __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    const VecI cd1 =
        __builtin_shufflevector(c, d, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    t[j] =
        __builtin_shufflevector(ab0, cd0, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    t[4 + j] = __builtin_shufflevector(ab0, cd0, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29,
                                       30, 31);
    t[8 + j] =
        __builtin_shufflevector(ab1, cd1, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    t[12 + j] = __builtin_shufflevector(ab1, cd1, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28,
                                        29, 30, 31);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) v[i] = t[i];
}

RLX_INLINE void store_lanes(void* p, VecI v) { __builtin_memcpy(p, &v, sizeof v); }
RLX_INLINE VecI load_lanes(const void* p) {
  VecI v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace rlx::cpu::RLX_ISA

#endif

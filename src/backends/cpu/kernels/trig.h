// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/cpu/kernels/vec.h"

namespace rlx::cpu::RLX_ISA {

/// Largest |angle| that sin_cos takes.
inline constexpr double max_angle = 0x1p30;

struct SinCos {
  double sin, cos;
};

/// Sine and cosine of `angle` (|angle| <= max_angle) with an error below 1e-9, in plain arithmetic
/// that a loop over it is vectorised with. The angle is reduced by multiples of pi/2 held in three
/// parts, the first two of 33 bits, so that their products with the quotient are exact.
RLX_INLINE SinCos sin_cos(double angle) {
  const double magic = 0x1.8p52;
  const double shifted = angle * 0.63661977236758134308 + magic;
  const double n = shifted - magic;
  int64_t bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  const int64_t quadrant = bits & 3;
  double r = angle - n * 0x1.921fb54400000p+0;
  r = r - n * 0x1.0b4611a600000p-34;
  r = r - n * 0x1.3198a2e037073p-69;
  const double z = r * r;
  double s = 1.0 / 362880 - z * (1.0 / 39916800);
  s = -1.0 / 5040 + z * s;
  s = 1.0 / 120 + z * s;
  s = -1.0 / 6 + z * s;
  const double sine = r + r * z * s;
  double c = -1.0 / 3628800 + z * (1.0 / 479001600);
  c = 1.0 / 40320 + z * c;
  c = -1.0 / 720 + z * c;
  c = 1.0 / 24 + z * c;
  c = -0.5 + z * c;
  const double cosine = 1.0 + z * c;
  const bool swap = (quadrant & 1) != 0;
  const double first = swap ? cosine : sine;
  const double second = swap ? sine : cosine;
  return {(quadrant & 2) != 0 ? -first : first, ((quadrant + 1) & 2) != 0 ? -second : second};
}

}  // namespace rlx::cpu::RLX_ISA

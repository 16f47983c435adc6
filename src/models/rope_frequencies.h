// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "import/checkpoint.h"

namespace rlx {

/// How fast each pair of channels turns, in radians per token, and what rotated vectors are
/// multiplied by.
struct RopeFrequencies {
  std::vector<double> inv_freq;  ///< one per pair
  double magnitude = 1;
};

/// inv_freq[i] = base^(-2i / dims), for `dims` (even) rotated channels. Source: RoFormer,
/// arXiv 2104.09864.
RopeFrequencies plain_rope(double base, int64_t dims);

/// YaRN's numbers; see yarn_rope().
struct YarnScaling {
  double factor = 1;            ///< of the context
  double original_context = 0;  ///< tokens the model was trained on before
  double beta_fast = 32;        ///< pairs that turn more often in the original context stay
  double beta_slow = 1;         ///< pairs that turn less often are slowed by `factor`
};

/// Between the two limits it is blended over the index of the pair, from the floor of the first to
/// the ceiling of the second; magnitude 1 + 0.1 ln(factor). A factor of 1 changes nothing. Source:
/// YaRN, arXiv 2309.00071, section 3.2 and 3.4.
RopeFrequencies yarn_rope(double base, int64_t dims, const YarnScaling& scaling);

/// The rope.* keys and frequency factor tensors (rope_freqs, rope_factors_long and _short) of a
/// checkpoint. Where there are two sets of factors, those for long texts are taken when `context`
/// is above rope.scaling.original_context_length.
RopeFrequencies read_rope(const Checkpoint& checkpoint, int64_t dims, int64_t context);

/// rope.dimension_count or `head_dim`: even and at most `head_dim`, or an Error.
int64_t read_rope_dims(const Checkpoint& checkpoint, int64_t head_dim);

}  // namespace rlx

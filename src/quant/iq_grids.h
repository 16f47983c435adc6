// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace rlx::quant {

/// A codebook: byte i of a row (counted from the low end) is the magnitude of its element i.
template <typename Row, size_t n>
struct GridTable {
  Row rows[n];
};

/// The iq types' codebooks. iq1's elements are stored plus one (0, 1, 2 for -1, 0, 1); the others'
/// are magnitudes whose signs the blocks store.
extern const GridTable<uint64_t, 2048> iq1_grid;
extern const GridTable<uint64_t, 256> iq2_xxs_grid;
extern const GridTable<uint64_t, 512> iq2_xs_grid;
extern const GridTable<uint64_t, 1024> iq2_s_grid;
extern const GridTable<uint32_t, 256> iq3_xxs_grid;
extern const GridTable<uint32_t, 512> iq3_s_grid;

}  // namespace rlx::quant

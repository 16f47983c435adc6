#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/quant/iq_grids.cpp: the codebooks of the iq block types as packed words.

The values are facts of the GGUF format; they are read out of PyPI gguf (0.19.0, numpy installed)
and stored in a packing of this project's own: one 16-bit word per row, element i of the row in bits
[w*i, w*i + w), w = 2 for rows of 8 elements and 3 for rows of 4.

    tools/make_iq_tables.py > src/quant/iq_grids.cpp
"""
import numpy as np
import gguf.quants as q

TABLES = [  # name, class with the values, bits per element, meaning of the 2 or 3 bits
    ("iq1", q.IQ1_S, 2, [-1, 0, 1], [0, 1, 2]),
    ("iq2_xxs", q.IQ2_XXS, 2, [8, 25, 43], [8, 25, 43]),
    ("iq2_xs", q.IQ2_XS, 2, [8, 25, 43], [8, 25, 43]),
    ("iq2_s", q.IQ2_S, 2, [8, 25, 43], [8, 25, 43]),
    ("iq3_xxs", q.IQ3_XXS, 3, [4, 12, 20, 28, 36, 44, 52, 62], [4, 12, 20, 28, 36, 44, 52, 62]),
    ("iq3_s", q.IQ3_S, 3, [1, 3, 5, 7, 9, 11, 13, 15], [1, 3, 5, 7, 9, 11, 13, 15]),
]

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Written by tools/make_iq_tables.py; edit that. The codebooks are facts of the GGUF format (values
// as in PyPI gguf 0.19.0), packed one 16-bit word per row and expanded here by the compiler.
// clang-format off
#include "quant/iq_grids.h"

namespace rlx::quant {
namespace {

template <typename Row, size_t n, size_t levels>
constexpr GridTable<Row, n> expand(const uint16_t (&words)[n], const uint8_t (&values)[levels]) {
  constexpr unsigned bits = levels > 4 ? 3 : 2;
  GridTable<Row, n> table{};
  for (size_t r = 0; r < n; ++r) {
    for (unsigned i = 0; i < sizeof(Row); ++i) {
      const unsigned level = (words[r] >> (bits * i)) & ((1u << bits) - 1);
      table.rows[r] |= static_cast<Row>(values[level]) << (8 * i);
    }
  }
  return table;
}
"""


def words_of(cls, bits, values):
    cls.init_grid()
    grid = cls.grid.reshape(cls.grid_shape).astype(np.int64)
    levels = np.searchsorted(values, grid)
    assert (np.array(values)[levels] == grid).all(), cls
    return (levels << (bits * np.arange(grid.shape[1]))).sum(axis=1), grid.shape[1]


def main():
    print(HEAD)
    tail = []
    for name, cls, bits, values, stored in TABLES:
        words, width = words_of(cls, bits, values)
        print(f"constexpr uint16_t {name}_words[{len(words)}] = {{")
        for i in range(0, len(words), 11):
            print("    " + ", ".join(f"0x{w:04x}" for w in words[i : i + 11]) + ",")
        print("};\n")
        row = "uint64_t" if width == 8 else "uint32_t"
        levels = ", ".join(map(str, stored))
        tail.append(f"constexpr uint8_t {name}_values[] = {{{levels}}};")
        tail.append(
            f"constexpr GridTable<{row}, {len(words)}> {name}_grid ="
            f" expand<{row}>({name}_words, {name}_values);"
        )
    public = [line for line in tail if "GridTable" in line]
    print("\n".join(line for line in tail if "GridTable" not in line))
    print("\n}  // namespace\n")
    print("\n".join(public))
    print("\n}  // namespace rlx::quant")


main()

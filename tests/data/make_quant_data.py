#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the stored outputs that tests/unit/quant_*_test.cpp replay; needs numpy and gguf 0.19.0.

quant_<type>.bin         blocks, then the float32 values the NumPy dequantizers give them
quant_crc.txt            per type: CRC-32 of the values of 2048 blocks of noise(), NaN as 0x7fc00000
quant_q15_rows.bin       floats, then their Q15 blocks
quant_q8_0_rows.bin      floats, then their q8_0 blocks as gguf's quantizer makes them

Where gguf has no dequantizer (q1_0, q2_0, q8_1, q8_k) the format's definition is written out here.

    tests/data/make_quant_data.py     # rewrites the files beside itself
"""
import pathlib
import zlib

import numpy as np
import gguf.quants
from gguf import GGMLQuantizationType as T

HERE = pathlib.Path(__file__).parent

# name: (elements, bytes, offsets of f16 scales and mins in a block)
TYPES = {
    "q1_0": (128, 18, [0]), "q4_0": (32, 18, [0]), "q4_1": (32, 20, [0, 2]),
    "q5_0": (32, 22, [0]), "q5_1": (32, 24, [0, 2]), "q8_0": (32, 34, [0]),
    "q8_1": (32, 36, [0, 2]), "q2_k": (256, 84, [80, 82]), "q3_k": (256, 110, [108]),
    "q4_k": (256, 144, [0, 2]), "q5_k": (256, 176, [0, 2]), "q6_k": (256, 210, [208]),
    "q8_k": (256, 292, []), "iq1_s": (256, 50, [0]), "iq1_m": (256, 56, []),
    "iq2_xxs": (256, 66, [0]), "iq2_xs": (256, 74, [0]), "iq2_s": (256, 82, [0]),
    "iq3_xxs": (256, 98, [0]), "iq3_s": (256, 110, [0]), "iq4_nl": (32, 18, [0]),
    "iq4_xs": (256, 136, [0]), "tq1_0": (256, 54, [52]), "tq2_0": (256, 66, [64]),
    "mxfp4": (32, 17, []), "nvfp4": (64, 36, []), "q2_0": (64, 18, [0]),
}

# Zero, minus zero, subnormals, the largest, one, infinities, NaN; other blocks keep random bits.
F16_EXTREMES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0xFBFF, 0x3C00, 0x7C00, 0xFC00, 0x7E00]


def noise(n):
    """n bytes: the low byte of a 32-bit integer hash of the position (as in quant_data.h)."""
    x = np.arange(n, dtype=np.uint32)
    with np.errstate(over="ignore"):
        x ^= x >> 16
        x *= np.uint32(0x7FEB352D)
        x ^= x >> 15
        x *= np.uint32(0x846CA68B)
        x ^= x >> 16
    return (x & 0xFF).astype(np.uint8)


def f16_at(blocks, at):
    return blocks[:, at : at + 2].copy().view(np.float16).astype(np.float32)


def dequantize(name, blocks):
    with np.errstate(all="ignore"):
        if name == "q1_0":
            bits = np.unpackbits(blocks[:, 2:], axis=1, bitorder="little")
            return f16_at(blocks, 0) * np.where(bits == 1, np.float32(1), np.float32(-1))
        if name == "q2_0":
            codes = (blocks[:, 2:, None] >> np.arange(0, 8, 2, dtype=np.uint8)) & 3
            return f16_at(blocks, 0) * (codes.reshape(len(blocks), -1).astype(np.float32) - 1)
        if name == "q8_1":
            return f16_at(blocks, 0) * blocks[:, 4:].view(np.int8).astype(np.float32)
        if name == "q8_k":
            d = blocks[:, :4].copy().view(np.float32)
            return d * blocks[:, 4:260].view(np.int8).astype(np.float32)
        return gguf.quants.dequantize(blocks, T[name.upper()])


def test_blocks(rng, name):
    elements, size, scales = TYPES[name]
    n = 16 if elements == 256 else 40
    blocks = rng.integers(0, 256, (n, size), dtype=np.uint8)
    for i, extreme in enumerate(F16_EXTREMES):
        for k, at in enumerate(scales):
            # The second field, a min, meets each extreme scale with another extreme.
            value = np.array([F16_EXTREMES[(i + 3 * k) % len(F16_EXTREMES)]], dtype=np.uint16)
            blocks[i, at : at + 2] = value.view(np.uint8)
    for at in scales:
        # Beyond the extremes, scales of the size that models have.
        usual = rng.normal(0, 0.02, n - len(F16_EXTREMES)).astype(np.float16)
        blocks[len(F16_EXTREMES) :, at : at + 2] = usual.view(np.uint8).reshape(-1, 2)
    if name == "mxfp4":
        blocks[:6, 0] = [0, 1, 2, 127, 254, 255]
    if name == "nvfp4":
        blocks[:2, :4] = [[0, 1, 7, 8], [0x7E, 0x7F, 0x80, 0xFF]]
    return blocks


def q15(x):
    x = x.reshape(-1, 32)
    finite = np.isfinite(x).all(axis=1)
    amax = np.abs(x).max(axis=1)
    with np.errstate(all="ignore"):
        scale = np.maximum(amax / np.float32(16256), np.float32(2.0**-126))
        scale[amax == 0] = 0
        q = np.rint(x / scale[:, None])
    q[(amax == 0) | ~finite] = 0
    scale[~finite] = np.nan
    q = q.astype(np.int32)
    hi = (q + 64) >> 7
    lo = q - 128 * hi
    assert np.abs(q).max() <= 16256 and np.abs(hi).max() <= 127
    assert lo.min() >= -64 and lo.max() <= 63
    parts = [scale.astype(np.float32)[:, None].view(np.uint8)]
    parts.append(q.sum(axis=1, dtype=np.int32)[:, None].view(np.uint8))
    parts += [hi.astype(np.int8).view(np.uint8), lo.astype(np.int8).view(np.uint8)]
    return np.concatenate(parts, axis=1)


def activation_rows(rng):
    rows = rng.normal(0, 1, (40, 32)).astype(np.float32)
    rows[1] = 0
    rows[2] *= np.float32(1e30)
    rows[3] *= np.float32(1e-30)
    rows[4] = np.arange(32) - 16  # one multiple of the scale apart
    rows[5, :] = [(-1) ** i * (i + 0.5) for i in range(32)]
    rows[5, 31] = 127  # q8_0: d is one, so the others are ties
    rows[6, :] = [(-1) ** i * (i + 0.5) for i in range(32)]
    rows[6, 31] = -16256  # q15: the scale is one
    rows[7] = -0.0
    rows[8, 1:] = 0
    rows[9:20] *= np.float32(2.0) ** rng.integers(-20, 20, (11, 32)).astype(np.float32)
    return rows


def main():
    rng = np.random.default_rng(20240607)
    crcs = []
    for name, (elements, size, _) in TYPES.items():
        blocks = test_blocks(rng, name)
        values = dequantize(name, blocks).astype(np.float32)
        (HERE / f"quant_{name}.bin").write_bytes(blocks.tobytes() + values.tobytes())
        many = dequantize(name, noise(2048 * size).reshape(2048, size)).astype(np.float32)
        many = np.where(np.isnan(many), np.float32(np.nan), many)
        assert many.shape == (2048, elements)
        crcs.append(f"{name} {zlib.crc32(many.tobytes()):08x}\n")
    (HERE / "quant_crc.txt").write_text("".join(crcs))

    rows = activation_rows(rng)
    packed = gguf.quants.quantize(rows, T.Q8_0)
    (HERE / "quant_q8_0_rows.bin").write_bytes(rows.tobytes() + packed.tobytes())
    tiny = np.concatenate([rows, rows[:1] * np.float32(1e-37), rows[:1] * np.float32(1e-43)])
    broken = rows[:3].copy()
    broken[0, 5], broken[1, 31], broken[2, 0] = np.nan, np.inf, -np.inf
    rows = np.concatenate([tiny, broken])
    (HERE / "quant_q15_rows.bin").write_bytes(rows.tobytes() + q15(rows).tobytes())


main()

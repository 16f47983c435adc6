#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_cases.json: graphs in the text form with inputs and the numbers NumPy says they give.

Every formula here is written from the op's definition in plain NumPy (float64), apart from src/ops.
Run: python3 tests/data/make_ops_data.py
"""

import json
import math
import os

import numpy as np

rng = np.random.default_rng(20240607)
cases = []
erf = np.vectorize(math.erf)


def floats(*shape, low=-4.0, high=4.0):
    """Multiples of 1/64: exact in f32 and short in the file."""
    return np.round(rng.uniform(low, high, shape) * 64) / 64


def ints(*shape, low=-9, high=10):
    return rng.integers(low, high, shape).astype(np.int64)


def number(x):
    x = float(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return int(x) if x == int(x) and abs(x) < 1e15 else float(f"{x:.14g}")


def tensor(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "data": [number(v) for v in x.reshape(-1)]}


def case(body, inputs, *expected, symbols=None, tolerance=1e-11):
    """inputs: name -> (type text, array), or (type text, bytes, shape) for packed ones."""
    entry = {"graph": body, "inputs": {}, "expected": [tensor(e) for e in expected],
             "tolerance": tolerance}
    declared = ""
    if symbols:
        entry["symbols"] = list(symbols.values())
        declared = "dims " + ", ".join(f"{s} <= 16" for s in symbols) + " "
    for name, spec in inputs.items():
        declared += f"input %{name} : {spec[0]} "
        if isinstance(spec[1], bytes):
            entry["inputs"][name] = {"shape": list(spec[2]), "hex": spec[1].hex()}
        else:
            entry["inputs"][name] = tensor(spec[1])
    entry["graph"] = "graph case { " + declared + body + " }"
    cases.append(entry)


def text(values):
    return "[" + ", ".join(str(v) for v in values) + "]"


# Elementwise ------------------------------------------------------------------------------------

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


UNARY = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "exp": np.exp, "sin": np.sin,
    "cos": np.cos, "tanh": np.tanh, "erf": erf, "floor": np.floor, "ceil": np.ceil,
    "round": np.round, "sigmoid": sigmoid, "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * sigmoid(x), "gelu": gelu,
}
POSITIVE = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x)}


def elementwise():
    for op, f in UNARY.items():
        x = floats(3, 5)
        case(f"%y = {op} %x output %y", {"x": ("f32[T, 5]", x)}, f(x), symbols={"T": 3})
    for op, f in POSITIVE.items():
        x = floats(7, low=0.1, high=9)
        case(f"%y = {op} %x output %y", {"x": ("f32[7]", x)}, f(x))
    x = floats(4, 3)
    case('%y = gelu %x {approximate = "tanh"} output %y', {"x": ("f32[4, 3]", x)}, gelu_tanh(x))
    case("%y = softcap %x {softcap = 1.5} output %y", {"x": ("f32[4, 3]", x)},
         1.5 * np.tanh(x / 1.5))
    u = floats(4, 3)
    for name, f in {"silu": UNARY["silu"], "gelu": gelu, "gelu_tanh": gelu_tanh}.items():
        case(f'%y = glu %g, %u {{activation = "{name}"}} output %y',
             {"g": ("f32[4, 3]", x), "u": ("f32[4, 3]", u)}, f(x) * u)
    # Half inputs are computed wide and rounded once, at the end.
    h = floats(8)
    case("%y = silu %x output %y", {"x": ("f16[8]", h)},
         UNARY["silu"](h).astype(np.float16).astype(np.float64))


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum,
    "min": np.minimum, "mod": np.fmod, "equal": np.equal, "less": np.less,
    "less_equal": np.less_equal,
}
SHAPES = [("f32[T, 4]", (3, 4), "f32[4]", (4,)), ("f32[1, S]", (1, 2), "f32[T, 1]", (3, 1)),
          ("f32[]", (), "f32[2, T, 2]", (2, 3, 2)), ("f32[T+1, 2]", (4, 2), "f32[T+1, 2]", (4, 2))]


def binary():
    for op, f in BINARY.items():
        for ta, sa, tb, sb in SHAPES:
            a, b = np.round(floats(*sa)), floats(*sb)
            if op in ("equal", "less", "less_equal"):
                b = np.round(b)
            b = np.where(b == 0, 0.5, b) if op in ("div", "mod") else b
            case(f"%y = {op} %a, %b output %y", {"a": (ta, a), "b": (tb, b)},
                 np.asarray(f(a, b), dtype=np.float64), symbols={"T": 3, "S": 2})
    a, b = ints(12), ints(12)
    for op, f in {"add": np.add, "mul": np.multiply, "max": np.maximum}.items():
        case(f"%y = {op} %a, %b output %y", {"a": ("i32[12]", a), "b": ("i32[12]", b)}, f(a, b))
    safe = np.where(b == 0, 3, b)
    case("%y = div %a, %b output %y", {"a": ("i32[12]", a), "b": ("i32[12]", safe)},
         np.trunc(a / safe))
    case("%y = mod %a, %b output %y", {"a": ("i64[12]", a), "b": ("i64[12]", safe)},
         np.fmod(a, safe))
    wide = ints(12, low=-128, high=128)
    other = ints(12, low=-128, high=128)
    for op, f in {"add": np.add, "sub": np.subtract, "mul": np.multiply}.items():
        case(f"%y = {op} %a, %b output %y", {"a": ("i8[12]", wide), "b": ("i8[12]", other)},
             f(wide.astype(np.int8), other.astype(np.int8)))
    x, e = floats(9, low=0.1, high=3), floats(9, low=-2, high=2)
    case("%y = pow %x, %e output %y", {"x": ("f32[9]", x), "e": ("f32[9]", e)}, x**e)
    p, q = ints(8, low=0, high=2), ints(8, low=0, high=2)
    for op, f in {"and": np.logical_and, "or": np.logical_or}.items():
        case(f"%y = {op} %a, %b output %y", {"a": ("bool[8]", p), "b": ("bool[8]", q)}, f(p, q))
    case("%y = not %a output %y", {"a": ("bool[8]", p)}, 1 - p)
    c, t, f = ints(3, 1, low=0, high=2), floats(3, 4), floats(4)
    case("%y = where %c, %t, %f output %y",
         {"c": ("bool[T, 1]", c), "t": ("f32[T, 4]", t), "f": ("f32[4]", f)},
         np.where(c, t, f), symbols={"T": 3})


def bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    kept = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16
    return kept.astype(np.uint32).view(np.float32).astype(np.float64)


def casts():
    x = rng.normal(0, 1, 24).astype(np.float32) * np.float32(2.0) ** ints(24, low=-26, high=15)
    x = x.astype(np.float32)
    exact = [float(v) for v in x]
    for to, f in {"f16": lambda v: v.astype(np.float16), "bf16": bf16}.items():
        cases_before = len(cases)
        case(f"%y = cast %x {{to = {to}}} output %y", {"x": ("f32[24]", x)}, f(x))
        cases[cases_before]["inputs"]["x"]["data"] = exact
    x = floats(24, low=-100, high=100)
    for to, dtype in {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}.items():
        case(f"%y = cast %x {{to = {to}}} output %y", {"x": ("f32[24]", x)}, x.astype(dtype))
    i = ints(24, low=-70000, high=70000)
    for to in ("i8", "u8", "i16", "u16", "u32", "i64"):
        dtype = np.dtype(to.replace("i", "int").replace("u", "uint"))
        case(f"%y = cast %x {{to = {to}}} output %y", {"x": ("i32[24]", i)}, i.astype(dtype))
    case("%y = cast %x {to = bool} output %y", {"x": ("i32[5]", ints(5, low=0, high=2))},
         np.asarray(0))
    cases[-1]["expected"] = [cases[-1]["inputs"]["x"]]


# Movement ---------------------------------------------------------------------------------------

def movement():
    x = floats(3, 12)
    case("%y = reshape %x {shape = [T, 3, 4]} : f32[T, 3, 4] output %y", {"x": ("f32[T, 12]", x)},
         x.reshape(3, 3, 4), symbols={"T": 3})
    case("%y = reshape %x {shape = [6, -1]} : f32[6, T] output %y", {"x": ("f32[2*T, 3]", x[:2, :9]
         .reshape(6, 3))}, x[:2, :9].reshape(6, 3), symbols={"T": 3})
    case("%y = reshape %x {shape = [-1, 4]} : f32[3*T, 4] output %y", {"x": ("f32[T, 12]", x)},
         x.reshape(9, 4), symbols={"T": 3})
    y = floats(2, 3, 4)
    case("%y = reshape %x {shape = [S, 1, T, 2, 2]} output %y", {"x": ("f32[S, T, 4]", y)},
         y.reshape(2, 1, 3, 2, 2), symbols={"T": 3, "S": 2})
    for perm in ((0, 2, 1), (2, 0, 1), (1, 0, 2), (2, 1, 0)):
        case(f"%y = transpose %x {{perm = {text(perm)}}} output %y", {"x": ("f32[S, T, 4]", y)},
             y.transpose(perm), symbols={"T": 3, "S": 2})
    b = floats(3, 1)
    case("%y = broadcast %x {shape = [2, T, 4]} output %y", {"x": ("f32[T, 1]", b)},
         np.broadcast_to(b, (2, 3, 4)), symbols={"T": 3})
    z = floats(5, 8)
    case("%y = slice %x {starts = [T-1, 0], sizes = [1, 8]} output %y", {"x": ("f32[T, 8]", z)},
         z[4:5], symbols={"T": 5})
    case("%y = slice %x {starts = [1, 0], sizes = [T-1, 8]} : f32[T-1, 8] output %y",
         {"x": ("f32[T, 8]", z)}, z[1:], symbols={"T": 5})
    case("%y = slice %x {starts = [0, 1], sizes = [3, 3], strides = [2, 3]} output %y",
         {"x": ("f32[5, 8]", z)}, z[0:5:2, 1:8:3])
    case("%y = slice %x {starts = [5, 0], sizes = [0, 8]} output %y", {"x": ("f32[5, 8]", z)},
         z[5:])
    p, q = floats(3, 2), floats(4, 2)
    case("%y = concat %p, %q, %p {axis = 0} : f32[2*T+P, 2] output %y",
         {"p": ("f32[T, 2]", p), "q": ("f32[P, 2]", q)}, np.concatenate([p, q, p]),
         symbols={"T": 3, "P": 4})
    case("%y = concat %p, %q {axis = -1} output %y",
         {"p": ("f32[3, 2]", p), "q": ("f32[3, 2]", q[:3])}, np.concatenate([p, q[:3]], -1))
    case("%y = pad %x {low = [1, 0], high = [T, 2], value = 7.5} : f32[2*T+1, 4] output %y",
         {"x": ("f32[T, 2]", p)}, np.pad(p, ((1, 3), (0, 2)), constant_values=7.5),
         symbols={"T": 3})
    case("%y = iota {shape = [T+1], at = P} : i32[T+1] output %y", {}, np.arange(4) + 5,
         symbols={"T": 3, "P": 5})
    case("%y = iota {shape = [4], at = -2, dtype = f32} output %y", {}, np.arange(4) - 2)
    t = floats(3, 4, 2)
    for axis in range(3):
        i = ints(2, 3, low=0, high=t.shape[axis])
        case(f"%y = gather %t, %i {{axis = {axis}}} output %y",
             {"t": ("f32[3, 4, 2]", t), "i": ("i64[2, S]", i)}, np.take(t, i, axis),
             symbols={"S": 3})
    for dtype in ("f32", "f16", "bf16"):
        rows = floats(2, 3, low=-200, high=200)
        kept = {"f32": rows, "f16": rows.astype(np.float16), "bf16": bf16(rows)}[dtype]
        full = np.concatenate([np.zeros((1, 3)), kept.astype(np.float64)])
        case(f"state %s : {dtype}[8, 3] %y = append %s, %x {{at = P}} : {dtype}[T+P, 3] "
             "%z = slice %s {starts = [0, 0], sizes = [T+P+1, 3]} output %y, %z",
             {"x": ("f32[T, 3]", rows)}, full, np.concatenate([full, np.zeros((1, 3))]),
             symbols={"T": 2, "P": 1})


# Reductions -------------------------------------------------------------------------------------

def reductions():
    x = floats(2, 3, 4)
    table = {"reduce_sum": np.sum, "reduce_max": np.max, "reduce_min": np.min,
             "reduce_prod": np.prod, "reduce_mean": np.mean}
    for op, f in table.items():
        for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            keep = bool(rng.integers(0, 2))
            case(f"%y = {op} %x {{axes = {text(axes)}, keep_dims = {str(keep).lower()}}} output %y",
                 {"x": ("f32[S, T, 4]", x)}, f(x, axis=axes, keepdims=keep),
                 symbols={"T": 3, "S": 2})
    case("%y = reduce_sum %x output %y", {"x": ("i32[3, 4]", ints(3, 4))}, [[0]])
    cases[-1]["expected"] = [tensor([[sum(cases[-1]["inputs"]["x"]["data"])]])]
    case("%y = reduce_sum %x {axes = [0]} output %y", {"x": ("f32[T, 4]", np.zeros((0, 4)))},
         np.zeros((1, 4)), symbols={"T": 0})
    ties = ints(4, 6, low=0, high=4).astype(np.float64)
    for axis in (0, 1):
        case(f"%y = arg_max %x {{axis = {axis}}} output %y", {"x": ("f32[4, 6]", ties)},
             np.argmax(ties, axis))
        case(f"%y = cumsum %x {{axis = {axis}}} output %y", {"x": ("f32[4, 6]", ties)},
             np.cumsum(ties, axis))
        shifted = np.cumsum(ties, axis) - ties
        case(f"%y = cumsum %x {{axis = {axis}, exclusive = true}} output %y",
             {"x": ("f32[4, 6]", ties)}, shifted)
        order = np.argsort(-ties, axis, kind="stable")
        for k in (1, 3, 4):
            taken = np.take(order, range(k), axis)
            case(f"%v, %i = top_k %x {{k = {k}, axis = {axis}}} output %v, %i",
                 {"x": ("f32[4, 6]", ties)}, np.take_along_axis(ties, taken, axis), taken)


def softmaxes():
    for axis in range(3):
        x = floats(2, 3, 4, low=-20, high=20)
        e = np.exp(x - x.max(axis, keepdims=True))
        p = e / e.sum(axis, keepdims=True)
        case(f"%y = softmax %x {{axis = {axis}}} output %y", {"x": ("f32[S, T, 4]", x)}, p,
             symbols={"T": 3, "S": 2})
        case(f"%y = log_softmax %x {{axis = {axis}}} output %y", {"x": ("f32[S, T, 4]", x)},
             np.log(p), symbols={"T": 3, "S": 2})


def norms():
    for eps in (1e-6, 1e-5, 0.5):
        x, g, b = floats(3, 8), floats(8), floats(8)
        rms = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
        mean = x.mean(-1, keepdims=True)
        layer = (x - mean) / np.sqrt(x.var(-1, keepdims=True) + eps)
        given = {"x": ("f32[T, 8]", x), "g": ("f32[8]", g), "b": ("f32[8]", b)}
        for used, op, y in (("x", "rms_norm", rms), ("xg", "rms_norm", rms * g),
                            ("x", "layer_norm", layer), ("xg", "layer_norm", layer * g),
                            ("xgb", "layer_norm", layer * g + b)):
            inputs = {n: given[n] for n in used}
            operands = ", ".join("%" + n for n in used)
            case(f"%y = {op} {operands} {{eps = {eps}}} output %y", inputs, y, symbols={"T": 3})
    x = floats(2, 3, 4)
    case("%y = rms_norm %x {eps = 1e-6} output %y", {"x": ("f32[2, 3, 4]", x)},
         x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6))


# Contractions -----------------------------------------------------------------------------------

def q8_0(rows, columns):
    """Random blocks: bytes, and the numbers d * q they stand for."""
    blocks = rows * columns // 32
    d = rng.uniform(0.001, 0.1, blocks).astype(np.float16)
    q = rng.integers(-127, 128, (blocks, 32)).astype(np.int8)
    data = b"".join(d[i].tobytes() + q[i].tobytes() for i in range(blocks))
    return data, (d.astype(np.float64)[:, None] * q).reshape(rows, columns)


def q4_0(rows, columns):
    """Element j of a block is the low nibble of byte j, element 16 + j the high one, minus 8."""
    blocks = rows * columns // 32
    d = rng.uniform(0.01, 1, blocks).astype(np.float16)
    raw = rng.integers(0, 256, (blocks, 16)).astype(np.uint8)
    data = b"".join(d[i].tobytes() + raw[i].tobytes() for i in range(blocks))
    q = np.concatenate([raw & 15, raw >> 4], 1).astype(np.int64) - 8
    return data, (d.astype(np.float64)[:, None] * q).reshape(rows, columns)


def q15(x):
    """What x becomes through q15: blocks of 32, f32 scale amax / 16256, halves to even."""
    x = np.asarray(x, np.float32).reshape(-1, 32)
    scale = (np.abs(x).max(1, keepdims=True) / np.float32(16256)).astype(np.float32)
    codes = np.rint(x / np.where(scale == 0, np.float32(1), scale))
    return (scale.astype(np.float64) * codes.astype(np.float64))


def matmuls():
    for ta, sa, tb, sb in (("f32[T, 4]", (3, 4), "f32[4, 5]", (4, 5)),
                           ("f32[2, T, 4]", (2, 3, 4), "f32[4, 5]", (4, 5)),
                           ("f32[2, 1, T, 4]", (2, 1, 3, 4), "f32[3, 4, S]", (3, 4, 2)),
                           ("f32[1, T]", (1, 3), "f32[T, 1]", (3, 1)),
                           ("f32[2, 3, 0]", (2, 3, 0), "f32[0, 2]", (0, 2))):
        a, b = floats(*sa), floats(*sb)
        case("%y = matmul %a, %b output %y", {"a": (ta, a), "b": (tb, b)}, a @ b,
             symbols={"T": 3, "S": 2})
    for make, name in ((q8_0, "q8_0"), (q4_0, "q4_0")):
        data, w = make(6, 64)
        packed = (f"{name}[6, 64]", data, (6, 64))
        case("%y = dequantize %w output %y", {"w": packed}, w, tolerance=1e-7)
        x, b = floats(3, 64), floats(6)
        case("%y = linear %x, %w output %y", {"x": ("f32[T, 64]", x), "w": packed}, x @ w.T,
             symbols={"T": 3}, tolerance=1e-6)
        case("%y = linear %x, %w, %b output %y",
             {"x": ("f32[T, 64]", x), "w": packed, "b": ("f32[6]", b)}, x @ w.T + b,
             symbols={"T": 3}, tolerance=1e-6)
        quantized = q15(x).reshape(3, 64)
        case("%q = quantize %x {to = q15} : q15[T, 64] %y = linear %q, %w : f32[T, 6] output %y",
             {"x": ("f32[T, 64]", x), "w": packed}, quantized @ w.T, symbols={"T": 3},
             tolerance=2e-6)
        ids = ints(4, low=0, high=6)
        case("%y = embedding %w, %i output %y", {"w": packed, "i": ("i32[T]", ids)}, w[ids],
             symbols={"T": 4}, tolerance=1e-7)
        data, w = make(4 * 3, 32)
        w = w.reshape(4, 3, 32)
        ids = ints(2, 2, low=0, high=4)
        x = floats(2, 32)
        y = np.einsum("tk,tjnk->tjn", x, w[ids])
        case("%y = expert_linear %x, %w, %i : f32[T, 2, 3] output %y",
             {"x": ("f32[T, 32]", x), "w": (f"{name}[4, 3, 32]", data, (4, 3, 32)),
              "i": ("i64[T, 2]", ids)}, y, symbols={"T": 2}, tolerance=1e-6)
    for dtype in ("f32", "f16", "bf16"):
        x, w, b = floats(2, 3, 4), np.round(floats(5, 4)), floats(5)
        case("%y = linear %x, %w, %b output %y",
             {"x": ("f32[2, T, 4]", x), "w": (f"{dtype}[5, 4]", w), "b": ("f32[5]", b)},
             x @ w.T + b, symbols={"T": 3})
        ids = ints(3, low=0, high=5)
        case("%y = embedding %w, %i output %y",
             {"w": (f"{dtype}[5, 4]", w), "i": ("i32[T]", ids)}, w[ids], symbols={"T": 3})
    x = floats(2, 64)
    case("%q = quantize %x {to = q15} %y = dequantize %q output %y", {"x": ("f32[2, 64]", x)},
         q15(x).reshape(2, 64), tolerance=1e-6)


def experts():
    for tokens, k, e, n, width in ((3, 2, 4, 5, 6), (1, 1, 2, 3, 4), (4, 3, 3, 2, 5)):
        w, ids = floats(e, n, width), ints(tokens, k, low=0, high=e)
        x = floats(tokens, width)
        case(f"%y = expert_linear %x, %w, %i : f32[T, {k}, {n}] output %y",
             {"x": (f"f32[T, {width}]", x), "w": (f"f32[{e}, {n}, {width}]", w),
              "i": (f"i64[T, {k}]", ids)}, np.einsum("tk,tjnk->tjn", x, w[ids]),
             symbols={"T": tokens})
        x = floats(tokens, k, width)
        case("%y = expert_linear %x, %w, %i output %y",
             {"x": (f"f32[T, {k}, {width}]", x), "w": (f"f32[{e}, {n}, {width}]", w),
              "i": (f"i32[T, {k}]", ids)}, np.einsum("tjk,tjnk->tjn", x, w[ids]),
             symbols={"T": tokens})


# Positions and attention ------------------------------------------------------------------------

def rotate(x, cos, sin, heads, style):
    out = x.copy().reshape(len(x), heads, -1)
    n = cos.shape[1]
    for t in range(len(x)):
        for h in range(heads):
            for i in range(n):
                p, q = (i, i + n) if style == "neox" else (2 * i, 2 * i + 1)
                a, b = out[t, h, p], out[t, h, q]
                out[t, h, p] = a * cos[t, i] - b * sin[t, i]
                out[t, h, q] = b * cos[t, i] + a * sin[t, i]
    return out.reshape(x.shape)


def ropes():
    for style in ("neox", "interleaved"):
        for heads, width, half in ((1, 4, 2), (3, 8, 4), (2, 8, 2), (2, 7, 3), (1, 6, 1)):
            x = floats(3, heads * width)
            angle = rng.uniform(-3, 3, (3, half))
            cos, sin = np.round(np.cos(angle) * 64) / 64, np.round(np.sin(angle) * 64) / 64
            case(f'%y = rope %x, %c, %s {{heads = {heads}, style = "{style}"}} output %y',
                 {"x": (f"f32[T, {heads * width}]", x), "c": (f"f32[T, {half}]", cos),
                  "s": (f"f32[T, {half}]", sin)}, rotate(x, cos, sin, heads, style),
                 symbols={"T": 3})
    for magnitude in (1.0, 1.25):
        p, f = ints(4, low=0, high=5000), floats(3, low=0.01, high=1)
        angle = p[:, None] * f[None]
        case(f"%c, %s = rope_table %p, %f {{magnitude = {magnitude}}} output %c, %s",
             {"p": ("i32[T]", p), "f": ("f32[3]", f)}, np.cos(angle) * magnitude,
             np.sin(angle) * magnitude, symbols={"T": 4})


def attend(q, k, v, heads, kv_heads, scale, softcap, window, causal):
    tokens, keys = len(q), len(k)
    q = q.reshape(tokens, heads, -1)
    k = k.reshape(keys, kv_heads, -1)
    v = v.reshape(keys, kv_heads, -1)
    out = np.zeros((tokens, heads, v.shape[2]))
    for t in range(tokens):
        place = t + keys - tokens
        for h in range(heads):
            seen = range(keys)
            if causal:
                first = 0 if window == 0 else max(0, place - window + 1)
                seen = range(first, place + 1)
            g = h // (heads // kv_heads)
            s = np.array([q[t, h] @ k[j, g] * scale for j in seen])
            if softcap:
                s = softcap * np.tanh(s / softcap)
            p = np.exp(s - s.max())
            out[t, h] = sum(w * v[j, g] for w, j in zip(p / p.sum(), seen))
    return out.reshape(tokens, -1)


def attentions():
    heads_of = [(1, 1), (2, 2), (4, 2), (6, 2), (4, 1)]
    for n in range(48):
        heads, kv = heads_of[n % len(heads_of)]
        width = [2, 3, 8][n % 3]
        v_width = width if n % 4 else width + 1
        tokens, past = [1, 2, 5][(n // 2) % 3], [0, 3, 7][(n // 3) % 3]
        keys = tokens + past
        causal = n % 5 != 4
        window = [0, 0, 1, 3][(n // 5) % 4] if causal else 0
        softcap = [0.0, 2.5][(n // 7) % 2]
        scale = [1 / math.sqrt(width), 0.5][n % 2]
        dtype = ["f32", "f32", "f16", "bf16"][(n // 4) % 4]
        q, k, v = floats(tokens, heads * width), floats(keys, kv * width), floats(keys, kv * v_width)
        if dtype == "bf16":
            k, v = np.round(k), np.round(v)
        attrs = f"heads = {heads}, kv_heads = {kv}, scale = {scale!r}"
        attrs += f", softcap = {softcap}" if softcap else ""
        attrs += f", window = {window}" if window else ""
        attrs += "" if causal else ", causal = false"
        case(f"%y = attention %q, %k, %v {{{attrs}}} : f32[T, {heads * v_width}] output %y",
             {"q": (f"f32[T, {heads * width}]", q), "k": (f"{dtype}[P+T, {kv * width}]", k),
              "v": (f"{dtype}[P+T, {kv * v_width}]", v)},
             attend(q, k, v, heads, kv, scale, softcap, window, causal),
             symbols={"T": tokens, "P": past})
    for heads, kv in ((2, 2), (4, 2)):
        kdata, k = q8_0(5, kv * 32)
        vdata, v = q8_0(5, kv * 32)
        q = floats(2, heads * 32, low=-0.5, high=0.5)
        case(f"%y = attention %q, %k, %v {{heads = {heads}, kv_heads = {kv}, scale = 0.25}} "
             "output %y",
             {"q": (f"f32[T, {heads * 32}]", q), "k": (f"q8_0[P+T, {kv * 32}]", kdata, k.shape),
              "v": (f"q8_0[P+T, {kv * 32}]", vdata, v.shape)},
             attend(q, k, v, heads, kv, 0.25, 0, 0, True), symbols={"T": 2, "P": 3},
             tolerance=1e-5)


def main():
    for part in (elementwise, binary, casts, movement, reductions, softmaxes, norms, matmuls,
                 experts, ropes, attentions):
        part()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops_cases.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
    print(len(cases), "cases,", os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Makes GGUF files out of a small line language, right ones and wrong ones.

    version N                the version number (3)
    magic "GGUF"             the first four bytes
    counts TENSORS KEYS      what the header declares, instead of what follows
    align N                  of the layout (32); the key general.alignment is a line of its own
    kv "KEY" TYPE VALUE      TYPE: u8 i8 u16 i16 u32 i32 f32 bool str u64 i64 f64, or [TYPE] for an array
    kv-raw "KEY" NUMBER HEX  any value type and bytes
    tensor "NAME" TYPE [SHAPE] [offset N]    logical shape (row-major); TYPE a ggml name or a number
    dims "NAME" [DIMS]       the dims of a tensor as they stand in the file, unchecked
    data N                   bytes of tensor data, instead of what the tensors need
    cut N                    bytes left out at the end
    sparse N                 the file is made N bytes long, with a hole at its end
    llama                    all keys and tensors of a llama model with one layer of width 8
    drop "NAME"              takes a key or tensor away
"""
import json
import os
import re
import struct

VALUE_TYPES = {"u8": (0, "B"), "i8": (1, "b"), "u16": (2, "H"), "i16": (3, "h"), "u32": (4, "I"),
               "i32": (5, "i"), "f32": (6, "f"), "bool": (7, "?"), "str": (8, None),
               "u64": (10, "Q"), "i64": (11, "q"), "f64": (12, "d")}
TENSOR_TYPES = {"f32": (0, 1, 4), "f16": (1, 1, 2), "q4_0": (2, 32, 18), "q8_0": (8, 32, 34),
                "q4_k": (12, 256, 144)}

LLAMA = """
kv "general.architecture" str "llama"
kv "llama.block_count" u32 1
kv "llama.context_length" u32 64
kv "llama.embedding_length" u32 8
kv "llama.feed_forward_length" u32 16
kv "llama.attention.head_count" u32 2
kv "llama.attention.layer_norm_rms_epsilon" f32 1e-5
tensor "token_embd.weight" f32 [10, 8]
tensor "output_norm.weight" f32 [8]
tensor "blk.0.attn_norm.weight" f32 [8]
tensor "blk.0.attn_q.weight" f32 [8, 8]
tensor "blk.0.attn_k.weight" f32 [8, 8]
tensor "blk.0.attn_v.weight" f32 [8, 8]
tensor "blk.0.attn_output.weight" f32 [8, 8]
tensor "blk.0.ffn_norm.weight" f32 [8]
tensor "blk.0.ffn_gate.weight" f32 [16, 8]
tensor "blk.0.ffn_up.weight" f32 [16, 8]
tensor "blk.0.ffn_down.weight" f32 [8, 16]
"""


def words(line):
    """Splits a line into JSON values and bare words."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while at < len(line):
        if line[at] == " ":
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(line, at)
        except ValueError:
            value = re.compile(r"\S+").match(line, at)[0]
            at += len(value)
        found.append(value)
    return found


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(kind, value):
    return text(value) if kind == "str" else struct.pack("<" + VALUE_TYPES[kind][1], value)


def encode(kind, value):
    """The type number and bytes of a value; `kind` is a name, or a list of one name."""
    array = re.fullmatch(r"\[(\w+)\]", kind)
    if not array:
        return VALUE_TYPES[kind][0], scalar(kind, value)
    inner = array[1]
    head = struct.pack("<IQ", VALUE_TYPES[inner][0], len(value))
    return 9, head + b"".join(scalar(inner, element) for element in value)


class Gguf:
    def __init__(self):
        self.version, self.magic, self.counts, self.align = 3, "GGUF", None, 32
        self.keys, self.tensors, self.data, self.cut = [], [], None, 0

    def line(self, line):
        what, *args = words(line)
        getattr(self, "do_" + what.replace("-", "_"))(*args)

    def do_version(self, number):
        self.version = number

    def do_magic(self, magic):
        self.magic = magic

    def do_counts(self, tensors, keys):
        self.counts = (tensors, keys)

    def do_align(self, align):
        self.align = align

    def do_kv(self, key, kind, value):
        self.keys.append((key, *encode(kind, value)))

    def do_kv_raw(self, key, number, data=""):
        self.keys.append((key, number, bytes.fromhex(str(data))))

    def do_tensor(self, name, kind, shape, *place):
        number, block, size = TENSOR_TYPES.get(kind, (kind, 1, 1))
        elements = 1
        for dim in shape:
            elements *= dim
        offset = place[1] if place else None
        self.tensors.append([name, shape[::-1], number, offset, elements // block * size])

    def do_dims(self, name, dims):
        for tensor in self.tensors:
            if tensor[0] == name:
                tensor[1] = dims

    def do_data(self, size):
        self.data = size

    def do_cut(self, size):
        self.cut = size

    def do_sparse(self, size):
        pass  # write_gguf() does it

    def do_llama(self):
        for line in LLAMA.split("\n"):
            if line:
                self.line(line)

    def do_drop(self, name):
        before = len(self.keys) + len(self.tensors)
        self.keys = [key for key in self.keys if key[0] != name]
        self.tensors = [tensor for tensor in self.tensors if tensor[0] != name]
        if len(self.keys) + len(self.tensors) == before:
            raise ValueError(f"there is no {name} to drop")

    def padded(self, data):
        return data + b"\0" * (-len(data) % self.align)

    def bytes(self):
        tensors, keys = self.counts or (len(self.tensors), len(self.keys))
        out = self.magic.encode() + struct.pack("<IQQ", self.version, tensors, keys)
        for key, number, value in self.keys:
            out += text(key) + struct.pack("<I", number) + value
        end = 0
        for name, dims, number, offset, size in self.tensors:
            out += text(name) + struct.pack("<I", len(dims))
            out += b"".join(struct.pack("<Q", dim) for dim in dims)
            out += struct.pack("<IQ", number, end if offset is None else offset)
            end += size + -size % self.align
        out = self.padded(out) + b"\0" * (end if self.data is None else self.data)
        return out[:len(out) - self.cut]


def gguf(lines):
    """The bytes of a file described by these lines."""
    file = Gguf()
    for line in lines:
        if line.strip():
            file.line(line.strip())
    return file.bytes()


def write_gguf(path, lines):
    """Writes gguf(lines) and the hole that a line "sparse N" asks for."""
    path.write_bytes(gguf(lines))
    for line in lines:
        if line.startswith("sparse "):
            os.truncate(path, int(line[7:]))

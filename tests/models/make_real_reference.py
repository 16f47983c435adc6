#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/gemma-3-270m-q4_k_m.json: what forward.py, in float64 over the exactly dequantized weights, says of a real model.

usage: make_real_reference.py gemma-3-270m-q4_k_m.gguf     needs numpy and gguf (PyPI), 4 GB and a minute
"""

import json
import os
import sys

import gguf
import numpy as np
from gguf import quants

from forward import forward, frequencies

# "The three most important inventions of the nineteenth century were" and what the model goes on with, by its own tokenizer.
TEXT = "The three most important inventions of the nineteenth century were the steam engine, the telegraph and"


def main(path):
    reader = gguf.GGUFReader(path)
    weights = {t.name: quants.dequantize(t.data, t.tensor_type).reshape(tuple(int(d) for d in reversed(t.shape))) for t in reader.tensors}
    tokens = [bytes(reader.fields["tokenizer.ggml.tokens"].parts[i]).decode() for i in reader.fields["tokenizer.ggml.tokens"].data]
    index = {t: i for i, t in enumerate(tokens)}
    ids = [2]  # the start token; every word of the text is one token, with its blank as U+2581 but for the first
    for i, word in enumerate(TEXT.replace(",", " ,").split()):
        ids.append(index[word if i == 0 or word == "," else "\u2581" + word])
    width, layers = 640, 18
    full = lambda i: i % 6 == 5
    config = {"L": layers, "H": 4, "G": 1, "D": 256, "eps": 1e-6, "qk_norm": True, "post_norms": True, "act": "gelu_tanh",
              "embed_scale": width**0.5, "scale": 256**-0.5, "window": lambda i: 0 if full(i) else 512}
    logits = forward(config, weights, ids, lambda i: (frequencies(1e6 if full(i) else 1e4, 256), 1.0))
    logprobs = logits - logits.max(-1, keepdims=True)
    logprobs -= np.log(np.exp(logprobs).sum(-1, keepdims=True))
    out = {"text": TEXT, "ids": ids, "token_logprobs": [None] + [round(float(logprobs[i, ids[i + 1]]), 5) for i in range(len(ids) - 1)],
           "argmax": [None] + [int(a) for a in logits[:-1].argmax(-1)]}
    name = os.path.splitext(os.path.basename(path))[0] + ".json"
    with open(os.path.join(os.path.dirname(__file__), "../data/models", name), "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)

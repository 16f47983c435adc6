#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models: tiny random models of every architecture, each as NAME.gguf and as a
Hugging Face folder NAME of the same weights, and the logits that forward.py gives for them in NAME.json.

usage: make_reference.py [OUT]     needs numpy and gguf (PyPI); the same bytes every time"""

import json
import os
import sys
import zlib

import numpy as np

from files import hf_tensors, interleave, write_folder, write_gguf
from forward import forward, frequencies, llama3_factors, yarn

V, CONTEXT, TOKENS = 64, 64, 12
OUT = (
    sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../data/models")
)


def random(name, shape, scale):
    seed = zlib.crc32(name.encode())
    return (np.random.Generator(np.random.PCG64(seed)).standard_normal(shape) * scale).astype(
        np.float32
    )


def to_bf16(w):
    return (np.round(w.view(np.uint32) / 65536).astype(np.uint32) << 16).view(np.float32)


def make_weights(name, c):
    """Under GGUF names; matrices f16 (or bf16 numbers in f32), vectors f32."""
    e, f, q, kv = c["E"], c["F"], c["H"] * c["D"], c["G"] * c["D"]
    w = {}

    def matrix(n, *shape):
        a = random(name + n, shape, shape[-1] ** -0.5 * 1.5)
        w[n] = to_bf16(a) if c.get("bf16") else a.astype(np.float16)

    def vector(n, size, center):
        a = np.float32(center) + random(name + n, (size,), 0.2)
        w[n] = to_bf16(a) if c.get("bf16") else a

    def norm(n, size=e):
        vector(n + ".weight", size, 1)
        if c.get("layer_norm"):
            vector(n + ".bias", size, 0)

    def linear(n, rows, columns, bias=bool(c.get("layer_norm"))):
        matrix(n + ".weight", rows, columns)
        if bias:
            vector(n + ".bias", rows, 0)

    matrix("token_embd.weight", V, e)
    if c.get("positions"):
        matrix("position_embd.weight", CONTEXT, e)
    norm("output_norm")
    if not c.get("tied"):
        matrix("output.weight", V, e)
    for i in range(c["L"]):
        b = f"blk.{i}."
        norm(b + "attn_norm")
        if c.get("fused"):
            linear(b + "attn_qkv", q + 2 * kv, e)
        else:
            for s, rows in ("q", q), ("k", kv), ("v", kv):
                linear(b + f"attn_{s}", rows, e, c.get("qkv_bias", False))
        if c.get("qk_norm"):
            norm(b + "attn_q_norm", c["D"])
            norm(b + "attn_k_norm", c["D"])
        linear(b + "attn_output", e, q)
        norm(b + "ffn_norm")
        if c.get("post_norms"):
            norm(b + "post_attention_norm")
            norm(b + "post_ffw_norm")
        if c.get("experts"):
            linear(b + "ffn_gate_inp", c["experts"], e)
            for s, shape in ("gate", (f, e)), ("up", (f, e)), ("down", (e, f)):
                matrix(b + f"ffn_{s}_exps.weight", c["experts"], *shape)
        elif c.get("fused") or c.get("layer_norm"):
            linear(b + "ffn_up", f if c.get("layer_norm") else 2 * f, e)
            linear(b + "ffn_down", e, f)
        else:
            for s, rows, columns in ("gate", f, e), ("up", f, e), ("down", e, f):
                linear(b + f"ffn_{s}", rows, columns)
    return w


def gguf_keys(c, more):
    keys = {
        "block_count": c["L"],
        "context_length": CONTEXT,
        "embedding_length": c["E"],
        "feed_forward_length": c["F"],
        "attention.head_count": c["H"],
    }
    if c.get("layer_norm"):
        return keys | {"attention.layer_norm_epsilon": c["eps"]}
    keys |= {
        "attention.head_count_kv": c["G"],
        "attention.layer_norm_rms_epsilon": c["eps"],
        "rope.freq_base": c["base"],
    }
    if c["D"] * c["H"] != c["E"]:
        keys |= {"attention.key_length": c["D"], "attention.value_length": c["D"]}
    if c.get("experts"):
        keys |= {
            "expert_count": c["experts"],
            "expert_used_count": c["used"],
            "expert_feed_forward_length": c["F"],
        }
    return keys | more


def hf_config(model_type, c, more):
    if model_type == "gpt2":
        return {
            "model_type": "gpt2",
            "n_layer": c["L"],
            "n_positions": CONTEXT,
            "n_embd": c["E"],
            "n_head": c["H"],
            "n_inner": c["F"],
            "vocab_size": V,
            "layer_norm_epsilon": c["eps"],
            "activation_function": "gelu_new",
        } | more
    config = {
        "model_type": model_type,
        "num_hidden_layers": c["L"],
        "max_position_embeddings": CONTEXT,
        "hidden_size": c["E"],
        "intermediate_size": c["F"],
        "num_attention_heads": c["H"],
        "num_key_value_heads": c["G"],
        "head_dim": c["D"],
        "vocab_size": V,
        "rms_norm_eps": c["eps"],
        "rope_theta": c["base"],
        "tie_word_embeddings": bool(c.get("tied")),
        "hidden_act": "gelu_pytorch_tanh" if c.get("act") == "gelu_tanh" else "silu",
    }
    if model_type == "mixtral":
        config |= {"num_local_experts": c["experts"], "num_experts_per_tok": c["used"]}
    elif c.get("experts"):
        config |= {
            "num_experts": c["experts"],
            "num_experts_per_tok": c["used"],
            "moe_intermediate_size": c["F"],
            "norm_topk_prob": c.get("renormalize", True),
        }
    return config | more


def make(name, arch, model_type, c, rope=None, keys={}, config={}, vectors={}, contexts=(CONTEXT,)):
    """`rope(layer, context)` gives (frequencies, magnitude); `vectors` are tensors of the GGUF file
    alone; no folder is written without `model_type`."""
    c = {"E": 32, "F": 48, "L": 2, "H": 4, "G": 2, "D": 8, "eps": 1e-5, "base": 100.0} | c
    if rope is None:
        rope = lambda layer, context: (frequencies(c["base"], c["D"]), 1.0)
    weights = make_weights(name, c)
    ids = [int(x) for x in np.random.Generator(np.random.PCG64(7)).integers(0, V, TOKENS)]
    cases = []
    for context in contexts:
        logits = forward(c, weights, ids, lambda layer: rope(layer, context))
        cases.append(
            {
                "context": context,
                "ids": ids,
                "logits": [[float(f"{x:.7g}") for x in row] for row in logits],
            }
        )
    with open(f"{OUT}/{name}.json", "w") as f:
        f.write(json.dumps({"cases": cases}, separators=(",", ":")) + "\n")
    stored = dict(weights)
    if arch == "llama":
        for n in stored:
            if n.endswith(("attn_q.weight", "attn_k.weight")):
                stored[n] = interleave(stored[n], c["H"] if "attn_q" in n else c["G"])
    stored |= {n: np.asarray(v, dtype=np.float32) for n, v in vectors.items()}
    write_gguf(f"{OUT}/{name}.gguf", arch, gguf_keys(c, keys), stored)
    if model_type is None:
        return
    write_folder(
        f"{OUT}/{name}",
        hf_config(model_type, c, config),
        hf_tensors(model_type, weights),
        c.get("bf16"),
    )


def main():
    os.makedirs(OUT, exist_ok=True)
    plain = frequencies(100.0, 8)
    make("llama", "llama", "llama", {})

    factors = llama3_factors(plain, 8.0, 1.0, 4.0, 32)
    make(
        "llama_factors",
        "llama",
        "llama",
        {},
        lambda i, n: (plain / factors, 1.0),
        vectors={"rope_freqs.weight": factors},
        config={
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 32,
            }
        },
    )
    make(
        "llama_linear",
        "llama",
        "llama",
        {},
        lambda i, n: (plain / 4, 1.0),
        keys={"rope.scaling.type": "linear", "rope.scaling.factor": 4.0},
        config={"rope_scaling": {"type": "linear", "factor": 4.0}},
    )
    stretched = yarn(100.0, 8, 4.0, 16, 2.0, 0.25)
    make(
        "llama_yarn",
        "llama",
        "llama",
        {},
        lambda i, n: stretched,
        keys={
            "rope.scaling.type": "yarn",
            "rope.scaling.factor": 4.0,
            "rope.scaling.original_context_length": 16,
            "rope.scaling.yarn_beta_fast": 2.0,
            "rope.scaling.yarn_beta_slow": 0.25,
        },
        config={
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 16,
                "beta_fast": 2.0,
                "beta_slow": 0.25,
            }
        },
    )
    make("llama_moe", "llama", "mixtral", {"F": 24, "experts": 4, "used": 2})
    make(
        "mistral",
        "llama",
        "mistral",
        {"window": lambda i: 5},
        keys={"attention.sliding_window": 5},
        config={"sliding_window": 5},
    )
    make("qwen2", "qwen2", "qwen2", {"qkv_bias": True, "tied": True, "bf16": True})
    make("qwen3", "qwen3", "qwen3", {"qk_norm": True, "D": 12})
    make("qwen3moe", "qwen3moe", "qwen3_moe", {"qk_norm": True, "F": 24, "experts": 5, "used": 3})

    long, short, turned = [2.0, 3.0, 5.0], [1.0, 1.25, 1.5], frequencies(100.0, 6)
    magnitude = float(np.sqrt(1 + np.log(CONTEXT / 16) / np.log(16)))
    make(
        "phi3",
        "phi3",
        "phi3",
        {"fused": True},
        lambda i, n: (turned / (long if n > 16 else short), magnitude),
        contexts=(16, CONTEXT),
        keys={
            "rope.dimension_count": 6,
            "rope.scaling.original_context_length": 16,
            "rope.scaling.attn_factor": magnitude,
        },
        vectors={"rope_factors_long.weight": long, "rope_factors_short.weight": short},
        config={
            "partial_rotary_factor": 0.75,
            "original_max_position_embeddings": 16,
            "rope_scaling": {"type": "longrope", "long_factor": long, "short_factor": short},
        },
    )
    make(
        "gpt2",
        "gpt2",
        "gpt2",
        {"G": 4, "fused": True, "layer_norm": True, "positions": True, "tied": True},
        lambda i, n: None,
    )

    make(
        "gemma",
        "gemma",
        None,
        {"D": 12, "tied": True, "act": "gelu_tanh", "embed_scale": 32**0.5, "eps": 1e-6},
        lambda i, n: (frequencies(100.0, 12), 1.0),
    )
    make(
        "gemma2",
        "gemma2",
        None,
        {
            "tied": True,
            "act": "gelu_tanh",
            "embed_scale": 32**0.5,
            "eps": 1e-6,
            "post_norms": True,
            "attn_softcap": 1.5,
            "logit_softcap": 2.0,
            "window": lambda i: 0 if i % 2 else 4,
        },
        keys={
            "attention.sliding_window": 4,
            "attn_logit_softcapping": 1.5,
            "final_logit_softcapping": 2.0,
        },
    )

    full = lambda i: i % 6 == 5
    make(
        "gemma3",
        "gemma3",
        "gemma3_text",
        {
            "L": 7,
            "G": 1,
            "D": 8,
            "E": 24,
            "F": 32,
            "eps": 1e-6,
            "base": 1000.0,
            "tied": True,
            "qk_norm": True,
            "post_norms": True,
            "act": "gelu_tanh",
            "embed_scale": 24**0.5,
            "scale": 8**-0.5,
            "window": lambda i: 0 if full(i) else 4,
        },
        lambda i, n: (
            (frequencies(1000.0, 8) / 8, 1.0) if full(i) else (frequencies(10000.0, 8), 1.0)
        ),
        keys={
            "attention.sliding_window": 4,
            "rope.scaling.type": "linear",
            "rope.scaling.factor": 8.0,
        },
        config={
            "sliding_window": 4,
            "query_pre_attn_scalar": 8,
            "rope_local_base_freq": 10000.0,
            "hidden_activation": "gelu_pytorch_tanh",
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        },
    )


if __name__ == "__main__":
    main()

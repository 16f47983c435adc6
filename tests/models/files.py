# SPDX-License-Identifier: Apache-2.0
"""Writes one set of weights as a GGUF file and as a Hugging Face folder."""

import json
import os
import struct

import gguf
import numpy as np


def interleave(rows, heads):
    """Rows of q or k from published order to that of llama GGUF files: the pair (i, i + d/2)
    goes to (2i, 2i + 1)."""
    d = rows.shape[0] // heads
    split = rows.reshape(heads, 2, d // 2, *rows.shape[1:])
    return np.ascontiguousarray(split.swapaxes(1, 2).reshape(rows.shape))


def write_gguf(path, arch, keys, weights):
    out = gguf.GGUFWriter(path, arch)
    for key, value in keys.items():
        key = f"{arch}.{key}"
        if isinstance(value, str):
            out.add_string(key, value)
        elif isinstance(value, bool):
            out.add_bool(key, value)
        elif isinstance(value, int):
            out.add_uint32(key, value)
        elif isinstance(value, list):
            out.add_array(key, value)
        else:
            out.add_float32(key, value)
    out.add_tokenizer_model("none")
    for name, array in weights.items():
        out.add_tensor(name, array)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_gate_inp": "mlp.gate",
}
PHI3 = {"ffn_up": "mlp.gate_up_proj"}
GEMMA = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
GPT2 = {
    "attn_norm": "ln_1",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
GPT2_TOP = {"token_embd": "wte", "position_embd": "wpe", "output_norm": "ln_f"}
TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
MIXTRAL_EXPERT = {"gate": "w1", "up": "w3", "down": "w2"}


def hf_tensors(model_type, weights):
    """GGUF names and layouts to those that the published models of that type have."""
    gpt2 = model_type == "gpt2"
    top = GPT2_TOP if gpt2 else TOP
    layer = GPT2 if gpt2 else LAYER | {"phi3": PHI3, "gemma3_text": GEMMA}.get(model_type, {})
    out = {}
    for name, w in weights.items():
        module, leaf = name.rsplit(".", 1)
        if not module.startswith("blk."):
            if module in top:
                out[f"{top[module]}.{leaf}"] = w
            continue
        _, i, part = module.split(".")
        base = f"h.{i}." if gpt2 else f"model.layers.{i}."
        if part.endswith("_exps"):
            kind = part[4:-5]
            for e, one in enumerate(w):
                if model_type == "mixtral":
                    expert = f"block_sparse_moe.experts.{e}.{MIXTRAL_EXPERT[kind]}.weight"
                else:
                    expert = f"mlp.experts.{e}.{kind}_proj.weight"
                out[base + expert] = one
        elif part == "ffn_gate_inp" and model_type == "mixtral":
            out[base + "block_sparse_moe.gate.weight"] = w
        else:
            out[f"{base}{layer[part]}.{leaf}"] = w.T if gpt2 and w.ndim == 2 else w
    if model_type == "gemma3_text":
        out = {n: w - np.float32(1) if "norm" in n else w for n, w in out.items()}
    return out


def bf16_bytes(array):
    """The upper halves; values must be bf16 numbers already."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    return (bits >> 16).astype(np.uint16).tobytes()


def write_folder(path, config, tensors, bf16):
    os.makedirs(path, exist_ok=True)
    with open(path + "/config.json", "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")
    header, data = {}, b""
    for name in sorted(tensors):
        w = np.ascontiguousarray(tensors[name])
        raw = bf16_bytes(w) if bf16 else w.tobytes()
        kind = "BF16" if bf16 else {"float16": "F16", "float32": "F32"}[str(w.dtype)]
        span = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": kind, "shape": list(w.shape), "data_offsets": span}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + "/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)

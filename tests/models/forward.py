# SPDX-License-Identifier: Apache-2.0
"""Decoders in NumPy, float64, one batch, written from the papers and model cards: the independent
word on what the graphs of src/models must compute. Weights are a dict of arrays; matrices are
[out, in], rows of q and k in published order (rope pairs channel i with i + d/2)."""

import numpy as np


def rms_norm(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def layer_norm(x, w, b, eps):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + eps) * w + b


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ACT = {"silu": silu, "gelu_tanh": gelu_tanh}


def frequencies(base, dims):
    return 1.0 / base ** (np.arange(0, dims, 2) / dims)


def llama3_factors(freq, factor, low, high, original):
    """What each frequency is divided by (Llama 3.1)."""
    out = []
    for f in freq:
        wave = 2 * np.pi / f
        if wave < original / high:
            out.append(1.0)
        elif wave > original / low:
            out.append(float(factor))
        else:
            s = (original / wave - low) / (high - low)
            out.append(1 / ((1 - s) / factor + s))
    return np.array(out)


def yarn(base, dims, factor, original, fast=32.0, slow=1.0):
    """(frequencies, magnitude) of YaRN: extrapolate pairs that turn often, interpolate the rest."""
    extra = frequencies(base, dims)
    inter = extra / factor
    where = lambda turns: dims * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))
    low, high = max(np.floor(where(fast)), 0), min(np.ceil(where(slow)), dims - 1)
    keep = 1 - np.clip((np.arange(dims // 2) - low) / max(high - low, 1e-3), 0, 1)
    return inter * (1 - keep) + extra * keep, 1 + 0.1 * np.log(factor)


def rotate(x, freq, magnitude):
    """x[T, heads, D]; the first 2 * len(freq) channels turn by position * freq."""
    n = len(freq)
    angle = np.arange(x.shape[0])[:, None, None] * freq
    z = (x[..., :n] + 1j * x[..., n : 2 * n]) * np.exp(1j * angle) * magnitude
    return np.concatenate([z.real, z.imag, x[..., 2 * n :]], -1)


def attention(q, k, v, scale, window=0, softcap=0.0):
    """Causal; q[T, H, D], k and v[T, G, D]; query head h reads key head h // (H / G)."""
    t, heads, _ = q.shape
    group = heads // k.shape[1]
    out = np.zeros((t, heads, v.shape[2]))
    for h in range(heads):
        for i in range(t):
            first = max(0, i - window + 1) if window else 0
            s = k[first : i + 1, h // group] @ q[i, h] * scale
            if softcap:
                s = softcap * np.tanh(s / softcap)
            out[i, h] = softmax(s) @ v[first : i + 1, h // group]
    return out.reshape(t, -1)


def experts(x, w, prefix, used, renormalize):
    """Every token to its best `used` experts by the softmax over all of them."""
    out = np.zeros_like(x)
    for t, p in enumerate(softmax(x @ w[prefix + "ffn_gate_inp.weight"].T)):
        best = np.argsort(-p, kind="stable")[:used]
        share = p[best] / (p[best].sum() if renormalize else 1.0)
        for e, s in zip(best, share):
            gate = silu(w[prefix + "ffn_gate_exps.weight"][e] @ x[t])
            up = w[prefix + "ffn_up_exps.weight"][e] @ x[t]
            out[t] += s * (w[prefix + "ffn_down_exps.weight"][e] @ (gate * up))
    return out


def forward(c, w, ids, rope):
    """Logits [T, V]. `c` says what the architecture has (see make_reference.py), `rope(layer)`
    gives the layer's (frequencies, magnitude), or None."""
    w = {k: v.astype(np.float64) for k, v in w.items()}
    heads, groups, d, eps = c["H"], c["G"], c["D"], c["eps"]
    if c.get("layer_norm"):
        norm = lambda x, n: layer_norm(x, w[n + ".weight"], w[n + ".bias"], eps)
    else:
        norm = lambda x, n: rms_norm(x, w[n + ".weight"], eps)
    lin = lambda x, n: x @ w[n + ".weight"].T + w.get(n + ".bias", 0.0)
    t = len(ids)
    x = w["token_embd.weight"][ids] * c.get("embed_scale", 1.0)
    if c.get("positions"):
        x = x + w["position_embd.weight"][:t]
    for i in range(c["L"]):
        b = f"blk.{i}."
        a = norm(x, b + "attn_norm")
        if c.get("fused"):
            q, k, v = np.split(lin(a, b + "attn_qkv"), [heads * d, (heads + groups) * d], -1)
        else:
            q, k, v = (lin(a, b + f"attn_{s}") for s in "qkv")
        q, k, v = q.reshape(t, heads, d), k.reshape(t, groups, d), v.reshape(t, groups, d)
        if c.get("qk_norm"):
            q = rms_norm(q, w[b + "attn_q_norm.weight"], eps)
            k = rms_norm(k, w[b + "attn_k_norm.weight"], eps)
        turn = rope(i)
        if turn is not None:
            q, k = rotate(q, *turn), rotate(k, *turn)
        window = c["window"](i) if "window" in c else 0
        y = attention(q, k, v, c.get("scale", d**-0.5), window, c.get("attn_softcap", 0.0))
        y = lin(y, b + "attn_output")
        x = x + (norm(y, b + "post_attention_norm") if c.get("post_norms") else y)
        f = norm(x, b + "ffn_norm")
        if c.get("experts"):
            y = experts(f, w, b, c["used"], c.get("renormalize", True))
        elif c.get("layer_norm"):
            y = lin(gelu_tanh(lin(f, b + "ffn_up")), b + "ffn_down")
        else:
            if c.get("fused"):
                gate, up = np.split(lin(f, b + "ffn_up"), 2, -1)
            else:
                gate, up = lin(f, b + "ffn_gate"), lin(f, b + "ffn_up")
            y = lin(ACT[c.get("act", "silu")](gate) * up, b + "ffn_down")
        x = x + (norm(y, b + "post_ffw_norm") if c.get("post_norms") else y)
    x = norm(x, "output_norm")
    logits = x @ w.get("output.weight", w["token_embd.weight"]).T
    cap = c.get("logit_softcap", 0.0)
    return cap * np.tanh(logits / cap) if cap else logits

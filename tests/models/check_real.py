#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check rlx on a real model against tests/models/make_real_reference.py's float64 numbers, and its memory.

usage: check_real.py RLX MODEL.gguf     prints each failure and, last, 'N passed, M failed'
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SPARE = 120_000_000  # bytes above file and cache that a run may take


def call(rlx, *args):
    r = subprocess.run([rlx, *map(str, args)], capture_output=True, text=True, timeout=600)
    if r.returncode:
        raise RuntimeError(f"rlx {args[0]}: exit {r.returncode}: {r.stderr.strip()}")
    return json.loads(r.stdout)


def checks(rlx, model, want):
    got = call(rlx, "tokenize", model, "-p", want["text"], "--json")["tokens"]
    yield "token ids", got == want["ids"], f"{got}"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(want["ids"], f)
        f.flush()
        # The second bound is what is expected of 15-bit activations; other ISA levels multiply in f32.
        for flags, mean_bound, max_bound in (([], 0.002, 0.01), (["--kv", "f32", "--isa", "v2"], 0.001, 0.005), (["--kv", "q8_0"], 0.05, 0.2)):
            s = call(rlx, "score", model, "--ids", f.name, "--json", *flags)
            diff = [abs(a - b) for a, b in zip(s["token_logprobs"][1:], want["token_logprobs"][1:])]
            mean = sum(diff) / len(diff)
            yield f"log-probabilities {flags}", mean <= mean_bound and max(diff) <= max_bound, f"mean {mean:.5f}, max {max(diff):.5f}"
            yield f"best tokens {flags}", "q8_0" in flags or s["argmax"] == want["argmax"], f"{s['argmax']}"
        run = call(rlx, "run", model, "--ids", f.name, "-n", 1, "--temp", 0, "--ctx", 512, "--json")
    file, cache = os.path.getsize(model), 18 * 2 * 256 * 2 * 512
    yield "resident memory", run["peak_rss_bytes"] <= file + cache + SPARE, f"{run['peak_rss_bytes']} bytes"


def main(rlx, model):
    want = json.loads((pathlib.Path(__file__).parents[1] / "data/models" / (pathlib.Path(model).stem + ".json")).read_text())
    passed = failed = 0
    for name, ok, found in checks(rlx, model, want):
        passed, failed = passed + bool(ok), failed + (not ok)
        if not ok:
            print(f"{name}: {found}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)

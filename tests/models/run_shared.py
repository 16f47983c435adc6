#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a checker of the shared folder beside this checkout on the models that tests fetch.

usage: run_shared.py RLX SHARED MODELS text|bugs|llm

Makes the tiny F32 models first (numpy and gguf from PyPI, in an environment beside MODELS; once). Of the bug cases 113 is left out: its run must still be
busy one second after its start, and a fast machine is done by then; check_interrupt.py tests the same with a prompt as long as the machine needs.
"""
import pathlib
import subprocess
import sys

REAL = ("gemma-3-270m-q4_k_m", "smollm2-135m-instruct-q4_1")


def make_tiny_models(tools, models):
    done = models / "tiny" / "tiny-qwen2-f32.gguf"
    if done.exists():
        return
    env = models.parent / "test-env"
    subprocess.run([sys.executable, "-m", "venv", env], check=True)
    subprocess.run([env / "bin/python", "-m", "pip", "-q", "install", "numpy", "gguf"], check=True)
    subprocess.run([env / "bin/python", tools / "make-tiny-models", models / "tiny"], check=True)


def main(rlx, shared, models, kind):
    shared, models = pathlib.Path(shared), pathlib.Path(models)
    tools, cases = shared / "tools", shared / "cases"
    if kind != "text":
        make_tiny_models(tools, models)
    names = [p.stem for p in sorted((cases / "llm").glob("*.json")) if p.stem.startswith("tiny") or p.stem in REAL]
    bugs = [p.stem for p in sorted((cases / "llm-bugs").glob("*.json")) if not p.stem.startswith("113-")]
    command = {
        "text": [tools / "check-text", rlx, cases],
        "bugs": [tools / "check-bugs", rlx, cases / "llm-bugs", models, *bugs],
        "llm": [tools / "check-llm", rlx, cases / "llm", models, *names],
    }[kind]
    return subprocess.run([sys.executable, "-B", *map(str, command)]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 5 else __doc__)

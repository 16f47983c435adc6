#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends `rlx run` soon, while it reads a prompt and while it writes an answer (llm-bugs/113).

usage: check_interrupt.py RLX MODEL.gguf     prints each failure and, last, 'N passed, M failed'
"""
import json
import signal
import subprocess
import sys
import tempfile
import time

SOON = 1.0  # seconds from the signal to the end; one call of 512 tokens and one step come to far less


def interrupted(rlx, model, args, after):
    """(exit code, seconds from the signal to the end, stdout) of a run that gets SIGINT `after` seconds."""
    p = subprocess.Popen([rlx, "run", model, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(after)
    done_before = p.poll() is not None
    p.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, _ = p.communicate(timeout=60)
    return p.returncode, time.monotonic() - start, out, done_before


def main(rlx, model):
    passed = failed = 0
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump([(i * 7919 + 5) % 40000 for i in range(8000)], f)
        f.flush()
        cases = {
            "prompt": (["--ids", f.name, "--ctx", 8192, "-n", 4, "-t", 1], 0.7),
            "prompt, JSON": (["--ids", f.name, "--ctx", 8192, "-n", 4, "-t", 1, "--json"], 0.7),
            "answer": (["--raw", "-p", "The quick brown fox. " * 20, "-n", 8000, "--ctx", 8192, "--temp", 0, "-t", 1], 0.7),
        }
        for name, (args, after) in cases.items():
            code, seconds, out, done = interrupted(rlx, model, args, after)
            problems = [text for text, bad in (
                ("was done before the signal", done), (f"exit {code}, wanted 130", code != 130), (f"took {seconds:.2f} s to end", seconds > SOON),
                ("standard output is no JSON document", "JSON" in name and json.loads(out or b"{}").get("finish_reason") != "cancelled"),
            ) if bad]
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                print(f"{name}: {', '.join(problems)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)

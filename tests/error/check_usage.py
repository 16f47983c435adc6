#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exit codes of absurd options, streams that are closed, pipes, and a chat on a terminal.

usage: check_usage.py RLX     prints each failure and, last, 'N passed, M failed'
"""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

from gguf_text import gguf

MODEL = """llama
kv "tokenizer.ggml.model" str "gpt2"
kv "tokenizer.ggml.pre" str "gpt-2"
kv "tokenizer.ggml.tokens" [str] ["a", "b", "ab", "c", "d", "e", "f", "g", "h", "i"]
kv "tokenizer.ggml.merges" [str] ["a b"]
kv "tokenizer.chat_template" str "{% for m in messages %}{{ m.content }}{% endfor %}"
"""
BAD = """--top-k -1,--top-k 1.5,--top-p -0.1,--top-p 1.1,--top-p nan,--min-p -1,--min-p nan,--temp -1,--temp nan,--temp inf,
--repeat-penalty 0,--repeat-penalty nan,--seed -1,--seed 99999999999999999999,--seed x,--ctx 0,--ctx -1,-t 0,-t 257,-n -1,
--logprobs -1,--kv q4_0,--isa v9,--stop ,--no-such-option,-p x"""
GOOD = """-n 0,--top-k 0,--top-k 999999999,--top-p 0,--top-p 1,--min-p 1,--temp 0,--temp 1e-9,--temp 1e30,--repeat-penalty 1e30,
--seed 18446744073709551615,--logprobs 1000,-t 64,--ctx 64"""


def failures(rlx):
    def run(*args, **more):
        return subprocess.run([rlx, *args], capture_output=True, timeout=60, **more)

    def shell(text, wanted, stdout=None):
        done = subprocess.run(["bash", "-c", text], capture_output=True, timeout=60)
        right = done.returncode == wanted and (stdout is None or done.stdout == stdout)
        yield None if right else f"{text}: exit {done.returncode}, {done.stdout[:60]}, {done.stderr[-200:]}"

    with open("m.gguf", "wb") as file:
        file.write(gguf(MODEL.split("\n")))
    with open("ids.json", "w") as file:
        file.write("[1, 2]")
    model = ["run", "m.gguf", "--ids", "ids.json", "--json"]
    for wanted, lines in ((2, BAD), (0, GOOD)):
        for option in lines.replace("\n", "").split(","):
            done = run(*model, *option.split(" "))
            right = done.returncode == wanted
            if right and wanted == 0:
                json.loads(done.stdout.decode())
            yield None if right else f"{option}: exit {done.returncode}, wanted {wanted}: {done.stderr[-200:]}"
    for ids, wanted in (("0,2", 0), ("-1", 1), ("10", 1), ("99999999999", 1), ("", 2), ("1,,2", 2), ("0x1", 2), ("1,", 2)):
        code = run("tokenize", "m.gguf", "--decode", ids).returncode
        yield None if code == wanted else f"--decode '{ids}': exit {code}, wanted {wanted}"

    ask = f"{rlx} run m.gguf --ids ids.json -n 2"
    yield from shell(f"{ask} 2>&-", 0)
    yield from shell(f"{ask} >&-", 1)
    yield from shell(f"{ask} <&- >&- 2>&-", 1)
    yield from shell(f"{ask} >/dev/full", 1)
    yield from shell(f"{rlx} info m.gguf >/dev/full", 1)
    yield from shell(f"{rlx} tokenize m.gguf -f <(printf ab) --json", 0, b'{"tokens":[2],"text":"ab"}\n')
    yield from shell(f"printf '[1, 2]' | {rlx} run m.gguf --ids /dev/stdin -n 2 --json", 0)
    yield from shell(f"""printf '{{"x": 3}}' | {rlx} template <(printf '{{{{ x }}}}') --vars -""", 0, b"3")
    yield from shell(f"printf '{{{{ 1 + 1 }}}}' | {rlx} template -", 0, b"2")
    yield from shell(f"{rlx} bench m.gguf -p 40 -n 24 -r 1 --json", 0)
    yield from shell(f"mkfifo pipe; {rlx} info pipe", 1)

    # A chat outlives lines it cannot use, and Ctrl-C at its prompt ends it.
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(rlx, [rlx, "run", "m.gguf", "-n", "4"])
    seen = b""

    def wait_for(prompts):
        nonlocal seen
        end = time.monotonic() + 20
        while seen.count(b"> ") < prompts and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096)

    wait_for(1)
    for number, line in enumerate((b"ab\n", b"\xff\n", b"ab" * 200 + b"\n", b"ab\n")):
        os.write(terminal, line)
        wait_for(number + 2)
    os.write(terminal, b"\x03")
    end = time.monotonic() + 20
    while not (done := os.waitpid(pid, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.05)
    if not done[0]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(done[1]) if done[0] else "none"
    yield None if code == 130 else f"chat: exit {code} at Ctrl-C: {seen[-300:]}"
    yield None if b"not valid UTF-8" in seen and b"do not fit" in seen else f"chat: {seen[-300:]}"


def main(rlx):
    rlx = os.path.abspath(rlx)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for failure in failures(rlx):
            passed, failed = passed + (failure is None), failed + (failure is not None)
            if failure:
                print(failure)
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs rlx on inputs that must fail and compares its message with the stored one, byte for byte.

usage: run_error_cases.py RLX [--update] [--no-memory-limit] [FILE.test ...]

A .test file holds cases. Each starts with "=== what is wrong" and has sections:

    --- gguf NAME          a file in the line language of gguf_text.py
    --- safetensors NAME   the header's text; a last line "data N" adds N zero bytes behind it
    --- text NAME          a file with these lines; "--- hex NAME" one with these bytes
    --- args               one command line of rlx, run where the files are
    --- stdin              what it reads (nothing by default)
    --- error              all of standard error

Exit code 1, nothing on standard output, no more than 2 s and (unless switched off) 4 GiB of address
space are part of every case. --update stores what rlx says now; read the difference before you
commit it.
"""
import os
import pathlib
import resource
import shlex
import struct
import subprocess
import sys
import tempfile

from gguf_text import write_gguf

LIMIT_SECONDS = 2
LIMIT_BYTES = 4 << 30


def safetensors(lines):
    lines, data = list(lines), 0
    if lines and lines[-1].startswith("data "):
        data = int(lines.pop()[5:])
    header = "\n".join(lines).encode()
    return struct.pack("<Q", len(header)) + header + b"\0" * data


MAKERS = {
    "gguf": None,  # write_gguf
    "safetensors": safetensors,
    "text": lambda lines: "".join(line + "\n" for line in lines).encode(),
    "hex": lambda lines: bytes.fromhex("".join(lines)),
}


class Case:
    def __init__(self, title):
        self.title, self.sections = title, []

    def lines(self, name):
        return next((lines for head, lines in self.sections if head == name), [])


def parse(path):
    """The leading comment lines and the cases of a .test file."""
    head, cases = [], []
    for line in path.read_text().split("\n"):
        if line.startswith("=== "):
            cases.append(Case(line[4:]))
        elif not cases:
            head.append(line)
        elif line.startswith("--- "):
            cases[-1].sections.append((line[4:], []))
        else:
            cases[-1].sections[-1][1].append(line)
    for case in cases:
        for _, lines in case.sections:
            while lines and not lines[-1]:
                lines.pop()
    return head, cases


def run(rlx, case, limit_memory):
    """What is wrong with the outcome (None: nothing), and standard error."""
    def limit():
        if limit_memory:
            resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))

    with tempfile.TemporaryDirectory() as folder:
        for head, lines in case.sections:
            kind, _, name = head.partition(" ")
            if kind in MAKERS:
                target = pathlib.Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                if kind == "gguf":
                    write_gguf(target, lines)
                else:
                    target.write_bytes(MAKERS[kind](lines))
        stdin = "".join(line + "\n" for line in case.lines("stdin")).encode()
        args = shlex.split(" ".join(case.lines("args")))
        try:
            done = subprocess.run([rlx, *args], cwd=folder, input=stdin, capture_output=True,
                                  timeout=LIMIT_SECONDS * (1 if limit_memory else 10),
                                  preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return "takes too long", ""
        error = done.stderr.decode(errors="backslashreplace")
        if done.returncode != 1:
            return f"exit code {done.returncode} instead of 1\n{error[-2000:]}", error
        if done.stdout:
            return f"prints {done.stdout[:80]!r} on standard output", error
        wanted = "\n".join(case.lines("error")) + "\n"
        if error != wanted:
            return f"wanted: {wanted}    found:  {error}", error
        return None, error


def store(path, head, cases):
    out = list(head)
    for case in cases:
        out.append("=== " + case.title)
        for name, lines in case.sections:
            out += ["--- " + name, *lines]
        out.append("")
    path.write_text("\n".join(out))


def main():
    flags = {arg for arg in sys.argv[1:] if arg.startswith("--")}
    rlx, *paths = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    rlx = os.path.abspath(rlx)
    here = pathlib.Path(__file__).resolve().parent
    passed = failed = 0
    for path in [pathlib.Path(p) for p in paths] or sorted(here.glob("*.test")):
        head, cases = parse(path)
        for case in cases:
            wrong, error = run(rlx, case, "--no-memory-limit" not in flags)
            if wrong and "--update" in flags and wrong.startswith("wanted: "):
                case.sections = [s for s in case.sections if s[0] != "error"]
                case.sections.append(("error", error.rstrip("\n").split("\n")))
                print(f"{path.name}: {case.title}: stored: {error}", end="")
            elif wrong:
                failed += 1
                print(f"{path.name}: {case.title}: {wrong}")
            else:
                passed += 1
        if "--update" in flags:
            store(path, head, cases)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed + len(flags & {"--update"}) else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())

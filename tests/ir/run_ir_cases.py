#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the text cases of passes: input IR, pass, expected IR.

usage: run_ir_cases.py RLX [--update] [NAME-PART ...]     prints each difference and, last, 'N passed, M failed'

A case is tests/ir/PASS/NAME.test: lines of '#' tell what it shows; '--- target: T' (optional) names the target; then the graph; then '---' and the graph
that `rlx compile --after=PASS` prints for it. The printed graph must also parse back to the same text. --update rewrites what is expected.
"""
import difflib
import pathlib
import subprocess
import sys
import tempfile


def read_case(path):
    target, parts, head = "cpu:v2", [[]], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("--- target: "):
            target = line[len("--- target: "):]
        elif line == "---":
            parts.append([])
        elif line.startswith("#") and parts == [[]]:
            head.append(line)
        else:
            parts[-1].append(line)
    graphs = ["\n".join(p).strip("\n") + "\n" for p in parts]
    return head, target, graphs[0], graphs[1] if len(graphs) > 1 else ""


def compile_graph(rlx, text, pass_name, target):
    with tempfile.NamedTemporaryFile("w", suffix=".rlx", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        r = subprocess.run([rlx, "compile", f.name, f"--after={pass_name}", f"--target={target}"], capture_output=True, text=True, timeout=60)
    return r.stdout if r.returncode == 0 else f"exit {r.returncode}: {r.stderr}"


def main(rlx, *rest):
    update, names = "--update" in rest, [a for a in rest if a != "--update"]
    passed = failed = 0
    for path in sorted(pathlib.Path(__file__).parent.glob("*/*.test")):
        if names and not any(n in str(path) for n in names):
            continue
        head, target, text, want = read_case(path)
        got = compile_graph(rlx, text, path.parent.name, target)
        if update:
            top = "\n".join(head + ([f"--- target: {target}"] if target != "cpu:v2" else []))
            path.write_text(f"{top}\n{text}---\n{got}", encoding="utf-8")
        again = compile_graph(rlx, got, "build", target)
        ok = (update or got == want) and again == got
        passed, failed = passed + ok, failed + (not ok)
        if not ok:
            print(f"{path.parent.name}/{path.name}:")
            print("".join(difflib.unified_diff(want.splitlines(True), got.splitlines(True), "expected", "found")))
            if again != got:
                print(f"does not read back to itself: {again}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)

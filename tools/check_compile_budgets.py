#!/usr/bin/env python3
"""Compares the CPU time of compiling each header with bench/compile_budgets.json (g++ -O0).

Usage: tools/check_compile_budgets.py build/dev [--all] [--part]
The build tree must be in compiled mode: that is what a user's every rebuild costs. Machines and
their load differ, so seconds are those of a core that compiles REFERENCE in the time that the
budgets name. A file over its budget gets up to eight further tries beside the reference; the best
counts.
--all: prints every figure
--part: a twentieth of the headers, as check_headers.py takes them
"""
import json
import statistics
import sys

from compiling import ROOT, compile_text, flags_of, headers, part_of, side_by_side

BUDGETS = json.loads((ROOT / "bench/compile_budgets.json").read_text())
REFERENCE = "".join(f"#include <{header}>\n" for header in (
    "algorithm", "functional", "iostream", "map", "random", "regex", "string", "vector"))


def units():
    """(name, text, budget in seconds) of everything that has a budget."""
    chosen = set(part_of(headers()) if "--part" in sys.argv else headers())
    for header in headers():
        umbrella = header.count("/") == 1
        if not umbrella and header not in chosen:
            continue
        yield header, f"#include <{header}>\n", BUDGETS["umbrella" if umbrella else "header"]
    for trainer in BUDGETS["trainers"]:
        if (ROOT / trainer).exists():
            yield trainer, f'#include "{ROOT / trainer}"\n', BUDGETS["trainer"]


def compile_units(flags, texts):
    """(ok, seconds, compiler's output) of each, side by side, with the reference among them."""
    every = 20
    mixed = [text for i, text in enumerate(texts)
             for text in ([REFERENCE] if i % every == 0 else []) + [text]]
    results = side_by_side(lambda text: compile_text(flags, text), mixed)
    reference = statistics.median(
        time for text, (_, time, _) in zip(mixed, results) if text is REFERENCE)
    return [(ok, time * BUDGETS["reference"] / reference, output)
            for text, (ok, time, output) in zip(mixed, results) if text is not REFERENCE]


def main():
    flags = flags_of(sys.argv[1]) + [f"-I{ROOT}/examples", '-DEXAMPLE_DATA_DIR=""', "-O0", "-c"]
    if "-DDISTRIBUTE_COMPILED" not in flags:
        sys.exit(f"{sys.argv[1]} is not a compiled-mode build")
    work = list(units())
    results = compile_units(flags, [text for _, text, _ in work])
    bad = 0
    seconds = {}
    for (name, text, budget), (ok, time, output) in zip(work, results):
        for _ in range(8):
            if ok and time > budget:
                time = min(time, compile_units(flags, [text])[0][1])
        seconds[name] = time
        if not ok or time > budget:
            bad += 1
            print(f"{name}: {time:.2f} s, budget {budget} s" if ok else f"{name}:\n{output[:2000]}")
    slowest = sorted(seconds, key=seconds.get, reverse=True)
    for name in slowest if "--all" in sys.argv else slowest[:5]:
        print(f"  {seconds[name]:5.2f} s  {name}")
    print(f"compile budgets: {len(work) - bad} of {len(work)} within")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

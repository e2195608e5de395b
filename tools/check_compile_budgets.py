#!/usr/bin/env python3
"""Compares the CPU time of compiling each header with bench/compile_budgets.json (g++ -O0).

Usage: tools/check_compile_budgets.py build/dev [--all] [--part]
The build tree must be in compiled mode: that is what a user's every rebuild costs. A file over its
budget gets two further tries alone; the best counts.
--all: prints every figure
--part: a third of the headers, as check_headers.py takes them
"""
import json
import sys

from compiling import ROOT, compile_text, flags_of, headers, part_of, side_by_side

BUDGETS = json.loads((ROOT / "bench/compile_budgets.json").read_text())


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


def main():
    flags = flags_of(sys.argv[1]) + [f"-I{ROOT}/examples", '-DEXAMPLE_DATA_DIR=""', "-O0", "-c"]
    if "-DDISTRIBUTE_COMPILED" not in flags:
        sys.exit(f"{sys.argv[1]} is not a compiled-mode build")
    work = list(units())
    results = side_by_side(lambda unit: compile_text(flags, unit[1]), work)
    bad = 0
    seconds = {}
    for (name, text, budget), (ok, time, output) in zip(work, results):
        for _ in range(2):
            if ok and time > budget:
                time = min(time, compile_text(flags, text)[1])
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

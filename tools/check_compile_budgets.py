#!/usr/bin/env python3
"""Compares CPU time and memory of compilations with bench/compile_budgets.json.

Headers and files with the bodies elsewhere (g++ -O0), or a whole program by the command given.
Usage: tools/check_compile_budgets.py build/ci [--all] [--part]
       tools/check_compile_budgets.py --program examples/three_ways/one_file/trainer.cpp g++ ...
Machines and their load differ, so seconds are those of a core that compiles REFERENCE in the time
that the budgets name. What is over its budget gets further tries beside the reference; the best
counts.
--all: prints every figure
--part: a fortieth of the headers, as check_headers.py takes them
--program: runs the command, whatever it writes stays
"""
import collections
import json
import statistics
import sys

from compiling import (INCLUDE, ROOT, SEPARATE, compile_text, flags_of, headers, part_of, run_command,
                       side_by_side)
from floors import is_private

BUDGETS = json.loads((ROOT / "bench/compile_budgets.json").read_text())
REFERENCE = "".join(f"#include <{header}>\n" for header in (
    "algorithm", "functional", "iostream", "map", "random", "regex", "string", "vector"))

Unit = collections.namedtuple("Unit", "name text flags budget tries")


def header_units(flags):
    names = [name for name in headers() if not is_private((INCLUDE / name).read_text())]
    chosen = set(part_of(names) if "--part" in sys.argv else names)
    for name in names:
        umbrella = name.count("/") == 1
        if umbrella or name in chosen:
            budget = BUDGETS["umbrellas"].get(name, BUDGETS["umbrella" if umbrella else "header"])
            yield Unit(name, f"#include <{name}>\n", flags, budget, 8)


def units(build):
    """Everything that has a budget."""
    given = flags_of(build) + [f"-I{ROOT}/examples", f"-I{ROOT}", '-DEXAMPLE_DATA_DIR=""']
    if SEPARATE not in given:
        sys.exit(f"{build} has no flags of distribute::distribute")
    flags = given + ["-O0", "-c"]
    yield from header_units(flags)
    for name, budget in BUDGETS["files"].items():
        yield Unit(name, f'#include "{ROOT / name}"\n', flags, budget, 8)


def reference_seconds(compiler):
    return compile_text([compiler, "-std=c++20", "-O0", "-c"], REFERENCE).seconds


def check_program(name, command):
    """Its time beside the reference's, measured before and after."""
    before = reference_seconds(command[0])
    result = run_command(command)
    reference = (before + reference_seconds(command[0])) / 2
    result = result._replace(seconds=result.seconds * BUDGETS["reference"] / reference)
    unit = Unit(name + ", header-only", "", [], BUDGETS["header_only"][name], 1)
    print(figures(unit, result) if result.ok else result.output)
    return 0 if within(unit, result) else 1


def compile_units(work):
    """The results, side by side, with the reference among them; seconds of the reference core."""
    every = 20
    mixed = [unit for i, unit in enumerate(work)
             for unit in ([None] if i % every == 0 else []) + [unit]]
    compiler = next(unit.flags[0] for unit in work)
    results = side_by_side(lambda unit: reference_seconds(compiler) if unit is None
                           else compile_text(unit.flags, unit.text), mixed)
    reference = statistics.median(
        result for unit, result in zip(mixed, results) if unit is None)
    return [result._replace(seconds=result.seconds * BUDGETS["reference"] / reference)
            for unit, result in zip(mixed, results) if unit is not None]


def within(unit, result):
    return result.ok and result.seconds <= unit.budget["seconds"] \
        and result.megabytes <= unit.budget["megabytes"]


def best_of(unit, result):
    for _ in range(unit.tries):
        if not result.ok or within(unit, result):
            break
        again = compile_units([unit])[0]
        result = min(result, again, key=lambda one: one.seconds)
    return result


def figures(unit, result):
    return (f"{result.seconds:6.2f} s of {unit.budget['seconds']}, {result.megabytes:5.0f} MB of "
            f"{unit.budget['megabytes']}  {unit.name}")


def main():
    if sys.argv[1] == "--program":
        return check_program(sys.argv[2], sys.argv[3:])
    work = list(units(sys.argv[1]))
    results = [best_of(unit, result) for unit, result in zip(work, compile_units(work))]
    bad = [pair for pair in zip(work, results) if not within(*pair)]
    for unit, result in bad:
        print(figures(unit, result) if result.ok else f"{unit.name}:\n{result.output[:2000]}")
    slowest = sorted(zip(work, results), key=lambda pair: -pair[1].seconds)
    for pair in slowest if "--all" in sys.argv else slowest[:8]:
        print(f"  {figures(*pair)}")
    print(f"compile budgets: {len(work) - len(bad)} of {len(work)} within")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

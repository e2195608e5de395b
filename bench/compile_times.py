#!/usr/bin/env python3
"""Prints CPU time and memory of compilations, slowest first. A figure, which fails nothing.

Headers and files with the bodies elsewhere (g++ -O0), or a whole program by the command given.
Usage: bench/compile_times.py BUILD                 every public header, and examples
       bench/compile_times.py --program NAME g++ ...
BUILD is a build folder of GCC, such as build/dev. Machines and their load differ, so seconds are those
of a core that compiles REFERENCE in 0.75 s. Each is compiled three times; the least counts.
"""
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from compiling import (SEPARATE, compile_text, flags_of, public_headers, run_command,  # noqa: E402
                       side_by_side)

REFERENCE_SECONDS = 0.75
REFERENCE = "".join(f"#include <{header}>\n" for header in (
    "algorithm", "functional", "iostream", "map", "random", "regex", "string", "vector"))
FILES = ["examples/mnist_cnn/main.cpp", "examples/common/replica_step.cpp", "examples/common/way.cpp",
         "examples/resnet50/main.cpp", "examples/resnet50/pictures.cpp",
         "examples/three_ways/several_files/train_step.cpp"]
TRIES = 3


def reference_seconds(compiler):
    return compile_text([compiler, "-std=c++20", "-O0", "-c"], REFERENCE).seconds


def of_reference_core(result, reference):
    return result._replace(seconds=result.seconds * REFERENCE_SECONDS / reference)


def time_program(command):
    """Its time beside the reference's, measured before and after."""
    before = reference_seconds(command[0])
    result = run_command(command)
    return of_reference_core(result, (before + reference_seconds(command[0])) / 2)


def time_units(build):
    """(name, result) of everything, side by side, with the reference among them."""
    given = flags_of(build) + [f"-I{ROOT}/examples", f"-I{ROOT}", '-DEXAMPLE_DATA_DIR=""']
    if SEPARATE not in given:
        sys.exit(f"{build} has no flags of distribute::distribute")
    flags = given + ["-O0", "-c"]
    texts = {name: f"#include <{name}>\n" for name in public_headers()}
    texts |= {name: f'#include "{ROOT / name}"\n' for name in FILES}
    every = 20
    work = [name for i, name in enumerate(texts)
            for name in ([None] if i % every == 0 else []) + [name] * TRIES]
    results = side_by_side(lambda name: reference_seconds(flags[0]) if name is None
                           else compile_text(flags, texts[name]), work)
    reference = statistics.median(one for name, one in zip(work, results) if name is None)
    least = {}
    for name, result in zip(work, results):
        if name and (name not in least or result.seconds < least[name].seconds):
            least[name] = result
    return [(name, of_reference_core(result, reference)) for name, result in least.items()]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--program":
        timed = [(sys.argv[2], time_program(sys.argv[3:]))]
    else:
        timed = sorted(time_units(sys.argv[1]), key=lambda pair: -pair[1].seconds)
    for name, result in timed:
        print(f"{result.seconds:7.2f} s {result.megabytes:6.0f} MB  {name}")
        if not result.ok:
            print(result.output[:2000])
    return 0 if all(result.ok for _, result in timed) else 1


if __name__ == "__main__":
    sys.exit(main())

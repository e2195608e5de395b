#!/usr/bin/env python3
"""Compiles every header alone, twice in one file, in the mode of the given build tree.

Usage: tools/check_headers.py build/header-only
"""
import pathlib
import sys
import tempfile

from compiling import INCLUDE, compile_text, flags_of, headers, side_by_side

# Bodies of the CPU backends cost 4 s each. Above `device` nobody depends on what they contain, so
# empty files stand in for them there; the headers of `device` itself are compiled with them.
HEAVY = "distribute/device/impl/cpu_*.ipp"


def make_stand_ins(folder):
    for path in INCLUDE.glob(HEAVY):
        stand_in = pathlib.Path(folder) / path.relative_to(INCLUDE)
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text("#pragma once\n")


def main():
    flags = flags_of(sys.argv[1]) + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    with tempfile.TemporaryDirectory() as folder:
        make_stand_ins(folder)

        def check(header):
            own = [flags[0], f"-I{folder}", *flags[1:]]
            if header.startswith("distribute/device/"):
                own = flags
            return header, compile_text(own, f"#include <{header}>\n#include <{header}>\n")

        results = side_by_side(check, headers())
    bad = [(header, result[2]) for header, result in results if not result[0]]
    for header, output in bad:
        print(f"{header} does not compile alone:\n{output[:3000]}")
    print(f"headers alone: {len(results) - len(bad)} of {len(results)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

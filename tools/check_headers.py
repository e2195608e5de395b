#!/usr/bin/env python3
"""Compiles every header alone, twice in one file, as a user's file includes it, and every body.

Usage: tools/check_headers.py build/ci [--part]
--part: a fortieth of them, another one after every commit, and up to 12 that were touched last.
"""
import sys

from compiling import INCLUDE, compile_text, flags_of, headers, part_of, side_by_side
from floors import ANNEXES, CORE, bodies, is_private


def main():
    flags = flags_of(sys.argv[1]) + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    names = [name for name in headers() if not is_private((INCLUDE / name).read_text())]
    names += [f"distribute/{name}" for name in bodies([*CORE, *ANNEXES])]
    names = part_of(names) if "--part" in sys.argv else names
    results = side_by_side(
        lambda name: compile_text(flags, f"#include <{name}>\n#include <{name}>\n"), names)
    bad = [(name, result.output) for name, result in zip(names, results) if not result.ok]
    for name, output in bad:
        print(f"{name} does not compile alone:\n{output[:3000]}")
    print(f"headers and bodies alone: {len(results) - len(bad)} of {len(results)} compile")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

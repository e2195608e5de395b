#!/usr/bin/env python3
"""Compiles every header alone, twice in one file, as a user's file includes it.

Usage: tools/check_headers.py build/ci [--part] [--umbrellas]
--umbrellas: in place of that all umbrellas in one file, header-only
--part: a twentieth of them, another one after every commit, and up to 40 that were touched last.
"""
import sys

from compiling import (INCLUDE, ROOT, SEPARATE, compile_text, flags_of, headers, part_of,
                       side_by_side)
from floors import is_private


def check_umbrellas(flags):
    text = '#include "tests/checks/every_header.hpp"\n'
    result = compile_text([flag for flag in flags if flag != SEPARATE] + [f"-I{ROOT}"], text)
    print("umbrellas, header-only: they compile" if result.ok else result.output[:5000])
    return 0 if result.ok else 1


def main():
    flags = flags_of(sys.argv[1]) + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    if "--umbrellas" in sys.argv:
        return check_umbrellas(flags + ["-Wpedantic", "-Wshadow"])
    names = [name for name in headers() if not is_private((INCLUDE / name).read_text())]
    names = part_of(names) if "--part" in sys.argv else names
    results = side_by_side(
        lambda name: compile_text(flags, f"#include <{name}>\n#include <{name}>\n"), names)
    bad = [(name, result.output) for name, result in zip(names, results) if not result.ok]
    for name, output in bad:
        print(f"{name} does not compile alone:\n{output[:3000]}")
    print(f"headers alone: {len(results) - len(bad)} of {len(results)} compile")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

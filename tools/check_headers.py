#!/usr/bin/env python3
"""Compiles every header alone, twice in one file, in the mode of the given build tree.

Bodies of its own floor are read with it, those of other floors when it cannot do without.

Usage: tools/check_headers.py build/header-only [--part]
--part: a twentieth of them, another one after every commit, and what the last 10 commits touched.
"""
import pathlib
import sys
import tempfile

from compiling import INCLUDE, ROOT, compile_text, flags_of, headers, part_of, side_by_side


def make_stand_ins(folder, floor):
    """Empty files for the bodies of all other floors: a header needs their declarations alone."""
    for path in INCLUDE.glob("distribute/*/impl/*.ipp"):
        if path.parent.parent.name != floor:
            stand_in = folder / path.relative_to(INCLUDE)
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.write_text("#pragma once\n")


def main():
    flags = flags_of(sys.argv[1]) + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    names = part_of(headers()) if "--part" in sys.argv else headers()
    with tempfile.TemporaryDirectory() as folder:
        for floor in {name.split("/")[1] for name in names if name.count("/") == 2}:
            make_stand_ins(pathlib.Path(folder) / floor, floor)

        def check(header):
            text = f"#include <{header}>\n#include <{header}>\n"
            floor = header.split("/")[1]
            quick = [flags[0], f"-I{folder}/{floor}", *flags[1:]]
            result = compile_text(quick, text)
            # Some bodies define what templates of other floors call.
            return header, result if result[0] else compile_text(flags, text)

        results = side_by_side(check, names)
    bad = [(header, result[2]) for header, result in results if not result[0]]
    for header, output in bad:
        print(f"{header} does not compile alone:\n{output[:3000]}")
    print(f"headers alone: {len(results) - len(bad)} of {len(results)} compile")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles every public header alone, twice in one file, as a user's file includes it, with Clang.

Usage: tools/check_headers.py build/ci [--all]
--all: internal headers and bodies, too
Most of a header's time would go into what many others include as well. So some headers that many
reach are precompiled, and each header is compiled with one that it reaches by itself: that one
includes nothing that the header does not have anyhow, and is checked alone, too.
"""
import os
import pathlib
import sys
import tempfile

from compiling import compile_text, flags_of, run_command, side_by_side
from floors import ANNEXES, CORE, LIBRARY, OPTIONAL, bodies, files, is_private, public_headers, reached

PRECOMPILED = 12


def shared_headers(reach):
    """The headers that spare most when they are precompiled, by the number of files they reach."""
    spared = dict.fromkeys(reach, 0)  # for each header, by the shared one that it would get
    chosen = []

    def gain(one):
        size = len(reach[one])
        return sum(max(0, size - spared[name]) for name in reach if one in reach[name])

    for _ in range(PRECOMPILED):
        best = max(sorted(reach), key=gain)
        chosen.append(best)
        for name in reach:
            if best in reach[name]:
                spared[name] = max(spared[name], len(reach[best]))
    return chosen


def precompile(flags, folder, name):
    """The path of the precompiled header; nothing where it does not compile."""
    target = pathlib.Path(folder) / (name.replace("/", "_") + ".pch")
    # Templates are instantiated once, here, and not again by each that uses it.
    result = run_command([*flags, "-fpch-instantiate-templates", "-x", "c++-header", str(LIBRARY / name), "-o", str(target)])
    return target if result.ok else None


def check_all(flags, names):
    """(name, result) for each."""
    reach = {name: set(reached([name], with_bodies=False)) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        shared = shared_headers(reach)
        made = dict(zip(shared, side_by_side(lambda name: precompile(flags, folder, name), shared)))

        def check(name):
            usable = [one for one in shared if one in reach[name] and one != name and made[one]]
            best = max(usable, key=lambda one: len(reach[one]), default=None)
            more = ["-include-pch", str(made[best])] if best else []
            include = f"#include <distribute/{name}>\n"
            return compile_text([*flags, "-fsyntax-only", *more], include * 2)

        return list(zip(names, side_by_side(check, names)))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    flags = ["clang++", *flags_of(sys.argv[1])[1:], "-Wall", "-Wextra", "-Werror",
             "-Wno-pragma-once-outside-header"]
    folders = [*CORE, *(annex for annex in ANNEXES if annex not in OPTIONAL)]
    names = public_headers(folders)
    if "--all" in sys.argv:
        names = [name for name in files() if name.endswith(".hpp")
                 and not is_private((LIBRARY / name).read_text())] + bodies(folders)
    results = check_all(flags, names)
    bad = [(name, result.output) for name, result in results if not result.ok]
    for name, output in bad:
        print(f"{name} does not compile alone:\n{output[:3000]}")
    seconds = sum(result.seconds for _, result in results)
    print(f"headers alone: {len(results) - len(bad)} of {len(results)} compile, "
          f"{seconds:.0f} s of CPU time on {os.cpu_count()} cores")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Looks for functions of the library without a body, and for bodies that two files would define.

Usage: tools/check_bodies.py build/ci        its static libraries; all headers in one file that is
                                             header-only, compiled by Clang; and what GCC says of the
                                             bodies that one_file does not compile with it
       tools/check_bodies.py FILE.o LEAST    a header-only program's object with at least LEAST of
                                             our functions
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from compiling import ROOT, SEPARATE, flags_of, run_command
from floors import ANNEXES, CORE, LIBRARY, OPTIONAL, bodies, reached

OURS = re.compile(r"(\w) (_Z(?:T[VTSI])?N[KVRO]*10distribute\S*)$", re.MULTILINE)


def symbols(*files):
    """Kinds of our functions, as nm has them: {name: {"U", "W"}}."""
    output = subprocess.run(["nm", "--extern-only", *map(str, files)], check=True,
                            capture_output=True, text=True).stdout
    kinds = {}
    for kind, name in OURS.findall(output):
        kinds.setdefault(name, set()).add(kind)
    return kinds


def without_body(kinds):
    return [f"{name} has no body" for name, found in kinds.items() if found == {"U"}]


def faults_of_object(kinds, least):
    inline = [name for name, found in kinds.items() if found & set("vwVWu")]
    faults = [f"{name} is not inline" for name, found in kinds.items()
              if not found <= set("vwVWuU")]
    print(f"{len(inline)} inline functions")
    return faults + ([f"fewer than {least} functions"] if len(inline) < least else [])


def compile_file(build, command, source, more=()):
    """(Whether it compiles with the features of the build, header-only; the output)."""
    flags = [flag for flag in flags_of(build)[1:] if flag != SEPARATE]
    result = run_command([*command, *flags, *more, "-Wall", "-Wextra", "-Werror", f"-I{ROOT}",
                          str(source)])
    return result.ok, result.output


def other_bodies():
    """Those that a program with strategy.hpp and oneDNN alone does not compile, as one_file does."""
    seldom = re.compile(r"^#if .*DISTRIBUTE_HAS_(?!ONEDNN)", re.MULTILINE)
    common = set(reached(["strategy.hpp"], with_bodies=True))
    folders = [*CORE, *(annex for annex in ANNEXES if annex not in OPTIONAL)]
    return [body for body in bodies(folders)
            if body not in common or seldom.search((LIBRARY / body).read_text())]


def complaint_of_gcc(build, folder):
    """What GCC says of these, outside of headers, which is quicker."""
    source = pathlib.Path(folder) / "other_bodies.cpp"
    source.write_text("".join(f"#include <distribute/{body}>\n" for body in other_bodies()))
    fine, output = compile_file(build, ["g++", "-fsyntax-only"], source, [SEPARATE])
    return [] if fine else [output]


def faults_of_headers(build):
    """What header-only programs would define twice, by Clang; it emits no inline function that is not
    used. And what GCC says."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "every_body.o"
        made, output = compile_file(build, [
            "clang++", "-O0", "-Wno-pass-failed", "-Wno-ignored-attributes", "-c", "-o", str(target)],
            ROOT / "tests/checks/every_body.cpp")
        found = faults_of_object(symbols(target), 1000) if made else [output]
        return complaint_of_gcc(build, folder) + found


def faults(arguments):
    if len(arguments) == 2:
        kinds = symbols(arguments[0])
        return without_body(kinds) + faults_of_object(kinds, int(arguments[1]))
    libraries = sorted(pathlib.Path(arguments[0]).glob("libdistribute*.a"))
    kinds = symbols(*libraries)
    print(f"{len(kinds)} functions in {len(libraries)} libraries")
    return ([] if libraries else [f"{arguments[0]} has no libraries"]) + without_body(kinds) + \
        faults_of_headers(arguments[0])


def main():
    bad = faults(sys.argv[1:])
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

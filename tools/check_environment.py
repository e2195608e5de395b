#!/usr/bin/env python3
"""Compares docs/environment.md with the environment variables that the code reads.

A string literal of the library, the programs and the examples that looks like the name of a variable
must have a row, or stand in NOT_VARIABLES; so must variables of scripts that have a default, and
DISTRIBUTE_ variables of scripts and tests. A row that no code reads is an error, too, and so is
code that reads the environment past distribute::Environment.

Usage: tools/check_environment.py
"""
import re
import sys

from floors import INCLUDE

ROOT = INCLUDE.parent
PAGE = ROOT / "docs/environment.md"
READER = INCLUDE / "distribute/base/impl/environment.ipp"
# Literals of the same form: words of TensorFlow and of services, ciphers, keys of files.
NOT_VARIABLES = {
    "ALREADY_EXISTS", "DATA_LOSS", "DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "INVALID_ARGUMENT",
    "NOT_FOUND", "OUT_OF_RANGE", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",  # codes of errors
    "ONLY_FIRST_REPLICA", "VARIABLE_VALUE", "TERMINATE_ON_HOST_MAINTENANCE", "TLS_AES_128_GCM_SHA256",
    "LC_ALL", "NCCL_DEBUG", "XZ_OPT"}  # set for other programs
LITERAL = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|OMPI_MCA_\w+)"')
# A name of one word counts where it is read.
SINGLE = re.compile(r'(?:environment|variables_?|Environment\(\)|has|text|needed)\(\{?"([A-Z]+)"|"HADOOP_USER_NAME", "([A-Z]+)"')
SHELL = re.compile(r"\$\{?(DISTRIBUTE_[A-Z_]+)|\$\{([A-Z_]+):-")
CMAKE = re.compile(r"ENV\{(DISTRIBUTE_\w+)\}")
TESTS = re.compile(r'getenv\("(DISTRIBUTE_\w+)"|"(DISTRIBUTE_\w+_PYTHON)"')


def files(*places):
    for place in places:
        folder, _, pattern = place.partition(":")
        yield from sorted((ROOT / folder).rglob(pattern))


def read_by_code():
    """Variable -> a file that reads it."""
    found = {}

    def search(pattern, paths):
        for path in paths:
            for match in pattern.findall(path.read_text()):
                for name in [match] if isinstance(match, str) else filter(None, match):
                    found.setdefault(name, path.relative_to(ROOT))
    sources = list(files("include:*.hpp", "include:*.ipp", "tools:*.?pp", "examples:*.?pp"))
    search(LITERAL, sources)
    search(SINGLE, sources)
    search(SHELL, files("scripts:*.sh", "examples:*.sh", "examples:*.sbatch"))
    search(CMAKE, files("packaging:*.cmake", "cmake:*.cmake"))
    search(TESTS, files("tests:*.?pp"))
    return {name: path for name, path in found.items() if name not in NOT_VARIABLES}


def rows(text):
    """The variables of the first columns."""
    return [name for line in re.findall(r"^\| (`[^|]*`) \|", text, re.M) for name in re.findall(r"`(\w+)`", line)]


def main():
    read, listed = read_by_code(), rows(PAGE.read_text())
    bad = [f"{path}: reads {name}, which has no row in docs/environment.md"
           for name, path in sorted(read.items()) if name not in listed]
    bad += [f"docs/environment.md: {name} has a row, but no code reads it"
            for name in sorted(set(listed)) if name not in read]
    bad += [f"docs/environment.md: {name} has {listed.count(name)} rows"
            for name in sorted(set(listed)) if listed.count(name) > 1]
    bad += [f"{path.relative_to(ROOT)}: getenv: use Environment (base/environment.hpp)"
            for path in files("include:*.?pp", "tools:*.?pp", "examples:*.?pp")
            if path != READER and re.search(r"\bgetenv\(", path.read_text())]
    print("\n".join(bad) if bad else f"environment: {len(listed)} variables, each with its row")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

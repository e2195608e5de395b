#!/usr/bin/env python3
"""Checks that distribute.hpp includes every header for users; --fix writes it anew.

Headers whose row in docs/tf_map.md says "internal" stay out: they cost every user compile time.

Also checks the pairs: every impl/x.ipp has its x.hpp, and is included in header-only mode.
Usage: tools/check_umbrella.py [--fix]
"""
import pathlib
import re
import sys

from floors import LEVEL, UMBRELLAS, is_private

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
UMBRELLA = INCLUDE / "distribute/distribute.hpp"
MAP = INCLUDE.parent / "docs/tf_map.md"
HEAD = """#pragma once
/// Everything: includes every header for users (written by tools/check_umbrella.py).
"""


def public_headers():
    return [path.relative_to(INCLUDE) for path in (INCLUDE / "distribute").rglob("*.hpp")
            if path.parent != INCLUDE / "distribute" and not is_private(path.read_text())]


def internal_headers():
    """What the map calls internal, outside code marks."""
    rows = [row for row in MAP.read_text().splitlines()
            if row.startswith("|") and re.search(r"\binternal\b", re.sub("`[^`]*`", "", row))]
    return {f"distribute/{name}" for row in rows for name in re.findall(r"`(\w+/\w+\.hpp)`", row)}


def expected_text():
    internal = internal_headers()
    headers = [path for path in public_headers() if str(path) not in internal]
    headers.sort(key=lambda path: (LEVEL.get(path.parts[1], 99), path.parts[1], str(path)))
    text, folder = HEAD, None
    for header in headers:
        text += "\n" if header.parts[1] != folder else ""
        text += f"#include <{header}>\n"
        folder = header.parts[1]
    return text


def pair_problems():
    for body in sorted((INCLUDE / "distribute").glob("*/impl/*.ipp")):
        relative = body.relative_to(INCLUDE)
        stem = re.sub("_stub$", "", body.stem)  # what stands in for a vendor's door
        header = body.parent.parent / (stem + ".hpp")
        if not header.exists():
            yield f"{relative}: its header {header.relative_to(INCLUDE)} is missing"
        elif not any(f"#include <{relative}>" in text for text in header_only_blocks(header.parent)):
            yield f"{relative}: no header of its folder includes it when header-only"


def header_only_blocks(folder):
    """What the headers of a folder include in header-only mode."""
    for path in [*folder.glob("*.hpp"), *folder.glob("impl/*.ipp")]:
        text = path.read_text()
        yield text if path.suffix == ".ipp" else text.partition("#ifdef DISTRIBUTE_HEADER_ONLY")[2]


def main():
    expected = expected_text()
    if "--fix" in sys.argv[1:]:
        UMBRELLA.write_text(expected)
    bad = list(pair_problems())
    have = UMBRELLA.read_text() if UMBRELLA.exists() else ""
    if have != expected:
        lines = set(expected.splitlines()) ^ set(have.splitlines())
        bad.append("distribute.hpp differs from the headers; run tools/check_umbrella.py --fix")
        bad += [f"  {line}" for line in sorted(lines)]
    bad += [f"{name} is missing" for name in UMBRELLAS
            if not (INCLUDE / "distribute" / name).exists()]
    print("\n".join(bad) if bad else "umbrella: every header for users is in it")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

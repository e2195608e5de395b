#!/usr/bin/env python3
"""Checks that docs/tf_map.md names every public header, and no header that does not exist.

Usage: tools/check_tf_map.py
"""
import re
import sys

from floors import ANNEXES, CORE, INCLUDE, LIBRARY, public_headers

MAP = INCLUDE.parent / "docs/tf_map.md"


def main():
    named = set(re.findall(r"`((?:\w+/)+\w+\.hpp)`", MAP.read_text()))
    bad = [f"{header}: docs/tf_map.md does not name it"
           for header in public_headers(CORE + list(ANNEXES)) if header not in named]
    bad += [f"{header}: in docs/tf_map.md, but there is no such header" for header in sorted(named)
            if not (LIBRARY / header).exists() and not (INCLUDE / header).exists()]
    print("\n".join(bad) if bad else "tf_map: every public header is in it")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

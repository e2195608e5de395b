#!/usr/bin/env python3
"""Checks that docs/tf_map.md names every public header, and no header that does not exist.

Usage: tools/check_tf_map.py
"""
import pathlib
import re
import sys

from check_umbrella import MAP, public_headers


def main():
    named = set(re.findall(r"`(\w+/\w+\.hpp)`", MAP.read_text())) - {"distribute/distribute.hpp"}
    headers = {str(path.relative_to("distribute")) for path in public_headers()}
    bad = [f"{header}: docs/tf_map.md does not name it" for header in sorted(headers - named)]
    bad += [f"{header}: in docs/tf_map.md, but not a public header" for header in sorted(named - headers)]
    print("\n".join(bad) if bad else "tf_map: every public header is in it")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes the table of docs/differences.md from tests/comparison/differences.json; --fix writes it anew.

scripts/compare_tensorflow.sh fails where a case differs that is not in that file, and where one no
longer differs, so the table holds what differs, and nothing else.
Usage: tools/differences_page.py [--fix]
"""
import json
import re
import sys

from written import ROOT, out_of_date, report

LIST = ROOT / "tests/comparison/differences.json"
PAGE = ROOT / "docs/differences.md"
HEAD = """# Where we differ from TensorFlow

`scripts/compare_tensorflow.sh` runs the same cases in TensorFlow and here. These are all that differ, each on purpose; a case is named as in `tests/comparison`, and `*` stands for any words. What is missing or has another name stands in [tf_map.md](tf_map.md). `tools/differences_page.py` writes this page.

| case | what differs, and why |
|---|---|
"""


def rows():
    last = ""
    for case, why in json.loads(LIST.read_text()).items():
        same = re.fullmatch(r"the same(?:: (.*))?", why)
        if not same:
            last = why
        elif same[1]:
            why = f"{last}: {same[1]}"
        else:
            why = last
        name = re.sub(r"\[(.)\]", r"\1", case)  # a bracket that matches itself
        yield f"| `{name}` | {why} |\n"


def main():
    bad = out_of_date({PAGE: HEAD + "".join(rows())}, "tools/differences_page.py")
    return report(bad, "differences: the page has every difference that is listed")


if __name__ == "__main__":
    sys.exit(main())

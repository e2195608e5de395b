#!/usr/bin/env python3
"""Refuses words that leave open which task, thread, reader or number is meant.

Looks at comments, messages, names and pages of every file that git knows, new ones included. What is
quoted stays as it is: data of examples and tests, JSON, and this list.

Usage: tools/check_words.py
"""
import re
import subprocess
import sys

from floors import INCLUDE

ROOT = INCLUDE.parent
QUOTES = re.compile(r"examples/\w+/data/|tests/data/|tools/check_words\.py|.*\.(json|svg|h5|keras|pb|png|gz)$")
GAP = r"\s+(?:(?:///?|#)\s*)?"  # also from one line of a comment to the next
REFUSED = {
    r"(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body(?![a-z])": "say which task, rank, replica, thread or reader",
    r"[Ww]hoever(?![a-z])": "say which task, rank, replica, thread or reader",
    rf"[Ss]o{GAP}many(?![a-z])": "say \"the number of ...\", or name the parameter",
    r"\bof now\b(?!-)": "say \"current\"",
    r"Throws  as that\b": "name the function",
}


def texts():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if QUOTES.match(name) or not (ROOT / name).is_file():
            continue
        try:
            yield name, (ROOT / name).read_text()
        except UnicodeDecodeError:
            pass  # not a text


def faults():
    for name, text in texts():
        for words, cure in REFUSED.items():
            for found in re.finditer(rf"(?<![A-Za-z]){words}", text):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: \"{' '.join(found[0].split())}\": {cure}"


def main():
    bad = list(faults())
    print("\n".join(bad) if bad else "words: every text says which task, thread or number it means")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

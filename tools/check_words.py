#!/usr/bin/env python3
"""Refuses words that leave open which task, thread, reader or number is meant.

Looks at comments, messages, names and pages of every file that git knows, new ones included. What is
quoted stays as it is: data of examples and tests, JSON, and this list.

In pages it also refuses phrases that leave the subject open, and sentences of more than 30 words. A list of
names in code counts as one word; a note in a table ends with its cell or a semicolon. Pages that are made
from docstrings are left out.

Usage: tools/check_words.py
"""
import re
import subprocess
import sys

from floors import INCLUDE
from sentences import number_of_words, sentences

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

REFUSED_IN_LIBRARY = {r"one's own": "say \"your own\""}  # below include/
MOST_WORDS = 30
FROM_DOCSTRINGS = ("docs/layers.md", "docs/tf_symbols.md", "docs/internals.md")
REFUSED_IN_PAGES = {
    r"[Tt]hat of(?![a-z])": "name the thing again",
    r"of one's own": "say \"your own\"",
    r"is none(?= |[.,;:]|$)(?! of)": "say what is not there",
    r"none where": "say what is not there, and where",
    r"as it is said": "say who says it",
    r"(?:^|(?<=[.!?] ))(?:Of|Those of) (?=[a-z])": "begin with the subject",
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
        refused = {**REFUSED, **REFUSED_IN_LIBRARY} if name.startswith("include/") else REFUSED
        for words, cure in refused.items():
            for found in re.finditer(rf"(?<![A-Za-z]){words}", text):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: \"{' '.join(found[0].split())}\": {cure}"


def faults_of_pages():
    for name, text in texts():
        if not re.fullmatch(r"(?:docs/)?\w+\.md", name) or name in FROM_DOCSTRINGS or name == "CHANGELOG.md":
            continue
        for line, sentence in sentences(text):
            begin = sentence if len(sentence) < 60 else sentence[:57] + "..."
            if (words := number_of_words(sentence)) > MOST_WORDS:
                yield f"{name}:{line}: {words} words in a sentence, at most {MOST_WORDS}: \"{begin}\""
            for phrase, cure in REFUSED_IN_PAGES.items():
                if found := re.search(rf"(?<![A-Za-z]){phrase}", sentence):
                    yield f"{name}:{line}: \"{found[0].strip()}\" in \"{begin}\": {cure}"


def main():
    bad = [*faults(), *faults_of_pages()]
    print("\n".join(bad) if bad else "words: every text says which task, thread or number it means, and pages do so in short sentences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks the programs that teach, and that the documentation shows what stands in them.

A program is a file of examples/ that has a main of its own beside main.cpp. It is whole: at most 150
lines, and no header but the library's public ones, Abseil's and the standard library's. At least one
page shows lines of it. A page shows lines of a file in a code block behind the line

    <!-- from examples/mnist_cnn/mirrored.cpp -->

They stand in the file one after the other, with any common indentation.

Usage: tools/check_programs.py
"""
import re
import sys
import textwrap

from floors import INCLUDE

ROOT = INCLUDE.parent
MOST_LINES = 150
BLOCK = re.compile(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def programs():
    """Their paths below the root."""
    files = sorted(ROOT.glob("examples/*/*.cpp"))
    return [str(file.relative_to(ROOT)) for file in files
            if file.name != "main.cpp" and re.search(r"^int main\(", file.read_text(), re.M)]


def faults_of(path):
    text = (ROOT / path).read_text()
    lines = text.count("\n")
    if lines > MOST_LINES:
        yield f"{path}: {lines} lines; a program that teaches has {MOST_LINES} at most"
    for header in re.findall(r'^#include ([<"].*[>"])', text, re.M):
        if header[0] == '"' or "/detail/" in header or not re.match(r"<(distribute/|absl/flags/|\w+>)", header):
            yield f"{path}: includes {header}; it may use the public API, Abseil's flags and the standard library"


def has_lines(text, block):
    """Whether the block's lines follow each other in the text, whatever they are indented by."""
    wanted = textwrap.dedent(block).splitlines()
    lines = text.splitlines()
    for begin in range(len(lines) - len(wanted) + 1):
        part = "\n".join(lines[begin:begin + len(wanted)])
        if textwrap.dedent(part).splitlines() == wanted:
            return True
    return False


def main():
    bad, shown, blocks = [], set(), 0
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        text, name = page.read_text(), page.relative_to(ROOT)
        found = BLOCK.findall(text)
        if len(found) != len(re.findall(r"^<!-- from ", text, re.M)):
            bad.append(f"{name}: a line `<!-- from FILE -->` has no code block behind it")
        for path, block in found:
            blocks += 1
            shown.add(path)
            if not (ROOT / path).is_file():
                bad.append(f"{name}: shows lines of {path}, which does not exist")
            elif not block.strip() or not has_lines((ROOT / path).read_text(), block):
                first = block.strip().splitlines()[:1] or ["nothing"]
                bad.append(f"{name}: the lines from `{first[0].strip()}` on are not in {path} like that")
    for path in programs():
        bad += faults_of(path)
        if path not in shown:
            bad.append(f"{path}: no page shows lines of it")
    print("\n".join(bad) if bad else f"programs: {len(programs())}, of which pages show {blocks} parts")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

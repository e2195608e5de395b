#!/usr/bin/env python3
"""Makes the API reference by Doxygen in build/api/html; a warning is an error.

Doxygen reads copies of the public headers in which the lines Shapes, Throws, Source and so on are
paragraphs, comments behind members are theirs, and no word of a text is taken for a command.

Usage: scripts/api_reference.py
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from floors import ANNEXES, CORE, LIBRARY, public_headers  # noqa: E402

PLACE = ROOT / "build/api"
HEADING = re.compile(r" (Shapes|Units|Blocks|Throws|Errors|Source)  +(.*)")


def escaped(text):
    """Without Doxygen's commands, tags and emphasis outside of code spans."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text.replace("`", "'")]
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([\\<>@#&$%*])", r"\\\1", parts[i]).replace("---", "\\---")
    return "`".join(parts)


def docstring(line):
    head, text = re.match(r"(\s*///)(.*)", line).groups()
    if found := HEADING.fullmatch(text):
        return f"{head}\n{head} <b>{found[1]}</b> {escaped(found[2])}"
    return f"{head} {escaped(text.strip())}".rstrip()


def for_doxygen(text):
    lines = []
    for line in text.splitlines():
        if line.strip().startswith("///"):
            line = docstring(line)
        elif found := re.fullmatch(r"((?:class|struct|enum|inline|constexpr)\b.*\{)\s+// (.*)", line):
            # In front of the declaration, and of the template's head.
            place = len(lines)
            while place and re.match(r"template|requires", lines[place - 1]):
                place -= 1
            lines.insert(place, "/// " + escaped(found[2]))
            line = found[1]
        elif re.search(r"[;,}]\s+// (?!namespace)", line):
            code, _, comment = line.partition("// ")
            line = f"{code}///< {escaped(comment)}"
        lines.append(line)
    # The first comment of a header says what the file is for.
    return re.sub(r"^#pragma once\n/// (.*)", r"#pragma once\n/// @file\n/// \1", "\n".join(lines)) + "\n"


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    for header in public_headers(CORE + list(ANNEXES)):
        target = PLACE / "input/distribute" / header
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(for_doxygen((LIBRARY / header).read_text()))
    page = (ROOT / "docs/api.md").read_text()
    (PLACE / "input/api.md").write_text(re.sub(r"<!-- .*? -->\n", "", page))
    subprocess.run(["doxygen", "docs/Doxyfile"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    warnings = (PLACE / "warnings.txt").read_text()
    if warnings:
        print(warnings[:6000] + f"api: {warnings.count('warning')} warnings")
        return 1
    print(f"api: {len(list((PLACE / 'html').glob('*.html')))} pages, build/api/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Makes the API reference by Doxygen in build/api/html; a warning is an error.

Doxygen reads copies of the public headers in which the lines Shapes, Throws, Source and so on are
paragraphs, comments behind members are theirs, a comment above several overloads, or functions and
types of a namespace, is that of each, and no word of a text is taken for a command. The table of
docs/api.md says what each namespace is for.

Usage: scripts/api_reference.py
"""
import html
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from floors import ANNEXES, CORE, LIBRARY, public_headers  # noqa: E402

PLACE = ROOT / "build/api"
HEADING = re.compile(r"(.*?) (Shapes|Units|Blocks|Throws|Errors|Source)  +(.*)")
DECLARED = re.compile(r"(?:\[\[\w+\]\] )?(?!using|return|struct|class|enum|namespace|#|friend)[\w:<>*&, ]+?[ *&](\w+)\(")
TYPE = re.compile(r"(?:class|struct|using) (\w+)(?!.*// )")
NAMESPACE = re.compile(r"^\| `(distribute(?:::\w+)*)` \| (.*?) \|(.*)", re.M)


def escaped(text):
    """Without Doxygen's commands, tags and emphasis outside of code spans."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text.replace("`", "'")]
    for i in range(0, len(parts), 2):
        quotes = parts[i].split('"')  # inside of which Doxygen reads no commands
        for k in range(0, len(quotes), 2):
            quotes[k] = re.sub(r"([\\@#$%*])", r"\\\1", html.escape(quotes[k], quote=False)).replace("---", "\\---")
        parts[i] = '"'.join(quotes)
    return "`".join(parts)


def docstring(line):
    head, text = re.match(r"(\s*///)(.*)", line).groups()
    if found := HEADING.fullmatch(text):
        before, heading, rest = found.groups()
        first = f"{head}{escaped(before)}\n" if before.strip() else ""
        return f"{first}{head}\n{head} <b>{heading}</b> {escaped(rest)}"
    return f"{head} {escaped(text.strip())}".rstrip()


def repeated(lines):
    """The lines, with a docstring above each function that it is for."""
    result, comment, name = [], [], ""
    for number, line in enumerate(lines):
        text, before = line.strip(), lines[number - 1].strip() if number else ""
        if text.startswith("///"):
            comment = [*comment, line] if before.startswith("///") else [line]
            name = ""
        elif not text or text.startswith("}"):
            comment = comment if text else []
        elif comment and indent(line) == indent(comment[0]) and (before.startswith("///") or before.endswith((";", "}"))):
            head = next((one.strip() for one in lines[number:] if not re.match(r" *(template|requires)\b", one)), "")
            found = DECLARED.match(head) or TYPE.match(head)
            if found and name and (indent(line) == 0 or found[1] == name):
                result += comment
            name = found[1] if found else name
        result.append(line)
    return result


def indent(line):
    return len(line) - len(line.lstrip())


def for_doxygen(text):
    lines = []
    for line in repeated(text.splitlines()):
        if line.strip().startswith("///"):
            line = docstring(line)
        elif found := re.fullmatch(r"((?:class|struct|enum|inline|constexpr)\b.*\{)\s+// (.*)", line):
            # In front of the declaration, and of the template's head.
            place = len(lines)
            while place and re.match(r"template|requires", lines[place - 1]):
                place -= 1
            if place and lines[place - 1].startswith("///"):
                lines.insert(place, "///")
                place += 1
            lines.insert(place, "/// " + escaped(found[2]))
            line = found[1]
        elif re.search(r"[;,}]\s+// (?!namespace)", line):
            code, _, comment = line.partition("// ")
            line = f"{code}///< {escaped(comment)}"
        lines.append(line)
    # The first comment of a header says what the file is for.
    return re.sub(r"^#pragma once\n/// (.*)", r"#pragma once\n/// @file\n/// \1", "\n".join(lines)) + "\n"


def linked_row(row):
    name, text, first = row.groups()
    first = re.sub(r"`(\w+)`", rf'@ref {name}::\1 "\1"', first)
    return f"| @ref {name} | {text} |{first}"


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    for header in public_headers(CORE + list(ANNEXES)):
        target = PLACE / "input/distribute" / header
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(for_doxygen((LIBRARY / header).read_text()))
    page = re.sub(r"<!-- .*? -->\n", "", (ROOT / "docs/api.md").read_text())
    spaces = NAMESPACE.findall(page)
    (PLACE / "input/namespaces.hpp").write_text("".join(
        f"/// @namespace {name}\n/// {escaped(text[0].upper() + text[1:])}.\n\n" for name, text, _ in spaces))
    page = NAMESPACE.sub(linked_row, page)
    # Pages beside this one are not in the reference.
    (PLACE / "input/api.md").write_text(re.sub(r"\[([^\]]*)\]\([\w./#-]+\)", r"\1", page))
    subprocess.run(["doxygen", "docs/Doxyfile"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    warnings = (PLACE / "warnings.txt").read_text()
    if warnings:
        print(warnings[:6000] + f"api: {warnings.count('warning')} warnings")
        return 1
    print(f"api: {len(list((PLACE / 'html').glob('*.html')))} pages, build/api/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())

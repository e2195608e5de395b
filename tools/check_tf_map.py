#!/usr/bin/env python3
"""Checks that docs/tf_map.md names every public header, and no header that does not exist, and that
each name of its column "ours" stands in one of the headers of the row; a row lists all names that
it is about, without "...". Rows of internal headers alone are in docs/internals.md: those exist.

Usage: tools/check_tf_map.py           checks
       tools/check_tf_map.py --fix     moves rows of internal headers alone to docs/internals.md
"""
import re
import sys

from floors import ANNEXES, CORE, INCLUDE, LIBRARY, public_headers

MAP, INTERNALS = INCLUDE.parent / "docs/tf_map.md", INCLUDE.parent / "docs/internals.md"


def names_of(cell):
    """The identifiers that a cell names in code spans: of `a::b<T>(c)` b, of `DType::X` X."""
    spans = re.findall(r"`([^`]+)`", cell)
    heads = [re.match(r"[\w:~. ]+", re.sub(r"^(class|struct|concept|program)\s+", "", span)) for span in spans]
    words = [re.findall(r"\w+", head[0]) for head in heads if head]
    return [part[-1] for part in words if part and not part[-1].isupper()]


def wrong_names(text):
    """Names that are in none of the headers of their rows."""
    bad = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        headers = re.findall(r"`((?:\w+/)+\w+\.hpp)`", cells[2]) if len(cells) == 4 else []
        files = [LIBRARY / header for header in headers if (LIBRARY / header).exists()]
        if headers and all("/detail/" in header for header in headers):
            bad.append(f"{headers[0]}: a row of internal headers alone; its place is docs/internals.md (--fix)")
        if not files or cells[1].startswith("internal"):
            continue
        if re.search(r"[ `]\.\.\.|\.\*`", cells[0] + cells[1]):
            bad.append(f"{headers[0]}: its row of docs/tf_map.md promises a family without listing it")
        theirs = "the same" in cells[1]
        known = re.sub(r"//[^\n]*", "", "".join(file.read_text() for file in files))
        for name in names_of(cells[0]) * theirs + names_of(cells[1]):
            if name != "program" and not re.search(rf"\b(k?{name}|{camel(name)})\b", known):
                bad.append(f"{headers[0]}: does not name {name}, as the row of docs/tf_map.md says")
    return bad


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def is_internal(line):
    cells = cells_of(line)
    headers = re.findall(r"`((?:\w+/)+\w+\.hpp)`", cells[2]) if len(cells) == 4 else []
    return bool(headers) and all("/detail/" in header for header in headers)


def move_internal_rows():
    """To the section of docs/internals.md that has the name of the row's section."""
    kept, page, section = [], INTERNALS.read_text(), ""
    for line in MAP.read_text().splitlines():
        section = re.sub(r"^#+ ", "", line) if line.startswith("#") else section
        if not is_internal(line):
            kept.append(line)
            continue
        _, names, headers, notes = cells_of(line)
        row = " | ".join(["| " + headers, re.sub(r"^internal[:,]?\s*", "", names) or "-",
                          re.sub(r"^internal[:,]?\s*", "", notes)]) + " |\n"
        if f"## {section}\n" not in page:
            page += f"\n## {section}\n\n| header | names | what it is for |\n|---|---|---|\n"
        begin = page.index(f"## {section}\n")
        end = page.find("\n## ", begin)
        end = len(page) if end < 0 else end
        page = page[:end].rstrip("\n") + "\n" + row + page[end:]
    MAP.write_text("\n".join(kept) + "\n")
    INTERNALS.write_text(page)


def main():
    if "--fix" in sys.argv[1:]:
        move_internal_rows()
    named = set(re.findall(r"`((?:\w+/)+\w+\.hpp)`", MAP.read_text()))
    bad = [f"{header}: docs/tf_map.md does not name it"
           for header in public_headers(CORE + list(ANNEXES)) if header not in named]
    bad += [f"{header}: in docs/tf_map.md, but there is no such header" for header in sorted(named)
            if not (LIBRARY / header).exists() and not (INCLUDE / header).exists()]
    bad += [f"{header}: in docs/internals.md, but there is no such header"
            for header in re.findall(r"`((?:\w+/)+\w+\.hpp)`", INTERNALS.read_text())
            if not (LIBRARY / header).exists()]
    bad += wrong_names(MAP.read_text())
    print("\n".join(bad) if bad else "tf_map: every public header is in it")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

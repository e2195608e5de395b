#!/usr/bin/env python3
"""Writes the tables of docs/flags.md from the tables of flags that the trainers compile.

Usage: tools/flags_page.py          fails where the page differs
       tools/flags_page.py --fix    writes the page
"""
import re
import sys

from written import ROOT, out_of_date, report

PAGE = ROOT / "docs/flags.md"
BLOCKS = {"trainers": ["examples/common/trainer_flags.inc", "tools/cluster_flags.inc"],
          **{name: [f"examples/{name}/{name}_flags.inc"] for name in ("resnet50", "text_transformer")}}
TABLES = [ROOT / name for names in BLOCKS.values() for name in names]
HEAD = ["| flag | default | takes | meaning |", "|---|---|---|---|"]


def arguments(text):
    """The arguments of a macro's call, divided at its own commas."""
    parts, depth, quoted, begin = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (letter in "({") - (letter in ")}")
            if letter == "," and depth == 0:
                parts.append(text[begin:at].strip())
                begin = at + 1
    return [*parts, text[begin:].strip()]


def strings(text):
    return re.findall(r'"((?:[^"\\]|\\.)*)"', text)


def calls(rule, name):
    """The arguments of each call of `name` in a rule: one_of("a", "b").agreed()."""
    found = re.search(rf"\b{name}\(([^()]*)\)", rule)
    return arguments(found[1]) if found else []


def number(text):
    return text.replace("'", "")


def range_of(kind, rule):
    if known := calls(rule, "one_of"):
        return ", ".join(f"`{text}`" for text in strings(",".join(known)))
    if interval := calls(rule, "in_range"):
        return f"{number(interval[0])} to {number(interval[1])}" + (", exclusive" if ".open()" in rule else "")
    words = [f"{said} {number(limit[0])}" for said, limit in
             (("at least", calls(rule, "at_least")), ("above", calls(rule, "above")),
              ("at most", calls(rule, "at_most"))) if limit]
    return ", ".join(words) or {"bool": "`true`, `false`"}.get(kind, "")


def default_of(kind, value):
    if value in ("std::nullopt", "{}", '""'):
        return "-"
    return value.strip('"') if kind == "std::string" else number(value)


def row(kind, name, value, rule, text):
    meaning = "".join(strings(text))
    conditions = [strings(limit) for limit in re.findall(r"only_with\((.*?\})", rule, re.S)]
    if conditions:
        meaning += " (with " + " or ".join(
            f"`--{flag}` " + " or ".join(f"`{word}`" for word in values)
            for flag, *values in conditions) + ")"
    cells = [f"`--{name}`", default_of(kind, value), range_of(kind, rule), meaning.replace("|", "\\|")]
    return "| " + " | ".join(cells) + " |"


def table_of(path):
    """A heading for each group of the file, and its rows."""
    lines = []
    text = path.read_text().split("FLAG(type, name, default, rule, help)", 1)[1]
    for group in re.split(r"^GROUP\(", text, flags=re.M):
        title, _, body = group.partition("\n")
        flags = [row(*arguments(call)) for call in re.findall(r"^FLAG\((.*?)\)\n(?=FLAG|\n|\Z)", body, re.M | re.S)]
        if flags and title:
            lines += [f"### {strings(title)[0]}", "", *HEAD, *flags, ""]
        elif flags:
            lines += [*HEAD, *flags, ""]
    return lines[:-1]


def count_of(path):
    return len(re.findall(r"^FLAG\(", path.read_text(), re.M))


def written(text):
    for name, files in BLOCKS.items():
        lines = []
        for path in (ROOT / file for file in files):
            table = table_of(path)
            rows = sum(line.startswith("| `--") for line in table)
            if rows != count_of(path):
                sys.exit(f"{path}: {count_of(path)} flags, of which {rows} were understood")
            lines += [*([""] if lines else []), *table]
        begin, end = f"<!-- flags of {name} -->", f"<!-- end of {name} -->"
        if begin not in text or end not in text:
            sys.exit(f"{PAGE}: no block {begin}")
        text = re.sub(re.escape(begin) + ".*?" + re.escape(end),
                      lambda _: "\n".join([begin, *lines, end]), text, flags=re.S)
    return text


def main():
    bad = out_of_date({PAGE: written(PAGE.read_text())}, "tools/flags_page.py")
    return report(bad, f"flags: {sum(map(count_of, TABLES))} with their rows")


if __name__ == "__main__":
    sys.exit(main())

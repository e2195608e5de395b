#!/usr/bin/env python3
"""Counts public types, functions and member functions without a comment; bench/docstrings_budget.json limits them.

Of the headers that lie directly in a folder of the library: what stands in a namespace, and what
classes there have as public functions (without constructors, operators and overrides), as Universal
Ctags finds it. A comment (///, or // behind it on its line) is that of the declaration below it, and
of those that follow without an empty line. Namespaces that end in _internal are not public. The
counts may only fall. No comment of any header begins in a way that says nothing without the code
below it: "Of", "That of", "By lane", "As Class::function", and what else FRAGMENTS lists.

Usage: tools/check_docstrings.py             checks
       tools/check_docstrings.py --list      lists what has no comment
       tools/check_docstrings.py --fix       writes the budget, where it falls
"""
import json
import re
import sys

from floors import ANNEXES, CORE, INCLUDE, LIBRARY, public_headers
from tags import tags_of

BUDGET = INCLUDE.parent / "bench/docstrings_budget.json"
FRAGMENTS = (r"Of|(?:That|Those) (?:of|that)|Who|Whose|By [a-z]\w*|As \w+::\w+[;,.]?|All on|Fixed|Kept|Seen|Only on|"
             r"Set (?:on|where|when)|Not (?:for|when|on|at|after)|The same (?:of|for|as|in|with|on)|Where|How often|"
             r"Called on|With a|None|Nothing|For operations|For the|In front of|Only for|The way back")

def declarations(lines):
    """(kind, header, line, name) of what stands in public namespaces, without deduction guides."""
    for tag in tags_of(lines, "csgfp"):
        header, line, name = tag["path"], tag["line"], tag["name"]
        scope = tag.get("scope", "")
        if tag["kind"] == "concept":  # which Ctags does not know: the last namespace that began, unless it has ended
            last = next(text for text in reversed(lines[header][:line]) if re.match(r"(}  // )?namespace", text))
            scope = last.rstrip(" {") if last.startswith("namespace") else ""
        is_function = tag["kind"] in ("function", "prototype")
        nested = tag.get("scopeKind", "namespace") != "namespace" or lines[header][line - 1].startswith(" ")
        if is_function and nested and is_public_member(tag, lines[header][line - 1:]):
            yield "member", header, line, f"{scope}::{name}"
        if not nested and not re.search(r"(_internal|detail)$", scope) and not (is_function and name[0].isupper()):
            yield "function" if is_function else "type", header, line, name


def is_public_member(tag, lines):
    """Of the tag whose declaration the lines begin with."""
    scope, name = tag.get("scope", ""), tag["name"]
    special = name.startswith(("operator", "~", "__anon")) or name == scope.split("::")[-1]
    return (tag.get("access") == "public" and not special and not re.search(r"_internal|detail", scope)
            and not re.search(r"\boverride\b|= (delete|default);", re.match(r"[^;{]*.", "\n".join(lines[:8]))[0]))


def is_documented(lines, number):
    """Whether the declaration of this line has a comment behind it, or above it or its neighbours."""
    end = next((i for i in range(number - 1, len(lines)) if re.search(r"[;{}]\s*(//.*)?$", lines[i])), number)
    if any("//" in line for line in lines[number - 1:end + 1]):
        return True
    above = lines[:number - 1]
    while above and above[-1].strip():
        if above.pop().strip().startswith("///"):
            return True
    return False


def fragments():
    """Comments of all headers that begin as no sentence does."""
    for header in sorted(LIBRARY.rglob("*.hpp")):
        lines = header.read_text().splitlines()
        for before, line, number in zip([""] + lines, lines, range(1, len(lines) + 1)):
            begins = line.strip().startswith("///") and not before.strip().startswith("///")
            if begins and re.match(rf"\s*/// (?:{FRAGMENTS}) ", line):
                yield f"{header.relative_to(LIBRARY)}:{number}: a comment that is no sentence: {line.strip()}"


def main():
    missing, counts = [], {"type": [0, 0], "function": [0, 0], "member": [0, 0]}
    lines = {header: (LIBRARY / header).read_text().splitlines()
             for header in public_headers(CORE + list(ANNEXES))}
    for kind, header, line, name in declarations(lines):
        counts[kind][1] += 1
        if not is_documented(lines[header], line):
            counts[kind][0] += 1
            missing.append(f"{header}:{line}: {kind} {name}")
    now = {f"{kind}s": counts[kind][0] for kind in counts}
    budget = json.loads(BUDGET.read_text()) if BUDGET.exists() else now
    if "--list" in sys.argv[1:]:
        print("\n".join(missing))
    if "--fix" in sys.argv[1:]:
        budget = {kind: min(now[kind], budget.get(kind, now[kind])) for kind in now}
        BUDGET.write_text(json.dumps(budget, indent=1) + "\n")
    bad = [f"{now[kind]} public {kind} have no comment, {budget[kind]} may: see tools/check_docstrings.py --list"
           for kind in now if now[kind] > budget[kind]] + list(fragments())
    print("\n".join(bad) if bad else "docstrings: " + ", ".join(
        f"{counts[kind][0]} of {counts[kind][1]} {kind}s have none" for kind in counts))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

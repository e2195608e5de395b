#!/usr/bin/env python3
"""Checks tools/public_api.txt, the list of public headers.

- A header lies directly in its folder if and only if it is listed.
- A name that it declares is used by an example, by a guide in docs/ or by a row of docs/tf_map.md
  that has a name of TensorFlow's, Keras's, Horovod's or PyTorch's.
- It includes internal headers only where the list says why.
- No public function names a type of a namespace *_internal, as a parameter or result.
"""
import re
import sys

from check_docstrings import declarations
from floors import (ANNEXES, CORE, INCLUDE, LIBRARY, files, included, internal_of_public, public_api,
                    public_headers)

ROOT = INCLUDE.parent
# Pages about the library itself, and lists that are made from the headers.
NOT_GUIDES = {"api", "architecture", "benchmarks", "decisions", "gpu_results", "internals", "protocol",
              "status", "tf_map", "tf_symbols"}


def used_names():
    """Words of the examples' code, and words that guides show as code."""
    examples = " ".join(path.read_text() for path in sorted((ROOT / "examples").rglob("*.[hc]pp")))
    guides = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").glob("*.md"))
                                    if path.stem not in NOT_GUIDES)]
    code = " ".join(part for path in guides
                    for part in re.findall(r"```.*?```|`[^`\n]+`", path.read_text(), re.S))
    return set(re.findall(r"\w+", examples + " " + code))


def mapped_headers():
    """Headers of the rows of docs/tf_map.md whose first cell names something of another library."""
    found = set()
    for line in (ROOT / "docs/tf_map.md").read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and re.search(r"`[^`]+`", cells[0]):
            found.update(re.findall(r"`((?:\w+/)+\w+\.hpp)`", cells[2]))
    return found


def declared_names(header):
    """The types, concepts, functions, constants and macros that a header declares."""
    text = re.sub(r"//[^\n]*", "", (LIBRARY / header).read_text())
    types = re.findall(r"^\s*(?:class|struct|enum class|concept|using)\s+(?:\[\[\w+\]\]\s*)?(\w+)", text, re.M)
    functions = re.findall(r"^(?!\s*(?:return|else)\b)[\w:<>,&*\[\] ]+[ &*](\w+)\(", text, re.M)
    constants = re.findall(r"\b(k[A-Z]\w+)\b", text)
    return {*types, *functions, *constants, *re.findall(r"^\s*#define (\w+)", text, re.M)}


def internal_names(headers):
    """Public functions whose declaration names something internal, and that name."""
    lines = {header: (LIBRARY / header).read_text().splitlines() for header in headers}
    for kind, header, line, name in declarations(lines):
        if kind == "type":
            continue
        declaration = re.match(r"[^;{]*", "\n".join(lines[header][line - 1:line + 7]))[0]
        if found := re.search(r"\w+_internal::\w+", declaration):
            yield f"{header}:{line}: {name} names {found[0]}, which programs cannot"


def problems():
    lying = {name for name in files() if name.endswith(".hpp") and name.count("/") == 1}
    yield from (f"{name}: lies beside the public headers, but is not listed" for name in sorted(lying - set(public_api())))
    yield from (f"{name}: is listed, but there is no such header" for name in sorted(set(public_api()) - lying))
    yield from internal_names(public_headers(CORE + list(ANNEXES)))
    used, mapped = used_names(), mapped_headers()
    for header in public_headers(CORE + list(ANNEXES)):
        if header not in mapped and not declared_names(header) & used:
            yield f"{header}: no example, guide or row of docs/tf_map.md uses a name of it; its place is detail/"
        for other in included(header):
            if "/detail/" in other and other not in internal_of_public():
                yield f"{header}: includes {other}, which is internal; tools/public_api.txt does not say why"


def main():
    bad = list(problems())
    print("\n".join(bad) if bad else f"public_api: {len(public_api())} headers, each of them used")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

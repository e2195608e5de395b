#!/usr/bin/env python3
"""Counts public types and functions without a comment; bench/docstrings_budget.json limits them.

Of the headers that lie directly in a folder of the library: what stands in a namespace. A comment
(///, or // behind it on its line) is that of the declaration below it, and of those that follow
without an empty line. Namespaces that end in _internal are not public. The counts may only fall.

Usage: tools/check_docstrings.py             checks
       tools/check_docstrings.py --list      lists what has no comment
       tools/check_docstrings.py --fix       writes the budget, where it falls
"""
import json
import re
import sys

from floors import ANNEXES, CORE, INCLUDE, LIBRARY, public_headers

BUDGET = INCLUDE.parent / "bench/docstrings_budget.json"
TYPE = re.compile(r"^(?:template\s*<.*?>\s*)?(?:requires.*?\s)?(class|struct|enum|enum class|concept|using)\s+(?:\[\[\w+(?:\(.*?\))?\]\]\s*)?(\w+)", re.S)
FUNCTION = re.compile(r"(?<![\w.:>])(?:operator\s*\S+|~?\w+)\s*\((?!\*)", re.S)
NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\s*([\w:]*)\s*\{")


class Declaration:
    def __init__(self, kind, name, line, documented):
        self.kind, self.name, self.line, self.documented = kind, name, line, documented


def without_texts(line):
    """Without literals and comments, so that braces count."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\]|\\.)\'', '""', line)
    return re.sub(r"//.*", "", line)


def kind_of(text):
    """('type' | 'function', name) of a declaration's text, or None."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"^(\[\[[^\]]*\]\]\s*)+", "", text)
    bare = text
    while (match := re.match(r"template\s*<", bare)):
        depth, at = 0, match.end() - 1
        while True:
            depth += {"<": 1, ">": -1}.get(bare[at], 0)
            at += 1
            if depth == 0:
                break
        bare = bare[at:].strip()
    bare = re.sub(r"^requires\s+(\([^()]*\)|[\w:]+(<[^<>]*(<[^<>]*>)?[^<>]*>)?)(\s*(&&|\|\|)\s*[\w:]+(<[^<>]*>)?)*\s*", "", bare)
    found = re.match(r"(class|struct|enum class|enum|concept)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)", bare)
    if found:
        forward = re.fullmatch(r"(class|struct|enum class|enum)\s+\w+( : \w+)?\s*;?", bare)
        return None if forward else ("type", found[2])
    if re.match(r"(using|static_assert|friend|typedef|extern|DISTRIBUTE_[A-Z_]+\(|#)", bare) or not bare:
        return None
    if re.match(r"(inline\s+|static\s+)*(constexpr|const)\s+[\w:<>, *]+\s\w+(\[.*\])?\s*(=|\{)", bare) and "(" not in bare.split("=")[0]:
        return None
    bare = re.sub(r"^((inline|constexpr|static)\s+|__attribute__\(\(.*?\)\)\s*)+", "", bare)
    if re.match(r"[A-Z]\w*\(.*\)\s*->", bare):  # a deduction guide
        return None
    if re.match(r"requires\(", bare) or re.search(r"^[^(]*\b[A-Z]\w*::\w+\(", bare):
        return None  # the body of a member
    found = FUNCTION.search(bare.split("{")[0] if "{" in bare else bare)
    if not found:
        return None
    name = re.match(r"(operator\s*\S+?|~?\w+)\s*\(", found[0])
    return ("function", name[1] if name else found[0])


def declarations(text):
    """What stands in the namespaces of a header."""
    found, scopes, statement, begin = [], [], "", 0
    documented = comment = trailing = False
    internal, depth, macro = 0, 0, False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if macro or bare.startswith("#"):
            macro = bare.endswith("\\")
            continue
        if depth == 0 and not statement:
            if not bare:
                documented = comment = False
                continue
            if bare.startswith("///"):
                comment = True
                continue
            if bare.startswith("//"):
                continue
            if space := NAMESPACE.match(bare):
                scopes.append(space[1])
                documented = comment = False
                if bare.endswith("}"):
                    scopes.pop()
                continue
            if bare.startswith("}") and scopes:
                scopes.pop()
                documented = comment = False
                continue
            begin = number
        trailing = trailing or ("//" in line and depth == 0)
        code = without_texts(line)
        if depth == 0:
            statement += " " + code
        elif not statement.endswith("{ ... }"):
            pass
        depth += code.count("{") - code.count("}")
        if depth == 0 and re.search(r"[;}]\s*$", code):
            has = comment or documented or trailing
            internal = any(re.search(r"(_internal|detail)$", scope) for scope in scopes)
            kind = kind_of(re.sub(r"\{.*", "{", statement, flags=re.S) if "{" in statement else statement)
            if scopes and not internal and kind:
                found.append(Declaration(*kind, begin, has))
            documented = comment or documented
            comment = trailing = False
            statement = ""
    return found


def main():
    missing, counts = [], {"type": [0, 0], "function": [0, 0]}
    for header in public_headers(CORE + list(ANNEXES)):
        for declaration in declarations((LIBRARY / header).read_text()):
            counts[declaration.kind][1] += 1
            if not declaration.documented:
                counts[declaration.kind][0] += 1
                missing.append(f"{header}:{declaration.line}: {declaration.kind} {declaration.name}")
    now = {f"{kind}s": counts[kind][0] for kind in counts}
    budget = json.loads(BUDGET.read_text()) if BUDGET.exists() else now
    if "--list" in sys.argv[1:]:
        print("\n".join(missing))
    if "--fix" in sys.argv[1:]:
        budget = {kind: min(now[kind], budget.get(kind, now[kind])) for kind in now}
        BUDGET.write_text(json.dumps(budget, indent=1) + "\n")
    bad = [f"{now[kind]} public {kind} have no comment, {budget[kind]} may: see tools/check_docstrings.py --list"
           for kind in now if now[kind] > budget[kind]]
    print("\n".join(bad) if bad else "docstrings: " + ", ".join(
        f"{counts[kind][0]} of {counts[kind][1]} {kind}s have none" for kind in counts))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

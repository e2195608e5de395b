#!/usr/bin/env python3
"""Counts which public names of TensorFlow are here: present, different or missing, one by one.

Names are those of tf.distribute, tf.train and tf.data with their submodules, tf.GradientTape and
tf.Variable, as bench/tf_symbols.json lists them. A name is present when a public header declares it
under the name that docs/tf_map.md's rules give it; what tools/tf_symbols_notes.json says about a
name makes it different (another name or form here) or missing (why). docs/tf_symbols.md and the
section "Not here" of docs/tf_map.md are written from both. bench/tf_symbols_budget.json limits the
counts: present may only rise, missing only fall.

Usage: tools/tf_symbols.py            checks; needs no TensorFlow
       tools/tf_symbols.py --fix      writes pages and budget after names were built or noted, and
                                      drops notes about names that have been built
       tools/tf_symbols.py --refresh  makes the list anew; run it with a Python that has TensorFlow
"""
import collections
import json
import re
import sys

from floors import LIBRARY, public_headers
from tags import tags_of
from written import ROOT, out_of_date, report

LIST, BUDGET = ROOT / "bench/tf_symbols.json", ROOT / "bench/tf_symbols_budget.json"
NOTES, PAGE, MAP = ROOT / "tools/tf_symbols_notes.json", ROOT / "docs/tf_symbols.md", ROOT / "docs/tf_map.md"
HEADING = "## Not here"
# Where the names of a scope are looked for.
FOLDERS = {"tf.distribute": ["replica", "data", "cluster", "collective", "strategy", "coordinator",
                             "train", "platforms"],
           "tf.train": ["train", "checkpoint", "cluster", "data", "estimator"],
           "tf.data": ["data", "io", "data_service"], "tf.GradientTape": ["autograd"], "tf.Variable": ["autograd"]}


# ---- the list, from TensorFlow ---------------------------------------------------------------

def members_of(cls, listed):
    """Public members, without those that a listed base class has; of protocol buffers none."""
    import enum

    if issubclass(cls, enum.Enum):
        return list(cls.__members__)
    if hasattr(cls, "DESCRIPTOR") or cls.__name__.endswith("Spec"):
        return []
    plain = [name for name, value in vars(cls).items() if isinstance(value, str)]
    if cls.__name__ in ("CollectiveCommunication", "CommunicationImplementation") and plain:
        return [name for name in plain if name.isupper()]
    bases = [base for base in cls.__mro__[1:] if base in listed]
    return [name for name in dir(cls) if not name.startswith("_") and
            not any(hasattr(base, name) for base in bases) and
            not (issubclass(cls, tuple) and name in ("count", "index"))]


def walk(place, prefix, found):
    """All public names below a module, by name."""
    import types

    for name in sorted(vars(place)) if not hasattr(place, "__all__") else sorted(dir(place)):
        value = getattr(place, name)
        if name.startswith("_"):
            continue
        if isinstance(value, types.ModuleType):
            walk(value, f"{prefix}.{name}", found)
        else:
            found[f"{prefix}.{name}"] = value


def refresh():
    import inspect
    import tensorflow as tf

    scopes = {}
    for scope, place in {"tf.distribute": tf.distribute, "tf.train": tf.train, "tf.data": tf.data,
                         "tf.GradientTape": tf.GradientTape, "tf.Variable": tf.Variable}.items():
        found = {}
        if inspect.isclass(place):
            found[scope] = place
        else:
            walk(place, scope, found)
        listed, symbols = {value for value in found.values() if inspect.isclass(value)}, {}
        first = {}  # by object: the shortest name
        for name in sorted(found, key=lambda name: (name.count("."), name)):
            value = found[name]
            symbols[name] = "class" if inspect.isclass(value) else "function" if callable(value) else "constant"
            if inspect.isclass(value) and first.setdefault(id(value), name) == name:
                kind = "enumerator" if all(m.isupper() for m in members_of(value, listed)) else "member"
                symbols.update({f"{name}.{member}": kind for member in members_of(value, listed)})
        scopes[scope] = dict(sorted(symbols.items()))
    LIST.write_text(json.dumps({"tensorflow": tf.__version__, "scopes": scopes}, indent=1) + "\n")


# ---- what the headers declare ----------------------------------------------------------------

Class = collections.namedtuple("Class", "headers bases members")


def declarations(folders):
    """Classes by name, and headers of functions, constants and aliases by name."""
    classes = collections.defaultdict(lambda: Class(set(), set(), set()))
    others = collections.defaultdict(set)
    for tag in tags_of(public_headers(folders), "csgefpmtvx"):
        name, header, scope = tag["name"], tag["path"], tag.get("scopeKind")
        others[name].add(header)
        if tag["kind"] in ("class", "struct", "enum"):
            classes[name].headers.add(header)
            classes[name].bases.update(re.findall(r"\w+", tag.get("inherits") or ""))
        if scope in ("class", "struct", "enum") and tag.get("access") != "private":
            classes[tag["scope"].rpartition("::")[2]].members.add(name)
    return classes, others


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def declared(symbol, kind, classes, others):
    """The headers that declare a symbol under the name that the map's rules give; none: none."""
    path = symbol.split(".")
    name = path[-1]
    if kind == "class":
        return sorted(classes[name].headers if name in classes else others.get(name, ()))
    if kind == "function":
        return sorted(others.get(name, ()))
    if kind == "constant":
        return sorted(others.get("k" + camel(name), ()))
    work, seen = [path[-2]], set()
    while work:
        owner = work.pop()
        if owner in seen or owner not in classes:
            continue
        seen.add(owner)
        if (camel(name) if kind == "enumerator" else name) in classes[owner].members:
            return sorted(classes[owner].headers)
        work += classes[owner].bases
    return []


# ---- both together ---------------------------------------------------------------------------

Row = collections.namedtuple("Row", "scope symbol state ours note")


def note_of(symbol, notes):
    """The note of a symbol, or of the nearest class or module around it that says "all"."""
    if symbol in notes:
        return notes[symbol]
    while "." in symbol:
        symbol = symbol.rpartition(".")[0]
        if notes.get(symbol, {}).get("all"):
            return notes[symbol]
    return None


def judge(symbol, kind, note, classes, others):
    """State, what is here, and the reason or an error."""
    headers = declared(symbol, kind, classes, others)
    if note and "ours" in note:
        name, header = note["ours"], note.get("header", "")
        if header and not (LIBRARY / header).exists():
            return "error", name, f"there is no header {header}"
        last = re.findall(r"\w+", name)[-1]
        if header and not re.search(rf"\b{last}\b", (LIBRARY / header).read_text()):
            return "error", name, f"{header} does not name {last}"
        return "different", f"`{name}`" + (f" (`{header}`)" if header else ""), note.get("note", "")
    if note and "why" in note:
        if headers and not note.get("homonym"):
            return "present", ", ".join(f"`{h}`" for h in headers[:1]), ""
        return "missing", "", note["why"]
    if headers:
        return "present", ", ".join(f"`{h}`" for h in headers[:1]), ""
    return "error", "", "neither in a public header nor in tools/tf_symbols_notes.json"


def rows():
    listed, notes = json.loads(LIST.read_text()), json.loads(NOTES.read_text())
    found = []
    for scope, symbols in listed["scopes"].items():
        classes, others = declarations(FOLDERS[scope])
        for symbol, kind in symbols.items():
            found.append(Row(scope, symbol, *judge(symbol, kind, note_of(symbol, notes), classes, others)))
    known = {row.symbol for row in found}
    errors = [f"{row.symbol}: {row.note}" for row in found if row.state == "error"]
    errors += [f"{symbol}: noted, but TensorFlow has no such name" for symbol, note in notes.items()
               if symbol not in known and not note.get("all")]
    return listed["tensorflow"], found, errors


def counts(found):
    table = collections.defaultdict(lambda: {"present": 0, "different": 0, "missing": 0})
    for row in found:
        if row.state != "error":
            table[row.scope][row.state] += 1
    return dict(table)


def count_lines(table):
    lines = ["| names of | present | different | missing | of |", "|---|---|---|---|---|"]
    total = collections.Counter()
    for scope, n in table.items():
        total.update(n)
        lines.append(f"| `{scope}` | {n['present']} | {n['different']} | {n['missing']} | {sum(n.values())} |")
    lines.append(f"| all | {total['present']} | {total['different']} | {total['missing']} | {sum(total.values())} |")
    return lines


def page(version, found):
    lines = ["# TensorFlow's names, one by one", "",
             f"Written by `tools/tf_symbols.py --fix` from the names of TensorFlow {version}, this library's public "
             "headers and `tools/tf_symbols_notes.json`; the same script checks it without TensorFlow. Present: "
             "declared under the name that the rules of [tf_map.md](tf_map.md) give. Different: here in another form. "
             "Missing: with the reason. Members that a class inherits are counted once, at its base.", ""]
    lines += count_lines(counts(found)) + [""]
    for scope in dict.fromkeys(row.scope for row in found):
        lines += [f"## {scope}", "", "| TensorFlow | | ours | notes |", "|---|---|---|---|"]
        lines += [f"| `{r.symbol}` | {r.state} | {r.ours} | {r.note} |" for r in found if r.scope == scope]
        lines.append("")
    return "\n".join(lines)


def not_here(found):
    """The section of the map: missing names, those with one reason together."""
    groups = collections.defaultdict(list)
    for row in found:
        if row.state == "missing":
            groups[row.note].append(row.symbol)
    lines = [HEADING, "",
             "What a user of `tf.distribute`, `tf.train`, `tf.data`, `tf.GradientTape` and `tf.Variable` may look for "
             "and does not find, written by `tools/tf_symbols.py --fix`; [tf_symbols.md](tf_symbols.md) lists every "
             "name. Outside of these, DTensor has no counterpart, and `tf.function` (`function`) records the steps of "
             "one replica on a GPU; elsewhere an operation runs when it is called.", ""]
    lines += count_lines(counts(found)) + ["", "| TensorFlow | why, and what to take instead |", "|---|---|"]
    for why, names in groups.items():
        shown = [f"`{name}`" for name in names if name.rpartition(".")[0] not in names]
        lines.append(f"| {', '.join(shown)} | {why} |")
    return "\n".join(lines) + "\n"


def with_section(text, section):
    begin = text.index(HEADING)
    rest = text[begin + len(HEADING):]
    end = rest.find("\n## ")
    return text[:begin] + section + ("" if end < 0 else rest[end:])


def over_budget(table, budget):
    """What became worse."""
    bad = []
    for scope, limit in budget.items():
        now = table.get(scope, {"present": 0, "different": 0, "missing": 0})
        if now["missing"] > limit["missing"]:
            bad.append(f"{scope}: {now['missing']} names are missing, {limit['missing']} allowed")
        if now["present"] + now["different"] < limit["present"] + limit["different"]:
            bad.append(f"{scope}: {now['present'] + now['different']} names are here, "
                       f"{limit['present'] + limit['different']} were")
    return bad


def main():
    if "--refresh" in sys.argv:
        return refresh()
    version, found, errors = rows()
    table = counts(found)
    errors += over_budget(table, json.loads(BUDGET.read_text()) if BUDGET.exists() else {})
    wanted = {PAGE: page(version, found), MAP: with_section(MAP.read_text(), not_here(found))}
    if "--fix" in sys.argv and not errors:
        wanted[BUDGET] = json.dumps(table, indent=2) + "\n"
        notes, here = json.loads(NOTES.read_text()), {row.symbol for row in found if row.state == "present"}
        kept = {symbol: note for symbol, note in notes.items() if symbol not in here or note.get("all")}
        wanted[NOTES] = json.dumps(kept, indent=1) + "\n"
    errors = errors or out_of_date(wanted, "tools/tf_symbols.py")
    return report(errors, "\n".join(count_lines(table)))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails when a file includes what its place does not allow, or reaches more than its budget.

- The core: its own folder and lower floors, never an annex. An annex: the core, itself, and the
  annexes that tools/floors.py names for it.
- An annex and an example: no detail/ of the core, as programs outside of this repository. What public
  headers may include of detail/ is for tools/check_public_api.py.
- A vendor header only in the files that tools/floors.py names for it.
- A thread's context: one place for each value; base/ names nothing from above.
- What a process owns: in_process<T>, no mutable static of a function.
- bench/reach_budgets.json: how many of our own files a public header reaches.
Usage: tools/check_floors.py [--all]     --all prints what each header with a budget reaches
"""
import json
import re
import sys

from floors import (ANNEXES, CORE, FLOORS, INCLUDE, LEVEL, LIBRARY, VENDOR_FILES, VENDOR_TYPES, files, includes,
                    internal_of_public,
                    is_plain, is_private, public_headers, reached)

ROOT = INCLUDE.parent
BUDGETS = json.loads((ROOT / "bench/reach_budgets.json").read_text())
# Costly to include; an .ipp may.
NOT_IN_HPP = r"iostream|regex|filesystem|future|ranges|random|absl/.*|asio.*|Eigen/.*"
# absl::Status is the error type of these floors.
ABSL_STATUS_FLOORS = ("base", "io", "device", "net", "cluster", "collective", "http",
                      "object_stores")


def may_include(folder, other):
    """Whether files of `folder` may include files of `other`."""
    if folder == other:
        return True
    if folder in ANNEXES:
        return other in CORE or other in ANNEXES[folder]
    return other in CORE and LEVEL[other] < LEVEL[folder]


def problems_of_include(name, line):
    folder, is_header = name.split("/")[0], name.endswith(".hpp")
    ours = re.fullmatch(r"distribute/(?:(\w+)/)?([\w/.]+)", line)
    if ours and (ours[1] is None or ours[1] == "impl"):
        yield f"an umbrella ({line}) may not be included inside the library"
    elif ours and not may_include(folder, ours[1]):
        yield f"{folder} may not include {line}: only lower floors, and no annex from the core"
    elif ours and folder in ANNEXES and ours[1] != folder and ours[2].startswith("detail/") \
            and line.removeprefix("distribute/") not in internal_of_public():
        yield f"{line} is internal: an annex may not include it"
    for vendor, places in (VENDOR_FILES | VENDOR_TYPES).items():
        if re.fullmatch(vendor, line) and not re.match(places, name):
            yield f"<{line}> belongs in {places}"
    status = re.fullmatch(r"absl/status/\w+\.h", line) and folder in ABSL_STATUS_FLOORS
    eigen = "Eigen/" in line and folder == "arrays"  # whose headers are about Eigen's types
    if is_header and re.fullmatch(NOT_IN_HPP, line) and not status and not eigen:
        yield f"<{line}> is too costly for a .hpp; include it in the .ipp"


def mutable_statics(text):
    """Variables of functions that live as long as the process; constants, which may be, are not named."""
    return re.findall(r"^\s+static (?!constexpr|const\b|inline const)[\w:<>,&* ]*?[\s*&]"
                      r"(\w+)(?: = .*|;|\{.*)$", text, re.M)


def problems_of(name):
    text = (LIBRARY / name).read_text()
    if name.split("/")[0] not in CORE and name.split("/")[0] not in ANNEXES:
        yield "its folder is not in tools/floors.py"
    for line in includes(text):
        yield from problems_of_include(name, line)
    if name.endswith(".hpp") and name.count("/") == 1 and is_private(text):
        yield "includes a vendor header, so it belongs into detail/"
    if not text.startswith("#pragma once\n"):
        yield "does not start with #pragma once"
    if name != "base/process_state.hpp":
        for variable in mutable_statics(text):
            yield f"{variable} is a mutable static; a struct of the folder holds it by in_process<T>"
    if re.search(r"^using namespace|^\s*namespace\s*\{", text, re.M):
        yield "using namespace at namespace scope, or an unnamed namespace"


def context_places():
    """Each value of a thread's context has a place of its own, on the floor of its folder."""
    users = {}
    for name in files():
        for floor, number in re.findall(
                r"in_thread_context<\s*base_internal::ContextPlace\{(\d+), (\d+)",
                (LIBRARY / name).read_text()):
            folder = name.split("/")[0]
            if int(floor) != LEVEL.get(folder, len(FLOORS)):
                yield f"{name}: place {{{floor}, {number}}} is not on the floor of {folder}"
            users.setdefault((floor, number), []).append(name)
    for place, names in users.items():
        if len(names) > 1:
            yield f"place {place} of a thread's context is used by " + " and ".join(names)


def names_from_above():
    """base/ names no folder above it, nor an annex."""
    above = r"horovod|estimator|strategy|strategies|coordinators?|optimizers?|checkpoints?|saved_model"
    for name in files():
        if not name.startswith("base/"):
            continue
        code = re.sub(r'//[^\n]*|"(?:[^"\\]|\\.)*"', "", (LIBRARY / name).read_text())
        for word in re.findall(r"[A-Za-z_]\w*", code):
            snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower()
            if re.search(rf"(^|_)({above})(_|$)", snake):
                yield f"{name}: {word} belongs to a folder above"
    for name in ("base/process_state.hpp", "base/process_state.hpp"):
        if "shared_ptr<void>" in (LIBRARY / name).read_text():
            yield f"{name}: owners are typed"


def users_of_detail():
    for folder in ("examples",):
        for path in sorted((ROOT / folder).rglob("*.[hc]pp")):
            for line in includes(path.read_text()):
                if line.startswith("distribute/") and "/detail/" in line:
                    yield f"{path.relative_to(ROOT)}: {line} is internal"


def budget_problems():
    """Headers that reach more files than they may; see bench/reach_budgets.json."""
    named = [(name, with_bodies, limit) for with_bodies, key in ((False, "headers"), (True, "bodies"))
             for name, limit in BUDGETS[key].items()]
    for name, with_bodies, limit in named:
        count = len(reached([name], with_bodies, is_plain))
        what = f"{name}: {count} of {limit} files" + (", with bodies" if with_bodies else "")
        if "--all" in sys.argv:
            print(what)
        if count > limit:
            yield f"{what}; a program pays for each of them"
    for name in public_headers(CORE + list(ANNEXES)):
        count = len(reached([name], with_bodies=False))
        if name not in BUDGETS["headers"] and count > BUDGETS["each"]:
            yield f"{name}: reaches {count} files, at most {BUDGETS['each']}"


def main():
    bad = [f"{name}: {problem}" for name in files() for problem in problems_of(name)]
    bad += [*users_of_detail(), *context_places(), *names_from_above(), *budget_problems()]
    print("\n".join(bad) if bad else "floors: every include goes down, every budget is kept")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

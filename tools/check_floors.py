#!/usr/bin/env python3
"""Fails when a header includes a higher or a neighbouring floor, or a foreign header outside its door.

Usage: tools/check_floors.py [include/distribute]
"""
import pathlib
import re
import sys

from floors import DOORS, LEVEL, UMBRELLAS, includes, is_private

# Costly to include; an .ipp may.
NOT_IN_HPP = r"iostream|regex|filesystem|future|ranges|random|absl/.*|asio.*|Eigen/.*"
# absl::Status is the error type of these floors.
ABSL_STATUS_FLOORS = ("base", "io", "device", "net", "cluster", "collective")


def problems_of(root, relative, text):
    folder = relative.parts[0]
    for line in includes(text):
        ours = re.fullmatch(r"distribute/(?:(\w+)/)?([\w/.]+)", line)
        if ours and ours[1] is None:
            yield f"an umbrella ({line}) may not be included inside the library"
        elif ours and ours[1] not in LEVEL:
            yield f"{line}: floor {ours[1]} is not in tools/floors.py"
        elif ours and ours[1] != folder and LEVEL[ours[1]] >= LEVEL[folder]:
            yield f"{folder} may not include {line}: only its own folder and lower floors"
        header = root.parent / line
        if ours and relative.suffix == header.suffix == ".hpp" and header.exists() \
                and is_private(header.read_text()) and not is_private(text):
            yield f"{line} includes a vendor header: only an .ipp or private header of its door may include it"
        for vendor, door in DOORS.items():
            if re.fullmatch(vendor, line) and not re.match(door, str(relative)):
                yield f"<{line}> belongs behind {door}"
        status = re.fullmatch(r"absl/status/\w+\.h", line) and folder in ABSL_STATUS_FLOORS
        if relative.suffix == ".hpp" and re.fullmatch(NOT_IN_HPP, line) and not status:
            yield f"<{line}> is too costly for a .hpp; include it in the .ipp"
    if not text.startswith("#pragma once\n"):
        yield "does not start with #pragma once"
    if re.search(r"^using namespace|^\s*namespace\s*\{", text, re.M):
        yield "using namespace at namespace scope, or an unnamed namespace in a header"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "include/distribute")
    bad = []
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".hpp", ".ipp")):
        relative = path.relative_to(root)
        if len(relative.parts) == 1:
            if relative.name not in UMBRELLAS:
                bad.append(f"{relative}: only {', '.join(UMBRELLAS)} may stand outside the floors")
        elif relative.parts[0] not in LEVEL:
            bad.append(f"{relative}: floor {relative.parts[0]} is not in tools/floors.py")
        else:
            bad += [f"{relative}: {problem}" for problem in problems_of(root, relative, path.read_text())]
    print("\n".join(bad) if bad else "floors: every include goes down")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

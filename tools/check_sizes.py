#!/usr/bin/env python3
"""Fails when something is larger than bench/size_budgets.json allows; no time decides.

Usage: tools/check_sizes.py build/ci                lines of umbrellas and examples that the compiler
                                                    reads with the bodies elsewhere
       tools/check_sizes.py --program NAME g++ ...  runs the command, which writes one object or more
                                                    with -save-temps: memory, machine code
A compiler of one version gives these figures alike on every machine; budgets leave room for others.
How many of our own files a header reaches: tools/check_floors.py.
"""
import json
import pathlib
import re
import subprocess
import sys

from compiling import INCLUDE, ROOT, flags_of, run_command, side_by_side
from floors import OPTIONAL

BUDGETS = json.loads((ROOT / "bench/size_budgets.json").read_text())


def count_lines(flags, text):
    """Lines that are not empty, after the preprocessor: all of them, and those of our own files."""
    output = subprocess.run([*flags, "-E", "-x", "c++", "-"], input=text, capture_output=True,
                            text=True, check=True).stdout
    counts, is_ours = {"all": 0, "ours": 0}, False
    for line in output.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            is_ours = marker[1].startswith((str(ROOT), "include/distribute"))
        elif line and not line.isspace() and not line.startswith("#"):
            counts["all"] += 1
            counts["ours"] += is_ours
    return counts


def umbrellas():
    return sorted(path.name for path in (INCLUDE / "distribute").glob("*.hpp")
                  if path.stem not in OPTIONAL)


def lines_report(build):
    flags = flags_of(build) + [f"-I{ROOT}/examples", f"-I{ROOT}", '-DEXAMPLE_DATA_DIR=""']
    texts = {f"distribute/{name}": f"#include <distribute/{name}>\n" for name in umbrellas()}
    texts |= {name: f'#include "{ROOT / name}"\n' for name in BUDGETS["lines"]
              if not name.startswith("distribute/") and name != "umbrella"}
    counts = side_by_side(lambda name: count_lines(flags, texts[name]), list(texts))
    for name, counted in zip(texts, counts):
        budget = BUDGETS["lines"].get(name, BUDGETS["lines"]["umbrella"])
        yield name, {f"{kind} lines": (counted[kind], budget[kind]) for kind in budget}


def machine_code(command):
    """Bytes of code in the objects beside the program."""
    program = pathlib.Path(command[command.index("-o") + 1])
    objects = list(program.parent.glob(f"{program.name}-*.o"))
    output = subprocess.run(["size", *map(str, objects)], capture_output=True, text=True,
                            check=True).stdout
    return sum(int(line.split()[0]) for line in output.splitlines()[1:])


def program_report(name, command):
    result = run_command(command)
    if not result.ok:
        sys.exit(result.output)
    budget = BUDGETS["programs"][name]
    yield name, {"MB of memory": (round(result.megabytes), budget["megabytes"]),
                 "bytes of code": (machine_code(command), budget["code"])}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    report = program_report(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "--program" \
        else lines_report(sys.argv[1])
    bad = 0
    for name, figures in report:
        over = any(value > most for value, most in figures.values())
        bad += over
        print(f"{'OVER ' if over else ''}{name}: " +
              ", ".join(f"{value} of {most} {what}" for what, (value, most) in figures.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

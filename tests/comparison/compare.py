#!/usr/bin/env python3
"""Compares what TensorFlow and this library printed for the same cases, and prints a table.

differences.json beside this file says which cases differ on purpose, and why. Ends with status 1
where another case differs, a deliberate difference is none any more, or a case is on one side alone.

Usage: compare.py TENSORFLOW.txt OURS.txt
"""
import fnmatch
import json
import math
import pathlib
import re
import sys

# How far 16-bit numbers may be apart: the two libraries round at different places.
HALVES = {"float16": 4e-3, "bfloat16": 3e-2}

LIST = pathlib.Path(__file__).parent / "differences.json"


def read(path):
    """Values by case."""
    found = {}
    for line in open(path):
        match = re.match(r"(.+?):(?: (.*))?$", line.rstrip("\n"))
        if match:
            found[match[1]] = match[2] or ""
    return found


def is_near(a, b, size=0.0):
    """Compares numbers but for rounding, which a sum has of its parts' size. A NaN is one with either
    sign."""
    return abs(a - b) <= 1e-6 + 1e-5 * max(abs(a), size) or (math.isnan(a) and math.isnan(b))


def size_of_sum(words, at):
    """Returns the norm of an array, such as "kernel[2][3] 0.12 613.1" prints behind its sum; else 0."""
    if at == 0 or not words[at - 1].endswith("]") or at + 1 == len(words):
        return 0.0
    try:
        return math.sqrt(abs(float(words[at + 1])))
    except ValueError:
        return 0.0


def is_near_half(a, b, rounding):
    return abs(a - b) <= rounding * max(1, abs(a)) or (math.isnan(a) and math.isnan(b))


def is_equal(theirs, ours):
    """Words one by one; numbers may differ by rounding, those behind a dtype by that of the dtype."""
    theirs, ours = re.findall(r"[^\s()|,]+|[()|,]", theirs), re.findall(r"[^\s()|,]+|[()|,]", ours)
    if len(theirs) != len(ours):
        return False
    rounding = None
    for at, (a, b) in enumerate(zip(theirs, ours)):
        dtype = re.match(r"(b?float16|u?int\d+|float|bool)", a)
        if dtype:
            rounding = HALVES.get(dtype[1], 0 if dtype[1] != "float" else None)
        try:
            if a == b:
                continue
            near = is_near(float(a), float(b), size_of_sum(theirs, at)) if rounding is None else \
                is_near_half(float(a), float(b), rounding)
            if not near:
                return False
        except ValueError:
            return False
    return True


def reason_of(case, listed):
    return next((why for pattern, why in listed.items() if fnmatch.fnmatchcase(case, pattern)), None)


def numbers_of_shards(values):
    """Numbers of a partitioner for one shape, all and equal ones."""
    pairs = [(a, b) for case in values for a, b in zip(*(re.findall(r"\d+", side) for side in values[case]))
             if case.startswith("partitioners/")]
    return len(pairs), sum(a == b for a, b in pairs)


def main():
    theirs, ours = read(sys.argv[1]), read(sys.argv[2])
    deliberate = json.loads(LIST.read_text())
    bad, rows, equal, used = [], [], 0, set()
    for case in list(theirs) + [name for name in ours if name not in theirs]:
        if case not in theirs or case not in ours:
            bad.append(f"{case}: {'only here' if case in ours else 'missing here'}")
            continue
        if is_equal(theirs[case], ours[case]):
            equal += 1
            continue
        why = reason_of(case, deliberate)
        used.add(why)
        if why is None:
            bad.append(f"{case}: differs")
        kind = "deliberate: " + why if why else "DIFFERS"
        rows.append(f"{case}\n    TensorFlow  {theirs[case]}\n    here        {ours[case]}\n    {kind}")
    bad += [f"{pattern}: listed as deliberate, but nothing differs" for pattern, why in deliberate.items()
            if why not in used]
    both = [case for case in theirs if case in ours]
    shards, same = numbers_of_shards({case: (theirs[case], ours[case]) for case in both})
    print("\n".join(rows))
    print(f"\n{equal} of {len(both)} cases are equal, {same} of {shards} numbers of the partitioners")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

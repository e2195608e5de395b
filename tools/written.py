"""Files that a script writes: with --fix it does, without it fails where they differ."""
import sys

from floors import INCLUDE

ROOT = INCLUDE.parent


def out_of_date(wanted, script):
    """Complaints about files that do not hold their text of `wanted`, {path: text}; with --fix none, as they are written."""
    if "--fix" in sys.argv[1:]:
        for path, text in wanted.items():
            path.write_text(text)
    return [f"{path.relative_to(ROOT)}: out of date; run {script} --fix"
            for path, text in wanted.items() if not path.exists() or path.read_text() != text]


def report(bad, good):
    """Prints what is wrong, or `good`; gives the exit status."""
    print("\n".join(bad) if bad else good)
    return 1 if bad else 0

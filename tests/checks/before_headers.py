#!/usr/bin/env python3
"""What a program may have before the first header, and what it reads where it must not.

Macros of Qt, X11 and Windows are set aside and come back; a wrong standard and -ffast-math are one
error that says what to do. With GCC and Clang.
Usage: tests/checks/before_headers.py
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from compiling import INCLUDE, SEPARATE, Compiled, compile_text, public_headers, side_by_side  # noqa: E402

COMPILERS = ("g++", "clang++")
EIGEN = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, text=True,
                       check=True).stdout.split()  # for the headers about Eigen's arrays
# As X11/X.h, X11/Xlib.h and Qt's qobjectdefs.h have them.
MACROS = {
    "None": "0L", "Bool": "int", "Status": "int", "True": "1", "False": "0", "Success": "0",
    "Always": "2", "Complex": "0", "Convex": "2", "Unsorted": "0", "Above": "0", "Below": "1",
    "KeyPress": "2", "KeyRelease": "3", "FocusIn": "9", "FocusOut": "10", "Expose": "12",
    "CurrentTime": "0L", "GrayScale": "1", "BadValue": "2", "ControlMask": "4",
    "slots": "", "signals": "public", "emit": "", "foreach(a, b)": "for (a : b)",
    "forever": "for (;;)",
    "min(a, b)": "((a) < (b) ? (a) : (b))", "max(a, b)": "((a) > (b) ? (a) : (b))",
}
REAL = """#if __has_include(<X11/Xutil.h>)
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#endif
"""
BACK = """
Status status(Bool);
static_assert(None == 0 && True == 1 && Always == 2 && max(1, 2) == 2);
class Window_ { signals: void opened(); public slots: void close() { emit opened(); } };
int main() { int all[] = {0}; foreach (int i, all) return i; }
"""


def errors(output):
    return re.findall(r"^.*?\b(?:fatal )?error: .*$", output, re.M)


def flags(compiler, *more, standard="c++20"):
    return [compiler, f"-std={standard}", f"-I{INCLUDE}", *EIGEN, "-fsyntax-only", *more]


def after_macros(compiler, *more):
    defined = "".join(f"#ifndef {name.split('(')[0]}\n#define {name} {value}\n#endif\n"
                      for name, value in MACROS.items())
    fronts = "".join(f"#include <{name}>\n" for name in public_headers() if name.count("/") == 1)
    made = compile_text(flags(compiler, *more), REAL + defined + fronts + BACK)
    return [] if made.ok else [f"{compiler}: macros before the headers: {line}"
                               for line in errors(made.output)[:5]]


def one_error(what, made, words):
    """That it is one error with these words."""
    found = errors(made.output)
    good = not made.ok and len(found) == 1 and words in found[0]
    return [] if good else [f"{what}: wanted one error with '{words}', got {len(found)}: {found[:2]}"]


def until_an_error(command, text):
    """What the compiler says until its first error, and then it is ended: after an include that is
    missing, Clang says nothing more, but reads the rest."""
    with subprocess.Popen([*command, "-x", "c++", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write(text)
        process.stdin.close()
        said = ""
        for line in process.stderr:
            said += line
            if errors(line):
                process.kill()
        return Compiled(not errors(said), 0, 0, said)


def with_an_older_standard(compiler, header):
    made = until_an_error(flags(compiler, standard="c++17"), f"#include <{header}>\n")
    return one_error(f"{compiler} -std=c++17, {header}", made, "compile with -std=c++20")


def single_header_after_a_macro(compiler):
    made = compile_text(flags(compiler), "#define slots\n#include <distribute/optim/sgd.hpp>\n")
    return one_error(f"{compiler}, one header after slots", made, "include an umbrella header")


def with_finite_math(compiler):
    """Bodies refuse it, with what cures it they do not, and headers alone have none that decide."""
    body = "#include <distribute/base/impl/error.ipp>\n"
    bad = one_error(f"{compiler} -ffast-math", compile_text(flags(compiler, "-ffast-math"), body),
                    "add -fno-finite-math-only")
    for more, text in (("-fno-finite-math-only", body),
                       (SEPARATE, "#include <distribute/base/error.hpp>\n")):
        if not compile_text(flags(compiler, "-ffast-math", more), text).ok:
            bad.append(f"{compiler} -ffast-math {more} does not compile")
    return bad


def main():
    bad = []
    for compiler in COMPILERS:
        bad += after_macros(compiler, SEPARATE)
        headers = [name for name in public_headers() if compiler == "g++" or name.count("/") == 1]
        for found in side_by_side(lambda name: with_an_older_standard(compiler, name), headers):
            bad += found
        bad += single_header_after_a_macro(compiler)
        bad += with_finite_math(compiler)
    print("\n".join(bad) if bad else "before the headers: macros, standards and -ffast-math are met")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Two copies of the library in one process: the second that is used says so, with GCC and Clang.

Usage: tests/checks/two_copies.py
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "tests/checks/two_copies.cpp"


def run(*command):
    answer = subprocess.run(command, capture_output=True, text=True)
    return answer.stdout + answer.stderr


def printed(compiler, place):
    """What the program prints that opens the plugin."""
    libraries = run("pkg-config", "--libs", "absl_status", "absl_strings").split()
    flags = [compiler, "-std=c++20", f"-I{ROOT}/include", "-fvisibility=hidden", str(SOURCE)]
    plugin, program = f"{place}/plugin.so", f"{place}/program"
    problems = run(*flags, "-DPLUGIN", "-fPIC", "-shared", "-o", plugin, *libraries)
    problems += run(*flags, "-o", program, *libraries, "-ldl")
    return problems or run(program, plugin)


def main():
    good = True
    for compiler in ("g++", "clang++"):
        with tempfile.TemporaryDirectory() as place:
            text = printed(compiler, place)
        good &= "first 0, second 1, again 0" in text and "the program uses the first" in text
        print(f"{compiler}: {text}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

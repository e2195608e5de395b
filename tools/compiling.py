"""Compiles one small file as a build tree would, and says how much time and memory that took."""
import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import floors

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
ENTRY = "tests/checks/two_units_main.cpp"
SEPARATE = "-DDISTRIBUTE_SEPARATE_COMPILATION"

Compiled = collections.namedtuple("Compiled", "ok seconds megabytes output")


def flags_of(build):
    """The compiler and its language flags, without output, optimization and ccache."""
    file = pathlib.Path(build) / "compile_commands.json"
    if not file.is_file():
        sys.exit(f"{build} is no configured build folder, as it has no {file.name}: cmake --preset dev makes build/dev")
    commands = json.loads(file.read_text())
    entry = next(entry for entry in commands if entry["file"].endswith(ENTRY))
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.endswith("++")):]
    keep, i = [words[0]], 1
    while i < len(words):
        if words[i] in ("-isystem", "-I", "-D"):
            keep += words[i:i + 2]
            i += 1
        elif words[i].startswith("-fopenmp"):  # Clang names a runtime, GCC takes none
            keep.append("-fopenmp")
        elif words[i].startswith(("-D", "-I", "-std=")):
            keep.append(words[i])
        i += 1
    return keep


def public_headers():
    """What users may name, as it stands in an #include: umbrellas, and headers of folders."""
    umbrellas = [path.name for path in (INCLUDE / "distribute").glob("*.hpp")
                 if path.stem not in floors.OPTIONAL]
    return [f"distribute/{name}" for name in sorted(umbrellas) + floors.public_headers(
        [*floors.CORE, *(annex for annex in floors.ANNEXES if annex not in floors.OPTIONAL)])]


def run_command(command):
    """What the compiler's command took: CPU seconds, megabytes, its output."""
    # os.wait4 of our own child: several may run at once.
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return Compiled(process.returncode == 0, usage.ru_utime, usage.ru_maxrss / 1024,
                        output.read())


def compile_text(flags, text):
    """Compiles one translation unit."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "unit.cpp"
        source.write_text(text)
        return run_command([*flags, str(source), "-o", str(source.with_suffix(".o"))])


def side_by_side(function, items):
    """Runs function on all items, as many at once as there are cores; results in order."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))

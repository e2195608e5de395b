#!/usr/bin/env python3
"""Speed of training beside busy loops and under quotas of CPU time, in interleaved rounds.

  bench/neighbours.py                                  the header-only trainer, compiled here
  bench/neighbours.py --program=build/mnist --before=old/mnist   two programs, side by side
  bench/neighbours.py --venv=/path/to/venv             TensorFlow and PyTorch beside it
  bench/neighbours.py --job="servers=build/distribute run -np 2 --ps 1 -- build/mnist_cnn --json ..."
  bench/neighbours.py --visible=16,64             ours, made to see that many cores

Quotas need write access to the control groups of this machine (version 1 or 2); without it those
rows are left out, and the table says so. Programs print "... N images/s" lines; the first is
dropped where there are several, as it holds the start. Ratios are of the same program's quiet speed
in the same rounds, beside the share that equal weights give each thread. --bound shows what the
machine gives threads that only count and meet every quarter of a millisecond (thread_share_bench).
"""
import argparse
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST = pathlib.Path("/sys/fs/cgroup/cpu")   # version 1
SECOND = pathlib.Path("/sys/fs/cgroup")      # version 2
CORES = len(os.sched_getaffinity(0))
LOOP = ["sh", "-c", "while :; do :; done"]


class Group:
    """A control group of this script's own, with a quota of cores or none; removed at the end."""

    def __init__(self, name, cores=None, weight=None):
        self.first = (FIRST / "cgroup.procs").exists()
        self.folder = (FIRST if self.first else SECOND) / f"distribute_bench_{os.getpid()}_{name}"
        self.folder.mkdir()
        if cores:
            if self.first:
                (self.folder / "cpu.cfs_quota_us").write_text(str(int(cores * 100000)))
            else:
                (self.folder / "cpu.max").write_text(f"{int(cores * 100000)} 100000")
        if weight:
            file = self.folder / ("cpu.shares" if self.first else "cpu.weight")
            file.write_text(str(weight if self.first else min(weight // 10, 10000)))

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def leave(self):
        (self.folder.parent / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        self.folder.rmdir()


def built(program):
    """A type for argparse: a folder of `program`, as a path below the folder, that was built."""
    def folder(text):
        if not (pathlib.Path(text) / program).is_file():
            raise argparse.ArgumentTypeError(f"{text} has no {program}: build it first")
        return pathlib.Path(text).resolve()
    return folder


def groups_or_none(cores_list, weight):
    """The groups for all quotas, or None where this user may not make them."""
    made = {}
    try:
        if not (FIRST / "cgroup.procs").exists():
            (SECOND / "cgroup.subtree_control").write_text("+cpu")
        for cores in [None, *cores_list]:
            made[cores] = Group(str(cores).replace(".", "_"), cores, weight)
    except OSError as error:
        for group in made.values():
            group.close()
        print(f"no control groups ({error}): rows with quotas are left out", file=sys.stderr)
        return None
    return made


def compile_trainer(folder):
    program = str(pathlib.Path(folder) / "mnist_mirrored")
    libraries = subprocess.run(["pkg-config", "--libs", "absl_statusor"], check=True,
                               capture_output=True, text=True).stdout.split()
    print("compiling examples/mnist_mirrored", file=sys.stderr)
    subprocess.run(["g++", "-std=c++20", "-O1", "-fopenmp", "-I", "include",
                    "-DDISTRIBUTE_HAS_ONEDNN=1",
                    "examples/mnist_mirrored/main.cpp", "-o", program, "-ldnnl", "-lz", *libraries],
                   check=True, cwd=ROOT)
    return program


def output_beside(command, environment, loops, group):
    enter = group.enter if group else None
    neighbours = [subprocess.Popen(LOOP, preexec_fn=enter) for _ in range(loops)]
    try:
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, text=True,
                              capture_output=True, check=True, preexec_fn=enter).stdout
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()


def images_per_second(command, environment, loops, group):
    output = output_beside(command, environment, loops, group)
    rates = [float(a or b) for a, b in
             re.findall(r'([\d.]+) images/s|"images_per_second(?:_mean)?": ([\d.]+)', output)]
    if not rates:
        sys.exit(f"{' '.join(command)}: no line with 'N images/s'")
    return statistics.median(rates[1:] or rates)


def cores_used(program, environment, loops, group):
    """The share of the machine that threads get which do nothing but count and meet."""
    output = output_beside([program, str(CORES), "8", "250", "3"],
                           {"OMP_WAIT_POLICY": "passive", **environment}, loops, group)
    return float(re.search(r"[\d.]+", output).group()) / CORES


def print_bound(rows, groups, folder, rounds):
    program = str(pathlib.Path(folder) / "thread_share_bench")
    subprocess.run(["g++", "-std=c++20", "-O2", "-fopenmp", "bench/thread_share_bench.cpp", "-o",
                    program], check=True, cwd=ROOT)
    columns = {"divided beforehand": "static", "taken one by one": "dynamic,1"}
    print(f"\nshare of {CORES} cores that threads get which meet every 250 us\n")
    print("| beside | equal share | " + " | ".join(columns) + " |\n|---|---|---|---|")
    for row, loops, quota, share in rows:
        cells = [statistics.median(cores_used(program, {"OMP_SCHEDULE": schedule}, loops,
                                              groups[quota] if groups else None)
                                   for _ in range(rounds)) for schedule in columns.values()]
        print(f"| {row} | {share:.2f} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")


def seeing(program, cores, folder):
    """The command that shows the program that many cores."""
    library = pathlib.Path(folder) / "visible_cores.so"
    if not library.exists():
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "bench/visible_cores.cpp",
                        "-o", str(library), "-ldl"], check=True, cwd=ROOT)
    return ["env", f"LD_PRELOAD={library}", f"VISIBLE_CORES={cores}", *program]


def peers(venv):
    """Columns of TensorFlow and PyTorch: the same network and batch, by bench/peers."""
    python = str(pathlib.Path(venv) / "bin" / "python")
    found = {}
    for name, module in [("TensorFlow", "tensorflow"), ("PyTorch", "torch")]:
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            found[name] = [python, str(ROOT / "bench" / "peers" / f"{name.lower()}_peer.py"),
                           f"--threads={CORES}", "--steps=300"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="prints 'N images/s' lines; default: compiled here")
    parser.add_argument("--before", help="an older program, as a column of its own")
    parser.add_argument("--venv", help="Python environment with TensorFlow or PyTorch")
    parser.add_argument("--job", action="append", default=[], metavar="NAME=COMMAND",
                        help="a column of its own, from the checkout's root")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--loops", default="1,2,4")
    parser.add_argument("--quotas", default="1,0.5")
    parser.add_argument("--visible", default="", help="numbers of cores that ours is made to see")
    parser.add_argument("--bound", action="store_true", help="a second table: of plain threads")
    parser.add_argument("--exclusive", action="store_true",
                        help="a weight that keeps other users of the machine out while measuring")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = flags.program or compile_trainer(folder)
        run(flags, str(pathlib.Path(program).resolve()), folder)


def run(flags, program, folder):
    quotas = [float(q) for q in flags.quotas.split(",") if q]
    loops = [int(n) for n in flags.loops.split(",") if n]
    groups = groups_or_none(quotas, 262144 if flags.exclusive else None)
    epochs = f"--epochs={flags.epochs}"
    columns = {"ours": ([program, epochs], {}),
               "ours, 1 thread": ([program, epochs], {"OMP_NUM_THREADS": "1"})}
    if flags.before:
        before = [str(pathlib.Path(flags.before).resolve()), epochs]
        columns["before"] = (before, {})
    for cores in [n for n in flags.visible.split(",") if n]:
        columns[f"ours, sees {cores}"] = (seeing([program, epochs], cores, folder), {})
    for job in flags.job:
        name, command = job.split("=", 1)
        columns[name] = (shlex.split(command), {})
    for name, command in (peers(flags.venv) if flags.venv else {}).items():
        columns[name] = (command, {})
    rows = [("quiet", 0, None, 1.0)]
    rows += [(f"{n} busy loops", n, None, CORES / (CORES + n)) for n in loops]
    if groups:
        rows += [(f"quota of {q:g} cores", 0, q, min(q / CORES, 1)) for q in quotas]
    measured = {}
    try:
        for number in range(flags.rounds):
            for row, n, quota, _ in rows:
                for column, (command, environment) in columns.items():
                    group = groups[quota] if groups else None
                    speed = images_per_second(command, environment, n, group)
                    measured.setdefault((row, column), []).append(speed)
                    print(f"round {number + 1}: {row}, {column}: {speed:.0f}", file=sys.stderr)
        print_table(rows, columns, measured, flags.rounds)
        if flags.bound:
            print_bound(rows, groups, folder, flags.rounds)
    finally:
        for group in (groups or {}).values():
            group.close()


def print_table(rows, columns, measured, rounds):
    print(f"images/s, median of {rounds} interleaved rounds (ratio to the column's quiet speed)\n")
    print("| beside | equal share | " + " | ".join(columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    quiet = {column: statistics.median(measured["quiet", column]) for column in columns}
    for row, _, _, share in rows:
        cells = []
        for column in columns:
            speed = statistics.median(measured[row, column])
            cells.append(f"{speed:,.0f} ({speed / quiet[column]:.2f})")
        print(f"| {row} | {share:.2f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""All-reduces over every engine beside what it stands on, in turn, as rows of a Markdown table.

UCX beside our TCP and plain sockets (one program, round by round); MPI through its module beside the
same MPI called directly (two programs in turn). Medians and the fastest round of each.
Usage: bench/engines.py [build folder, such as build/release] [--ranks 2,3] [--seconds 1] [--rounds 3]
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

SIZES = "4,4K,64K,1M,25M,100M"
DIRECT = r"""
#include <mpi.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 2; i < argc; ++i) {
    const size_t bytes = std::strtoull(argv[i], nullptr, 10);
    std::vector<float> data(bytes / 4, 1.0f);
    std::vector<double> times;
    double turns = 3;
    for (int turn = 0; turn < turns; ++turn) {
      const double start = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, data.data(), int(data.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      times.push_back(MPI_Wtime() - start);
      if (turn == 2) turns = std::clamp(std::atof(argv[1]) / times.back(), 20.0, 20000.0) + 3;
      if (turn == 2) MPI_Bcast(&turns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    std::sort(times.begin() + 3, times.end());
    if (rank == 0) std::printf("%zu %g\n", bytes, 1e6 * times[3 + (times.size() - 3) / 2]);
  }
  MPI_Finalize();
}
"""
MPIS = {"openmpi": ("mpicxx.openmpi", "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none"),
        "mpich": ("mpicxx.mpich", "mpiexec.mpich")}


def bench(program, transport, ranks, seconds, launcher=(), extra=()):
    """us_p50 by (transport, bytes)."""
    command = [*launcher, program, "bench", "allreduce", f"--transport={transport}", f"--bytes={SIZES}",
               f"--seconds={seconds}", "--json", *extra]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {(row["transport"], row["bytes"]): row["us_p50"] for row in json.loads(out[out.index("["):])}


def direct(program, ranks, seconds, launcher, sizes):
    out = subprocess.run([*launcher, program, str(seconds), *map(str, sizes)], capture_output=True,
                         text=True, check=True).stdout
    return {("direct", int(line.split()[0])): float(line.split()[1])
            for line in out.splitlines() if line.strip()}


def medians(rounds):
    return {key: statistics.median(one[key] for one in rounds if key in one) for key in rounds[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    program = str(pathlib.Path(args.build).resolve() / "bin/distribute")
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    print(f"Load before the start: {load}\n\n| ranks | bytes | engine, us | beside it, us | ratio |\n|---|---|---|---|---|")
    for ranks in map(int, args.ranks.split(",")):
        ucx = medians([bench(program, "ucx", ranks, args.seconds, extra=("--raw", f"--world={ranks}"))
                       for _ in range(args.rounds)])
        sizes = sorted({size for _, size in ucx})
        for size in sizes:
            best = min(("tcp", "raw_tcp"), key=lambda name: ucx[name, size])
            print(f"| {ranks} | {size} | ucx {ucx['ucx', size]:.1f} | {best} {ucx[best, size]:.1f} "
                  f"| {ucx[best, size] / ucx['ucx', size]:.2f} |")
        for name, (compiler, launcher) in MPIS.items():
            if not shutil.which(compiler):
                continue
            words = [*launcher.split(), "-np", str(ranks)]
            with tempfile.TemporaryDirectory() as folder:
                source = pathlib.Path(folder) / "direct.cpp"
                source.write_text(DIRECT)
                subprocess.run([compiler, "-O2", str(source), "-o", f"{folder}/direct"], check=True)
                ours, theirs = [], []
                for _ in range(args.rounds):
                    ours.append(bench(program, "mpi", ranks, args.seconds, words))
                    theirs.append(direct(f"{folder}/direct", ranks, args.seconds, words, sizes))
            ours, theirs = medians(ours), medians(theirs)
            for size in sizes:
                print(f"| {ranks} | {size} | {name} {ours[name, size]:.1f} | direct "
                      f"{theirs['direct', size]:.1f} | {theirs['direct', size] / ours[name, size]:.2f} |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""All-reduces over every engine beside what it stands on, in turn, as rows of a Markdown table.

UCX beside our TCP and plain sockets (one program, round by round), and UCX called directly beside a
plain socket; MPI through its module beside the same MPI called directly, blocking and not (programs in
turn). Each figure is the best of all rounds: medians tell what else the machine did.
Usage: bench/engines.py [build folder, such as build/release] [--ranks 2,3] [--seconds 1] [--rounds 3]
                        [--sizes 4,65536] [--engines ucx,openmpi,mpich]
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DIRECT = r"""
#include <mpi.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int argc, char** argv) {
  int rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 2; i < argc; ++i) {
    std::vector<float> data(std::strtoull(argv[i], nullptr, 10) / 4, 1.0f);
    double best[2] = {1, 1};
    const double end = MPI_Wtime() + std::atof(argv[1]);
    for (int go = 1, round = 0; go; ++round) {
      double start = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, data.data(), int(data.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      best[0] = std::min(best[0], MPI_Wtime() - start);
      start = MPI_Wtime();
      MPI_Request request;
      MPI_Iallreduce(MPI_IN_PLACE, data.data(), int(data.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                     &request);
      for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      best[1] = std::min(best[1], MPI_Wtime() - start);
      if (round % 8) continue;
      go = MPI_Wtime() < end || round < 16;
      MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) std::printf("%s %g %g\n", argv[i], 1e6 * best[0], 1e6 * best[1]);
  }
  MPI_Finalize();
}
"""
MPIS = {"openmpi": ("mpicxx.openmpi", "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none"),
        "mpich": ("mpicxx.mpich", "mpiexec.mpich")}


def output(command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def ours(args, transport, launcher=(), extra=()):
    """Best us by (transport, bytes)."""
    out = output([*launcher, args.program, "bench", "allreduce", f"--transport={transport}",
                  f"--bytes={args.sizes}", f"--seconds={args.seconds}", "--json", *extra])
    return {(row["transport"], row["bytes"]): row["us_best"] for row in json.loads(out[out.index("["):])}


def direct(command, names):
    """Best us by (name, bytes), from lines of a size and a number for each name."""
    rows = [line.split() for line in output(command).splitlines() if line.strip()]
    return {(name, int(row[0])): float(number) for row in rows for name, number in zip(names, row[1:])}


def best(rounds):
    return {key: min(one[key] for one in rounds if key in one) for key in rounds[0]}


def print_rows(args, ranks, engine, mine, beside, alone=()):
    """`beside`: what the engine is compared with; `alone`: the library itself, and what it stands on."""
    def cells(name, others):
        times = [f"{other} {mine[other, size]:.1f} ({mine[other, size] / mine[name, size]:.2f})" for other in others]
        return [f"{name} {mine[name, size]:.1f}", ", ".join(times)]

    for size in args.sizes.split(","):
        size = int(size)
        row = [ranks, size, *cells(engine, beside), *(cells(alone[0], alone[1:]) if alone else ())]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def ucx_rows(args, ranks, folder):
    alone = ranks == 2 and subprocess.run(
        ["g++", "-std=c++20", "-O2", HERE / "peers/ucx_direct.cpp", "-o", f"{folder}/ucx", "-lucp", "-lucs"],
        capture_output=True).returncode == 0
    rounds = []
    for _ in range(args.rounds):
        rounds.append(ours(args, "ucx", extra=("--raw", f"--world={ranks}")))
        if alone:
            command = ["env", "UCX_TLS=tcp,self", f"{folder}/ucx", "exchange", args.seconds]
            rounds[-1] |= direct([*command, *args.sizes.split(",")], ("UCX alone", "socket alone"))
    print_rows(args, ranks, "ucx", best(rounds), ("tcp", "raw_tcp"),
               ("UCX alone", "socket alone") if alone else ())


def mpi_rows(args, ranks, folder, name, compiler, launcher):
    words = [*launcher.split(), "-np", ranks]
    (folder / "direct.cpp").write_text(DIRECT)
    output([compiler, "-O2", folder / "direct.cpp", "-o", folder / "direct"])
    rounds = []
    for _ in range(args.rounds):
        command = [*words, folder / "direct", args.seconds, *args.sizes.split(",")]
        rounds.append(ours(args, "mpi", words) | direct(command, ("MPI_Allreduce", "MPI_Iallreduce")))
    print_rows(args, ranks, name, best(rounds), ("MPI_Allreduce",), ("MPI_Iallreduce", "MPI_Allreduce"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--sizes", default="4,4096,65536,1048576,26214400,104857600")
    parser.add_argument("--engines", default="ucx,openmpi,mpich")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.program = str(pathlib.Path(args.build).resolve() / "bin/distribute")
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    print(f"Load before the start: {load}\n\n| ranks | bytes | engine, us | beside it, us (ratio) "
          "| the library itself, us | beside it, us (ratio) |\n|---|---|---|---|---|---|")
    for ranks in map(int, args.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            if "ucx" in args.engines:
                ucx_rows(args, ranks, pathlib.Path(folder))
            for name, (compiler, launcher) in MPIS.items():
                if name in args.engines and shutil.which(compiler):
                    mpi_rows(args, ranks, pathlib.Path(folder), name, compiler, launcher)


if __name__ == "__main__":
    main()

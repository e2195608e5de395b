#!/usr/bin/env python3
"""All-reduces over every engine beside what it stands on, in turn, as rows of a Markdown table.

UCX beside our TCP and plain sockets (one program, round by round), and UCX called directly beside a
plain socket; MPI through its module beside the same MPI called directly, blocking and not (programs in
turn). Ranks are processes of this host, with --hosts each in network namespaces of its own (as root).
Each figure is the median of the rounds' best times: the rest tells what else the machine did.
Usage: bench/engines.py [build folder, such as build/release] [--ranks 2,3] [--seconds 1] [--rounds 3]
                        [--sizes 4,65536] [--engines ucx,openmpi,mpich] [--hosts] [--alone]
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

from neighbours import Group, built

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
MPIS = {"openmpi": "mpicxx.openmpi", "mpich": "mpicxx.mpich"}
ENTER = ["nsenter", "-n", "-m", "-u", "-t"]
# MPICH's UCX would find the shared memory of another namespace.
OVER_TCP = ["env", "UCX_TLS=tcp,self"]


class Hosts:
    """Network namespaces on one switch, and a command in place of ssh for MPI's launchers."""

    def __init__(self, count, folder):
        self.processes = []
        switch = self.start("ip link add switch type bridge && ip link set switch up")
        cases = ""
        for i in range(1, count + 1):
            host = self.start(f"mount -t tmpfs tmpfs /dev/shm && hostname bench-{i} && ip link set lo up")
            for where, command in [
                    (switch, f"ip link add port{i} type veth peer name eth0 netns {host}"),
                    (switch, f"ip link set port{i} master switch up"),
                    (host, f"ip address add 10.78.0.{i}/24 dev eth0"),
                    (host, "ip link set eth0 up")]:
                output([*ENTER, where, *command.split()])
            cases += f"10.78.0.{i}) pid={host};; "
        self.names = ",".join(f"10.78.0.{i}" for i in range(1, count + 1))
        self.first = self.processes[1].pid
        self.shell = folder / "shell"  # [options] address command
        self.shell.write_text(f"#!/bin/sh\nuntil case $1 in {cases}*) false;; esac; do shift; done\n"
                              f'shift\nexec {" ".join(ENTER)} $pid sh -c "$*"\n')
        self.shell.chmod(0o755)

    def start(self, script):
        command = ["unshare", "--net", "--mount", "--uts", "sh", "-c", f"{script} && echo && exec sleep infinity"]
        self.processes.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        if not self.processes[-1].stdout.readline():
            raise SystemExit("--hosts needs root, iproute2 and util-linux")
        return self.processes[-1].pid

    def launcher(self, name):
        words = {"openmpi": "mpirun.openmpi --allow-run-as-root --bind-to none "
                            f"--host {self.names} --mca plm_rsh_agent {self.shell}",
                 "mpich": f"mpiexec.mpich -launcher ssh -launcher-exec {self.shell} -hosts {self.names}"}
        return [*ENTER, self.first, *OVER_TCP, *words[name].split()]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


class ThisHost:
    def launcher(self, name):
        openmpi = "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none"
        return {"openmpi": openmpi, "mpich": "mpiexec.mpich"}[name].split()

    def close(self):
        pass


def output(command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def ours(args, transport, launcher=(), extra=()):
    """Best us by (transport, bytes)."""
    out = output([*launcher, f"{args.build}/bin/distribute", "bench", "allreduce",
                  f"--transport={transport}", f"--bytes={args.sizes}", f"--seconds={args.seconds}",
                  "--json", *extra])
    return {(row["transport"], row["bytes"]): row["us_best"] for row in json.loads(out[out.index("["):])}


def direct(command, names):
    """Best us by (name, bytes), from lines of a size and a number for each name."""
    rows = [line.split() for line in output(command).splitlines() if line.strip()]
    return {(name, int(row[0])): float(number) for row in rows for name, number in zip(names, row[1:])}


def median(rounds):
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


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
    sizes = args.sizes.split(",")
    if args.hosts:
        command = [f"{args.build}/bin/engine_hosts_bench", ranks, 0, args.seconds, *sizes]
        rounds = [direct(command, ("ucx", "tcp", "raw_tcp")) for _ in range(args.rounds)]
        return print_rows(args, ranks, "ucx", median(rounds), ("tcp", "raw_tcp"))
    alone = ranks == 2 and subprocess.run(
        ["g++", "-std=c++20", "-O2", HERE / "peers/ucx_direct.cpp", "-o", f"{folder}/ucx", "-lucp", "-lucs"],
        capture_output=True).returncode == 0
    rounds = []
    for _ in range(args.rounds):
        rounds.append(ours(args, "ucx", extra=("--raw", f"--world={ranks}")))
        if alone:
            command = [*OVER_TCP, f"{folder}/ucx", "exchange", args.seconds, *sizes]
            rounds[-1] |= direct(command, ("UCX alone", "socket alone"))
    print_rows(args, ranks, "ucx", median(rounds), ("tcp", "raw_tcp"),
               ("UCX alone", "socket alone") if alone else ())


def mpi_rows(args, ranks, folder, name, launcher):
    words = [*launcher, "-np", ranks]
    (folder / "direct.cpp").write_text(DIRECT)
    output([MPIS[name], "-O2", folder / "direct.cpp", "-o", folder / "direct"])
    rounds = []
    for _ in range(args.rounds):
        command = [*words, folder / "direct", args.seconds, *args.sizes.split(",")]
        rounds.append(ours(args, "mpi", words) | direct(command, ("MPI_Allreduce", "MPI_Iallreduce")))
    print_rows(args, ranks, name, median(rounds), ("MPI_Allreduce", "MPI_Iallreduce"),
               ("MPI_Iallreduce", "MPI_Allreduce"))


def all_rows(args):
    for ranks in map(int, args.ranks.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if "ucx" in args.engines:
                ucx_rows(args, ranks, folder)
            mpis = [mpi for mpi, compiler in MPIS.items() if mpi in args.engines and shutil.which(compiler)]
            place = Hosts(ranks, folder) if args.hosts and mpis else ThisHost()
            try:
                for mpi in mpis:
                    mpi_rows(args, ranks, folder, mpi, place.launcher(mpi))
            finally:
                place.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build/release", type=built("bin/distribute"))
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--sizes", default="4,4096,65536,262144,1048576,4194304,26214400,104857600")
    parser.add_argument("--engines", default="ucx,openmpi,mpich")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hosts", action="store_true", help="each rank in network namespaces of its own")
    parser.add_argument("--alone", action="store_true",
                        help="in a control group beside which other programs hardly run: as root, for minutes only")
    args = parser.parse_args()
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    print(f"Load before the start: {load}\n\n| ranks | bytes | engine, us | beside it, us (ratio) "
          "| the library itself, us | beside it, us (ratio) |\n|---|---|---|---|---|---|", flush=True)
    group = Group("engines", weight=262144) if args.alone else None
    if group:
        group.enter()
    try:
        all_rows(args)
    finally:
        if group:
            group.leave()
            group.close()


if __name__ == "__main__":
    main()

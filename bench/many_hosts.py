#!/usr/bin/env python3
"""All-reduces of float32 between many hosts: ours over TCP, PyTorch's Gloo and Open MPI, in turn.

Each rank is a process in network namespaces of its own, on one switch, behind a cable of --mbit. All
of them share this machine's cores, so that small arrays cost what the CPU takes for all ranks. Prints
rows of a Markdown table: medians over the rounds, and the others' over ours. A round gives the median
of rank 0's times, and for Open MPI the best one.
Usage: bench/many_hosts.py [build folder, such as build/release] [--hosts 16,32] [--mbit 100]
                           [--sizes 4,65536] [--seconds 1] [--rounds 3] [--python /path/to/python]
Needs root, iproute2 and util-linux; --python is one that has torch, else Gloo is left out.
"""
import argparse
import json
import os
import pathlib
import secrets
import shutil
import statistics
import subprocess
import tempfile

from engines import DIRECT, ENTER, HERE, MPIS, Hosts, output
from neighbours import built

PORT = 4711


def limit(hosts, megabits):
    """Cables of this speed, in both directions, with a bucket of 4 ms."""
    bits = megabits * 1_000_000
    queue = f"tbf rate {bits} burst {max(bits // 8 // 250, 65536)} latency 100ms"
    switch, *places = [process.pid for process in hosts.processes]
    for i, place in enumerate(places, 1):
        output([*ENTER, place, "tc", "qdisc", "add", "dev", "eth0", "root", *queue.split()])
        output([*ENTER, switch, "tc", "qdisc", "add", "dev", f"port{i}", "root", *queue.split()])


def everywhere(hosts, command, environment):
    """What rank 0 prints; environment(rank) is that of a rank, over this process's."""
    ranks = []
    for rank, process in enumerate(hosts.processes[1:]):
        own = dict(os.environ, OMP_NUM_THREADS="1", **environment(rank))
        ranks.append(subprocess.Popen([*map(str, [*ENTER, process.pid, *command])], env=own, text=True,
                                      stdout=subprocess.PIPE))
    printed = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise SystemExit(f"{command[0]} failed")
    return printed[0]


def ours(hosts, args):
    addresses = [f"{name}:{PORT}" for name in hosts.names.split(",")]

    def environment(rank):
        config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": rank}}
        return {"TF_CONFIG": json.dumps(config), "DISTRIBUTE_JOB_TOKEN": args.token,
                "DISTRIBUTE_TRANSPORT": "tcp"}

    out = everywhere(hosts, [args.build / "bin/many_hosts_bench", args.seconds, *args.sizes], environment)
    return {int(line.split()[0]): float(line.split()[1]) for line in out.splitlines()}


def gloo(hosts, args):
    def environment(rank):
        return {"RANK": str(rank), "MASTER_ADDR": hosts.names.split(",")[0], "MASTER_PORT": str(PORT),
                "GLOO_SOCKET_IFNAME": "eth0"}

    out = everywhere(hosts, [args.python, HERE / "peers/gloo_peer.py", "--world", hosts.names.count(",") + 1,
                             "--seconds", args.seconds, "--bytes", *args.sizes], environment)
    return {row["bytes"]: row["us_p50"] for row in json.loads(out)["results"]}


def open_mpi(hosts, args, folder):
    program = folder / "direct"
    if not program.exists():
        (folder / "direct.cpp").write_text(DIRECT)
        output([MPIS["openmpi"], "-O2", folder / "direct.cpp", "-o", program])
    ranks = hosts.names.count(",") + 1
    words = [*hosts.launcher("openmpi"), "--mca", "btl_tcp_if_include", "eth0", "-np", ranks, program,
             args.seconds, *args.sizes]
    return {int(line.split()[0]): float(line.split()[1]) for line in output(words).splitlines() if line.strip()}


def rows(args, count, folder):
    hosts = Hosts(count, folder)
    try:
        limit(hosts, args.mbit)
        ways = {"ours": lambda: ours(hosts, args)}
        if args.python:
            ways["Gloo"] = lambda: gloo(hosts, args)
        if shutil.which(MPIS["openmpi"]):
            ways["Open MPI"] = lambda: open_mpi(hosts, args, folder)
        rounds = [{name: way() for name, way in ways.items()} for _ in range(args.rounds)]
    finally:
        hosts.close()
    for size in args.sizes:
        us = {name: statistics.median(one[name][size] for one in rounds) for name in ways}
        peers = [f"{us[name] / 1000:.3g} ({us[name] / us['ours']:.2f})" for name in ways if name != "ours"]
        print(f"| {count} | {size} | {us['ours'] / 1000:.3g} | {' | '.join(peers)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build/release", type=built("bin/many_hosts_bench"))
    parser.add_argument("--hosts", default="16,32")
    parser.add_argument("--mbit", type=int, default=100)
    parser.add_argument("--sizes", default="4,65536,1048576,4194304")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", help="one that has torch")
    args = parser.parse_args()
    args.token = secrets.token_hex()
    args.sizes = [int(size) for size in args.sizes.split(",")]
    print(f"Cables of {args.mbit} Mbit/s, ms (ratio to ours)")
    with tempfile.TemporaryDirectory() as folder:
        for count in map(int, args.hosts.split(",")):
            rows(args, count, pathlib.Path(folder))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""All-reduce of float32 between processes of this machine by Gloo, as PyTorch calls it.

Prints one JSON line: {"version": ..., "results": [{"bytes", "us_p50", "us_p99"}]}.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def measure(count, seconds):
    data = torch.ones(count)
    times = []
    for _ in range(3):
        dist.all_reduce(data)
    # Every rank must make the same number of rounds, so rank 0's first rounds decide.
    start = time.perf_counter()
    dist.all_reduce(data)
    rounds = torch.tensor([max(20, min(2000, int(seconds / (time.perf_counter() - start))))])
    dist.broadcast(rounds, 0)
    for _ in range(int(rounds)):
        data.fill_(1.0)
        start = time.perf_counter()
        dist.all_reduce(data)
        times.append(time.perf_counter() - start)
    times.sort()
    return {"bytes": 4 * count, "us_p50": 1e6 * times[len(times) // 2],
            "us_p99": 1e6 * times[int(0.99 * (len(times) - 1))]}


def work(rank, flags, port):
    torch.set_num_threads(1)
    if port:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=flags.world)
    results = [measure(size // 4, flags.seconds) for size in flags.bytes]
    if rank == 0:
        print(json.dumps({"version": torch.__version__, "results": results}), flush=True)
    dist.destroy_process_group()


def main():
    import socket
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", type=int, default=2)
    parser.add_argument("--bytes", type=int, nargs="+")
    parser.add_argument("--seconds", type=float, default=1)
    flags = parser.parse_args()
    if "RANK" in os.environ:  # one of the processes that bench/many_hosts.py has started
        return work(int(os.environ["RANK"]), flags, None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(work, (flags, port), nprocs=flags.world)


if __name__ == "__main__":
    main()

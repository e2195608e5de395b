#!/usr/bin/env python3
"""Compares torch_ddp_bench with PyTorch's DDP over Gloo: the same network, ranks and batch, in turn.

Usage: torch_ddp_peer.py BIN [--ranks N] [--rounds N] [--seconds S]      BIN: the folder of programs
Prints the images per second of each round, and at last the median of the ratios.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

BATCH = 32


def network():
    return nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(64 * 7 * 7, 500), nn.ReLU(), nn.Linear(500, 10))


def work(rank, ranks, seconds, port, answers):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    ddp = nn.parallel.DistributedDataParallel(network())
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
    x, y = torch.randn(BATCH, 1, 28, 28), torch.randint(10, (BATCH,))

    def steps(count):
        began = time.perf_counter()
        for _ in range(count):
            optimizer.zero_grad()
            nn.functional.cross_entropy(ddp(x), y).backward()
            optimizer.step()
        return time.perf_counter() - began

    steps(5)
    count = torch.tensor([int(5 * seconds / steps(5)) + 1])
    dist.broadcast(count, 0)
    took = steps(int(count))
    if rank == 0:
        answers.put(int(count) * BATCH * ranks / took)
    dist.destroy_process_group()


def gloo(ranks, seconds):
    import socket
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answers = mp.get_context("spawn").SimpleQueue()
    mp.spawn(work, (ranks, seconds, port, answers), nprocs=ranks)
    return answers.get()


def ours(folder, ranks, seconds, environment):
    command = [f"{folder}/distribute", "run", "-np", str(ranks), "--", f"{folder}/torch_ddp_bench",
               str(seconds)]
    out = subprocess.run(command, check=True, capture_output=True, text=True,
                         env={**os.environ, "OMP_NUM_THREADS": "1", **environment}).stdout
    return json.loads(out[out.index("{"):])["images_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    flags = parser.parse_args()
    for name, environment in (("shared memory", {}), ("TCP", {"DISTRIBUTE_TRANSPORT": "tcp"})):
        ratios = []
        for _ in range(flags.rounds):
            peer = gloo(flags.ranks, flags.seconds)
            mine = ours(flags.bin, flags.ranks, flags.seconds, environment)
            ratios.append(mine / peer)
            print(f"{name}: gloo {peer:.0f} images/s, ours {mine:.0f}, ratio {ratios[-1]:.3f}", flush=True)
        print(f"{name}: median ratio {statistics.median(ratios):.3f} "
              f"({min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    main()

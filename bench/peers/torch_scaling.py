#!/usr/bin/env python3
"""Compares how libtorch under DistributedDataParallel and our own trainer gain by a second process.

Usage: torch_scaling.py BIN [--ranks N] [--rounds N] [--seconds S] [--steps N]   BIN: the folder of programs
Both train two convolutions and two dense layers with 32 images a rank and step, SGD and one thread a rank. The
four runs of a round follow each other. Prints each round's gains, and at last the median of their ratios. Ends
with status 1 where that is outside of 5 %. Measure on a machine that does nothing else.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

BATCH = 32
WITHIN = 0.05


def run(folder, ranks, program, words, transport):
    command = [f"{folder}/distribute", "run", "-np", str(ranks), "--", f"{folder}/{program}", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "DISTRIBUTE_TRANSPORT": transport}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)} has failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def libtorch(flags, ranks, transport):
    out = run(flags.bin, ranks, "torch_ddp_bench", [str(flags.seconds)], transport)
    return json.loads(out[out.index("{"):])["images_per_second"]


def ours(flags, ranks, transport):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        run(flags.bin, ranks, "mnist_cnn",
            ["--model=book", "--device=cpu", "--optimizer=sgd", "--learning_rate=0.01", f"--steps={flags.steps}",
             f"--batch_size={BATCH * ranks}", f"--json={file.name}"], transport)
        return json.load(open(file.name))["images_per_second"]


def gain(measure, flags, transport):
    one, many = measure(flags, 1, transport), measure(flags, flags.ranks, transport)
    return one, many, many / one


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="of each run of libtorch")
    parser.add_argument("--steps", type=int, default=300, help="of each run of our trainer")
    flags = parser.parse_args()
    good = True
    for transport in ("auto", "tcp"):
        ratios = []
        for _ in range(flags.rounds):
            torch_one, torch_many, torch_gain = gain(libtorch, flags, transport)
            own_one, own_many, own_gain = gain(ours, flags, transport)
            ratios.append(torch_gain / own_gain)
            print(f"{transport}: libtorch {torch_one:.0f} to {torch_many:.0f} images/s, x {torch_gain:.3f}; ours "
                  f"{own_one:.0f} to {own_many:.0f}, x {own_gain:.3f}; ratio {ratios[-1]:.3f}", flush=True)
        median = statistics.median(ratios)
        good = good and abs(median - 1) <= WITHIN
        print(f"{transport}: median ratio {median:.3f} ({min(ratios):.3f} to {max(ratios):.3f})", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

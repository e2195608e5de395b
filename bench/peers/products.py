#!/usr/bin/env python3
"""GFLOP/s of the matrix products of a decoder's step: ours, oneDNN called directly, PyTorch, NumPy.

  bench/peers/products.py --bin=build/release/bin --pytorch=PYTHON [--rounds=5] [--width=256]

--pytorch: a Python that has it and NumPy, whose wheels bring MKL and OpenBLAS. The sides run in turn,
the table has medians of the rounds. The last row is what one step of a block needs, all products in a
row.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

SIDES = ("ours", "oneDNN's gemm", "PyTorch", "NumPy")


def best_rate(flops, run):
    best = min(timed(run) for _ in range(30))
    return flops / best


def timed(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def peers(shapes, threads):
    """In the Python that has them: name m k n, PyTorch's rate, NumPy's."""
    import numpy as np
    import torch

    torch.set_num_threads(threads)
    for name, m, k, n in shapes:
        a = np.random.randn(*((k, m) if name == "dw" else (m, k))).astype(np.float32)
        b = np.random.randn(*((n, k) if name == "dx" else (k, n))).astype(np.float32)
        a, b = a.T if name == "dw" else a, b.T if name == "dx" else b
        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        flops = 2e-9 * m * k * n
        print(name, m, k, n, best_rate(flops, lambda: ta @ tb), best_rate(flops, lambda: a @ b))


def rows_of(command, environment, text=None):
    printed = subprocess.run(command, env=environment, input=text, check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return [(tuple(words[:1] + [int(word) for word in words[1:4]]), [float(w) for w in words[4:]])
            for words in map(str.split, printed.splitlines())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--pytorch", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    for name, value in (("width", 256), ("tokens", 4096), ("threads", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--peers", action="store_true", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.peers:
        words = [line.split() for line in sys.stdin]
        return peers([(row[0], *map(int, row[1:])) for row in words], flags.threads)
    environment = {**os.environ, "OMP_NUM_THREADS": str(flags.threads),
                   "OPENBLAS_NUM_THREADS": str(flags.threads)}
    found = {}
    for _ in range(flags.rounds):
        ours = rows_of([f"{flags.bin}/products_bench", *map(str, (flags.width, flags.tokens,
                                                                  flags.threads))], environment)
        shapes = "\n".join(" ".join(map(str, shape)) for shape, _ in ours)
        others = rows_of([flags.pytorch, __file__, "--peers", f"--threads={flags.threads}"],
                         environment, shapes)
        for (shape, left), (_, right) in zip(ours, others):
            found.setdefault(shape, []).append(left + right)
    print_table(found)


def print_table(found):
    print("| product | " + " | ".join(SIDES) + " |\n|---|" + "---|" * len(SIDES))
    seconds, flops = [0.0] * len(SIDES), 0.0
    for (name, m, k, n), rounds in found.items():
        rates = [statistics.median(column) for column in zip(*rounds)]
        print(f"| {name}: {m} x {k} by {k} x {n} | " + " | ".join(cells(rates)) + " |")
        flops += 2e-9 * m * k * n
        seconds = [total + 2e-9 * m * k * n / rate for total, rate in zip(seconds, rates)]
    print("| all | " + " | ".join(cells([flops / total for total in seconds])) + " |")
    print("(GFLOP/s; in brackets: ours by that side's.)")


def cells(rates):
    return [f"{rates[0]:.1f}"] + [f"{rate:.1f} ({rates[0] / rate:.2f})" for rate in rates[1:]]


if __name__ == "__main__":
    main()

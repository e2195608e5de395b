#!/usr/bin/env python3
"""Speed and memory of training a decoder and LSTMs: ours, Keras and PyTorch in turn.

  bench/peers/sequences.py text --bin=build/release/bin --tensorflow=PYTHON --pytorch=PYTHON \\
      [--rounds=3] [--steps=60] [--short=20] [-- --width=256 --context=256 --policy=mixed_bfloat16]
  bench/peers/sequences.py lstm ...

Each side runs twice a round, with --short and with --steps steps: what the further steps took is
free of the start and the test. The table has medians of the rounds, by the clock and by the seconds
of CPU time that the process took, which neighbours on a busy machine disturb less.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def measured(command, environment):
    """Seconds by the clock, seconds of CPU time, and the most memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {status}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def sides_of(flags):
    """Name -> command without --steps."""
    peer = [str(HERE / f"{flags.case}_peer.py"), *flags.more]
    ours = ([f"{flags.bin}/text_transformer", "--strategy=one_device", "--sample_length=0", *flags.more]
            if flags.case == "text" else [f"{flags.bin}/lstm_bench"])
    sides = {"ours": ours}
    for name in ("tensorflow", "pytorch"):
        if python := getattr(flags, name):
            sides[name] = [python, *peer, f"--framework={name}"]
    return sides


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=["text", "lstm"])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--tensorflow", help="a Python that has it")
    parser.add_argument("--pytorch", help="a Python that has it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--short", type=int, default=20)
    words, _, more = " ".join(sys.argv[1:]).partition(" -- ")
    flags = parser.parse_args(words.split())
    flags.more = more.split()
    sizes = dict(flag.removeprefix("--").split("=") for flag in flags.more)
    examples = 64 if flags.case == "lstm" else (int(sizes.get("batch_size", 16)) *
                                                int(sizes.get("context", 128)))
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    found = {name: [] for name in sides_of(flags)}
    for _ in range(flags.rounds):
        for name, command in sides_of(flags).items():
            short, long = (measured([*command, f"--steps={steps}"], environment)
                           for steps in (flags.short, flags.steps))
            count = (flags.steps - flags.short) * examples
            found[name].append((count / (long[0] - short[0]), count / (long[1] - short[1]), long[2]))
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}
    unit = "tokens" if flags.case == "text" else "sequences"
    print(f"| {flags.case} {' '.join(flags.more)} | {unit}/s | {unit} per s of CPU time | memory, MB |")
    print("|---|---|---|---|")
    ours = medians["ours"]
    for name, row in medians.items():
        clock, cpu, memory = (f"{value:,.0f} ({mine / value:.2f} x)" for value, mine in
                              zip((row[0], row[1], row[2] / 1e6), (ours[0], ours[1], ours[2] / 1e6)))
        print(f"| {name} | {clock} | {cpu} | {memory} |")
    print("(In brackets: ours by that side's.)")


if __name__ == "__main__":
    main()

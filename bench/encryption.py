#!/usr/bin/env python3
"""All-reduce over TCP, plain and encrypted in turn within one run: the table of docs/benchmarks.md.

usage: bench/encryption.py [--program build/release/bin/distribute] [--rounds N] [--write]
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASES = [  # ranks, bytes, flows, least share of the plain speed
    (2, "64K", 1, None), (2, "1M", 1, None), (2, "25M", 1, 0.60), (2, "100M", 1, None),
    (3, "25M", 1, None), (2, "25M", 4, None)]


def measure(program, ranks, size, flows, seconds):
    """Medians of one run, in us: plain, encrypted."""
    command = [program, "bench", "allreduce", "--transport=tcp", "--tls", f"--world={ranks}",
               f"--bytes={size}", f"--flows={flows}", f"--seconds={seconds}", "--json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [next(r["us_p50"] for r in rows if r["transport"] == t) for t in ("tcp", "tcp_tls")]


def table(program, rounds, seconds):
    lines = ["| all-reduce over TCP | plain | encrypted | encrypted / plain speed | goal | |",
             "|---|---|---|---|---|---|"]
    for ranks, size, flows, least in CASES:
        runs = [measure(program, ranks, size, flows, seconds) for _ in range(rounds)]
        share = statistics.median(plain / tls for plain, tls in runs)
        plain, tls = (statistics.median(run[i] for run in runs) / 1e3 for i in (0, 1))
        goal = f">= {least:.0%}" if least else ""
        verdict = "" if not least else "met" if share >= least else "MISSED"
        name = f"{ranks} ranks, {size}iB" + (f", {flows} connections" if flows > 1 else "")
        times = f"{plain:.2f} ms | {tls:.2f} ms"
        lines.append(f"| {name} | {times} | {share:.0%} | {goal} | {verdict} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/distribute"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    options = parser.parse_args()
    text = table(options.program, options.rounds, options.seconds)
    print(text)
    if options.write:
        page = ROOT / "docs/benchmarks.md"
        block = f"<!-- encryption -->\n{text}\n<!-- end encryption -->"
        page.write_text(re.sub(r"<!-- encryption -->.*<!-- end encryption -->", lambda _: block,
                               page.read_text(), flags=re.S))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs our program, the kernel sum, TensorFlow and PyTorch in turn; writes docs/benchmarks.json.

All sides of a figure are measured in the same round, one after the other, and the median over the
rounds is kept. Parts that are not asked for keep what the file already says. `report.py` turns the
file into the table, the page and the plot. Called by scripts/bench_peers.sh.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from cluster import measure_all_reduce, measure_servers, measure_update, measure_workers
from resnet import measure_cifar10, measure_resnet, measure_resnet_workers
from running import PEERS, ROOT, STOLEN, median_record, report_of, rounds_of, run, say

sys.path.insert(0, str(ROOT / "bench"))
from compile_times import REFERENCE_SECONDS, reference_seconds  # noqa: E402

PARTS = ["speed", "framework", "mirrored", "all_reduce", "update", "workers", "accuracy", "rebuild",
         "demo", "resnet", "resnet_workers", "cifar10", "servers"]
# Steps that take about three seconds for the slowest side.
CASES = {("book", 50): 150, ("book", 512): 25, ("tutorial", 50): 500, ("tutorial", 512): 80}
TRAINING = {"book": ["--optimizer=adam", "--learning_rate=1e-4"],
            "tutorial": ["--optimizer=sgd", "--learning_rate=0.01"]}


# With oneDNN's own convolution algorithm, for comparisons with oneDNN's kernels.
DIRECT = {"DISTRIBUTE_WINOGRAD": "0"}


class Sides:
    """How each side is called; every call gives one flat record of numbers, or None."""

    def __init__(self, flags):
        self.bin = pathlib.Path(flags.bin_dir)
        self.python = flags.peers_python
        self.data_dir = flags.data_dir

    def ours(self, model, batch, steps, threads, *more, environment=None):
        strategy = [] if any(m.startswith("--strategy") for m in more) else [
            "--strategy=one_device"]
        return report_of([self.bin / "mnist_cnn", f"--model={model}", f"--batch_size={batch}",
                          f"--steps={steps}", "--device=cpu", "--seed=1", *TRAINING[model],
                          *strategy, *self.data(), *more], threads, environment)

    def data(self):
        return [f"--data_dir={self.data_dir}"]

    def kernels(self, model, batch, steps, threads, *more):
        done = run([self.bin / "distribute", "bench", "kernels", f"--model={model}",
                    f"--batch_size={batch}", f"--threads={threads}", "--json", *more], threads)
        if done is None:
            return None
        record = done[0]
        record["step_ms_p50"] = record["kernel_us"] / 1e3
        record["by_name"] = {k["name"]: k["us"] for k in record.pop("kernels")}
        return record

    def peer(self, script, form, *more):
        def call(model, batch, steps, threads):
            done = run([self.python, "-W", "ignore", PEERS / script, f"--model={model}",
                        f"--batch_size={batch}", f"--steps={min(steps, 200)}",
                        f"--threads={threads}", f"--form={form}", *more,
                        *self.data()], threads)
            return done and {**done[0], "peak_rss_bytes": done[1]}
        return call


def fastest(record, framework, forms):
    """Keeps only the fastest form of a framework, under the framework's name."""
    found = [record.pop(f"{framework} {form}") for form in forms if f"{framework} {form}" in record]
    if found:
        record[framework] = max(found, key=lambda r: r["images_per_second"])


def measure_speed(sides, flags):
    forms = {"tensorflow": ["fused", "keras"], "pytorch": ["eager", "channels_last"]}
    if flags.xla:
        forms["tensorflow"].append("xla")
    result = {}
    for (model, batch), steps in CASES.items():
        for threads in flags.threads:
            if threads == 1 and model != "book":
                continue
            say(f"{model} network, batch {batch}, {threads} thread(s)")
            arguments = (model, batch, steps, threads)
            calls = {"ours": lambda a=arguments: sides.ours(*a),
                     "kernels": lambda a=arguments: sides.kernels(*a)}
            if model == "book":
                calls["ours direct"] = lambda a=arguments: sides.ours(*a, environment=DIRECT)
            for framework, names in forms.items() if sides.python and threads > 1 else []:
                for form in names:
                    call = sides.peer(f"{framework}_peer.py", form)
                    calls[f"{framework} {form}"] = lambda c=call, a=arguments: c(*a)
            record = rounds_of(flags.rounds, calls)
            for framework, names in forms.items():
                fastest(record, framework, names)
            result[f"{model} {batch} {threads}"] = record
    return result


def onednn_ms(sides, steps, threads):
    """Milliseconds inside oneDNN in a whole run by kind of primitive, on oneDNN's own clock."""
    command = [sides.bin / "mnist_cnn", "--model=book", "--batch_size=50", f"--steps={steps}",
               "--strategy=one_device", "--device=cpu", *TRAINING["book"], *sides.data()]
    env = {**os.environ, **DIRECT, "OMP_NUM_THREADS": str(threads), "ONEDNN_VERBOSE": "1",
           "DNNL_VERBOSE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, check=True)
    total = collections.Counter()
    for kind, ms in re.findall(r"^(?:onednn|dnnl)_verbose,.*?exec,cpu[^,]*,(\w+),.*,([\d.e+-]+)$",
                               done.stdout + done.stderr, re.MULTILINE):
        total[kind] += float(ms)
    return total


# Code that computes: what oneDNN generates, its library, and our loops.
KERNEL = re.compile(r"\[JIT\]|libdnnl|max_pool|give_to_winners|PoolTaps|adam|sqrt|softmax|entropy|"
                    r"relu_gate|sum_to_last")


def perf_shares(sides, threads):
    """Shares of the samples of a whole run in kernels, in waiting for other threads, elsewhere."""
    command = [sides.bin / "mnist_cnn", "--model=book", "--batch_size=50", "--steps=1500",
               "--strategy=one_device", "--device=cpu", *TRAINING["book"], *sides.data()]
    env = {**os.environ, **DIRECT, "OMP_NUM_THREADS": str(threads)}
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        subprocess.run(["perf", "record", "-o", data, *command], env=env, cwd=ROOT, check=True,
                       capture_output=True)
        report = subprocess.run(["perf", "report", "-i", data, "--no-children", "--stdio",
                                 "--sort", "dso,sym"], capture_output=True, text=True, check=True)
    shares = collections.Counter()
    for share, line in re.findall(r"^\s*([\d.]+)%\s+(.*)$", report.stdout, re.MULTILINE):
        kind = "kernels" if KERNEL.search(line) else "waiting" if "libgomp" in line else "own"
        shares[kind] += float(share)
    return {kind: share / sum(shares.values()) for kind, share in shares.items()}


def measure_framework(sides, flags):
    """Step minus kernels: oneDNN's own clock for its primitives, the bench for the other loops."""
    result = {}
    for threads in flags.threads:
        say(f"framework's own share, {threads} thread(s)")
        few, many = 50, 250
        record = rounds_of(flags.rounds, {
            "ours": lambda: sides.ours("book", 50, many, threads, environment=DIRECT),
            "kernels": lambda: sides.kernels("book", 50, many, threads)})
        if len(record) < 2:
            return None
        runs = [(onednn_ms(sides, many, threads), onednn_ms(sides, few, threads))
                for _ in range(flags.rounds)]
        record["onednn_ms"] = {
            kind: statistics.median((long[kind] - short[kind]) / (many - few)
                                    for long, short in runs) for kind in runs[0][0]}
        if shutil.which("perf"):
            record["perf"] = perf_shares(sides, threads)
        result[str(threads)] = record
    return result


def measure_mirrored(sides, flags):
    """Two logical devices with one thread each against one device with two threads."""
    result = {}
    for batch, steps in ((50, 150), (512, 25)):
        say(f"mirrored against one device, book network, global batch {batch}")
        result[str(batch)] = rounds_of(flags.rounds, {
            "one device": lambda: sides.ours("book", batch, steps, 2),
            "mirrored": lambda: sides.ours("book", batch, steps, 2, "--strategy=mirrored",
                                           "--replicas=2")})
    return result


def measure_accuracy(sides, flags):
    recipes = {"adam 1e-3, 3 epochs": ["--learning_rate=1e-3", "--epochs=3"],
               "adam 1e-4, 5,000 steps": ["--learning_rate=1e-4", "--steps=5000"]}
    result = {}
    for name, recipe in recipes.items():
        say(f"accuracy: {name}")
        with tempfile.TemporaryDirectory() as folder:
            report, start = pathlib.Path(folder) / "run.json", time.monotonic()
            done = run([sides.bin / "mnist_cnn", "--model=book", "--batch_size=50",
                        "--optimizer=adam", "--device=cpu", "--seed=1", *recipe,
                        f"--json={report}"], 2)
            if done and report.exists():
                result[name] = {**json.loads(report.read_text()),
                                "seconds": time.monotonic() - start}
    return result or None


def cpu_seconds():
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def built(command, cwd):
    """CPU seconds of the command and all that it starts, without a compiler cache; of the core that
    bench/compile_times.py counts by, whose reference is compiled before and after."""
    before, start = reference_seconds("g++"), cpu_seconds()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False,
                          env={**os.environ, "CCACHE_DISABLE": "1"})
    took = cpu_seconds() - start
    if done.returncode != 0:
        say(f"  {' '.join(command)}: exit status {done.returncode}: {done.stderr[-300:]}")
        return None
    return took * REFERENCE_SECONDS * 2 / (before + reference_seconds("g++"))


def measure_rebuild(sides, flags):
    headers = sorted((ROOT / "include/distribute/strategy").glob(flags.headers))
    build = ["cmake", "--build", "--preset", "release", "--target", "mnist_cnn"]
    if not headers or subprocess.run(build, cwd=ROOT, check=False).returncode != 0:
        return None
    seconds = {}
    for header in headers:
        say(f"rebuild after a change of {header.name}")
        original = header.read_text()
        try:
            header.write_text(original + f"// {time.time()}\n")
            seconds[header.name] = built(build, ROOT)
        finally:
            header.write_text(original)
        subprocess.run(build, cwd=ROOT, check=False)  # what it changed must not count for the next
    return {"cpu_seconds": seconds}


def measure_demo(sides, flags):
    say("demo.sh in a fresh clone (packages already installed, no compiler cache)")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", str(ROOT), f"{folder}/clone"], check=True)
        seconds = built(["./scripts/demo.sh"], f"{folder}/clone")
    return seconds and {"cpu_seconds": seconds}


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True,
                            capture_output=True, check=False).stdout.strip()
    vectors = [n for n in ("avx2", "avx512f", "avx512_bf16", "amx_tile") if f" {n} " in info]
    return {"cpu": re.search(r"model name\s*: (.*)", info).group(1), "cores": os.cpu_count(),
            "vectors": vectors, "system": platform.platform(), "commit": commit,
            "date": datetime.date.today().isoformat()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--policies", nargs="+", default=["float32", "mixed_bfloat16"],
                        help="of the residual networks")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:6])
    parser.add_argument("--xla", action="store_true", help="let XLA compete too (it is slower)")
    parser.add_argument("--bin_dir", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--data_dir", default=str(ROOT / "examples/mnist_cnn/data"))
    parser.add_argument("--headers", default="*.hpp", help="of strategy/, for part rebuild")
    parser.add_argument("--cifar10_dir", default="", help="CIFAR-10 as TFRecords, for its part")
    parser.add_argument("--peers_python", default="", help="Python with TensorFlow and PyTorch")
    parser.add_argument("--output", default=str(ROOT / "docs/benchmarks.json"))
    flags = parser.parse_args()
    output = pathlib.Path(flags.output)
    results = json.loads(output.read_text()) if output.exists() else {}
    sides = Sides(flags)
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"warning: the machine is not quiet (load {load:.1f}); the figures will suffer")
    results["machine"] = {**machine(), "load_before": round(load, 1)}
    for part in flags.parts:
        STOLEN.clear()
        found = globals()[f"measure_{part}"](sides, flags)
        if found:
            results[part] = {**results.get(part, {}), **found}  # some --threads, some --policies
            results.setdefault("runs", {})[part] = {
                **{key: machine()[key] for key in ("date", "commit", "cpu")},
                "rounds": 1 if part in ("demo", "rebuild") else flags.rounds,
                "stolen": round(statistics.median(STOLEN), 2) if STOLEN else None}
            output.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

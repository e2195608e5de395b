#!/usr/bin/env python3
"""Turns docs/benchmarks.json into the table on the terminal, the page's blocks. scripts/draw_pictures.py draws
the figures."""
import json
import pathlib
import re
import statistics
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SIDES = [("ours", "distribute"), ("tensorflow", "TensorFlow"), ("pytorch", "PyTorch")]
CASES = [("book", 50), ("book", 512), ("tutorial", 50), ("tutorial", 512)]
CIFAR10 = {f"{model.lower().replace('-', '')} {policy}": f"{model} on CIFAR-10, batch 128, {policy}"
           for model in ("ResNet-9", "ResNet-20") for policy in ("float32", "mixed_bfloat16")}


class Results:
    """Look-ups that answer None where something was not measured."""

    def __init__(self, data):
        self.data = data

    def get(self, *path):
        value = self.data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def ratio(self, above, below):
        top, bottom = self.get(*above), self.get(*below)
        return top / bottom if top is not None and bottom else None

    def speed(self, model, batch, threads, side, field="images_per_second"):
        return "speed", f"{model} {batch} {threads}", side, field

    def share(self, model, batch, threads, side="ours"):
        return self.ratio(self.speed(model, batch, threads, side),
                          self.speed(model, batch, threads, "kernels"))

    def against(self, peer, model, batch):
        return self.ratio(self.speed(model, batch, 2, "ours"), self.speed(model, batch, 2, peer))

    def framework_share(self, threads):
        record = self.get("framework", str(threads))
        if not record:
            return None
        if "perf" in record:
            return record["perf"]["own"]
        inside = {k: v for k, v in record["onednn_ms"].items() if k != "reorder"}
        own = 0.0  # kernels that are not oneDNN's in our program, at their bench time
        for name, us in record["kernels"]["by_name"].items():
            kind = {"pool": "pooling", "soft": "softmax", "adam": ""}.get(name[:4])
            if name.startswith("fc") and name.endswith("backward weights"):
                kind = ""  # by oneDNN's gemm, which its clock does not show
            if kind == "" or kind and not any(k.startswith(kind) for k in inside):
                own += us / 1e3
        return 1 - (sum(inside.values()) + own) / record["ours"]["step_ms_p50"]


def figures(r):
    """(block of the page, what, value, unit, at least / at most, target)."""
    book = lambda side, field: r.get(*r.speed("book", 50, 2, side, field))
    rows = [("share", f"book, batch 50, {t} thread{'s' * (t > 1)}: kernel sum / step",
             r.share("book", 50, t), "%", ">=", goal) for t, goal in ((1, .88), (2, .82))]
    rows += [("share", f"book, batch 512, {t} thread{'s' * (t > 1)}: kernel sum / step",
              r.share("book", 512, t), "%", ">=", .95) for t in (1, 2)]
    rows += [("share", f"the same with oneDNN's algorithm, batch {b}, "
              f"{t} thread{'s' * (t > 1)}", r.share("book", b, t, "ours direct"), "%", ">=", goal)
             for b, t, goal in ((50, 1, .88), (50, 2, .82), (512, 1, .95), (512, 2, .95))]
    goals = {("book", 50): 1.5, ("book", 512): 1.3, ("tutorial", 50): 1.3, ("tutorial", 512): 1.3}
    rows += [("peers", f"{m}, batch {b}, 2 threads: ours / TensorFlow",
              r.against("tensorflow", m, b), "x", ">=", goals[m, b]) for m, b in CASES]
    rows += [("peers", f"{m}, batch {b}, 2 threads: ours / PyTorch",
              r.against("pytorch", m, b), "x", "", None) for m, b in CASES]
    for side, name in SIDES:
        limit = side == "ours"
        rows.append(("first_step", f"{name}: process start to the end of the first step",
                     book(side, "seconds_to_first_step"), "s", "<=" * limit,
                     .12 if limit else None))
        peak = book(side, "peak_rss_bytes")
        rows.append(("memory", f"{name}: peak memory of the book trainer",
                     peak and peak / 1e6, "MB", "<=" * limit, 200 if limit else None))
    rows += [("mirrored", f"global batch {b}: 2 logical devices / one device with 2 threads",
              r.ratio(("mirrored", str(b), "mirrored", "images_per_second"),
                      ("mirrored", str(b), "one device", "images_per_second")), "%", ">=", .97)
             for b in (50, 512)]
    rows += [("framework", f"book, batch 50, {t} thread{'s' * (t > 1)}: not in any kernel",
              r.framework_share(t), "%", "<=", .05) for t in (1, 2)]
    for name, goal in (("adam 1e-3, 3 epochs", .975), ("adam 1e-4, 5,000 steps", .973)):
        rows.append(("accuracy", f"{name}: test accuracy",
                     r.get("accuracy", name, "test_accuracy"), "%", ">=", goal))
        rows.append(("accuracy", f"{name}: seconds", r.get("accuracy", name, "seconds"), "s", "",
                     None))
    rows += picture_figures(r)
    rebuilds = list((r.get("rebuild", "cpu_seconds") or {"": None}).values())
    slowest, median = None, None
    if None not in rebuilds:
        slowest, median = max(rebuilds), statistics.median(rebuilds)
    rows.append(("demo", "demo.sh in a fresh clone, CPU", r.get("demo", "cpu_seconds"), "s", "<=", 75))
    rows.append(("demo", "rebuild after a change in strategy/, slowest header, CPU", slowest, "s",
                 "<=", 12))
    rows.append(("demo", "rebuild after a change in strategy/, median header, CPU", median, "s",
                 "<=", 12))
    return rows


def picture_figures(r):
    """Rows of bench/peers/input_peer.py."""
    goals = {"dataset_to_libjpeg": ("dataset with batches / libjpeg-turbo alone", "%", .9),
             "dataset_to_tf_data": ("dataset with batches / tf.data", "x", 1)}
    rows = [("pictures", what, r.get("pictures", key), unit, ">=", goal)
            for key, (what, unit, goal) in goals.items()]
    names = {"libjpeg": "libjpeg-turbo alone", "training": "training picture",
             "dataset": "dataset with batches", "evaluation": "evaluation picture",
             "tf.data": "tf.data"}
    return rows + [("pictures", what, r.get("pictures", key), "pictures/s", "", None)
                   for key, what in names.items()]


BYTES = {4: "4 B", 4 << 10: "4 KiB", 64 << 10: "64 KiB", 1 << 20: "1 MiB", 25 << 20: "25 MiB",
         100 << 20: "100 MiB"}


def resnet_figures(r):
    """ResNet-50, batch 16: against the kernel sum and the better of both frameworks."""
    rows = []
    for policy, share, factor in (("float32", .85, 1.5), ("mixed_bfloat16", .80, 1.4)):
        for threads in (1, 2):
            case = f"{policy} {threads}"
            side = lambda name, field, c=case: r.get("resnet", c, name, field)
            peers = [n for n in ("tensorflow", "pytorch") if side(n, "images_per_second")]
            best = max((side(n, "images_per_second") for n in peers), default=None)
            least = min((side(n, "peak_rss_bytes") for n in peers), default=None)
            ours, memory = side("ours", "images_per_second"), side("ours", "peak_rss_bytes")
            name = f"{policy}, {threads} thread{'s' * (threads > 1)}"
            rows += [
                ("resnet", f"{name}: kernel sum / step",
                 r.ratio(("resnet", case, "ours", "images_per_second"),
                         ("resnet", case, "kernels", "images_per_second")), "%", ">=", share),
                ("resnet", f"{name}: speed against the better framework",
                 ours / best if ours and best else None, "x", ">=", factor)]
            if policy == "float32":
                rows.append(("resnet", f"{name}: memory against the better framework",
                             memory / least if memory and least else None, "%", "<=", .80))
    speed = lambda side: ("resnet_workers", side, "images_per_second")
    rows.append(("resnet_workers", "2 workers / two trainers that know nothing of each other",
                 r.ratio(speed("workers"), speed("apart")), "%", ">=", .97))
    for side, name in (("tensorflow", "TensorFlow's MultiWorkerMirroredStrategy"),
                       ("pytorch", "PyTorch's DistributedDataParallel")):
        rows.append(("resnet_workers", f"2 workers / {name}",
                     r.ratio(speed("workers"), speed(side)), "x", ">=", 2))
    for case, name in CIFAR10.items():
        rows.append(("cifar10", f"{name}: against TensorFlow",
                     r.ratio(("cifar10", case, "ours", "images_per_second"),
                             ("cifar10", case, "tensorflow", "images_per_second")), "x", ">=",
                     1))
    return rows


def resnet_lines(r):
    """Images/s and peak memory behind the ratios."""
    lines = ["| images/s | distribute | kernel sum | TensorFlow | PyTorch |",
             "|---|---|---|---|---|"]

    def row(name, part, case, sides, field="images_per_second", unit=1):
        cells = [r.get(part, *case, side, field) if side else None for side in sides]
        if cells[0]:
            lines.append(f"| {name} | " + " | ".join(
                f"{c / unit:,.1f}" if c else "" for c in cells) + " |")

    for policy in ("float32", "mixed_bfloat16"):
        for threads in (1, 2):
            row(f"ResNet-50, batch 16, {policy}, {threads} thread{'s' * (threads > 1)}", "resnet",
                [f"{policy} {threads}"], ("ours", "kernels", "tensorflow", "pytorch"))
    row("ResNet-50, 2 workers x 1 core, batch 8 each, float32", "resnet_workers", [],
        ("workers", None, "tensorflow", "pytorch"))
    for case, name in CIFAR10.items():
        row(f"{name}, 2 threads", "cifar10", [case], ("ours", None, "tensorflow", None))
    for threads in (1, 2):
        row(f"peak memory in MB, ResNet-50, float32, {threads} thread{'s' * (threads > 1)}",
            "resnet", [f"float32 {threads}"], ("ours", None, "tensorflow", "pytorch"),
            "peak_rss_bytes", 1e6)
    return lines


def cluster_figures(r):
    """Rows of several processes, as figures()."""
    us = lambda world, side, size, field="us_p50": (
        "all_reduce", str(world), *side, str(size), field)
    rows = []
    for size, goal in ((64 << 10, 50), (1 << 20, 10), (25 << 20, 8), (100 << 20, 7)):
        for side in ("shm", "shm in place"):
            rows.append(("all_reduce", f"2 ranks, {BYTES[size]}: Gloo / {side}",
                         r.ratio(us(2, ["gloo"], size), us(2, [side], size)), "x", ">=", goal))
    for size in (64 << 10, 1 << 20, 25 << 20):
        for side in ("shm", "shm in place"):
            rows.append(("all_reduce", f"2 ranks, {BYTES[size]}: TensorFlow's ring / {side}",
                         r.ratio(us(2, ["tensorflow ring"], size), us(2, [side], size)), "x", ">=",
                         50))
    for size in (25 << 20, 100 << 20):
        for side in ("shm", "shm in place"):
            rows.append(("all_reduce", f"2 ranks, {BYTES[size]}: plain memory traffic / {side}",
                         r.ratio(us(2, [side, "raw"], size), us(2, [side], size)), "%", ">=", .80))
    for world in (2, 3):
        for size in (25 << 20, 100 << 20):
            rows.append(("all_reduce", f"{world} ranks, {BYTES[size]}: tcp / raw sockets",
                         r.ratio(us(world, ["tcp", "raw"], size), us(world, ["tcp"], size)), "%",
                         ">=", .85))
        for name, side, goal in (("tcp", ["tcp"], 3), ("raw sockets", ["tcp", "raw"], None)):
            worst = [r.ratio(us(world, side, s, "us_p99"), us(world, side, s)) for s in BYTES]
            rows.append(("all_reduce", f"{world} ranks, {name}: largest p99 / p50 of any size",
                         max(worst) if None not in worst else None, "x", "<=" if goal else "",
                         goal))
    for size in (4, 4 << 10):
        rows += [("all_reduce", f"2 ranks, {BYTES[size]}: {side}", r.get(*us(2, [side], size)),
                  "us", "<=", goal) for side, goal in (("shm", 5), ("tcp", 40))]
    for world in (4, 8):  # the memory traffic grows with the ranks
        for size in (1 << 20, 25 << 20):
            value = r.ratio(us(world, ["shm"], size), us(2, ["shm"], size))
            rows.append(("all_reduce", f"{world} ranks on 2 cores, {BYTES[size]}: "
                         "time / time of the memory traffic", value and value * 2 / world, "x",
                         "<=", 2))
    rows.append(("update", "sum and Adam, 2 ranks: library / bare loops",
                 r.get("update", "update", "ratio"), "x", "<=", 1.25))
    rows.append(("update", "sum and Adam, 2 ranks", r.get("update", "update", "library_us"), "us",
                 "", None))
    speed = lambda side: ("workers", side, "images_per_second")
    rows.append(("workers", "2 workers / two trainers that know nothing of each other",
                 r.ratio(speed("workers"), speed("apart")), "%", ">=", .97))
    rows.append(("workers", "the same over loopback TCP",
                 r.ratio(speed("workers tcp"), speed("apart")), "%", "", None))
    rows.append(("workers", "2 workers / TensorFlow's",
                 r.ratio(speed("workers"), speed("tensorflow keras")), "x", ">=", 2))
    ddp = max((r.get(*speed(f"pytorch {f}")) or 0 for f in ("eager", "channels_last")))
    rows.append(("workers", "2 workers / PyTorch's DistributedDataParallel",
                 r.get(*speed("workers")) / ddp if ddp and r.get(*speed("workers")) else None, "x",
                 ">=", 2))
    launch, first = r.get("workers", "launch", "seconds"), r.get("workers", "workers",
                                                                  "seconds_to_first_step")
    rows.append(("workers", "launcher to the end of the first step, 2 workers",
                 launch + first if launch and first else None, "s", "<=", .5))
    return rows


def server_figures(r):
    """1 parameter server and 3 workers."""
    speed = lambda side: ("servers", side, "images_per_second")
    rows = []
    for side, name in (("workers", "every worker its own loop"), ("coordinator", "coordinator")):
        rows += [("servers", f"{name}: against TensorFlow's ParameterServerStrategy",
                  r.ratio(speed(side), speed("tensorflow")), "x", ">=", 2.5),
                 ("servers", f"{name}: against one process with both cores",
                  r.ratio(speed(side), speed("one process")), "%", ">=", .80)]
    for side, name in (("recipe", "every worker its own loop"),
                       ("recipe coordinator", "coordinator"), ("recipe in step", "in step")):
        rows.append(("servers", f"5,000 steps of Adam 1e-4, {name}: test accuracy",
                     r.get("servers", side, "test_accuracy"), "%", ">=", .97))
    return rows


def shown(value, unit):
    if value is None:
        return "not measured"
    if unit == "%":
        return f"{100 * value:.1f} %"
    return f"{value:.2f} {unit}" if value < 10 else f"{value:,.1f} {unit}"


def verdict(value, sign, goal):
    if goal is None or value is None:
        return ""
    return "met" if (value >= goal if sign == ">=" else value <= goal) else "MISSED"


def table_lines(rows):
    lines = ["| what | measured | goal | |", "|---|---|---|---|"]
    for _, what, value, unit, sign, goal in rows:
        target = f"{sign} {shown(goal, unit)}" if goal is not None else ""
        lines.append(f"| {what} | {shown(value, unit)} | {target} | {verdict(value, sign, goal)} |")
    return lines


def images_lines(r):
    lines = ["| images/s, 2 threads | distribute | kernel sum | TensorFlow | PyTorch |",
             "|---|---|---|---|---|"]
    for model, batch in CASES:
        cells = [r.get(*r.speed(model, batch, 2, side))
                 for side in ("ours", "kernels", "tensorflow", "pytorch")]
        lines.append(f"| {model}, batch {batch} | " +
                     " | ".join(f"{c:,.0f}" if c else "not measured" for c in cells) + " |")
    forms = {side: {r.get(*r.speed(m, b, 2, side, "form")) for m, b in CASES} - {None}
             for side, _ in SIDES}
    versions = {s: r.get(*r.speed("book", 50, 2, s, "version")) for s, _ in SIDES}
    for side, name in SIDES[1:]:
        if versions[side]:
            lines += ["", f"{name} {versions[side]}, fastest form per case: "
                      f"{', '.join(sorted(forms[side]))}."]
    return lines


def machine_lines(r):
    m = r.get("machine") or {}
    if not m:
        return ["Not measured yet."]
    rows = [f"| {part} | {run['date']} | {run['commit']} | {run['rounds']} | {run['cpu']} | "
            f"{'-' if run.get('stolen') is None else format(run['stolen'], '.0%')} |"
            for part, run in sorted((r.get("runs") or {}).items())]
    return [f"The newest run: {m['cpu']}, {m['cores']} cores ({', '.join(m['vectors'])}), "
            f"{m['system']}, load before the start {m['load_before']}.", "",
            "| part | date | commit | rounds | machine | time of the cores that was stolen |", "|---|---|---|---|---|---|", *rows]


def update_page(path, blocks):
    text = path.read_text()
    for name, lines in blocks.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        if start not in text:
            sys.exit(f"{path}: no block {start}")
        text = re.sub(re.escape(start) + ".*?" + re.escape(end),
                      lambda _: "\n".join([start, *lines, end]), text, flags=re.DOTALL)
    path.write_text(text)


def main():
    source = DOCS / "benchmarks.json"
    r = Results(json.loads(source.read_text()) if source.exists() else {})
    rows = figures(r) + cluster_figures(r) + resnet_figures(r) + server_figures(r)
    blocks = {"machine": machine_lines(r), "images": images_lines(r),
              "resnet_images": resnet_lines(r)}
    for row in rows:
        blocks.setdefault(row[0], []).append(row)
    blocks = {name: lines if isinstance(lines[0], str) else table_lines(lines)
              for name, lines in blocks.items()}
    update_page(DOCS / "benchmarks.md", blocks)
    width = max(len(row[1]) for row in rows)
    for _, what, value, unit, sign, goal in rows:
        target = f"{sign} {shown(goal, unit)}" if goal is not None else ""
        print(f"{what:<{width}}  {shown(value, unit):>14}  {target:>12}  "
              f"{verdict(value, sign, goal)}")


if __name__ == "__main__":
    main()

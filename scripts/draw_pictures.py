#!/usr/bin/env python3
"""Draws docs/pictures/*.svg: the floors from tools/floors.py, a step of each strategy, a job of
Kubernetes, speed and scaling from docs/benchmarks.json.

Usage: scripts/draw_pictures.py            fails where a file differs
       scripts/draw_pictures.py --fix      writes the files
"""
import html
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from floors import ANNEXES, FLOORS  # noqa: E402
from written import out_of_date, report  # noqa: E402

FOLDER = ROOT / "docs/pictures"
INK, LINE, PAPER = "#1c2530", "#5b6b7c", "#ffffff"
DEVICE, DATA, NET, STORE = "#dbe9f6", "#e6f2df", "#fbe9d0", "#f0e2f2"
SIDES = (("ours", "distribute", "#1f6f8b"), ("tensorflow", "TensorFlow", "#e08e45"),
         ("pytorch", "PyTorch", "#9a4d6e"))


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f'<title>{html.escape(title)}</title>',
                      f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
                      '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="8" refY="4.5" orient="auto">'
                      f'<path d="M0,0 L9,4.5 L0,9 z" fill="{LINE}"/></marker></defs>']
        self.text(16, 26, title, size=16, weight="bold")

    def text(self, x, y, words, size=13, anchor="start", weight="normal", fill=INK):
        for number, line in enumerate(words.split("\n")):
            self.parts.append(f'<text x="{x:g}" y="{y + number * (size + 4):g}" font-size="{size}" '
                              f'text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">{html.escape(line)}</text>')

    def box(self, x, y, width, height, words, fill=DEVICE, size=13):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" '
                          f'fill="{fill}" stroke="{LINE}"/>')
        lines = words.count("\n") + 1
        self.text(x + width / 2, y + height / 2 + size * 0.35 - (lines - 1) * (size + 4) / 2, words, size, "middle")

    def frame(self, x, y, width, height, words):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="none" '
                          f'stroke="{LINE}" stroke-dasharray="5 4"/>')
        self.text(x + 10, y + 18, words, 12, fill=LINE)

    def arrow(self, x1, y1, x2, y2, words="", both=False, dx=6, dy=-5):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{LINE}" '
                          f'stroke-width="1.5" marker-end="url(#tip)"/>')
        if both:
            self.parts.append(f'<line x1="{x2:g}" y1="{y2:g}" x2="{x1:g}" y2="{y1:g}" stroke="{LINE}" '
                              'stroke-width="1.5" marker-end="url(#tip)"/>')
        if words:
            self.text((x1 + x2) / 2 + dx, (y1 + y2) / 2 + dy, words, 12, fill=LINE)

    def svg(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" font-family="sans-serif">\n{body}\n</svg>\n')


def architecture():
    height = 70 + len(FLOORS) * 40 + 20
    picture = Picture(860, height, "The core, floor on floor, and the annexes beside it")
    for number, row in enumerate(FLOORS):
        y = 50 + (len(FLOORS) - 1 - number) * 40
        picture.text(30, y + 21, str(number), 13, "middle", fill=LINE)
        width = (520 - 8 * (len(row) - 1)) / len(row)
        for place, folder in enumerate(row):
            picture.box(50 + place * (width + 8), y, width, 32, folder, size=12 if len(row) > 4 else 13)
    picture.text(50, height - 14, "A header includes its own folder and lower floors only.", 12, fill=LINE)
    picture.frame(610, 50, 230, len(ANNEXES) * 44 + 34, "annexes: may include the core")
    for number, (annex, needs) in enumerate(ANNEXES.items()):
        words = annex + (f"  (with {', '.join(needs)})" if needs else "")
        picture.box(625, 80 + number * 44, 200, 34, words, STORE)
    return picture


def replica(picture, x, y, name, width=150):
    picture.box(x, y, width, 34, f"{name}: its copy", DEVICE, 12)
    picture.box(x, y + 54, width, 34, "forward, backward", DEVICE, 12)
    picture.arrow(x + width / 2, y + 34, x + width / 2, y + 54)


def mirrored():
    picture = Picture(760, 390, "MirroredStrategy: a step of one process with three devices")
    picture.box(20, 60, 130, 60, "global batch\nfrom the Dataset", DATA)
    for number in range(3):
        x = 200 + number * 185
        replica(picture, x, 130, f"replica {number}")
        picture.arrow(150, 90, x + 75, 128, "a third of the rows" if number == 1 else "", dx=-40, dy=-24)
        picture.arrow(x + 75, 218, x + 75, 258, "gradients" if number == 0 else "")
        picture.arrow(x + 75, 298, x + 75, 336, "" if number else "the same sum", dy=1)
    picture.box(200, 260, 520, 36, "all-reduce: each thread sums its share of the elements, in replica order", NET)
    picture.box(200, 338, 520, 34, "optimizer: the same update of each copy, in one pass", DEVICE)
    picture.text(20, 200, "strategy.run(step, batch)\ncalls the step once for\neach replica, on threads", 12, fill=LINE)
    return picture


def central_storage():
    picture = Picture(760, 330, "CentralStorageStrategy: weights in one place, computing on the devices")
    picture.box(300, 60, 160, 44, "variables on the host", STORE)
    for number in range(2):
        x = 120 + number * 360
        picture.box(x, 170, 160, 44, f"replica {number}\nforward, backward", DEVICE)
        picture.arrow(360 if number == 0 else 400, 104, x + 80, 168, "one copy a step", dx=-96 if number == 0 else 8)
        picture.arrow(x + 80, 214, 330 if number == 0 else 430, 258, "gradients", dx=-76 if number == 0 else 22, dy=14)
    picture.box(270, 260, 220, 40, "sum, update on the host", STORE)
    picture.arrow(380, 258, 380, 106)
    return picture


def multi_worker():
    picture = Picture(860, 430, "MultiWorkerMirroredStrategy: workers in step")
    for number, host in enumerate(("host-a", "host-b")):
        x = 30 + number * 415
        picture.frame(x, 50, 385, 256, host + (": worker 0, the chief" if number == 0 else ": worker 1"))
        picture.box(x + 15, 84, 100, 44, "its share\nof the data", DATA, 12)
        for local in range(2):
            rx = x + 130 + local * 126
            replica(picture, rx, 84, f"replica {number * 2 + local}", 118)
            picture.arrow(rx + 59, 172, rx + 59, 210)
        picture.arrow(x + 115, 106, x + 128, 106)
        picture.box(x + 130, 212, 244, 34, "sum: shared memory, NCCL", NET, 12)
        picture.arrow(x + 252, 246, x + 252, 262)
        picture.box(x + 130, 264, 244, 30, "the same update of each copy", DEVICE, 12)
    picture.arrow(404, 229, 573, 229, both=True)
    picture.text(430, 330, "between hosts: buckets of 1 MiB, then 25 MiB, over TCP, NCCL, MPI or UCX, while the backward pass still runs",
                 12, "middle", fill=LINE)
    picture.box(150, 350, 560, 54, "membership: worker 0 hears a heartbeat of each task every second;\n"
                "a task that is silent for 9 s is lost, and all others say so", STORE, 12)
    return picture


def parameter_server():
    picture = Picture(860, 400, "ParameterServerStrategy: variables on servers, workers at their own pace")
    picture.box(20, 170, 150, 60, "coordinator (chief):\nschedule, join", STORE)
    for number in range(3):
        picture.box(300, 70 + number * 110, 170, 60, f"worker {number}:\nits own dataset,\nforward, backward", DEVICE, 12)
        picture.arrow(170, 200, 298, 100 + number * 110, "function names" if number == 0 else "", dx=-96, dy=-14)
        for server in range(2):
            picture.arrow(470, 100 + number * 110, 648, 135 + server * 150)
    for server in range(2):
        picture.box(650, 100 + server * 150, 180, 70, f"server {server}: variables,\nslots, updates", STORE, 12)
    picture.text(505, 84, "pull values, push gradients,\nin pieces of 4 MiB", 12, fill=LINE)
    picture.text(20, 366, "Asynchronous by default; in step, with backup workers, by --sync_replicas. A worker may die and "
                 "come back.\nA lost server ends the job, which goes on from its checkpoint.", 12, fill=LINE)
    return picture


def horovod():
    picture = Picture(760, 384, "hvd: ranks, each with one device and one copy")
    for number in range(3):
        x = 60 + number * 230
        picture.box(x, 60, 180, 34, "dataset.shard(size, rank)", DATA, 12)
        replica(picture, x + 15, 114, f"rank {number}")
        picture.arrow(x + 90, 94, x + 90, 112)
        picture.arrow(x + 90, 202, x + 90, 232, "gradients, by name" if number == 0 else "", dy=5)
    picture.box(60, 234, 640, 34, "all-reduce: rank 0 says which gradients are ready on all ranks; these travel as one array", NET, 12)
    for number in range(3):
        picture.arrow(150 + number * 230, 268, 150 + number * 230, 300, "" if number else "the average", dy=5)
    picture.box(60, 302, 640, 34, "DistributedOptimizer: the same update of each copy", DEVICE, 12)
    picture.text(60, 362, "hvd::broadcast_variables gives all ranks the weights of rank 0 at the start.", 12, fill=LINE)
    return picture


def kubernetes():
    picture = Picture(860, 400, "A job on Kubernetes")
    picture.box(20, 60, 150, 50, "kubectl apply\ntfjob.yaml", DATA)
    picture.box(230, 60, 170, 50, "training operator", NET)
    picture.arrow(170, 85, 228, 85)
    picture.text(330, 130, "makes pods and services,\nsets TF_CONFIG", 12, fill=LINE)
    picture.frame(30, 170, 620, 130, "pods, each with the image distribute/mnist_cnn")
    for number, name in enumerate(("mnist-chief-0", "mnist-worker-0", "mnist-worker-1", "mnist-evaluator-0")):
        picture.box(45 + number * 154, 205, 128, 44, name, DEVICE, 12)
        if number < 2:
            picture.arrow(174 + number * 154, 227, 198 + number * 154, 227, both=True)
    picture.text(45, 285, "port 2222 between chief and workers: rendezvous, collectives, heartbeats, with the job's token", 12, fill=LINE)
    picture.arrow(315, 110, 315, 168)
    picture.box(690, 60, 150, 50, "Secret:\njob token", STORE)
    picture.arrow(690, 100, 560, 168)
    picture.box(690, 200, 150, 60, "volume (RWX)\nor s3://, gs://", STORE)
    picture.arrow(650, 230, 688, 230, both=True)
    picture.text(690, 285, "checkpoints: any pod may\nstart again from them", 12, fill=LINE)
    picture.box(30, 330, 300, 44, "a pod ends with 138 or 143:\nit comes back", NET, 12)
    picture.box(350, 330, 300, 44, "a pod ends with 1 or 2:\nthe job has failed", NET, 12)
    return picture


def bars(picture, x, y, groups, width, unit):
    """Groups of (name, [(value, colour)]), bars to the right."""
    most = max(value for _, values in groups for value, _ in values)
    for name, values in groups:
        picture.text(x - 10, y + len(values) * 10 + 4, name, 12, "end")
        for value, colour in values:
            length = width * value / most
            picture.parts.append(f'<rect x="{x}" y="{y}" width="{length:.1f}" height="16" fill="{colour}"/>')
            picture.text(x + length + 6, y + 13, f"{value:,.0f}{unit}", 12)
            y += 20
        y += 14


def legend(picture, x, y):
    for number, (_, name, colour) in enumerate(SIDES):
        picture.parts.append(f'<rect x="{x + number * 120}" y="{y - 11}" width="12" height="12" fill="{colour}"/>')
        picture.text(x + number * 120 + 18, y, name, 12)


def speed(results):
    cases = [(f"{model}, batch {batch}", results["speed"][f"{model} {batch} 2"])
             for model in ("book", "tutorial") for batch in (50, 512)]
    picture = Picture(780, 400, "Training speed, images/s, two cores")
    legend(picture, 160, 52)
    bars(picture, 160, 70, [(name, [(sides[side]["images_per_second"], colour) for side, _, colour in SIDES])
                            for name, sides in cases], 500, "")
    return picture


def scaling(results):
    """One core, two cores, two workers: what a second one brings."""
    speed_of = lambda run: run["images_per_second"]  # noqa: E731
    one, two = (speed_of(results["speed"][f"book 50 {threads}"]["ours"]) for threads in (1, 2))
    workers = results["workers"]
    groups = [("one core, global batch 50", [(one, "#9fb8c4")]), ("two cores, global batch 50", [(two, "#1f6f8b")]),
              ("two workers, shared memory, batch 100", [(speed_of(workers["workers"]), "#1f6f8b")]),
              ("two workers, TCP, batch 100", [(speed_of(workers["workers tcp"]), "#1f6f8b")]),
              ("two independent processes, batch 50 each", [(speed_of(workers["apart"]), "#9fb8c4")])]
    picture = Picture(780, 250, "Scaling of the book network, images/s")
    bars(picture, 280, 54, groups, 400, "")
    picture.text(16, 236, "Rows of different parts come from different runs: docs/benchmarks.md names machine and date of each.",
                 11, fill=LINE)
    return picture


def pictures():
    results = json.loads((ROOT / "docs/benchmarks.json").read_text())
    return {"architecture": architecture(), "mirrored": mirrored(), "central_storage": central_storage(),
            "multi_worker": multi_worker(), "parameter_server": parameter_server(), "horovod": horovod(),
            "kubernetes": kubernetes(), "speed": speed(results), "scaling": scaling(results)}


def main():
    wanted = {FOLDER / f"{name}.svg": picture.svg() for name, picture in pictures().items()}
    return report(out_of_date(wanted, "scripts/draw_pictures.py"), f"pictures: {len(wanted)} are as the script draws them")


if __name__ == "__main__":
    sys.exit(main())

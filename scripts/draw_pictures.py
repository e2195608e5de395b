#!/usr/bin/env python3
"""Draws docs/pictures: the floors from tools/floors.py, a step of each strategy and a job of Kubernetes with
Graphviz, speed and scaling from docs/benchmarks.json with matplotlib.

Each file ends with a checksum of what it was drawn from, and the check compares this one: another version
of Graphviz or matplotlib draws the same picture with other bytes. So the check needs neither.

Usage: scripts/draw_pictures.py            fails where a file was drawn from something else
       scripts/draw_pictures.py --fix      draws the files (packages graphviz and python3-matplotlib)
"""
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from floors import ANNEXES, FLOORS  # noqa: E402

FOLDER = ROOT / "docs/pictures"
FONT = "DejaVu Sans,Verdana,sans-serif"
DEVICE, DATA, NET, STORE = "#dbe9f6", "#e6f2df", "#fbe9d0", "#f0e2f2"
SIDES = (("ours", "distribute", "#1f6f8b"), ("tensorflow", "TensorFlow", "#e08e45"), ("pytorch", "PyTorch", "#9a4d6e"))
STYLE = f"""
  graph [fontname="{FONT}", fontsize=13, labelloc=t, bgcolor=white, pad=0.2, nodesep=0.35, ranksep=0.45, style="rounded,dashed", color="#5b6b7c", ordering=out]
  node [fontname="{FONT}", fontsize=12, shape=box, style="rounded,filled", fillcolor="{DEVICE}", color="#5b6b7c", margin="0.18,0.10"]
  edge [fontname="{FONT}", fontsize=11, color="#5b6b7c", arrowsize=0.7]
"""


def quoted(words):
    return '"' + words.replace('"', '\\"').replace("\n", "\\n") + '"'


def graph(title, lines, direction="TB"):
    return "\n".join(["digraph {", f"  rankdir={direction}; label={quoted(title + chr(10) + ' ')};", STYLE, *lines, "}"])


def node(name, words, fill=None, **more):
    values = {"label": words, **({"fillcolor": fill} if fill else {}), **more}
    return f"  {name} [" + ", ".join(f"{key}={quoted(str(value))}" for key, value in values.items()) + "];"


def edge(start, end, words="", **more):
    values = {**({"label": "  " + words} if words else {}), **more}
    return f"  {start} -> {end} [" + ", ".join(f"{key}={quoted(str(value))}" for key, value in values.items()) + "];"


def cluster(name, words, lines):
    return "\n".join([f"  subgraph cluster_{name} {{", f"    margin=14; label={quoted(words)};", *lines, "  }"])


def floor_table(rows):
    """A table of Graphviz: one row for each floor, the highest one first."""
    cells = []
    for number, row in reversed(list(enumerate(rows))):
        inner = "".join(f'<TD BGCOLOR="{DEVICE}" CELLPADDING="7">{folder}</TD>' for folder in row)
        cells.append(f'<TR><TD BORDER="0">{number}</TD><TD BORDER="0" CELLPADDING="0" ALIGN="LEFT">'
                     f'<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="5"><TR>{inner}</TR></TABLE></TD></TR>')
    return '<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0">' + "".join(cells) + "</TABLE>>"


def architecture():
    needs = "".join(f'<TR><TD BGCOLOR="{STORE}" CELLPADDING="7">{annex}'
                    + (f" (includes {', '.join(others)})" if others else "") + "</TD></TR>" for annex, others in ANNEXES.items())
    return graph("Folders of the library: a header includes its own folder and lower floors", [
        f'  core [shape=plain, style="", label={floor_table(FLOORS)}];',
        f'  annexes [shape=plain, style="", label=<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="5">'
        f'<TR><TD BORDER="0">annexes: they include the core</TD></TR>{needs}</TABLE>>];',
        "  core -> annexes [style=invis];"], "LR")


def mirrored():
    lines = [node("batch", "global batch from the Dataset", DATA)]
    for number in range(3):
        lines += [node(f"step{number}", f"replica {number}\nforward and backward\non its copy of the weights"),
                  node(f"update{number}", f"replica {number}\nthe same update of its copy"),
                  edge("batch", f"step{number}", "a third of the rows" if number == 2 else ""),
                  edge(f"step{number}", "sum", "gradients" if number == 2 else ""),
                  edge("sum", f"update{number}", "the same sum" if number == 2 else "")]
    lines.append(node("sum", "all-reduce: each thread sums its share of the elements, in replica order", NET))
    return graph("MirroredStrategy: a step of one process with three devices", lines)


def central_storage():
    lines = [node("variables", "variables on the host", STORE)]
    for number in range(2):
        lines += [node(f"step{number}", f"replica {number}\nforward and backward"),
                  edge("variables", f"step{number}", "one copy a step" if number else ""),
                  edge(f"step{number}", "update", "gradients" if number else "")]
    lines += [node("update", "sum and update on the host", STORE), edge("update", "variables", "new values", constraint="false")]
    return graph("CentralStorageStrategy: weights in one place, computing on the devices", lines)


def multi_worker():
    lines = []
    for number, host in enumerate(("host-a: worker 0, the chief", "host-b: worker 1")):
        inner = [node(f"data{number}", "its share of the data", DATA)]
        for local in range(2):
            replica = f"step{number}{local}"
            inner += [node(replica, f"replica {number * 2 + local}\nforward and backward"),
                      edge(f"data{number}", replica), edge(replica, f"sum{number}")]
        inner += [node(f"sum{number}", "sum within the host:\nshared memory or NCCL", NET)]
        lines.append(cluster(f"host{number}", host, inner))
    lines += [node("between", "sum between hosts: buckets over TCP, NCCL, MPI or UCX,\nwhile the backward pass still runs", NET),
              edge("sum0", "between"), edge("sum1", "between"),
              node("update", "the same update of each copy, on both hosts"), edge("between", "update", "the same sum")]
    return graph("MultiWorkerMirroredStrategy: workers in step", lines)


def parameter_server():
    lines = [node("chief", "coordinator (chief)\nschedule, join", STORE)]
    for number in range(3):
        lines += [node(f"worker{number}", f"worker {number}: its own dataset\nforward and backward"),
                  edge("chief", f"worker{number}", "names of functions" if number == 2 else "")]
    lines += [node(f"server{server}", f"server {server}: variables,\nslots, updates", STORE) for server in range(2)]
    lines += [edge(f"worker{number}", f"server{server}", "values, gradients" if (number, server) == (2, 1) else "", dir="both")
              for number in range(3) for server in range(2)]
    return graph("ParameterServerStrategy: variables on servers, workers at their own pace", lines)


def horovod():
    lines = []
    for number in range(3):
        lines += [node(f"data{number}", f"dataset.shard(3, {number})", DATA),
                  node(f"step{number}", f"rank {number}: its copy\nforward and backward"),
                  node(f"update{number}", "the same update"),
                  edge(f"data{number}", f"step{number}"), edge(f"step{number}", "sum", "gradients by name" if number == 2 else ""),
                  edge("sum", f"update{number}", "the average" if number == 2 else "")]
    lines.append(node("sum", "all-reduce: rank 0 says which gradients are ready on all ranks;\nthese travel as one array", NET))
    return graph("hvd: ranks, each with one device and one copy", lines)


def kubernetes():
    names = {"chief": "mnist-chief-0", "worker0": "mnist-worker-0", "worker1": "mnist-worker-1", "evaluator": "mnist-evaluator-0"}
    lines = ["  compound=true;", node("apply", "kubectl apply -f tfjob.yaml", DATA),
             node("operator", "training operator", NET), edge("apply", "operator"),
             cluster("pods", "pods", [node(name, words) for name, words in names.items()]),
             edge("operator", "worker0", "makes pods and services, sets TF_CONFIG", lhead="cluster_pods"),
             node("secret", "Secret: the job's token", STORE), node("volume", "volume (RWX), s3:// or gs://", STORE),
             edge("worker0", "secret", "token", ltail="cluster_pods", dir="back"),
             edge("worker1", "volume", "checkpoints", ltail="cluster_pods", dir="both")]
    return graph("A job on Kubernetes", lines)


def drawn_graph(source):
    drawn = subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, text=True, check=True).stdout
    return re.sub(r"<\?xml.*?<svg", "<svg", drawn, flags=re.S)


def plot(size):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "distribute", "svg.fonttype": "path", "font.size": 10, "axes.spines.top": False,
                                "axes.spines.right": False})
    from matplotlib import pyplot
    return pyplot.subplots(figsize=size, layout="constrained")


def text_of(figure):
    from matplotlib import pyplot
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return re.sub(r"<\?xml.*?<svg", "<svg", text.getvalue(), flags=re.S)


def grouped_bars(groups, values, title, unit):
    """Horizontal bars: `values` has for each side the numbers of the groups, or none."""
    figure, axes = plot((8, 0.9 + 0.75 * len(groups)))
    height = 0.26
    for place, (name, colour, numbers) in enumerate(values):
        at = [number + (place - 1) * height for number in range(len(groups))]
        bars = axes.barh(at, [number or 0 for number in numbers], height * 0.92, label=name, color=colour)
        axes.bar_label(bars, [f"{number:,.0f}" if number else "" for number in numbers], padding=4)
    axes.set_yticks(range(len(groups)), groups)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(right=1.12 * max(number for _, _, numbers in values for number in numbers if number))
    axes.set_title(title, loc="left", fontsize=12)
    axes.legend(frameon=False, loc="upper right")
    return text_of(figure)


def speed(results):
    cases = [(model, batch) for model in ("book", "tutorial") for batch in (50, 512)]
    return {"groups": [f"{model} network,\nbatch {batch}" for model, batch in cases],
            "values": [(name, colour, [results["speed"][f"{model} {batch} 2"][side]["images_per_second"] for model, batch in cases])
                       for side, name, colour in SIDES],
            "title": f"Training speed on two cores ({results['runs']['speed']['cpu']})", "unit": "images per second"}


def scaling(results):
    """A worker with one core, then two of them; peers have figures of two workers alone."""
    workers = results["workers"]
    peers = {"tensorflow": "tensorflow keras", "pytorch": "pytorch channels_last"}

    def numbers(side):
        if side == "ours":
            return [results["speed"]["book 50 1"]["ours"]["images_per_second"], workers["workers"]["images_per_second"],
                    workers["workers tcp"]["images_per_second"]]
        return [None, workers[peers[side]]["images_per_second"], None]

    return {"groups": ["one worker,\none core", "two workers,\none host", "two workers,\nTCP"],
            "values": [(name, colour, numbers(side)) for side, name, colour in SIDES],
            "title": f"Workers with one core and a batch of 50 each ({results['runs']['workers']['cpu']})", "unit": "images per second"}


def pictures():
    """By name: what a picture is drawn from, and the function that draws it."""
    results = json.loads((ROOT / "docs/benchmarks.json").read_text())
    graphs = (architecture, mirrored, central_storage, multi_worker, parameter_server, horovod, kubernetes)
    plots = (speed, scaling)
    return {**{make.__name__: (make(), drawn_graph) for make in graphs},
            **{make.__name__: (make(results), lambda source: grouped_bars(**source)) for make in plots}}


def main():
    bad = []
    for name, (source, draw) in pictures().items():
        path = FOLDER / f"{name}.svg"
        checksum = hashlib.sha256(json.dumps(source).encode()).hexdigest()
        if "--fix" in sys.argv[1:]:
            path.write_text(re.sub(r"[ \t]+$", "", draw(source), flags=re.M).rstrip("\n") + f"\n<!-- {checksum} -->\n")
        if not path.is_file() or not path.read_text().endswith(f"<!-- {checksum} -->\n"):
            bad.append(f"{path.relative_to(ROOT)}: was drawn from something else; run scripts/draw_pictures.py --fix")
    print("\n".join(bad) if bad else f"pictures: {len(pictures())} are drawn from the present figures and folders")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

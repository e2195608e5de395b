#!/usr/bin/env python3
"""Writes the figures of README.md from docs/benchmarks.json.

Usage: tools/readme_figures.py          fails where README.md differs
       tools/readme_figures.py --fix    writes README.md
"""
import json
import re
import sys

from written import ROOT, out_of_date, report

README = ROOT / "README.md"
BLOCK = re.compile(r"<!-- figures -->\n.*?<!-- end figures -->", re.S)
CASES = (("book", "convolutions of 5x5, batch", 50), ("book", "convolutions of 5x5, batch", 512),
         ("tutorial", "convolution of 3x3, batch", 50), ("tutorial", "convolution of 3x3, batch", 512))


def speed_row(speed, model, words, batch):
    sides = speed[f"{model} {batch} 2"]
    return f"| {words} {batch} | " + " | ".join(
        f"{sides[side]['images_per_second']:,.0f}" for side in ("ours", "tensorflow", "pytorch")) + " |"


def accuracy_row(text, run):
    return f"| {text} | {run['test_accuracy']:.1%} | {run['seconds']:.1f} s |".replace("%", " %")


def block(results):
    runs, accuracy = results["runs"], results["accuracy"]
    quick, recipe = accuracy["adam 1e-3, 3 epochs"], accuracy["adam 1e-4, 5,000 steps"]
    peers = results["speed"]["book 50 2"]
    lines = ["<!-- figures -->",
             f"Training speed in images per second, on two cores of an {runs['speed']['cpu']}, {runs['speed']['date']}:", "",
             f"| network | distribute | TensorFlow {peers['tensorflow']['version']} | PyTorch {peers['pytorch']['version']} |",
             "|---|---|---|---|",
             *(speed_row(results["speed"], *case) for case in CASES), "",
             f"Test accuracy of `mnist_cnn` on the bundled digits, on two cores of an {runs['accuracy']['cpu']}, "
             f"{runs['accuracy']['date']}:", "",
             "| recipe | test accuracy | time |", "|---|---|---|",
             accuracy_row("Adam 1e-3, 3 epochs, batch 50", quick),
             accuracy_row("Adam 1e-4, 5,000 steps, batch 50", recipe), "",
             "[docs/benchmarks.md](docs/benchmarks.md) has all tables, each with its command.", "<!-- end figures -->"]
    return "\n".join(lines)


def main():
    text = README.read_text()
    right, count = BLOCK.subn(lambda _: block(json.loads((ROOT / "docs/benchmarks.json").read_text())), text)
    if count != 1:
        sys.exit("README.md: no block <!-- figures -->")
    bad = out_of_date({README: right}, "tools/readme_figures.py")
    return report(bad, "figures: README.md has those of docs/benchmarks.json")


if __name__ == "__main__":
    sys.exit(main())

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


def speed_row(speed, batch):
    sides = speed[f"book {batch} 2"]
    ours, *others = (sides[side]["images_per_second"] for side in ("ours", "tensorflow", "pytorch"))
    return f"| batch {batch} | {ours:,.0f} | " + " | ".join(
        f"{other:,.0f} ({ours / other:.2f} x)" for other in others) + " |"


def accuracy_row(text, run):
    return f"| {text} | {run['test_accuracy']:.1%} | {run['seconds']:.1f} s |".replace("%", " %")


def sequences_text(results):
    def times(case, side):
        ours, other = results[case]["ours"], results[case][side]
        return f"{ours['per_cpu_second'] / other['per_cpu_second']:.2f}"

    run = results["decoder.cpp"]
    text, lstm = ([times(case, side) for side in ("tensorflow", "pytorch")] for case in ("text_transformer", "lstm"))
    return (f"A decoder of 0.8 million weights ([`decoder.cpp`](docs/trainers.md#decodercpp)) makes {run['steps']:,} steps on "
            f"the bundled text in {run['seconds']} s on two cores, for a test perplexity of {run['test_perplexity']}. For a "
            f"second of CPU time [`text_transformer`](docs/text_transformer.md) trains {text[0]} x the tokens of Keras and "
            f"{text[1]} x those of PyTorch, two LSTMs of 256 units {lstm[0]} x and {lstm[1]} x the sequences "
            "([one round on a busy machine](docs/benchmarks.md#a-transformer-that-continues-a-text)).")


def block(results):
    runs, accuracy = results["runs"], results["accuracy"]
    quick, recipe = accuracy["adam 1e-3, 3 epochs"], accuracy["adam 1e-4, 5,000 steps"]
    tensorflow = results["speed"]["book 50 2"]["tensorflow"]["version"]
    lines = ["<!-- figures -->",
             "| book network, images/s on 2 cores | distribute | TensorFlow " + tensorflow + " | PyTorch |",
             "|---|---|---|---|",
             *(speed_row(results["speed"], batch) for batch in (50, 512)), "",
             f"(Of one machine with an {runs['speed']['cpu']}; in brackets how many times as fast `distribute` is.)", "",
             "| `mnist_cnn`, 2 cores | test accuracy | time |", "|---|---|---|",
             accuracy_row("Adam 1e-3, 3 epochs, batch 50", quick),
             accuracy_row("the book's recipe: Adam 1e-4, 5,000 steps, batch 50", recipe), "",
             f"(Of another one, with an {runs['accuracy']['cpu']}.)", "",
             sequences_text(results["sequences"]), "<!-- end figures -->"]
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

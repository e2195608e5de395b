#!/usr/bin/env python3
"""Compares the lines of TensorFlow's tutorials of distributed training with those of the programs.

Counted are lines that hold code: no blank lines, comments and docstrings, of a test what stands
between its `// [tutorial]` lines, of a notebook no shell, and none of the cells that LEFT_OUT names,
which the program does not show. docs/tutorials.md has the table; without arguments its numbers of
our lines and its ratios are checked, which must not exceed 1.3.

Usage: tools/tutorial_lines.py [--notebooks DIR] [--fix]
       DIR: site/en/tutorials/distribute of github.com/tensorflow/docs; counts Python anew
"""
import argparse
import io
import json
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/tutorials.md"
MOST = 1.3
PROGRAMS = {  # of each tutorial
    "custom_training": "examples/mnist_cnn/mirrored.cpp",
    "keras": "examples/mnist_cnn/fit.cpp",
    "multi_worker_with_keras": "tests/tutorials/multi_worker_with_keras_test.cpp",
    "multi_worker_with_ctl": "examples/mnist_cnn/multi_worker.cpp",
    "parameter_server_training": "tests/tutorials/parameter_server_training_test.cpp",
    "input": "tests/tutorials/input_test.cpp",
    "save_and_load": "tests/tutorials/save_and_load_test.cpp",
}
LEFT_OUT = {  # cells with one of these texts
    "custom_training": ["train_iter = iter(", "def distributed_train_epoch"],  # other forms of the loop
    "keras": ["my_model.keras", "model.save(path)", "load_model(path)", "%tensorboard"],  # save_and_load
    "multi_worker_with_keras": [
        "os.environ.pop", "os.environ['", 'os.environ["', "sys.path", "tf_config =", "tf_config[",
        "time.sleep", "single_worker_model", "json.dumps", "import json\nimport os",
        "every 30 steps", "because `save_freq` is"],  # a notebook's cluster; the same fit three times
    "multi_worker_with_ctl": [],  # of its two programs, in cells and in files, the files
    "parameter_server_training": ["def create_in_process_cluster", "pip install", "multiprocessing"],
    "input": ["input_signature="],
    "save_and_load": ["tensorflow_hub", "Saving the model using Keras", "experimental_io_device"],
}


def code_of_cpp(text):
    parts = text.split("// [tutorial]\n")
    lines = (parts[1] if len(parts) == 3 else text).splitlines()
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("//"))


def code_of_python(text):
    rows, last = set(), tokenize.NEWLINE
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and last == tokenize.NEWLINE
        if token.type not in skipped and token.type != tokenize.NEWLINE and not docstring:
            rows.update(range(token.start[0], token.end[0] + 1))
        if token.type not in skipped:
            last = token.type
    return len(rows)


def code_of_notebook(path, name):
    total = 0
    files_alone = name == "multi_worker_with_ctl"
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] != "code" or text.startswith("%%bash"):
            continue
        if any(mark in text for mark in LEFT_OUT[name]):
            continue
        if files_alone and not text.startswith("%%writefile"):
            continue
        total += code_of_python("\n".join(
            line for line in text.splitlines() if not line.startswith(("%", "!"))))
    return total


def rows_of(page):
    """By tutorial its row: our lines, theirs, ratio."""
    found = re.findall(r"^\| `(\w+)` .*\| (\d+) \| (\d+) \| ([\d.]+) \|$", page, re.M)
    return {name: (int(ours), int(theirs), ratio) for name, ours, theirs, ratio in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notebooks", type=pathlib.Path)
    parser.add_argument("--fix", action="store_true")
    arguments = parser.parse_args()
    if arguments.notebooks and not arguments.notebooks.is_dir():
        parser.error(f"--notebooks: {arguments.notebooks} is no folder; docs/tutorials.md says how to fetch it")
    page = PAGE.read_text()
    rows, bad = rows_of(page), []
    for name, program in PROGRAMS.items():
        ours, theirs, ratio = rows.get(name, (0, 0, ""))
        now = code_of_cpp((ROOT / program).read_text())
        if arguments.notebooks:
            theirs = code_of_notebook(arguments.notebooks / f"{name}.ipynb", name)
        wanted = f"{now / theirs:.2f}" if theirs else "?"
        if theirs and now / theirs > MOST:
            bad.append(f"{program}: {now} lines are more than {MOST} x the {theirs} of Python")
        if (ours, rows.get(name, (0, 0))[1], ratio) != (now, theirs, wanted):
            if arguments.fix:
                page = re.sub(rf"^(\| `{name}` .*)\| \d+ \| \d+ \| [\d.?]+ \|$",
                              rf"\1| {now} | {theirs} | {wanted} |", page, flags=re.M)
            else:
                bad.append(f"docs/tutorials.md: {name} has {now} lines, Python {theirs}: {wanted}; "
                           "run tools/tutorial_lines.py --fix")
    if arguments.fix:
        PAGE.write_text(page)
    print("\n".join(bad) if bad else f"tutorials: {len(PROGRAMS)}, at most {MOST} x the lines")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes docs/layers.md from the docstrings of the headers of nn, optim, preprocessing and language_models.

A class belongs to the table of the base that it derives from, directly or through other classes. The
text is the docstring up to its first label, of a loss with the docstring of its function in front; the
shapes are the lines "Shapes". The options are the members of the struct that the constructor takes, or
the names of its parameters.
Usage: tools/layers_page.py          fails where docs/layers.md differs
       tools/layers_page.py --fix    writes docs/layers.md
"""
import re
import sys

from floors import LIBRARY
from written import ROOT, out_of_date, report

PAGE = ROOT / "docs/layers.md"
FOLDERS = ("nn", "preprocessing", "language_models", "optim")
LABELS = ("Shapes", "Throws", "Source", "Blocks", "Units", "Errors")
HEAD = """# Layers, losses, metrics, optimizers

`tools/layers_page.py` writes this page from the docstrings. Options are given by name, in the order of the table: `nn::Dense({.units = 10, .activation = nn::relu})`. Activations and initializers may be names as well, `"relu"` and `"he_normal"`. Axes are written as [batch, height, width, channels]. [your_own.md](your_own.md) shows how to write further ones, and [tf_map.md](tf_map.md) has TensorFlow's names.
"""
# Heading, words about the section, base class; of schedules an expression for their function.
SECTIONS = (
    ("Layers", "They are modules: functions of a tensor, with weights that are made at the first call.", "Module"),
    ("Losses", "`compile` also takes them by Keras's names, such as `\"mse\"`.", "Loss"),
    ("Metrics", "`compile` also takes them by Keras's names, such as `\"accuracy\"`.", "Metric"),
    ("Optimizers", "All also have the options {}.", "Optimizer"),
    ("Learning rate schedules", "`.learning_rate` takes a number or one of these.", r"operator\(\)\((?:int64_t|double) step\)"),
)
ROOTS = {base for _, _, base in SECTIONS}
DECLARED = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: : (?:public )?([\w:]+))?[^;]*\{ *(?://.*)?$")
ALIAS = re.compile(r"^using (\w+) = (FunctionLoss)<(\w+)>")
OPTIONS = re.compile(r"^using (\w+Options) = (\w+Options)<", re.M)  # of one family, from one template
FUNCTION = re.compile(r"^(?:inline )?Tensor (\w+)\(")
MEMBER = re.compile(r"^  (?!return\b|static\b|using\b|friend\b)(?:const )?[\w:]+(?:<.*>)?[*&]* (\w+.*);")
# Bases of listed classes, and what is called by no program.
BASES = {"AttentionLayer", "CausalLM", "ConfusionCount", "ConvolutionLayer", "LayerOf", "Merge", "ModuleListBase", "MultiInputModule", "NamedModule", "RandomImages",
         "GatedCell", "RecurrentBase", "RecurrentLayer", "RNNCell", "SpatialDropout", "LearningRate", "FunctionLoss"}


class Kind:
    """A class, or the name of a function as a loss, with what stands above it and in it."""

    def __init__(self, header, namespace, match, docstring, body):
        self.header, self.namespace, self.docstring, self.body = header, namespace, docstring, body
        self.name, self.base = match[1], (match[2] or "").split("::")[-1]
        self.function = match[3] if match.re is ALIAS else re.sub(r"(?<=[a-z])([A-Z])", r"_\1", match[1]).lower()


def parts(docstring):
    """The docstring by label; "" is the text before the first one."""
    found, label = {"": []}, ""
    for line in docstring:
        match = re.match(rf"({'|'.join(LABELS)})  (.*)", line)
        if match:
            label, line = match[1], match[2]
        elif label and not line.startswith(" "):
            label = ""
        found.setdefault(label, []).append(line.strip() if label or not line.startswith("  ") else "")
    text = {name: " ".join(filter(None, lines)).strip() for name, lines in found.items()}
    text[""], _, source = re.sub(r" Source +", "\n", text[""], count=1).partition("\n")
    text.setdefault("Source", source.strip())
    return text


def read(header, functions):
    """The classes of a header; docstrings of its functions go to `functions`."""
    lines = (LIBRARY / header).read_text().splitlines()
    docstring, open_namespaces = [], []
    for number, line in enumerate(lines):
        if found := re.match(r"namespace ([\w:]*) ?\{$", line):
            open_namespaces.append(found[1])
        elif line.startswith("}  // namespace"):
            open_namespaces.pop()
        namespace = "::".join(open_namespaces).removeprefix("distribute").removeprefix("::")
        if line.startswith("///"):
            docstring.append(line[3:].removeprefix(" "))
            continue
        if function := FUNCTION.match(line):
            functions.setdefault(function[1], docstring)
        match = DECLARED.match(line) or ALIAS.match(line)
        if match:
            end = next((i for i in range(number, len(lines)) if lines[i].startswith("}")), number)
            yield Kind(header, namespace, match, docstring, lines[number + 1:end])
        if not line.strip() or DECLARED.match(line):  # a docstring is that of all lines up to an empty one
            docstring = []


def derives(kind, base, bases):
    """Whether the class derives from `base`; or, of a schedule, has this function."""
    if "(" in base:
        return any(re.search(base, line) for line in kind.body)
    name, seen = kind.base, set()
    while name and name not in seen:
        if name == base or (base == "Loss" and name == "FunctionLoss"):
            return True
        seen.add(name)
        name = bases[name].base if name in bases else ""
    return False


def member_names(line):
    """The names that a line declares: one, or several of one type."""
    match = MEMBER.match(line.split("//")[0].rstrip())
    if not match:
        return []
    declared = re.sub(r"<[^<>]*>|\{[^{}]*\}|\([^()]*\)|\"[^\"]*\"", "", match[1])
    names = [re.match(r" *(\w+)(?: = .*)?$", one) for one in declared.split(",")]
    return [name[1] for name in names if name] if "(" not in match[1].split("=")[0] else []


def cell(text):
    return text.replace("|", "\\|")


def options_of(kind, structs, is_schedule, left_out):
    body = " ".join(line.strip() for line in kind.body)
    taken = [words for words in re.findall(rf"explicit {kind.name}\(([^;]*?)\)(?: :|;| \{{)", body) if words != "EmptyBraces"]
    struct = next((name for name in re.findall(r"\b(\w+Options)\b", " ".join(taken)) if name in structs), None)
    if is_schedule or struct:
        names = [name for line in (kind.body if is_schedule else structs[struct]) for name in member_names(line)]
    else:
        names = re.findall(r"(\w+)(?: = [^,]*)?(?:,|$)", re.sub(r"<[^>]*>|\{[^}]*\}", "", max(taken, key=len, default="")))
    return ", ".join(f"`{name}`" for name in names if name not in left_out)


def words_of(kind, functions, bases):
    """Text and shapes; what is missing is that of the base."""
    own = parts(kind.docstring)
    base = parts(bases[kind.base].docstring) if kind.base in bases and kind.base not in ROOTS else {"": ""}
    words, shapes = own[""], own.get("Shapes", "") or base.get("Shapes", "")
    if kind.base in ("Loss", "FunctionLoss") and kind.function in functions:
        function = parts(functions[kind.function])
        shapes = function.get("Shapes", "") or shapes
        words = function[""] + " " + (words if kind.base == "Loss" else "")
    source = f"As `{re.split('[;,]', own['Source'])[0]}`." if own["Source"] else ""
    return words.strip() or source or base[""], shapes


def row(kind, structs, functions, bases, is_schedule, left_out):
    words, shapes = words_of(kind, functions, bases)
    return (f"| `{kind.namespace}::{kind.name}` | {cell(words)} | {cell(shapes)} | "
            f"{options_of(kind, structs, is_schedule, left_out)} | `{kind.header}` |\n")


def page():
    functions = {}
    headers = sorted(str(path.relative_to(LIBRARY)) for folder in FOLDERS for path in (LIBRARY / folder).glob("*.hpp"))
    kinds = [kind for header in headers for kind in read(header, functions)]
    bases = {kind.name: kind for kind in kinds}
    structs = {kind.name: kind.body for kind in kinds if kind.name.endswith("Options")}
    for header in headers:
        structs |= {name: structs[family] for name, family in OPTIONS.findall((LIBRARY / header).read_text()) if family in structs}
    text = HEAD
    rates = [{name for line in structs[f"{kind.name}Options"] for name in member_names(line)}
             for kind in kinds if derives(kind, "Optimizer", bases) and kind.name != "LossScaleOptimizer"]
    common = set.intersection(*rates) - {"learning_rate"}
    for heading, words, base in SECTIONS:
        chosen = [kind for kind in kinds if kind.name not in BASES and "internal" not in kind.namespace
                  and derives(kind, base, bases)]
        assert chosen, f"no class derives from {base}"
        words = words.format(", ".join(f"`{name}`" for name in sorted(common)))
        text += f"\n## {heading}\n\n{words}\n\n| name | what it does | shapes | options | header |\n|---|---|---|---|---|\n"
        left_out = common if base == "Optimizer" else set()
        text += "".join(row(kind, structs, functions, bases, "(" in base, left_out)
                        for kind in sorted(chosen, key=lambda kind: kind.name.lower()))
    return text


def main():
    bad = out_of_date({PAGE: page()}, "tools/layers_page.py")
    return report(bad, "layers: the page has every class of nn and optim with its docstring")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the defaults of options and arguments, read from the headers, with those of Keras and
TensorFlow in keras_defaults.json. Ends with status 1 where one differs that is not listed below, and
where an argument of theirs is missing here for which keras_absent.json gives no reason: what is missing
fails to compile, and so is never ignored.

Usage: keras_defaults.py            compares
       keras_defaults.py --record   writes keras_defaults.json, with a Python that has TensorFlow
       keras_defaults.py --absent   prints the arguments that are missing here
"""
import collections
import fnmatch
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include/distribute"
RECORD = HERE / "keras_defaults.json"
ABSENT = HERE / "keras_absent.json"
# Options that stand for "unset" in another way than None, and other differences that are none.
DELIBERATE = {
    "layers.CategoryEncoding.num_tokens": "0 is no number of tokens, and refused",
    "layers.TextVectorization.ngrams": "0 is no length, and gives none",
    "losses.*.reduction": "Auto is sum_over_batch_size",
    "metrics.AUC.num_labels": "0 is no number of labels",
    "initializers.variance_scaling.mode": "FanMode::In is fan_in",
    "model.fit.batch_size": "None is 32",
    "datasets.interleave.cycle_length": "None is the number of CPUs; here the order is the same everywhere",
    "datasets.interleave.block_length": "None is 1",
    "*.num_parallel_calls": "None is 1",
    "datasets.repeat.count": "None is -1",
    "datasets.load.compression": "files say how they are compressed",
    "datasets.snapshot.compression": "AUTO is the reader's choice; the files are this library's alone",
    "datasets.sample_from_datasets.rerandomize_each_iteration": "passes differ, as those of shuffle() do",
    "input.make_csv_dataset.field_delim": "the same",
    "input.make_csv_dataset.na_value": "the empty text",
    "input.make_csv_dataset.prefetch_buffer_size": "None is AUTOTUNE",
    "input.make_csv_dataset.num_parallel_reads": "None is 1",
    "functions.arg*.axis": "None is 0",
    "functions.boolean_mask.axis": "None is 0",
    "functions.gather.axis": "None is 0",
    "functions.eye.columns": "None is -1",
    "functions.*conv2d*.dilations": "None is 1",
    "functions.conv2d_transpose.padding": "as Conv2DTranspose; the function of TensorFlow wants the shape of the result",
    "functions.norm.ord": "euclidean is 2",
    "functions.one_hot.*": "None is 1, 0, the last axis and float32",
    "functions.sequence_mask.maxlen": "None is -1",
    "functions.uniform.maxval": "None is 1",
}
OOV_TOKENS = ["[UNK]", -1.0]  # of strings and integers, from one template
RENAMED = {  # options whose names differ
    "functions.pad": {"value": "constant_values"}, "functions.eye": {"rows": "num_rows", "columns": "num_columns"},
    "layers.ZeroPadding2D": {"rows": "padding", "columns": "padding"},
    "initializers.random_uniform": {"minimum": "minval", "maximum": "maxval"},
    "regularizers.l1": {"factor": "l1"}, "regularizers.L1": {"factor": "l1"},
    "regularizers.l2": {"factor": "l2"}, "regularizers.L2": {"factor": "l2"},
    "initializers.variance_scaling": {"num_input_axes": "input_axes"},
}
# Classes, functions and structs by section: folders or headers, and where Keras has the names.
SECTIONS = {
    "layers": (["nn", "preprocessing", "preprocessing/detail", "language_models"], ["keras.layers"]),
    "losses": (["nn/loss.hpp", "nn/regression_losses.hpp"], ["keras.losses"]),
    "metrics": (["nn/metrics.hpp", "nn/mean_metrics.hpp", "nn/confusion_metrics.hpp"], ["keras.metrics"]),
    "optimizers": (["optim"], ["keras.optimizers"]),
    "schedules": (["optim/schedules.hpp"], ["keras.optimizers.schedules"]),
    "callbacks": (["train"], ["keras.callbacks"]),
    "initializers": (["nn/initializers.hpp"], ["keras.initializers"]),
    "regularizers": (["nn/regularizers.hpp"], ["keras.regularizers"]),
    "constraints": (["nn/regularizers.hpp"], ["keras.constraints"]),
    "model": (["train/compile.hpp", "train/fit_options.hpp", "train/model.hpp"], ["keras.Model"]),
    "datasets": (["data/dataset.hpp", "data/node.hpp", "data/grouping.hpp", "data/files.hpp"], ["tf.data.Dataset"]),
    "input": (["arrays", "data", "datasets"], ["keras.utils", "tf.data.experimental"]),
    "functions": (["ops", "nn/activation.hpp"], ["tf.nn", "tf.math", "tf", "tf.linalg", "tf.random", "tf.image", "keras.activations"]),
}
CLASSES = ("layers", "losses", "metrics", "optimizers", "callbacks")  # whose arguments are those of constructors
FUNCTIONS = ("losses", "metrics", "metrics", "initializers", "regularizers", "constraints", "functions", "input")
# Options of fit and its siblings by method.
OF_MODEL = {"compile": ["CompileOptions"], "fit": ["FitOptions", "ArrayOptions", "ArrayData"],
            "evaluate": ["EvaluateOptions", "ArrayData"], "predict": ["PredictOptions", "ArrayData"]}


def texts(section):
    for one in SECTIONS[section][0]:
        path = INCLUDE / one
        for header in [path] if path.suffix else sorted(path.glob("*.hpp")):
            yield re.sub(r"//[^\n]*", "", header.read_text())


def members_of(body):
    """Names and default values of the members of a struct."""
    for statement in body.split(";"):
        statement = statement.strip()
        several = re.findall(r"(\w+) = ([\w.{}]+)(?:, |$)", statement)
        if len(several) > 1:  # int64_t height = 0, width = 0
            yield from several
            continue
        match = re.fullmatch(r"[\w:<>,\s]+?[\s&](\w+)\s*(?:=\s*(.*)|(\{.*\}))?", statement, re.S)
        if match and "(" not in statement.split("=")[0]:
            yield match[1], match[2] if match[2] is not None else match[3] or ""


def split(text):
    """Parameters at the commas outside of brackets."""
    depth, part, parts = 0, "", []
    for letter in text:
        depth += letter in "(<{"
        depth -= letter in ")>}"
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [one.strip() for one in parts + [part] if one.strip()]


def parameters_of(text, structs):
    """Names and defaults of a function's parameters, and of the options that it takes."""
    found = {}
    for one in split(re.sub(r"\s+", " ", text)):
        declared, _, default = one.partition("=")
        match = re.fullmatch(r"(.*?)[ &*]*\b(\w+)(?:\[\])?\s*", declared)
        if not match:
            continue
        kind = re.sub(r"const |[&* ]|\w+::", "", match[1])
        if kind in structs and (kind.endswith("Options") or match[2] == "options"):
            found |= structs[kind]
        else:
            found[match[2]] = default.strip() if default else "required"
    return found


def options_of(section):
    """Options and defaults by name."""
    structs, bodies, found = {}, [], {}
    # Options of one section may stand in another one's headers.
    folders = SECTIONS[section][0] + (["data/detail"] if section == "datasets" else [])
    for one in folders:
        path = INCLUDE / one
        for header in [path] if path.suffix else sorted(path.glob("*.hpp")):
            text = re.sub(r"//[^\n]*", "", header.read_text())
            bodies.append(text)
            for match in re.finditer(r"^\s*struct (\w+) \{(.*?)^\s*\};", text, re.S | re.M):
                structs[match[1]] = dict(members_of(match[2]))
    for text in bodies:  # options of one family come from one template
        for match in re.finditer(r"^using (\w+Options) = (\w+Options)<", text, re.M):
            if match[2] in structs:
                structs[match[1]] = structs[match[2]]
    if section == "model":
        return {method: {k: v for name in names for k, v in structs[name].items()} for method, names in OF_MODEL.items()}
    if section == "schedules":
        return structs
    for text in bodies:
        if section in CLASSES:
            classes(text, structs, found)
        if section in FUNCTIONS:
            functions(text, structs, found)
        if section == "datasets":
            for match in re.finditer(r"^  (?:static )?(?:Dataset|Windows|void) (\w+)\(((?:[^()]|\([^()]*\))*)\)", text, re.M):
                found.setdefault(match[1], {}).update(parameters_of(match[2], structs))
    if section == "layers":
        for name in ("StringLookup", "IntegerLookup"):
            found[name] = structs["LookupOptions"]
    return found


def classes(text, structs, found):
    for match in re.finditer(r"^  (?:explicit )?([A-Z]\w+)\(((?:[^()]|\([^()]*\))*)\)", text, re.M):
        if match[2].strip() != "EmptyBraces" and "const Name&" not in match[2] and not match[2].startswith("T "):
            found.setdefault(match[1], {}).update(parameters_of(match[2], structs))
    for match in re.finditer(r"^using (\w+) = FunctionLoss<", text, re.M):
        found[match[1]] = structs["LossOptions"]
    for match in re.finditer(r"^using (\w+) = (\w+Options)<", text, re.M):
        if match[2] in structs:
            found[match[1].removesuffix("Options")] = structs[match[2]]


def functions(text, structs, found):
    for match in re.finditer(r"^(?:inline )?[\w:<>]+ (\w+)\(((?:[^()]|\([^()]*\))*)\)\s*[;{]", text, re.M):
        found.setdefault(match[1], {}).update(parameters_of(match[2], structs))


def theirs(section, name):
    """The class or function of Keras or TensorFlow of that name; None where there is none."""
    import importlib

    import keras
    import tensorflow as tf
    for place in SECTIONS[section][1]:
        root = {"keras": keras, "tf": tf}[place.split(".")[0]]
        for part in place.split(".")[1:]:
            root = getattr(root, part)
        if callable(getattr(root, name, None)):
            return getattr(root, name)
    return None


def record():
    import inspect

    import keras
    sections = {}
    for section in SECTIONS:
        found = {}
        for name in sorted(options_of(section)):
            one = theirs(section, name)
            if one is None:
                continue
            try:
                given = inspect.signature(one.__init__ if inspect.isclass(one) else one).parameters.values()
            except ValueError:
                continue
            given = [a for a in given if a.name != "self" and a.kind not in (a.VAR_POSITIONAL, a.VAR_KEYWORD)]
            found[name] = {a.name: "required" if a.default is a.empty else [plain(a.default)] for a in given}
        sections[section] = found
    parts = []
    for section, found in sections.items():
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
        parts.append(f' {json.dumps(section)}: {{\n{rows}\n }}')
    RECORD.write_text(f'{{"keras": "{keras.__version__}",\n' + ",\n".join(parts) + "\n}\n")


def plain(value):
    """What JSON can hold."""
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def of_header(value):
    """A default as Keras writes it."""
    value = re.sub(r"\s+", " ", value.strip())
    if value in ("", "{}", "nullptr", "std::nullopt", "Tensor()") or value.endswith("::None"):
        return None
    if "default_oov_token" in value:
        return OOV_TOKENS
    if value in ("true", "false"):
        return value == "true"
    match = re.fullmatch(r"initializers::(\w+)\(\)", value)
    if match:
        return {"random_uniform": "uniform"}.get(match[1], match[1])
    match = re.fullmatch(r"(?:\w+::)+(\w+)", value)
    if match:
        return snake(match[1])
    if value.startswith("{"):
        return one_number([of_header(part) for part in value.strip("{}").split(",")])
    try:
        return float(value.replace("'", "").removesuffix("f"))
    except ValueError:
        return value.strip('"').lower()


def one_number(values):
    return values[0] if len(set(map(str, values))) == 1 else values


def of_keras(value):
    if isinstance(value, list):
        return one_number([of_keras(one) for one in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return None if value == "none" else value.lower() if isinstance(value, str) else value


def listed(name, patterns):
    return next((pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)), None)


def main():
    if "--record" in sys.argv:
        return record()
    keras = json.loads(RECORD.read_text())
    absent = json.loads(ABSENT.read_text()) if ABSENT.exists() else {}
    compared, bad, missing, ours_alone = collections.Counter(), [], [], []
    for section in SECTIONS:
        for owner, options in sorted(options_of(section).items()):
            if owner not in keras[section]:
                continue
            arguments, label = keras[section][owner], f"{section}.{owner}"
            names = RENAMED.get(label, {"axes": "axis"} if "axis" in arguments else {})
            for option, value in options.items():
                name = names.get(option, option)
                if name not in arguments:
                    ours_alone.append(f"{label}.{option}")
                elif arguments[name] != "required" and value != "required" and name != "name":
                    compared[section] += 1
                    a, b = of_keras(arguments[name][0]), of_header(value)
                    same = a == b or (b is OOV_TOKENS and option == "oov_token") or (not a and not b and None in (a, b))
                    why = listed(f"{label}.{option}", DELIBERATE)
                    if not same and why is None:
                        bad.append(f"{label}.{option}: Keras {a}, here {b}")
            here = {names.get(option, option) for option in options}
            missing += [f"{label}.{name}" for name, value in arguments.items()
                        if name not in here and value != "required" and name != "name"]
    bad += [f"{one}: missing here, and without a reason in {ABSENT.name}" for one in missing if not listed(one, absent)]
    bad += [f"{pattern}: a reason for what is not missing, or has another reason"
            for pattern in absent if all(listed(one, absent.keys() - {pattern}) for one in missing
                                         if fnmatch.fnmatchcase(one, pattern))]
    if "--absent" in sys.argv:
        print("\n".join(missing))
        print("only here: " + ", ".join(ours_alone))
    print("\n".join(bad))
    print(", ".join(f"{count} of {section}" for section, count in compared.items()))
    print(f"{sum(compared.values())} defaults compared, {len(missing)} arguments are missing with a reason, "
          f"{len(bad)} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares the defaults of layers' options, read from the headers, with those of Keras in
layer_defaults.json, and ends with status 1 where one differs that is not listed here.

Usage: layer_defaults.py            compares
       layer_defaults.py --record   writes layer_defaults.json, with a Python that has TensorFlow
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include/distribute"
RECORD = HERE / "layer_defaults.json"
FOLDERS = ("nn", "preprocessing", "preprocessing/detail", "language_models")
# Options that stand for "unset" in another way than None, and why that is no difference.
DELIBERATE = {
    "CategoryEncoding.num_tokens": "0 is no number of tokens, and refused",
    "TextVectorization.ngrams": "0 is no length, and gives none",
}
OOV_TOKENS = ["[UNK]", -1.0]  # of strings and integers, from one template
RENAMED = {"ZeroPadding2D": {"rows": "padding", "columns": "padding"}}  # options whose names differ


def record():
    import inspect

    import keras
    found = {}
    for name in sorted(options_of_layers()):
        if not hasattr(keras.layers, name):
            continue
        arguments = list(inspect.signature(getattr(keras.layers, name).__init__).parameters.values())[1:]
        found[name] = {one.name: "required" if one.default is one.empty else [one.default] for one in arguments
                       if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    RECORD.write_text(f'{{"keras": "{keras.__version__}", "layers": {{\n{rows}\n}}}}\n')


def members_of(body):
    """Names and default values of the members of a struct."""
    body = re.sub(r"//[^\n]*", "", body)
    for statement in body.split(";"):
        statement = statement.strip()
        several = re.findall(r"(\w+) = ([\w.{}]+)(?:, |$)", statement)
        if len(several) > 1:  # int64_t height = 0, width = 0
            yield from several
            continue
        match = re.fullmatch(r"[\w:<>,\s]+?\s(\w+)\s*(?:=\s*(.*)|(\{.*\}))?", statement, re.S)
        if match and "(" not in statement.split("=")[0]:
            yield match[1], match[2] if match[2] is not None else match[3] or ""


def options_of_layers():
    """Options and defaults of each class whose constructor takes a struct of options."""
    structs, takes = {}, {}
    for folder in FOLDERS:
        for header in sorted((INCLUDE / folder).glob("*.hpp")):
            text = header.read_text()
            for match in re.finditer(r"^struct (\w*Options) \{(.*?)^\};", text, re.S | re.M):
                structs[match[1]] = dict(members_of(match[2]))
            for match in re.finditer(r"^  explicit (\w+)\((?:const )?(\w+Options)&? options", text, re.M):
                takes.setdefault(match[1], match[2])
            for match in re.finditer(r"^using (\w+) = (\w+Options)<", text, re.M):
                takes[match[1].removesuffix("Options")] = match[2]
    takes |= {"StringLookup": "LookupOptions", "IntegerLookup": "LookupOptions"}
    return {layer: structs[name] for layer, name in takes.items() if name in structs}


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def of_header(value):
    """A default as Keras writes it."""
    value = re.sub(r"\s+", " ", value.strip())
    if value in ("", "{}", "nullptr", "std::nullopt", "Tensor()"):
        return None
    if "default_oov_token" in value:
        return OOV_TOKENS
    if value in ("true", "false"):
        return value == "true"
    match = re.fullmatch(r"initializers::(\w+)\(\)", value)
    if match:
        return {"random_uniform": "uniform"}.get(match[1], match[1])
    match = re.fullmatch(r"\w+::(\w+)", value)
    if match:
        return snake(match[1])
    if value.startswith("{"):
        return one_number([of_header(part) for part in value.strip("{}").split(",")])
    try:
        return float(value.replace("'", "").removesuffix("f"))
    except ValueError:
        return value.strip('"')


def one_number(values):
    return values[0] if len(set(map(str, values))) == 1 else values


def of_keras(value):
    if isinstance(value, list):
        return one_number([of_keras(one) for one in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value.lower() if value in ("Zeros", "Ones") else value


def main():
    if "--record" in sys.argv:
        return record()
    keras = json.loads(RECORD.read_text())["layers"]
    compared, bad, missing, ours_alone = 0, [], [], []
    for layer, options in sorted(options_of_layers().items()):
        if layer not in keras:
            continue
        theirs = keras[layer]
        names = RENAMED.get(layer, {})
        for option, value in options.items():
            name = names.get(option, option)
            if name == "name":
                continue
            if name not in theirs:
                ours_alone.append(f"{layer}.{option}")
                continue
            if theirs[name] == "required":
                continue
            compared += 1
            a, b = of_keras(theirs[name][0]), of_header(value)
            if a != b and a not in (b if b is OOV_TOKENS else ()) and f"{layer}.{option}" not in DELIBERATE:
                bad.append(f"{layer}.{option}: Keras {a}, here {b}")
        here = {names.get(option, option) for option in options}
        missing += [f"{layer}.{name}" for name in theirs if name not in here]
    print("only here: " + ", ".join(ours_alone))
    print("only in Keras: " + ", ".join(missing))
    print("\n".join(bad))
    print(f"{compared} defaults, {len(bad)} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

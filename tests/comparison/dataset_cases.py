#!/usr/bin/env python3
"""Writes dataset_cases.json: what TensorFlow 2.21 gives for transformations of datasets with state
and groups, and for CSV files. tests/data/stateful_test.cpp, csv_test.cpp and others read it.

Usage: python3 dataset_cases.py     in this directory
"""
import gzip
import json
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import numpy as np
import tensorflow as tf

tf.autograph.set_verbosity(0)
Dataset = tf.data.Dataset
cases = {}


def plain(element):
    if isinstance(element, dict):
        return {name: plain(value) for name, value in element.items()}
    if isinstance(element, (tuple, list)):
        return [plain(value) for value in element]
    if isinstance(element, tf.RaggedTensor):
        return {"values": plain(element.to_tensor()), "lengths": plain(element.row_lengths())}
    value = element.numpy()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return decoded(value)


def decoded(value):
    if isinstance(value, list):
        return [decoded(one) for one in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.generic) else value


def number(value):
    """JSON has no NaN and no infinity."""
    if isinstance(value, list):
        return [number(one) for one in value]
    if isinstance(value, dict):
        return {name: number(one) for name, one in value.items()}
    return repr(value) if isinstance(value, float) and not np.isfinite(value) else value


def case(name, make, limit=20):
    """The elements, with the kind of an error in the place of its element, and the cardinality."""
    try:
        dataset = make()
    except Exception as error:
        cases[name] = {"error": type(error).__name__}
        return
    elements, errors = [], 0
    iterator = iter(dataset)
    while len(elements) < limit and errors < 4:
        try:
            elements.append(number(plain(next(iterator))))
        except StopIteration:
            break
        except Exception as error:
            elements.append({"error": type(error).__name__})
            errors += 1
    cases[name] = {"elements": elements, "cardinality": int(dataset.cardinality())}


def add(state, value):
    return state + value, state + value


case("scan", lambda: Dataset.range(6).scan(np.int64(0), add))
case("scan of two states", lambda: Dataset.range(6).scan(
    (np.int64(0), np.int64(1)), lambda s, x: ((s[1], s[0] + s[1]), (x, s[0]))))
case("scan of nothing", lambda: Dataset.range(0).scan(np.int64(0), add))
case("scan of a growing state", lambda: Dataset.range(4).scan(
    np.zeros([0], np.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.concat([s, [x]], 0))))
case("scan repeated", lambda: Dataset.range(3).scan(np.int64(0), add).repeat(2))
case("scan without end", lambda: Dataset.range(3).repeat().scan(np.int64(0), add), limit=7)

for name, values, most in [("some", [0, 1, 2, 3, 4, 5], 4), ("none", [7, 1, 2], 4),
                           ("once more", [1, 5, 2, 9], 5), ("all", [1, 2], 4)]:
    case(f"take_while {name}", lambda: Dataset.from_tensor_slices(np.array(values)).take_while(
        lambda x: x < most))
case("take_while of an endless dataset", lambda: Dataset.range(9).repeat().take_while(
    lambda x: x < 4))

case("unique", lambda: Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique())
case("unique rows", lambda: Dataset.from_tensor_slices([[1, 2], [2, 1], [1, 2]]).unique())
case("unique strings", lambda: Dataset.from_tensor_slices(["b", "a", "b", "", "ab", ""]).unique())
case("unique sizes", lambda: Dataset.from_generator(
    lambda: iter([[1], [1, 2], [1], [1, 2, 0]]),
    output_signature=tf.TensorSpec([None], tf.int64)).unique())
case("unique batches", lambda: Dataset.range(4).repeat(2).batch(2).unique())
case("unique floats", lambda: Dataset.from_tensor_slices([1.5, 2.5]).unique())
case("unique pairs", lambda: Dataset.from_tensor_slices(([1, 1], [2, 3])).unique())

GROUPS = {"parity": (10, lambda x: x % 2, lambda k, w: w.batch(5), {"window_size": 5}),
          "early end": (7, lambda x: x % 2, lambda k, w: w.batch(5), {"window_size": 2}),
          "keys in order": (10, lambda x: -(x % 3), lambda k, w: w.batch(10), {"window_size": 99}),
          "sizes by key": (12, lambda x: x % 3, lambda k, w: w.batch(10),
                           {"window_size_func": lambda k: k + 1}),
          "several of one": (5, lambda x: x % 2, lambda k, w: w.map(lambda v: v * 10 + k),
                             {"window_size": 2}),
          "empty results": (6, lambda x: x % 2, lambda k, w: w.filter(lambda v: v > 3),
                            {"window_size": 2}),
          "parts": (6, lambda x: x % 2, lambda k, w: w.take(1), {"window_size": 3}),
          "twice": (4, lambda x: x % 2, lambda k, w: w.repeat(2), {"window_size": 2}),
          "nothing": (0, lambda x: x % 2, lambda k, w: w.batch(5), {"window_size": 2}),
          "size 0": (4, lambda x: x % 2, lambda k, w: w.batch(5), {"window_size": 0})}
for name, (count, key, reduce, size) in GROUPS.items():
    case(f"group_by_window {name}",
         lambda: Dataset.range(count).group_by_window(key, reduce, **size))
case("group_by_window of an endless dataset", lambda: Dataset.range(4).repeat().group_by_window(
    lambda x: x % 2, lambda k, w: w.batch(3), window_size=3), limit=8)

some = Dataset.range(9).filter(lambda x: x > 2)
for count in (6, 8, 2, 0, 1, -1):
    case(f"assert_cardinality {count}",
         lambda: some.apply(tf.data.experimental.assert_cardinality(count)))
case("assert_cardinality endless", lambda: Dataset.range(3).repeat().apply(
    tf.data.experimental.assert_cardinality(-1)), limit=5)
case("assert_cardinality skipped", lambda: Dataset.range(3).apply(
    tf.data.experimental.assert_cardinality(2)).skip(3))
case("assert_cardinality repeated", lambda: Dataset.range(2).apply(
    tf.data.experimental.assert_cardinality(2)).repeat(2))

ROWS = [[0], [1, 2, 3, 4], [5, 6, 7], [], [13, 14]]
ragged = Dataset.from_generator(lambda: ROWS, tf.int64, output_shapes=[None])
case("ragged_batch", lambda: ragged.ragged_batch(2))
case("ragged_batch without remainder", lambda: ragged.ragged_batch(2, drop_remainder=True))
case("ragged_batch of scalars", lambda: Dataset.range(5).ragged_batch(2))
case("ragged_batch of several", lambda: Dataset.range(1, 5).map(
    lambda i: (tf.range(i), i, tf.fill([i, 2], i))).ragged_batch(3))

from tensorflow.python.data.ops import dataset_ops as dd  # its rates have no public name
RATES = [([.5, .5], [.8, .2]), ([.1, .2, .7], [1 / 3] * 3), ([.5, .5, 0], [.3, .3, .4]),
         ([.9, .1], [.1, .9])]
cases["resample_rates"] = []
for initial, target in RATES:
    accept, original = dd._calculate_acceptance_probs_with_mixing(
        tf.constant(initial, tf.float32), tf.constant(target, tf.float32))
    cases["resample_rates"].append({"initial": initial, "target": target,
                                    "acceptance": accept.numpy().tolist(),
                                    "original": float(original)})


def counted(dataset):
    counts = {}
    for label, _ in dataset:
        counts[int(label)] = counts.get(int(label), 0) + 1
    return [counts.get(label, 0) for label in range(max(counts) + 1)]


def labelled(classes):
    return Dataset.range(20000).map(lambda x: (x * 7919 + 13) % classes)


for name, classes, options in [
        ("equal", 2, {"target_dist": [.5, .5], "initial_dist": [.5, .5]}),
        ("one class", 2, {"target_dist": [1., 0.], "initial_dist": [.5, .5]}),
        ("given", 2, {"target_dist": [.8, .2], "initial_dist": [.5, .5]}),
        ("estimated", 2, {"target_dist": [.8, .2]}),
        ("three", 3, {"target_dist": [.1, .3, .6]})]:
    cases[f"rejection_resample {name}"] = counted(labelled(classes).rejection_resample(
        lambda x: tf.cast(x, tf.int32), seed=3, **options))

AT = {"range": Dataset.range(10, 20, 3), "map": Dataset.range(5).map(lambda x: x * x),
      "batch": Dataset.range(5).batch(2), "take": Dataset.range(5).take(2),
      "skip": Dataset.range(5).skip(2), "shard": Dataset.range(9).shard(3, 1),
      "concatenate": Dataset.range(2).concatenate(Dataset.range(10, 12)),
      "zip": Dataset.zip((Dataset.range(3), Dataset.range(5))),
      "filter": Dataset.range(3).filter(lambda x: x > 0), "repeat": Dataset.range(3).repeat()}
for name, dataset in AT.items():
    cases[f"at {name}"] = []
    for index in (0, 1, 2, 7, -1):
        try:
            cases[f"at {name}"].append(plain(tf.data.experimental.at(dataset, index)))
        except Exception as error:
            cases[f"at {name}"].append({"error": type(error).__name__})

# The texts are in the file, so that the test reads the same.
STRING, INT, LONG, FLOAT = "string", "int32", "int64", "float32"
CSV = {
    "plain": ("1,2\n3,4\n", [INT, INT], {}),
    "no last newline": ("1,2\n3,4", [INT, INT], {}),
    "crlf": ("1,2\r\n3,4\r\n", [INT, INT], {}),
    "cr": ("1,2\r3,4\r", [INT, INT], {}),
    "types": ("1,2,3.5,-4e3,abc\n", [INT, LONG, FLOAT, FLOAT, STRING], {}),
    "defaults": (",\n5,x\n", [[7], ["dflt"]], {}),
    "required": (",x\n5,\n", [INT, STRING], {}),
    "quotes": ('"a","b ""q"" c"\n"x,y","line\nbreak"\n"",z\n', [["none"], STRING], {}),
    "crlf in quotes": ('"a\r\nb",1\n', [STRING, INT], {}),
    "quote in a field": ('a"b,1\nc,2\n', [STRING, INT], {}),
    "unclosed": ('"a,1\nc,2\n', [STRING, INT], {}),
    "quotes are text": ('a"b,"c"\n"x",y\n', [STRING, STRING], {"use_quote_delim": False}),
    "few": ("1,2\n3\n4,5\n", [INT, INT], {}),
    "many": ("1,2\n3,4,5\n6,7\n", [INT, INT], {}),
    "bad int32": ("1,2\nx,4\n1.5,6\n0x10,1\n5,6\n", [INT, INT], {}),
    "bad float": ("1\nx\n2.5\n", [FLOAT], {}),
    "bad int64": ("1\n99999999999999999999\n2\n", [LONG], {}),
    "int32 overflow": ("2147483648\n-2147483648\n", [INT], {}),
    "spaces and plus": (" 1, 2 \n+1,+2.5\n", [INT, FLOAT], {}),
    "not finite": ("inf,nan\n-inf,NaN\nInfinity,1e400\n", [FLOAT, FLOAT], {}),
    "hex float": ("0x10,1e-50\n", [FLOAT, FLOAT], {}),
    "blank line": ("1,2\n\n3,4\n", [INT, INT], {}),
    "blank line of one": ("1\n\n3\n", [[9]], {}),
    "header": ("a,b\n1,2\n", [INT, INT], {"header": True}),
    "header in quotes": ('"a\nx",b\n1,2\n', [INT, INT], {"header": True}),
    "no header": ("", [INT, INT], {"header": True}),
    "empty": ("", [INT, INT], {}),
    "tab": ("1\t2\n", [INT, INT], {"field_delim": "\t"}),
    "two characters": ("1;2\n", [INT, INT], {"field_delim": ";;"}),
    "na": ("NA,1\n,1\nNA,NA\n", [[5], INT], {"na_value": "NA"}),
    "na in quotes": ('"NA",1\n"",1\n', [["d"], INT], {"na_value": "NA"}),
    "select": ("1,2,3\n4,5,6\n", [INT, INT], {"select_cols": [0, 2]}),
    "select what is missing": ("1,2,3\n4,5,6\n", [INT, INT], {"select_cols": [0, 5]}),
    "select out of order": ("1,2,3\n", [INT, INT], {"select_cols": [2, 0]}),
    "select twice": ("1,2,3\n", [INT, INT], {"select_cols": [1, 1]}),
    "select too few": ("1,2,3\n", [INT, INT], {"select_cols": [2]}),
    "select of unequal rows": ("1,2\n4,5,6\n", [INT], {"select_cols": [0]}),
    "empty last field": ("1,\n", [INT, ["d"]], {}),
    "nul": ("a\0b,2\n", [STRING, INT], {}),
    "byte order mark": ("\ufeff1,2\n", [INT, INT], {}),
}
for name, (text, defaults, options) in CSV.items():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.csv"
        path.write_bytes(text.encode())
        types = [tf.as_dtype(one) if isinstance(one, str) else one for one in defaults]
        case(f"csv {name}",
             lambda: tf.data.experimental.CsvDataset(str(path), types, **options))
    cases[f"csv {name}"].update({"text": text, "defaults": defaults, "options": options})

MADE = {
    "inferred": (["a,b,c,y\n1,2.5,x,0\n2,3.5,yy,1\n3,,zzz,0\n"], {"batch_size": 2}),
    "label": (["a,b,c,y\n1,2.5,x,0\n2,3.5,yy,1\n3,,zzz,0\n"],
              {"batch_size": 2, "label_name": "y"}),
    "two files": (["a,y\n1,0\n2,1\n3,0\n", "a,y\n7,0\n"], {"batch_size": 3, "label_name": "y"}),
    "columns by name": (["a,b,y\n1,2.5,0\n2,3.5,1\n"],
                        {"batch_size": 2, "select_columns": ["a", "y"], "label_name": "y"}),
    "columns by number": (["a,b,y\n1,2.5,0\n2,3.5,1\n"],
                          {"batch_size": 2, "select_columns": [2, 0], "label_name": "y"}),
    "names": (["1,2\n3,4\n"],
              {"batch_size": 2, "column_names": ["p", "q"], "header": False}),
    "other names": (["a,b\n1,2\n"], {"batch_size": 2, "column_names": ["p", "q"]}),
    "no names": (["1,2\n"], {"batch_size": 2, "header": False}),
    "no such label": (["a,b\n1,2\n"], {"batch_size": 2, "label_name": "w"}),
    "label not selected": (["a,b\n1,2\n"],
                           {"batch_size": 2, "label_name": "b", "select_columns": ["a"]}),
    "other header": (["a,b\n1,2\n", "a,c\n1,2\n"], {"batch_size": 2}),
    "equal names": (["a,a\n1,2\n"], {"batch_size": 2}),
    "no such column": (["a,b\n1,2\n"], {"batch_size": 2, "select_columns": ["zz"]}),
    "int64 and text": (["a,c,d,e,f\n3000000000,1.5,,x,3\n1,3,,5,\n"], {"batch_size": 2}),
    "one row inferred": (["a,b\n1,2\n3,4\n"], {"batch_size": 2, "num_rows_for_inference": 1}),
    "mixed": (["a\n1\n2.5\nx\n"], {"batch_size": 3}),
    "two epochs": (["a\n7\n"], {"batch_size": 3, "num_epochs": 2}),
    "without end": (["a\n1\n2\n3\n"], {"batch_size": 2, "num_epochs": None}),
    "na": (["a,b\nNA,1\n3,NA\n"], {"batch_size": 2, "na_value": "NA"}),
    "semicolon": (["a;b\n1;2\n"], {"batch_size": 2, "field_delim": ";"}),
    "quoted header": (['"a,1","b"\n1,2\n'], {"batch_size": 2}),
    "in turn": (["a\n1\n2\n3\n", "a\n7\n"], {"batch_size": 1, "num_parallel_reads": 2}),
    "header alone": (["a,b\n"], {"batch_size": 1}),
    "errors ignored": (["a\n1\n2\nx\n3\n"],
                       {"batch_size": 1, "ignore_errors": True, "num_rows_for_inference": 2}),
    "errors": (["a\n1\n2\nx\n3\n"], {"batch_size": 1, "num_rows_for_inference": 2}),
    "infinity is text": (["a,b\ninf,nan\n"], {"batch_size": 1}),
    "spaces": (["a,b\n 1, 2.5\n"], {"batch_size": 1}),
}
for name, (texts, options) in MADE.items():
    with tempfile.TemporaryDirectory() as folder:
        for i, text in enumerate(texts):
            (pathlib.Path(folder) / f"{i}.csv").write_text(text)
        every = {"shuffle": False, "num_epochs": 1, **options}
        case(f"make_csv {name}", lambda: tf.data.experimental.make_csv_dataset(
            str(pathlib.Path(folder) / "*.csv"), **every), limit=4)
    cases[f"make_csv {name}"].update({"texts": texts, "options": options})

FIXED = {"plain": (b"abcdefghij", {}), "rest": (b"abcdefgh", {}), "empty": (b"", {}),
         "header and footer": (b"HHabcdefghijFFF", {"header_bytes": 2, "footer_bytes": 3}),
         "rest between them": (b"HHabcdefghiFFF", {"header_bytes": 2, "footer_bytes": 3}),
         "no header": (b"", {"header_bytes": 2}),
         "compressed": (b"HHabcdefghijFFF",
                        {"header_bytes": 2, "footer_bytes": 3, "compression_type": "GZIP"}),
         "compressed rest": (b"abcdefgh", {"compression_type": "GZIP"})}
for name, (content, options) in FIXED.items():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.bin"
        path.write_bytes(gzip.compress(content) if "compression_type" in options else content)
        case(f"fixed {name}", lambda: tf.data.FixedLengthRecordDataset(str(path), 5, **options))
    cases[f"fixed {name}"].update({"content": content.decode(), "options": options})

Feature = tf.train.Feature


def integers(*values):
    return Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values):
    return Feature(float_list=tf.train.FloatList(value=values))


def texts(*values):
    return Feature(bytes_list=tf.train.BytesList(value=values))


def sequence(context, lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=context),
        feature_lists=tf.train.FeatureLists(feature_list={
            name: tf.train.FeatureList(feature=steps) for name, steps in lists.items()})
    ).SerializeToString(deterministic=True)


A = sequence({"n": integers(3), "t": texts(b"hi")},
             {"tok": [integers(1), integers(2), integers(3)],
              "w": [floats(.5, 1.5), floats(2.5, 3.5)], "s": [texts(b"x"), texts(b"yz")],
              "v": [integers(1, 2), integers(), integers(3)]})
B = sequence({"n": integers(1)}, {"tok": [integers(9)], "w": [], "v": [], "s": []})
CONTEXT = {"n": tf.io.FixedLenFeature([], tf.int64),
           "t": tf.io.FixedLenFeature([], tf.string, default_value="none")}
LISTS = {"tok": tf.io.FixedLenSequenceFeature([], tf.int64),
         "s": tf.io.FixedLenSequenceFeature([], tf.string),
         "w": tf.io.FixedLenSequenceFeature([2], tf.float32), "v": tf.io.RaggedFeature(tf.int64)}


def parsed(context, lists, lengths=None):
    result = {name: plain(value) for name, value in context.items()}
    for name, value in lists.items():
        if isinstance(value, tf.RaggedTensor):
            value = {"values": plain(value.flat_values),
                     "row_lengths": plain(value.nested_row_lengths()[-1])}
        else:
            value = {"values": plain(value)}
        if lengths is not None and name in lengths:
            value["lengths"] = plain(lengths[name])
        result[name] = value
    return result


cases["sequence bytes"] = [A.hex(), B.hex()]
for name, record in [("a", A), ("b", B)]:
    cases[f"sequence {name}"] = parsed(
        *tf.io.parse_single_sequence_example(record, CONTEXT, LISTS))
cases["sequence batch"] = parsed(*tf.io.parse_sequence_example([A, B], CONTEXT, LISTS))
for name, lists in [("missing list", {"zz": LISTS["tok"]}),
                    ("missing list allowed", {"zz": tf.io.FixedLenSequenceFeature(
                        [2], tf.int64, allow_missing=True)}),
                    ("other kind", {"tok": tf.io.FixedLenSequenceFeature([], tf.float32)}),
                    ("other size", {"w": tf.io.FixedLenSequenceFeature([3], tf.float32)}),
                    ("unequal steps", {"v": LISTS["tok"]})]:
    try:
        cases[f"sequence {name}"] = parsed(*tf.io.parse_single_sequence_example(A, {}, lists))
    except Exception as error:
        cases[f"sequence {name}"] = {"error": type(error).__name__}

lines = [f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}"
         for name, value in cases.items()]
pathlib.Path("dataset_cases.json").write_text("{" + ",\n".join(lines) + "}\n")

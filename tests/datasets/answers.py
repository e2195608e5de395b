#!/usr/bin/env python3
"""Writes the files of the tests beside it, and answers.json: the rows that TensorFlow 2.21 reads from
people.db, the samples that webdataset 1.0.2 reads from the archives, and the rows that pyarrow 26
reads from the tables.

Usage: python3 answers.py rows; python3 answers.py samples; python3 answers.py tables    in this directory
"""
import io
import json
import pathlib
import sqlite3
import sys
import tarfile

ANSWERS = pathlib.Path("answers.json")
answers = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}


def plain(value):
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.decode("latin-1") if isinstance(value, bytes) else value.item()


def rows():
    import tensorflow as tf
    pathlib.Path("people.db").unlink(missing_ok=True)
    people = sqlite3.connect("people.db")
    people.execute("create table people(id integer, size real, name text, face blob)")
    people.executemany("insert into people values(?, ?, ?, ?)", [
        (1, 1.5, "ann", b"\x00x"), (2, None, None, None), (3000000000, 2.25, "b", b"")])
    people.commit()
    people.execute("pragma page_size = 512")
    people.execute("vacuum")
    people.close()
    queries = {
        "all": ("select id, size, name from people order by id", ("int64", "double", "string")),
        "some": ("select name from people where id < 3 order by id desc", ("string",)),
        "blobs": ("select face from people order by id", ("string",)),
        "numbers as text": ("select id from people order by id", ("string",)),
        "flags": ("select id > 1 from people order by id", ("bool",)),
        "none": ("select id from people where id < 0", ("int64",)),
        "narrow": ("select id from people order by id", ("int32",)),
        "text as a number": ("select name from people order by id", ("int32",)),
        "two columns": ("select id, size from people", ("int64",)),
        "wrong": ("selec id", ("int64",))}
    for name, (query, types) in queries.items():
        found = []
        try:
            for row in tf.data.experimental.SqlDataset(
                    "sqlite", "people.db", query, tuple(tf.as_dtype(one) for one in types)):
                found.append([plain(value) for value in row])
        except Exception as error:
            found.append({"error": type(error).__name__})
        answers[f"sql {name}"] = {"query": query, "types": types, "rows": found}


SAMPLES = [("set/0001.jpg", b"\xff\xd8one"), ("set/0001.cls", b"3\n"),
           ("set/0001.json", b'{"a": 1}'), ("set/0002.cls", b"-4"), ("set/0002.jpg", b"two"),
           ("set/" + "long" * 40 + ".JPG", b"three" * 300), ("set/" + "long" * 40 + ".cls", b"5"),
           ("other/0002.jpg", b""), ("other/0002.cls", b"7"), ("other/0002.seg.png", b"mask")]


def write_tar(path, mode, form, samples):
    with tarfile.open(path, mode, format=form) as archive:
        folder = tarfile.TarInfo("set")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in samples:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def samples():
    import webdataset
    write_tar("samples.tar", "w", tarfile.PAX_FORMAT, SAMPLES)
    write_tar("samples.tar.gz", "w:gz", tarfile.GNU_FORMAT, SAMPLES)
    write_tar("bad.tar", "w", tarfile.USTAR_FORMAT,
              [("a.jpg", b"x"), ("a.cls", b"1"), ("b.jpg", b"x"), ("c.jpg", b"y"), ("c.cls", b"z")])
    for name in ("samples.tar", "samples.tar.gz"):
        found = []
        for key, picture, label in webdataset.WebDataset(name, shardshuffle=False).to_tuple(
                "__key__", "jpg", "cls"):
            found.append([key, plain(picture), int(label)])
        answers[name] = found


def number_table(pa):
    """Seven rows of every type that is read."""
    rows = 7
    integers = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(),
                "uint8": pa.uint8(), "uint16": pa.uint16(), "uint32": pa.uint32(),
                "uint64": pa.uint64(), "date32": pa.date32(), "date64": pa.date64(),
                "time32": pa.time32("ms"), "time64": pa.time64("us"),
                "timestamp": pa.timestamp("ms"), "duration": pa.duration("s")}
    columns = {}
    for name, kind in integers.items():
        day = 86400000 if name == "date64" else 1
        values = [day * (i * i + 1) for i in range(rows)]
        if "int" in name:
            columns[name] = pa.array(values, kind)
        else:
            columns[name] = pa.array(values, pa.int32() if "32" in name else pa.int64()).view(kind)
    columns["float32"] = pa.array([i / 4 for i in range(rows)], pa.float32())
    columns["float64"] = pa.array([i / 8 - 1 for i in range(rows)], pa.float64())
    columns["bool"] = pa.array([i % 3 == 0 for i in range(rows)])
    words = ["", "a", "bc", "\u00e9t\u00e9", "a", "x" * 40, "bc"]
    columns["string"] = pa.array(words)
    columns["large_string"] = pa.array(words, pa.large_string())
    columns["binary"] = pa.array([word.encode() + b"\0\xff" for word in words])
    columns["fixed_binary"] = pa.array([bytes([i, 255]) for i in range(rows)], pa.binary(2))
    columns["dictionary"] = pa.array(words).dictionary_encode()
    columns["list"] = pa.array([list(range(i)) for i in range(rows)], pa.list_(pa.int64()))
    columns["large_list"] = pa.array([[i / 2] * (i % 3) for i in range(rows)],
                                     pa.large_list(pa.float64()))
    columns["fixed_list"] = pa.array([[i, -i] for i in range(rows)], pa.list_(pa.int16(), 2))
    columns["flags"] = pa.array([[True, i > 3] for i in range(rows)], pa.list_(pa.bool_()))
    return pa.table(columns)


def table_value(column, row):
    """A number, a list of numbers, or bytes as latin-1 text."""
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    kind = str(array.type)
    if kind.startswith(("date32", "time32")):
        array = array.view("int32")
    elif kind.startswith(("date64", "time64", "timestamp", "duration")):
        array = array.view("int64")
    value = array[row].as_py()
    value = value.encode() if isinstance(value, str) else value
    return value.decode("latin-1") if isinstance(value, bytes) else value


def tables():
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet
    table = number_table(pa)
    pa.parquet.write_table(table, "table.parquet", row_group_size=3)
    pa.feather.write_feather(table, "table.feather", compression="lz4", chunksize=3)
    with pa.ipc.new_stream("table.arrows", table.schema) as stream:
        stream.write_table(table, max_chunksize=4)
    for name, read in {"table.parquet": pa.parquet.read_table, "table.feather": pa.feather.read_table,
                       "table.arrows": lambda path: pa.ipc.open_stream(path).read_all()}.items():
        found = read(name)
        answers[name] = [[table_value(found[column], row) for column in found.column_names]
                         for row in range(found.num_rows)]
    answers["table columns"] = table.column_names
    odd = pa.table({"number": pa.array([1, None, 3], pa.int32()),
                    "text": pa.array(["x", None, "z"]),
                    "list": pa.array([[1], [None, 2], None], pa.list_(pa.int32())),
                    "wide": pa.array([1.0, 1e300, float("inf")]),
                    "unsigned": pa.array([1, 2**63, 3], pa.uint64()),
                    "struct": pa.array([{"a": 1}] * 3),
                    "words": pa.array([["a"]] * 3)})
    pa.parquet.write_table(odd, "odd.parquet")
    pa.parquet.write_table(odd.select(["number"]).slice(0, 0), "no_rows.parquet")
    pa.parquet.write_table(pa.table({"number": pa.array([4, 5], pa.int64())}), "longer.parquet")


{"rows": rows, "samples": samples, "tables": tables}[sys.argv[1]]()
lines = [f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}"
         for name, value in sorted(answers.items())]
ANSWERS.write_text("{" + ",\n".join(lines) + "}\n")

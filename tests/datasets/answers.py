#!/usr/bin/env python3
"""Writes the files of the tests beside it, and answers.json: the rows that TensorFlow 2.21 reads from
people.db, and the samples that webdataset 1.0.2 reads from the archives.

Usage: python3 answers.py rows; python3 answers.py samples    in this directory
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


{"rows": rows, "samples": samples}[sys.argv[1]]()
lines = [f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}"
         for name, value in sorted(answers.items())]
ANSWERS.write_text("{" + ",\n".join(lines) + "}\n")

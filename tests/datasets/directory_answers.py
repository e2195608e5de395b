#!/usr/bin/env python3
"""Writes directory_answers.json: the files of a small directory, and what Keras 3.15 on TensorFlow 2.21 gives for
it in image_dataset_from_directory and text_dataset_from_directory.

Usage: python3 directory_answers.py     in this directory
"""
import contextlib
import io
import json
import os
import pathlib
import struct
import tempfile
import zlib

import keras
import numpy as np
import tensorflow as tf


def pixels(height, width, channels, phase):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    return np.uint8(128 + 100 * np.sin(phase + 1.1 * y + 0.7 * x * (1 + 0.2 * phase) + 2 * c))


def png(array):
    return tf.io.encode_png(array).numpy()


def jpeg(array):
    return tf.io.encode_jpeg(array, quality=90).numpy()


def palette(numbers):
    """A PNG file of numbers of seven colours."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width = numbers.shape
    rows = b"".join(b"\0" + bytes(row) for row in numbers)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", bytes(i * 37 % 256 for i in range(21))) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


FILES = {
    "cats/b.png": png(pixels(6, 5, 3, 0)),
    "cats/a.JPG": jpeg(pixels(8, 12, 3, 1)),
    "cats/deep/z.png": png(pixels(5, 9, 2, 2)),
    "cats/deep-er/y.png": png(pixels(7, 3, 4, 3)),
    "cats/.hidden.png": png(pixels(2, 2, 3, 4)),
    "cats/notes.txt": b"cats sleep\nand purr",
    "dogs/1.jpeg": jpeg(pixels(16, 9, 1, 5)),
    "dogs/2.PNG": palette(pixels(6, 6, 1, 6)[..., 0] % 7),
    "dogs/sub.jpg/in.png": png(pixels(4, 4, 1, 7)),
    "dogs/Bark.TXT": b"",
    "dogs/long.txt": "w\u00f6lfe and dogs".encode(),
    ".git/x.png": png(pixels(3, 3, 3, 8)),
    "birds/one.png": png(pixels(3, 5, 3, 9)),
    "birds/song.txt": b"tweet",
    "top.png": png(pixels(3, 3, 3, 10)),
    "top.txt": b"at the top",
}
answers = {"files": {name: data.hex() for name, data in FILES.items()}, "images": {}, "texts": {}, "orders": {}}
SMALL = {"image_size": (3, 4)}


def plain(value):
    """Numbers with six digits, strings as hex."""
    value = value.numpy()
    if isinstance(value, bytes):
        return value.hex()
    if value.dtype == object:
        return [one.hex() for one in value]
    return [float("%.7g" % one) for one in value.reshape(-1)] + ["x".join(map(str, value.shape)), value.dtype.name]


def described(root, dataset):
    given = {"class_names": dataset.class_names,
             "file_paths": [os.path.relpath(path, root) for path in getattr(dataset, "file_paths", [])],
             "elements": []}
    for element in dataset:
        x, y = element if isinstance(element, tuple) else (element, None)
        given["elements"].append([plain(x)] + ([] if y is None else [plain(y)]))
    return given


def add(section, make, name, **options):
    with tempfile.TemporaryDirectory() as root:
        for path, data in FILES.items():
            where = pathlib.Path(root, path)
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_bytes(data)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            made = make(root, **options)
        both = made if isinstance(made, list) else [made]
        answers[section][name] = {"said": said.getvalue(), "parts": [described(root, one) for one in both]}


def image(name, **options):
    add("images", keras.utils.image_dataset_from_directory, name, **(SMALL | options))


def text(name, **options):
    add("texts", keras.utils.text_dataset_from_directory, name, **options)


plainly = {"shuffle": False, "batch_size": None}
image("plain", shuffle=False, batch_size=4)
image("binary", label_mode="binary", class_names=["dogs", "cats"], **plainly)
image("categorical", label_mode="categorical", color_mode="grayscale", **plainly)
image("no labels", labels=None, color_mode="rgb", **plainly)
image("no mode", label_mode=None, **plainly)
image("given", labels=[5, 3, 5, 0, 0, 1, 2, 3, 2, 2, 5], label_mode="categorical", **plainly)
image("given numbers", labels=[5, 3, 5, 0, 0, 1, 2, 3, 2, 2, 5], **plainly)
image("channels first", data_format="channels_first", shuffle=False, batch_size=5)
for method in ("nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "bilinear"):
    image(method, interpolation=method, **plainly)
    image(method + " larger", interpolation=method, class_names=["birds", "dogs"], **(plainly | {"image_size": (10, 7)}))
    image(method + " padded", interpolation=method, pad_to_aspect_ratio=True, **plainly)
    if method not in ("gaussian", "mitchellcubic"):
        image(method + " cropped", interpolation=method, crop_to_aspect_ratio=True, **plainly)
image("cropped first", crop_to_aspect_ratio=True, data_format="channels_first", **plainly)
image("training", validation_split=0.3, subset="training", **plainly)
image("validation", validation_split=0.3, subset="validation", **plainly)
image("both", validation_split=0.3, subset="both", **plainly)
text("plain", shuffle=False, batch_size=2)
text("cut", shuffle=False, batch_size=None, max_length=6, label_mode="categorical")
text("no labels", labels=None, shuffle=False, batch_size=None)
text("both", validation_split=0.3, subset="both", **plainly)

# The order of shuffled files and labels; the order of a pass is TensorFlow's own.
with tempfile.TemporaryDirectory() as root:
    for i in range(150):
        where = pathlib.Path(root, "abc"[i % 3], f"{i:03}.txt")
        where.parent.mkdir(exist_ok=True)
        where.write_text(str(i))
    for seed in (0, 1, 42, 1337, 2**32 - 1):
        paths, labels, _ = keras.src.utils.dataset_utils.index_directory(
            root, "inferred", formats=(".txt",), shuffle=True, seed=seed, verbose=False)
        answers["orders"][str(seed)] = {"files": [int(path[-7:-4]) for path in paths], "labels": [int(label) for label in labels]}
parts = []
for section, found in answers.items():
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in found.items())
    parts.append(f' "{section}": {{\n{rows}\n }}')
pathlib.Path("directory_answers.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")

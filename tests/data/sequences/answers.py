"""Writes answers.json and saved/, what TensorFlow 2.21 gives for the datasets of the tests beside it.

Usage: python3 answers.py     in this directory
"""
import json
import pathlib
import shutil

import numpy as np
import tensorflow as tf

Dataset = tf.data.Dataset
answers = {}


def plain(element):
    if isinstance(element, dict):
        return {name: plain(value) for name, value in element.items()}
    if isinstance(element, tuple):
        return [plain(value) for value in element]
    value = element.numpy()
    return value.decode() if isinstance(value, bytes) else value.tolist()


def add(name, dataset, order=True):
    elements = [plain(element) for element in dataset]
    answers[name] = {"elements": elements if order else sorted(elements),
                     "cardinality": int(dataset.cardinality())}


ROWS = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
ragged = Dataset.from_generator(lambda: ROWS, tf.int64, output_shapes=[None])
add("padded", ragged.padded_batch(4))
add("padded to 8 with 9", ragged.padded_batch(4, padded_shapes=[8], padding_values=np.int64(9),
                                              drop_remainder=True))
table = Dataset.range(1, 5).map(lambda i: (tf.fill([i, 5 - i], i), i))
add("padded matrices", table.padded_batch(2, padded_shapes=([None, 4], []),
                                          padding_values=(np.int64(-1), np.int64(0))))


def bucketed(name, boundaries=(3, 5), sizes=(2, 2, 2), **options):
    add(name, ragged.bucket_by_sequence_length(lambda row: tf.shape(row)[0], list(boundaries),
                                               list(sizes), **options))


bucketed("buckets")
bucketed("buckets of other sizes", sizes=(4, 3, 1))
bucketed("buckets without remainder", sizes=(4, 1, 1), drop_remainder=True)
bucketed("buckets to boundary", boundaries=(3, 7), pad_to_bucket_boundary=True)
bucketed("buckets with -1", padding_values=np.int64(-1))

WINDOWS = [(3, None, 1, False), (3, None, 1, True), (3, 1, 1, False), (3, 1, 1, True),
           (3, 2, 2, False), (2, 4, 3, False), (2, 4, 3, True), (8, 1, 1, True)]
for size, shift, stride, drop in WINDOWS:
    windows = Dataset.range(7).window(size, shift, stride, drop)
    add(f"window {size} {shift or size} {stride} {int(drop)}",
        windows.flat_map(lambda window: window.batch(10)))
    answers[f"window {size} {shift or size} {stride} {int(drop)}"]["cardinality"] = int(
        windows.cardinality())

three, ten, endless = Dataset.range(3), Dataset.range(10, 20), Dataset.range(5).repeat()
choices = Dataset.from_tensor_slices(np.array([0, 0, 1, 0, 0, 1, 1, 0, 1], np.int64))
for stop in (True, False):
    add(f"chosen {int(stop)}", Dataset.choose_from_datasets([three, ten], choices, stop))
    answers[f"sampled {int(stop)}"] = {"cardinality": [
        int(Dataset.sample_from_datasets(inputs, stop_on_empty_dataset=stop).cardinality())
        for inputs in ([three, ten], [three, endless], [endless, endless])]}
add("sampled values", Dataset.sample_from_datasets([three, ten], seed=1), order=False)

parts = Dataset.range(1, 6)


def repeated(number):
    return Dataset.from_tensors(number).repeat(number)


add("interleaved 3 2", parts.interleave(repeated, 3, 2))
add("interleaved 2 1", parts.interleave(repeated, 2, 1))
add("flat", Dataset.range(1, 4).flat_map(Dataset.range))
add("tensors", Dataset.from_tensors((np.arange(3), np.int64(7))))
add("dict", Dataset.from_tensor_slices({"b": np.arange(4), "a": np.arange(4) * 2}).batch(3))

pathlib.Path("lines.txt").write_bytes(b"a\rb\r\nline two\n\nlast\r")
add("lines", tf.data.TextLineDataset("lines.txt"))
pathlib.Path("lines.txt").unlink()

shutil.rmtree("saved", ignore_errors=True)
Dataset.from_tensor_slices(
    {"text": ["one", "three"], "a": np.array([[1.5], [-2]], np.float32),
     "inner": {"n": np.array([7, 8], np.int32)}}).save("saved", compression="GZIP")

shutil.rmtree("plain", ignore_errors=True)
Dataset.from_tensor_slices((np.array([1.5, -2], np.float32),
                            np.array([[1, 2], [3, 4]], np.int64))).save("plain")
answers["saved files"] = {
    "spec": pathlib.Path("plain/dataset_spec.pb").read_bytes().hex(),
    "snapshot": next(pathlib.Path("plain").rglob("*.snapshot")).read_bytes().hex()}
shutil.rmtree("plain")

text = json.dumps(answers, indent=0, separators=(",", ":")).replace("\n", "")
pathlib.Path("answers.json").write_text(text.replace('},"', '},\n"') + "\n")

"""Writes batches.json: what TensorFlow makes of binary files of CIFAR-10 and CIFAR-100.

Usage: python3 cifar.py batches.json   (with TensorFlow installed; made with 2.21)

The files have three pictures. Byte i of the planes of picture n is (7 n + 31 i + i // 251) % 256; its label is n + 1
of CIFAR-10, and n + 2 (coarse) and n + 40 (fine) of CIFAR-100. As in TensorFlow's programs, the planes are reshaped to
[3, 32, 32] and transposed to [32, 32, 3]. Of each picture: its label, and the first and last pixels of some rows.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

PICTURES, ROWS = 3, (0, 1, 31)


def file_of(labels):
    rows = (bytes(labels(n)) + bytes((7 * n + 31 * i + i // 251) % 256 for i in range(3072)) for n in range(PICTURES))
    return b"".join(rows)


def read(file, label_bytes, label):
    records = tf.reshape(tf.io.decode_raw(file, tf.uint8), [PICTURES, label_bytes + 3072])
    images = tf.transpose(tf.reshape(records[:, label_bytes:], [PICTURES, 3, 32, 32]), [0, 2, 3, 1])
    return [{"label": int(records[n, label]),
             "first": [images[n, row, 0].numpy().tolist() for row in ROWS],
             "last": [images[n, row, 31].numpy().tolist() for row in ROWS],
             "sum": int(tf.reduce_sum(tf.cast(images[n], tf.int64)))} for n in range(PICTURES)]


def main():
    ten, hundred = file_of(lambda n: [n + 1]), file_of(lambda n: [n + 2, n + 40])
    answers = {"cifar10": read(ten, 1, 0), "fine": read(hundred, 2, 1), "coarse": read(hundred, 2, 0)}
    with open(sys.argv[1], "w") as out:
        json.dump(answers, out)
        out.write("\n")


main()

#!/usr/bin/env python3
"""Rows a second of CPU time of make_csv_dataset in tf.data and in this library, in one run: a file of
20 columns (10 floats, 6 integers, 4 texts), batches of 256.

Usage: csv_peer.py <csv_bench> [rows]
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import tensorflow as tf

BENCH, ROWS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000


def write(path):
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write(",".join(f"c{i}" for i in range(20)) + "\n")
        for row in range(ROWS):
            values = [f"{draw.gauss(0, 100):.4f}" for _ in range(10)]
            values += [str(draw.randrange(100_000)) for _ in range(6)]
            values += [f"text {draw.randrange(1000)}" for _ in range(3)] + [f'"quoted, {row}"']
            file.write(",".join(values) + "\n")


def peer(path, shuffle):
    best = 0
    for _ in range(2):
        begin, rows = time.process_time(), 0
        for batch in tf.data.experimental.make_csv_dataset(path, 256, num_epochs=1,
                                                           shuffle=shuffle):
            rows += batch["c0"].shape[0]
        best = max(best, rows / (time.process_time() - begin))
    return best


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "rows.csv")
    write(path)
    for shuffle in (False, True):
        ours = json.loads(subprocess.run([BENCH, path, "256", str(int(shuffle))], check=True,
                                         capture_output=True, text=True).stdout)
        rates = {"shuffle": shuffle, "ours": ours["rows_per_cpu_second"],
                 "tf.data": round(peer(path, shuffle))}
        rates["ratio"] = round(rates["ours"] / rates["tf.data"], 2)
        print(json.dumps(rates), flush=True)

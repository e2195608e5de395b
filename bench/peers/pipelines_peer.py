#!/usr/bin/env python3
"""Pipelines in tf.data and in this library, in alternating rounds of one run: elements a second of
CPU time of SequenceExamples, and of small elements through map, shuffle and batch; of a map with
AUTOTUNE whose function sleeps 1 ms, elements a second of the clock. Prints medians, and the load of
the machine.

Usage: pipelines_peer.py <pipelines_bench> [--elements 1000000] [--rounds 5]
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import tensorflow as tf


def write_sequences(path, count):
    """Records of 20 to 60 steps with 16 floats and a word in each, and a label."""
    draw = random.Random(1)
    feature = tf.train.Feature
    with tf.io.TFRecordWriter(path) as writer:
        for label in range(count):
            steps = draw.randint(20, 60)
            frames = [feature(float_list=tf.train.FloatList(value=[draw.random() for _ in range(16)]))
                      for _ in range(steps)]
            words = [feature(int64_list=tf.train.Int64List(value=[draw.randrange(30_000)]))
                     for _ in range(steps)]
            writer.write(tf.train.SequenceExample(
                context=tf.train.Features(feature={
                    "label": feature(int64_list=tf.train.Int64List(value=[label]))}),
                feature_lists=tf.train.FeatureLists(feature_list={
                    "frames": tf.train.FeatureList(feature=frames),
                    "words": tf.train.FeatureList(feature=words)})).SerializeToString())


def sequences(path):
    def parse(record):
        context, lists = tf.io.parse_single_sequence_example(
            record, {"label": tf.io.FixedLenFeature([], tf.int64)},
            {"frames": tf.io.FixedLenSequenceFeature([16], tf.float32),
             "words": tf.io.FixedLenSequenceFeature([], tf.int64)})
        return lists["frames"], lists["words"], context["label"]
    return tf.data.TFRecordDataset(path).map(parse)


def small(count):
    return tf.data.Dataset.range(count).map(lambda x: 2 * x + 1).shuffle(10_000, seed=1).batch(128)


def sleeping(count):
    def sleep(x):
        def wait(x):
            time.sleep(0.001)
            return x
        return tf.numpy_function(wait, [x], tf.int64)
    return tf.data.Dataset.range(count).map(sleep, num_parallel_calls=tf.data.AUTOTUNE).batch(1).prefetch(
        tf.data.AUTOTUNE)


def peer_rate(dataset, count, clock):
    begin = clock()
    for _ in dataset:
        pass
    return count / (clock() - begin)


def our_rate(bench, what, argument):
    text = subprocess.run([bench, what, str(argument)], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["elements_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, records, slow = os.path.join(folder, "sequences"), max(1, args.elements // 200), 2_000
        write_sequences(path, records)
        cases = {"sequences": (sequences(path), records, path, time.process_time),
                 "small": (small(args.elements), args.elements, args.elements, time.process_time),
                 "autotune": (sleeping(slow), slow, slow, time.monotonic)}
        for name, (dataset, count, argument, clock) in cases.items():
            rounds = [(our_rate(args.bench, name, argument), peer_rate(dataset, count, clock))
                      for _ in range(args.rounds)]
            ours, theirs = (statistics.median(side) for side in zip(*rounds))
            print(json.dumps({"pipeline": name, "ours": round(ours), "tf.data": round(theirs),
                              "ratio": round(ours / theirs, 2), "rounds": args.rounds,
                              "load": round(os.getloadavg()[0], 1), "cores": os.cpu_count()}), flush=True)


main()

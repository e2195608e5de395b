"""Transformations of datasets, for tensorflow_cases.py: what pipeline_cases.cpp does here."""
import itertools

import numpy as np
import tensorflow as tf

from function_cases import numbers

Dataset = tf.data.Dataset


def elements(dataset, limit=40):
    """Each element's components, joined by " | ", in brackets."""
    parts = []
    for element in dataset.take(limit):
        components = element if isinstance(element, tuple) else (element,)
        parts.append("(" + numbers(list(components)) + ")")
    return " ".join(parts)


def windows(dataset, **options):
    return elements(dataset.window(**options).flat_map(lambda window: window.batch(99)))


def rows(*lengths):
    """Vectors 1, 1, ...; 2, 2, ... of these lengths, with their numbers."""
    return Dataset.from_generator(
        lambda: ((np.full(n, i + 1, np.float32), np.int64(i)) for i, n in enumerate(lengths)),
        output_signature=(tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int64)))


def length(x, _):
    return tf.shape(x)[0]


def pipeline_cases(case):
    def of(name, make):
        case("pipelines/" + name, lambda: elements(make()))
    ten = Dataset.range(10)
    for size, drop in itertools.product((1, 3, 5, 11, 0, -1), (False, True)):
        of(f"batch {size} {drop}", lambda: ten.batch(size, drop))
    for start, stop, step in ((0, 5, 1), (5, 0, -2), (0, 5, -1), (2, 2, 1), (-3, 4, 3), (0, 5, 0)):
        of(f"range {start} {stop} {step}", lambda: Dataset.range(start, stop, step))
    for count in (0, 3, -1, 99, -2):
        of(f"take {count}", lambda: ten.take(count))
        of(f"skip {count}", lambda: ten.skip(count))
        of(f"repeat {count}", lambda: Dataset.range(2).repeat(count))
    for shards, index in ((3, 0), (3, 2), (3, 3), (3, -1), (0, 0), (12, 11)):
        of(f"shard {shards} {index}", lambda: ten.shard(shards, index))
    for start in (0, 5, -2):
        of(f"enumerate {start}", lambda: Dataset.range(3).enumerate(start))
    of("zip", lambda: Dataset.zip(Dataset.range(3), Dataset.range(5, 10)))
    of("zip with an empty one", lambda: Dataset.zip(Dataset.range(3), Dataset.range(0)))
    of("concatenate", lambda: Dataset.range(2).concatenate(Dataset.range(5, 7)))
    of("concatenate dtypes", lambda: Dataset.range(2).concatenate(Dataset.from_tensor_slices([1.0])))
    of("filter", lambda: ten.filter(lambda x: x % 3 == 1))
    of("filter none", lambda: ten.filter(lambda x: x > 100))
    of("unbatch", lambda: ten.batch(4).unbatch())
    of("unbatch matrices", lambda: Dataset.from_tensors(np.arange(12.).reshape(2, 3, 2).astype(np.float32)).unbatch())
    for sizes, drop in itertools.product(([3], [2, 1], [4, 3, 2], [12]), (False, True)):
        of(f"rebatch {sizes} {drop}", lambda: ten.batch(4).rebatch(sizes if len(sizes) > 1 else sizes[0], drop))
    of("batch of batches", lambda: ten.batch(2).batch(2))
    of("batch of unequal sizes", lambda: ten.batch(4).batch(2))
    part = lambda i: Dataset.range(i * 10, i * 10 + i)
    for cycle, block in itertools.product((1, 2, 3, 9), (1, 2, 3)):
        of(f"interleave {cycle} {block}", lambda: Dataset.range(5).interleave(part, cycle_length=cycle, block_length=block))
    of("interleave of nothing", lambda: Dataset.range(0).interleave(part, cycle_length=2))
    of("interleave of empty ones", lambda: Dataset.range(4).interleave(lambda i: Dataset.range(0), cycle_length=2))
    of("interleave 0", lambda: Dataset.range(4).interleave(part, cycle_length=0))
    of("interleave block 0", lambda: Dataset.range(4).interleave(part, cycle_length=2, block_length=0))
    of("flat_map", lambda: Dataset.range(4).flat_map(part))
    for size, shift, stride, drop in ((3, None, 1, False), (3, None, 1, True), (3, 1, 1, False), (3, 1, 1, True), (3, 1, 2, False),
                                      (3, 1, 2, True), (2, 4, 1, False), (2, 4, 3, False), (2, 4, 3, True), (9, 2, 1, True), (99, None, 1, False),
                                      (0, None, 1, False), (2, 0, 1, False), (2, 1, 0, False)):
        case(f"pipelines/window {size} {shift} {stride} {drop}",
             lambda: windows(ten.take(7), size=size, shift=shift, stride=stride, drop_remainder=drop))
    five = rows(1, 3, 2, 5, 4)
    shapes = lambda n: ([n], [])
    for drop in (False, True):
        of(f"padded_batch {drop}", lambda: five.padded_batch(2, drop_remainder=drop))
        of(f"padded_batch to 6 {drop}", lambda: five.padded_batch(2, shapes(6), drop_remainder=drop))
    of("padded_batch to 4", lambda: five.padded_batch(2, shapes(4)))
    of("padded_batch values", lambda: five.padded_batch(3, padding_values=(-1.0, np.int64(9))))
    of("padded_batch of matrices", lambda: Dataset.from_generator(
        lambda: (np.full((i, 3 - i), i, np.int32) for i in (1, 2, 3)),
        output_signature=tf.TensorSpec([None, None], tf.int32)).padded_batch(3, padding_values=7))
    many = rows(1, 3, 2, 5, 4, 1, 1, 6, 2, 3)
    for boundaries, sizes in (([3], [2, 2]), ([2, 4], [3, 2, 1]), ([2, 4], [1, 1, 1]), ([10], [4, 4]), ([4, 2], [1, 1, 1]),
                              ([2, 4], [1, 1]), ([], [3])):
        for drop in (False, True):
            of(f"bucket {boundaries} {sizes} {drop}", lambda: many.bucket_by_sequence_length(
                length, boundaries, sizes, drop_remainder=drop))
    of("bucket to boundary", lambda: many.bucket_by_sequence_length(length, [3, 8], [2, 2, 2], pad_to_bucket_boundary=True))
    of("bucket to boundary, too long", lambda: many.bucket_by_sequence_length(length, [3, 5], [2, 2, 2], pad_to_bucket_boundary=True))
    of("bucket no padding", lambda: many.bucket_by_sequence_length(length, [2, 3, 4, 5, 6], [2] * 6, no_padding=True))
    of("bucket no padding, unequal", lambda: many.bucket_by_sequence_length(length, [3], [2, 2], no_padding=True))
    of("bucket values", lambda: many.bucket_by_sequence_length(
        length, [3], [2, 2], padded_shapes=shapes(None), padding_values=(-1.0, np.int64(0))))
    parts = [Dataset.range(3), Dataset.range(10, 12), Dataset.range(20, 20)]
    for choices, stop in itertools.product(([0, 1, 0, 1], [0, 1, 1, 1, 0], [1, 2, 0], [0, 0, 0, 0, 1], [3], [-1], []), (False, True)):
        of(f"choose {choices} {stop}", lambda: Dataset.choose_from_datasets(
            parts, Dataset.from_tensor_slices(np.array(choices, np.int64)), stop_on_empty_dataset=stop))
    for weights, stop in itertools.product(([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]), (False, True)):
        of(f"sample {weights} {stop}", lambda: Dataset.sample_from_datasets(parts, weights, seed=1, stop_on_empty_dataset=stop))
    of("reduce", lambda: Dataset.from_tensors(ten.reduce(np.int64(5), lambda s, x: s * 2 + x)))
    of("reduce of nothing", lambda: Dataset.from_tensors(Dataset.range(0).reduce(np.int64(5), lambda s, x: s + x)))
    of("cache and repeat", lambda: Dataset.range(3).cache().repeat(2))
    of("take behind repeat", lambda: Dataset.range(3).repeat().take(7))
    of("slices of unequal rows", lambda: Dataset.from_tensor_slices((np.float32([1, 2]), np.float32([1, 2, 3]))))
    of("slices of a number", lambda: Dataset.from_tensor_slices(np.float32(1)))
    of("slices", lambda: Dataset.from_tensor_slices((np.float32([[1, 2], [3, 4]]), np.int32([5, 6]))))
    for name, make in {"range": lambda: ten, "batch": lambda: ten.batch(3), "dropped": lambda: ten.batch(3, True),
                       "repeat": lambda: ten.repeat(2), "endless": lambda: ten.repeat(), "filter": lambda: ten.filter(lambda x: x > 2),
                       "take": lambda: ten.repeat().take(4), "skip": lambda: ten.skip(12), "shard": lambda: ten.shard(3, 1),
                       "zip": lambda: Dataset.zip(ten, ten.repeat()), "concatenate": lambda: ten.concatenate(ten),
                       "flat_map": lambda: ten.flat_map(part), "nothing repeated": lambda: Dataset.range(0).repeat(),
                       "unbatch": lambda: ten.batch(3).unbatch(), "window": lambda: ten.window(3, drop_remainder=True),
                       "enumerate": lambda: ten.enumerate(), "shuffle": lambda: ten.shuffle(3), "repeat 0": lambda: ten.repeat().repeat(0)}.items():
        case(f"pipelines/cardinality of {name}", lambda: numbers(make().cardinality()))

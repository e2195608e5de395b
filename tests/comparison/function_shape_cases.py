"""Functions that search, sort, choose, arrange or measure, for function_cases.py: what
function_search_cases.cpp and function_shape_cases.cpp do here."""
import itertools

import numpy as np
import tensorflow as tf

NAN, INF = float("nan"), float("inf")
TIES = np.float32([[2, 2, 1, 2], [0, -0.0, -1, 0]])
NANS = np.float32([[NAN, 1, 2, NAN], [1, NAN, INF, -INF]])
THREE = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4) / 8
SEARCHED = {"ties": TIES, "nan": NANS, "three": THREE, "int32": np.int32([[3, -1, 3, 7], [0, 0, -5, 0]]),
            "int64": np.int64([[3, -1, 3, 7], [0, 0, -5, 0]]), "uint8": np.uint8([[3, 255, 3, 7], [0, 0, 5, 0]]),
            "bool": np.array([[True, False, True, False]]), "empty": np.zeros((0, 3), np.float32),
            "no columns": np.zeros((2, 0), np.float32), "scalar": np.float32(2)}


def search_cases(of):
    for name in ("argmax", "argmin"):
        for text, x in SEARCHED.items():
            of(f"{name} {text}", getattr(tf.math, name), x)
            of(f"{name} {text} -1", lambda x: getattr(tf.math, name)(x, -1), x)
        of(f"{name} axis 3", lambda x: getattr(tf.math, name)(x, 3), THREE)
        of(f"{name} bfloat16", lambda x: getattr(tf.math, name)(x, -1), tf.cast(TIES, tf.bfloat16))
    for k in (0, 1, 3, 5, -1):
        for text, x in SEARCHED.items():
            of(f"top_k {text} {k}", lambda x: tuple(tf.math.top_k(x, k)), x)
    predictions = {"ties": TIES, "nan": NANS, "ordinary": np.float32([[0.1, 0.9, 0.3, 0.4], [4, 3, 2, 1]])}
    for (text, x), k, targets in itertools.product(predictions.items(), (0, 1, 2, 4, 9), ((0, 1), (2, 3), (-1, 4))):
        of(f"in_top_k {text} {k} {targets[0]} {targets[1]}", lambda x: tf.math.in_top_k(np.int32(targets), x, k), x)
    for name in ("sort", "argsort"):
        for (text, x), direction in itertools.product(SEARCHED.items(), ("ASCENDING", "DESCENDING")):
            options = {"stable": True} if name == "argsort" else {}
            of(f"{name} {text} {direction.lower()}", lambda x: getattr(tf, name)(x, direction=direction, **options), x)
            of(f"{name} {text} {direction.lower()} 0", lambda x: getattr(tf, name)(x, 0, direction=direction, **options), x)
        of(f"{name} axis 5", lambda x: getattr(tf, name)(x, 5), THREE)


def order_cases(of):
    for axes in ([], [0], [-1], [0, 2], [0, 0], [0, -3], [3]):
        of(f"reverse {axes}", lambda x: tf.reverse(x, np.int32(axes)), THREE)
    for shift, axis in ((1, 0), (-1, 2), (5, 1), (-9, -1), (0, 0), (1, 4)):
        of(f"roll {shift} {axis}", lambda x: tf.roll(x, shift, axis), THREE)
    of("roll of axes", lambda x: tf.roll(x, [1, -1], [0, 2]), THREE)
    of("roll of an axis twice", lambda x: tf.roll(x, [1, 1], [2, 2]), THREE)
    of("roll of fewer shifts", lambda x: tf.roll(x, [1], [0, 1]), THREE)
    of("roll of nothing", lambda x: tf.roll(x, 1, 0), np.zeros((0, 3), np.float32))
    small = np.float32([[1, 2, 3], [4, 5, 6]])
    for repeats, axis in ((2, None), (0, 0), (2, 0), (2, -1), ([1, 2], 0), ([3, 0, 1], 1), ([1, 2], 1), ([1, 2], None),
                          (-1, 0), ([1, 2, 3, 0, 1, 2], None), (2, 2)):
        of(f"repeat {repeats} {axis}", lambda x: tf.repeat(x, repeats, axis), small)
    of("repeat of a number", lambda x: tf.repeat(x, 3), np.float32(2))
    mask = np.array([True, False])
    of("boolean_mask", lambda x: tf.boolean_mask(x, mask), small)
    of("boolean_mask of all", lambda x: tf.boolean_mask(x, small > 2), small)
    of("boolean_mask axis 1", lambda x: tf.boolean_mask(x, np.array([False, True, True]), axis=1), small)
    of("boolean_mask axis -1", lambda x: tf.boolean_mask(x, np.array([False, True, True]), axis=-1), small)
    of("boolean_mask none", lambda x: tf.boolean_mask(x, np.array([False, False])), small)
    of("boolean_mask too short", lambda x: tf.boolean_mask(x, np.array([True, False]), axis=1), small)
    of("boolean_mask scalar", lambda x: tf.boolean_mask(x, np.array(True)), small)
    for lower, upper in ((0, 0), (1, 0), (-1, 0), (0, -1), (-1, -1), (1, 1), (5, 0), (0, 5), (-5, 0), (2, 1)):
        of(f"band_part {lower} {upper}", lambda x: tf.linalg.band_part(x, lower, upper), THREE)
    of("band_part of a vector", lambda x: tf.linalg.band_part(x, 0, 0), np.float32([1, 2]))
    for start, limit, delta in ((0, 5, 1), (1, 10, 3), (5, 0, -2), (0, 0, 1), (5, 0, 1), (0, 5, -1), (0, 5, 0), (3, 4, 5)):
        of(f"range {start} {limit} {delta}", lambda: tf.range(start, limit, delta))
        of(f"range of floats {start} {limit} {delta}", lambda: tf.range(float(start), float(limit), float(delta)))
    for start, limit, delta in ((0, 1, 0.1), (0, 1, 0.3), (1, -1, -0.25), (0.5, 0.6, 0.1), (0, 2.1, 0.7)):
        of(f"range of floats {start} {limit} {delta}", lambda: tf.range(float(start), float(limit), float(delta)))
    for start, stop, count in ((0, 1, 5), (1, -1, 3), (2, 2, 2), (0, 1, 1), (0, 10, 7), (0, 1, 0), (0, 1, -1), (0.1, 0.7, 4)):
        of(f"linspace {start} {stop} {count}", lambda: tf.linspace(np.float32(start), np.float32(stop), count))
    for rows, columns in ((2, None), (2, 3), (3, 2), (0, None), (2, 0), (-1, None)):
        of(f"eye {rows} {columns}", lambda: tf.eye(rows, columns))
    of("eye int32", lambda: tf.eye(2, dtype=tf.int32))
    for lengths, maxlen in (([1, 3, 2], None), ([1, 3, 2], 2), ([0, 0], None), ([-1, 2], 3), ([[1], [2]], 3), (2, 4), ([5], 0),
                            ([], None), ([], 2)):
        of(f"sequence_mask {lengths} {maxlen}", lambda: tf.sequence_mask(np.int32(lengths), maxlen))
    of("sequence_mask float32", lambda: tf.sequence_mask(np.int64([1, 2]), 3, tf.float32))


def index_cases(of):
    x, ids = np.float32([[1, 2], [3, 4], [5, 6], [7, NAN]]), np.int32([0, 2, 0, 1])
    for numbers, count in (([0, 2, 0, 1], 3), ([0, 2, 0, 1], 5), ([-1, 2, 0, 1], 3), ([0, 3, 0, 1], 3), ([0, 0, 0, 0], 0),
                           ([-1, -1, -7, -1], 0), ([0, 1], 2), ([0, 2, 0, 1], -1)):
        of(f"unsorted_segment_sum {numbers} {count}", lambda x: tf.math.unsorted_segment_sum(x, np.int32(numbers), count), x)
    of("unsorted_segment_sum of pairs",
       lambda x: tf.math.unsorted_segment_sum(x, np.int32([[0, 1], [1, 0], [2, 2], [-1, 0]]), 3), x)
    of("unsorted_segment_sum int32", lambda x: tf.math.unsorted_segment_sum(x, ids, 3), np.int32([1, 2, 3, 4]))
    of("unsorted_segment_sum float16", lambda x: tf.math.unsorted_segment_sum(x, ids, 3), np.float16([1, 2, 3, 4]))
    of("unsorted_segment_sum of nothing",
       lambda x: tf.math.unsorted_segment_sum(x, np.zeros(0, np.int32), 2), np.zeros((0, 3), np.float32))
    for numbers in ([0, 0, 1, 2], [0, 2, 2, 4], [1, 1, 1, 1], [0, 2, 1, 1], [-1, 0, 1, 1], [0, 1]):
        of(f"segment_sum {numbers}", lambda x: tf.math.segment_sum(x, np.int64(numbers)), x)
    of("segment_sum of nothing", lambda x: tf.math.segment_sum(x, np.zeros(0, np.int32)), np.zeros((0, 3), np.float32))
    for indices, shape in (([[0], [2], [0], [1]], [4, 2]), ([[0], [3], [0], [-1]], [4, 2]), ([[0], [4], [0], [1]], [4, 2])):
        of(f"scatter_nd {indices}", lambda x: tf.scatter_nd(np.int32(indices), x, shape), x)
    of("scatter_nd of pairs", lambda x: tf.scatter_nd(np.int64([[0, 1], [1, 0], [0, 1]]), x, [2, 2]), np.float32([1, 2, 3]))
    of("scatter_nd of another shape", lambda x: tf.scatter_nd(np.int32([[0], [1]]), x, [4, 3]), x)
    of("scatter_nd of nothing", lambda x: tf.scatter_nd(np.zeros((0, 1), np.int32), x, [2, 3]), np.zeros((0, 3), np.float32))
    scattered_cases(of)
    three = THREE
    for indices, axis in (([1, 0, 1], 0), ([2, 0], 1), ([2, 0], -2), ([[3, 0], [1, 1]], 2), (1, 1), ([], 0), ([2], 0), ([-1], 0),
                          ([0], 3), ([4], -1)):
        of(f"gather {indices} {axis}", lambda x: tf.gather(x, np.int32(indices), axis=axis), three)
    for indices, axis, batch in (([[0, 2], [1, 1]], 1, 1), ([[3, 0], [2, 2]], 2, 1), ([[0, 2, 1], [3, 3, 0]], 2, 2), ([1, 0], 1, 1),
                                 ([[0, 2], [1, 1]], -1, 1), ([[0, 2], [1, 1]], 2, -1), ([[[0], [1]], [[2], [0]]], 1, 1), ([[0, 1]], 1, 1),
                                 ([[0, 2], [1, 1]], 0, 1), ([[0, 3], [1, 1]], 1, 1), ([[0, 1], [1, 0]], 1, 0), ([0, 1], 1, 2)):
        of(f"gather {indices} {axis} of batches {batch}", lambda x: tf.gather(x, np.int32(indices), axis=axis, batch_dims=batch), three)
    of("gather uint8", lambda: tf.gather(np.uint8([5, 6, 7]), np.int64([2, 0])))
    for indices in ([[0, 1], [1, 2]], [[1], [0]], [[0, 1, 3]], [1, 2, 3], [[0, 0, 0, 0]], [[2, 0]], [[0, -1]], [[[0], [1]]]):
        of(f"gather_nd {indices}", lambda x: tf.gather_nd(x, np.int32(indices)), three)
    of("gather_nd of whole", lambda x: tf.gather_nd(x, np.zeros((2, 0), np.int32)), three)
    for indices, depth, axis in (([0, 2, 1], 3, -1), ([0, 3, -1], 3, -1), ([0, 2, 1], 3, 0), ([[0, 1], [2, 0]], 3, 1), (1, 3, -1),
                                 ([0, 1], 0, -1), ([0, 1], -1, -1), ([], 2, -1), ([0], 2, 2)):
        of(f"one_hot {indices} {depth} {axis}", lambda: tf.one_hot(np.int32(indices), depth, axis=axis))
    of("one_hot int32", lambda: tf.one_hot(np.uint8([1, 0]), 2, 5, -2, dtype=tf.int32))
    of("one_hot bool", lambda: tf.one_hot(np.int64([1, 0]), 2, True, False, dtype=tf.bool))
    of("one_hot bfloat16", lambda: tf.one_hot(np.int64([1, 0]), 2, 0.3, -1, dtype=tf.bfloat16))
    for indices in ([1, 0, 1], [[3], [0]], [4], [-1], []):
        of(f"embedding_lookup {indices}", lambda x: tf.nn.embedding_lookup(x, np.int32(indices)), x)


def scattered_cases(of):
    x = np.float32([[1, 2], [4, -8], [0.5, NAN], [7, 3]])
    two, places = np.float32([[2, -1], [4, 3]]), {"rows": [[0], [2]], "twice": [[1], [1]], "out": [[4], [0]], "negative": [[-1], [0]]}
    for name in ("update", "add", "sub", "min", "max"):
        f = getattr(tf, "tensor_scatter_nd_" + name)
        for text, indices in places.items():
            of(f"tensor_scatter_nd_{name} {text}", lambda x, u: f(x, np.int32(indices), u), x, two)
        of(f"tensor_scatter_nd_{name} elements", lambda x, u: f(x, np.int64([[0, 1], [1, 0], [0, 1]]), u), x, np.float32([2, 4, -5]))
        of(f"tensor_scatter_nd_{name} equal", lambda x, u: f(x, np.int32([[0, 1], [1, 0], [1, 0]]), u), x, np.float32([2, 4, 4]))
        of(f"tensor_scatter_nd_{name} two axes of indices", lambda x, u: f(x, np.int32([[[0], [3]]]), u), x, two[None])
        of(f"tensor_scatter_nd_{name} of three axes", lambda x, u: f(x, np.int32([[1, 2], [0, 0]]), u), THREE, np.float32([[1, 2, 3, 4]] * 2))
        of(f"tensor_scatter_nd_{name} of nothing", lambda x, u: f(x, np.zeros((0, 1), np.int32), u), x, np.zeros((0, 2), np.float32))
        of(f"tensor_scatter_nd_{name} of whole", lambda x, u: f(x, np.zeros((1, 0), np.int32), u), x, x[None] * 2)
        of(f"tensor_scatter_nd_{name} of another shape", lambda x, u: f(x, np.int32([[0], [1]]), u), x, np.float32([[1, 2, 3]] * 2))
        of(f"tensor_scatter_nd_{name} of a scalar", lambda x, u: f(x, np.int32([[0], [1]]), u), x, np.float32(3))
        of(f"tensor_scatter_nd_{name} of two dtypes", lambda x: f(x, np.int32([[0], [1]]), tf.constant([[1, 2], [3, 4]])), x)
        of(f"tensor_scatter_nd_{name} of float indices", lambda x, u: f(x, np.float32([[0], [1]]), u), x, two)
        of(f"tensor_scatter_nd_{name} without tuples", lambda x, u: f(x, np.int32([0, 1]), u), x, np.float32([1, 2]))
        for dtype in ("int32", "uint8", "bool", "float16", "bfloat16"):
            of(f"tensor_scatter_nd_{name} {dtype}", lambda x, u: f(x, np.int32([[0], [2]]), u), tf.cast([5, 0, 7], dtype), tf.cast([3, 9], dtype))


MEASURED = {"ordinary": np.float32([[3, 4], [-1, 2]]), "zero": np.zeros((2, 2), np.float32), "nan": np.float32([[NAN, 1], [INF, 0]]),
            "tiny": np.float32([[1e-8, 0], [3e-7, 4e-7]]), "large": np.float32([[1e20, 1e20], [3e30, 0]]),
            "three": THREE, "empty": np.zeros((0, 2), np.float32), "float16": np.float16([[300, 400], [1, 2]]),
            "bfloat16": tf.cast([[300.0, 400.0], [1.0, 2.0]], tf.bfloat16), "scalar": np.float32(-3), "int32": np.int32([3, 4])}


def norm_cases(of):
    for text, x in MEASURED.items():
        for order in (1, 2, 3, 0.5, INF):
            of(f"norm {text} {order}", lambda x: tf.norm(x, order), x)
            of(f"norm {text} {order} -1", lambda x: tf.norm(x, order, -1), x)
        of(f"l2_normalize {text}", tf.math.l2_normalize, x)
        of(f"l2_normalize {text} -1", lambda x: tf.math.l2_normalize(x, -1), x)
        of(f"l2_normalize {text} 0 epsilon 0.1", lambda x: tf.math.l2_normalize(x, 0, 0.1), x)
        of(f"clip_by_norm {text}", lambda x: tf.clip_by_norm(x, 2.0), x)
        of(f"clip_by_norm {text} 1000", lambda x: tf.clip_by_norm(x, 1000.0), x)
        of(f"global_norm {text}", lambda x: tf.linalg.global_norm([x, x]), x)
        of(f"clip_by_global_norm {text}", lambda x: tf.clip_by_global_norm([x, x], 2.0)[0], x)
        of(f"norm of clip_by_global_norm {text}", lambda x: tf.clip_by_global_norm([x, x], 2.0)[1], x)
    for axes, order in itertools.product(([0, 2], [-1, 1], [0, 1, 2], [1]), (1, 2, 3, INF, 0, -1, "euclidean")):
        of(f"norm of axes {axes} {order}", lambda x: tf.norm(x, order, axes if len(axes) > 1 else axes[0]), THREE)
        of(f"norm of axes {axes} {order} keepdims", lambda x: tf.norm(x, order, axes if len(axes) > 1 else axes[0], keepdims=True), THREE)
    of("norm keepdims", lambda x: tf.norm(x, axis=-1, keepdims=True), THREE)
    of("l2_normalize of axes", lambda x: tf.math.l2_normalize(x, [0, -1]), THREE)
    for limit in (0.0, -1.0, INF, NAN):
        of(f"clip_by_norm to {limit}", lambda x: tf.clip_by_norm(x, limit), MEASURED["ordinary"])
        of(f"clip_by_global_norm to {limit}", lambda x: tf.clip_by_global_norm([x], limit)[0], MEASURED["ordinary"])
    of("clip_by_global_norm use_norm", lambda x: tf.clip_by_global_norm([x], 2.0, tf.constant(8.0))[0], MEASURED["ordinary"])
    of("clip_by_global_norm use_norm small", lambda x: tf.clip_by_global_norm([x], 2.0, tf.constant(1.0))[0], MEASURED["ordinary"])
    of("clip_by_global_norm of nothing", lambda: tf.clip_by_global_norm([], 2.0)[1])
    of("global_norm of nothing", lambda: tf.linalg.global_norm([]))


def shape_cases(of):
    x, small = THREE, np.float32([[1, 2, 3], [4, 5, 6]])
    for shape in ([6, 4], [-1], [2, -1, 2], [5, -1], [-1, -1], [24, 1, 1], [], [0, -1]):
        of(f"reshape {shape}", lambda x: tf.reshape(x, shape), x)
    of("reshape of nothing", lambda x: tf.reshape(x, [3, 0]), np.zeros((0, 3), np.float32))
    of("reshape of nothing -1", lambda x: tf.reshape(x, [-1, 3]), np.zeros((0, 3), np.float32))
    of("reshape of nothing -1 0", lambda x: tf.reshape(x, [-1, 0]), np.zeros((0, 3), np.float32))
    of("reshape to a number", lambda x: tf.reshape(x, []), np.float32([[2]]))
    for axis in (0, 1, -1, -3, 3, -4):
        of(f"expand_dims {axis}", lambda x: tf.expand_dims(x, axis), small)
    ones = np.float32([[[1], [2]]])
    for axes in ([], [0], [-1], [0, 2], [1], [3]):
        of(f"squeeze {axes}", lambda x: tf.squeeze(x, axes or None), ones)
    for order in ([], [2, 0, 1], [0, 2, 1], [0, 0, 1], [0, 1], [-1, 0, 1]):
        of(f"transpose {order}", lambda x: tf.transpose(x, order or None), x)
    for mode, pads in itertools.product(("CONSTANT", "REFLECT", "SYMMETRIC"),
                                        ([[1, 0], [0, 2]], [[0, 0], [2, 2]], [[2, 0], [0, 0]], [[0, 0], [0, 4]], [[0, 0], [0, 0]],
                                         [[-1, 0], [0, 0]], [[1, 1]])):
        of(f"pad {mode.lower()} {pads}", lambda x: tf.pad(x, pads, mode), small)
    of("pad value", lambda x: tf.pad(x, [[1, 0], [0, 1]], constant_values=NAN), small)
    of("pad int32", lambda x: tf.pad(x, [[1, 1]], constant_values=7), np.int32([1, 2]))
    of("pad of nothing", lambda x: tf.pad(x, [[1, 0], [0, 1]]), np.zeros((0, 3), np.float32))
    for axis in (0, 1, -1, 2):
        of(f"concat {axis}", lambda x, y: tf.concat([x, y], axis), small, np.float32([[7, 8, 9], [0, 1, 2]]))
        of(f"stack {axis}", lambda x, y: tf.stack([x, y], axis), small, np.float32([[7, 8, 9], [0, 1, 2]]))
        of(f"unstack {axis}", lambda x: tf.unstack(x, axis=axis), small)
        of(f"split 3 {axis}", lambda x: tf.split(x, 3, axis), small)
    of("concat with nothing", lambda x, y: tf.concat([x, y], 0), small, np.zeros((0, 3), np.float32))
    of("concat of shapes", lambda x, y: tf.concat([x, y], 1), small, np.float32([[7, 8, 9]]))
    of("concat of dtypes", lambda x, y: tf.concat([x, y], 0), small, np.int32([[7, 8, 9]]))
    of("concat of numbers", lambda x, y: tf.concat([x, y], 0), np.float32(1), np.float32(2))
    of("stack of numbers", lambda x, y: tf.stack([x, y], 0), np.float32(1), np.float32(2))
    for sizes in ([1, 2], [-1, 1], [0, 3], [2, 2], [-1, -1], [3, -1]):
        of(f"split {sizes}", lambda x: tf.split(x, sizes, 1), small)
    for multiples in ([2, 1], [1, 2], [0, 1], [2], [-1, 1], [2, 2]):
        of(f"tile {multiples}", lambda x: tf.tile(x, multiples), small)
    for shape in ([2, 3], [2, 2, 3], [4, 3], [3], [0, 2, 3], [2, -1]):
        of(f"broadcast_to {shape}", lambda x: tf.broadcast_to(x, shape), small)
    of("broadcast_to of a column", lambda x: tf.broadcast_to(x, [2, 2, 3]), np.float32([[1], [2]]))
    for begin, size in (([0, 1], [2, 2]), ([1, 0], [-1, -1]), ([1, 3], [1, 0]), ([0, 1], [2, 3]), ([-1, 0], [1, 1]), ([0], [1])):
        of(f"slice {begin} {size}", lambda x: tf.slice(x, begin, size), small)
    ranges = {"1:": np.s_[1:], "::-1": np.s_[::-1], ":, ::2": np.s_[:, ::2], ":, -2:": np.s_[:, -2:], ":, 5:": np.s_[:, 5:],
              ":, -9:2": np.s_[:, -9:2], ":, 2:0:-1": np.s_[:, 2:0:-1], "2:1": np.s_[2:1], ":, ::0": np.s_[:, ::0],
              ":, -1:-9:-2": np.s_[:, -1:-9:-2], ":, :, :": np.s_[:, :, :]}
    for text, ends in ranges.items():
        of(f"strided_slice {text}", lambda x: x[ends], small)
    for index in (0, -1, 1, 2, -3):
        of(f"row {index}", lambda x: x[index], small)
    of("map_fn", lambda x: tf.map_fn(lambda r: tf.reduce_sum(r * r), x), small)
    of("map_fn of two", lambda x, y: tf.map_fn(lambda r: r[0] * r[1], (x, y), fn_output_signature=tf.float32), small, small + 1)
    of("map_fn of nothing", lambda x: tf.map_fn(lambda r: r * 2.0, x), np.zeros((0, 3), np.float32))
    of("map_fn of a number", lambda x: tf.map_fn(lambda r: r * 2.0, x), np.float32(2))
    of("scan", lambda x: tf.scan(lambda s, r: s * r + 1.0, x), small)
    of("scan initializer", lambda x: tf.scan(lambda s, r: s + tf.reduce_sum(r), x, tf.constant(10.0)), small)
    of("scan of nothing", lambda x: tf.scan(lambda s, r: s + r, x), np.zeros((0, 3), np.float32))

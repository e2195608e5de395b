"""Writes what TensorFlow answers about partitioners, writes to distributed variables and reductions.

Usage: python3 tensorflow_answers.py FOLDER   (with TensorFlow installed; made with 2.21 on CPUs)
Lines of the tables: fields separated by blanks, what TensorFlow gave behind "=", "error" where it threw.
"""
import itertools
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4)
SYNCHRONIZATIONS = ["AUTO", "ON_WRITE", "ON_READ"]
AGGREGATIONS = ["NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"]


def mirrored(replicas):
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(replicas)])


def text(values):
    return " ".join(f"{float(value):.9g}" for value in values)


def answer(call):
    try:
        return call()
    except Exception:
        return "error"


def replica():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def partitioners():
    """kind dtype rows columns bytes max_shards = shards; max_shards 0: not given."""
    kinds = tf.distribute.experimental.partitioners
    for dtype, rows, columns, size, most in itertools.product(
            ["float32", "int64", "bfloat16"], [1, 2, 7, 10, 64], [1, 3, 17],
            [1, 4, 10, 64, 100, 1000], [0, 1, 2, 10]):
        for kind in ["min", "max"]:
            if kind == "min":
                made = kinds.MinSizePartitioner(size, most) if most else kinds.MinSizePartitioner(size)
            else:
                made = kinds.MaxSizePartitioner(size, most or None)
            shards = made(tf.TensorShape([rows, columns]), tf.as_dtype(dtype))
            yield f"{kind} {dtype} {rows} {columns} {size} {most} = {shards[0]}"


def written(replicas, synchronization, aggregation, method, where, value):
    strategy = mirrored(replicas)
    with strategy.scope():
        variable = tf.Variable(1.0, trainable=False,
                               synchronization=tf.VariableSynchronization[synchronization],
                               aggregation=tf.VariableAggregation[aggregation])
    shared = tf.constant(3.0)

    def write():
        made = {"number": lambda: 3.0, "same_tensor": lambda: shared,
                "equal_tensors": lambda: tf.constant(3.0),
                "own_tensors": lambda: tf.constant([2.0, 4.0, 9.0])[replica()]}[value]()
        getattr(variable, method)(made)

    if where == "replicas":
        strategy.run(write)
    else:
        with strategy.scope():
            write()
    return text(strategy.experimental_local_results(variable))


def writes():
    """replicas synchronization aggregation method where value = the copies. The variable was 1."""
    for replicas, *options in itertools.product(
            [2, 3], SYNCHRONIZATIONS, AGGREGATIONS, ["assign", "assign_add", "assign_sub"],
            ["replicas", "across"], ["number", "same_tensor", "equal_tensors", "own_tensors"]):
        where, value = options[3:]
        if where == "across" and value not in ("number", "same_tensor"):
            continue
        yield f"{replicas} {' '.join(options)} = {answer(lambda: written(replicas, *options))}"


def reduced(dtype, op, axis, values):
    strategy = mirrored(2)
    if len(values) == 1:
        value = tf.constant(values[0], dtype)
    else:
        value = strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(values[context.replica_id_in_sync_group], dtype))
    result = strategy.reduce(op, value, axis=axis)
    return f"{result.dtype.name} {text(tf.reshape(tf.cast(result, 'float64'), [-1]).numpy())}"


def reductions():
    """dtype op axis values = dtype result; two replicas, or one bare tensor: "1,2" or "1,2;4"."""
    for dtype, op, axis, values in itertools.product(
            ["float32", "bfloat16", "float16", "int32", "int64", "uint8"], ["SUM", "MEAN"],
            [None, 0], [[[1, 2]], [[1, 2], [4]], [[1, 2], [4, 4]], [[3]], [[3], [4]], [[7], [7]]]):
        if axis is None and len(values) == 2 and len(values[0]) != len(values[1]):
            continue  # shapes that differ are an error in a function alone
        shown = ";".join(",".join(map(str, one)) for one in values)
        yield f"{dtype} {op} {axis} {shown} = {answer(lambda: reduced(dtype, op, axis, values))}"


folder = pathlib.Path(sys.argv[1])
for name, lines in [("partitioners.txt", partitioners()), ("variable_writes.txt", writes()),
                    ("reductions.txt", reductions())]:
    (folder / name).write_text("\n".join(lines) + "\n")

#!/usr/bin/env python3
"""Prints what TensorFlow does in small cases, a line each, as the program tensorflow_cases prints
what this library does. Ends with status 77 where TensorFlow is missing.

Usage: tensorflow_cases.py > tensorflow_cases.txt
"""
import functools
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
try:
    import keras
    import numpy as np
    import tensorflow as tf
    import weight_cases
except ImportError:
    sys.exit(77)
# Before the imports, of which some make a tensor.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4)
import callback_option_cases
import cell_cases
import fit_cases
import function_cases
import layer_cases
import loss_option_cases
import metric_option_cases
import model_cases
import odd_cases
import optimizer_option_cases
import pipeline_cases
import rank_cases
import resume_cases
import size_layer_cases
import strategy_cases
import wrapper_layer_cases


def show(value):
    """As cases.hpp does."""
    if value is None:
        return "none"
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, tf.distribute.DistributedValues) and not isinstance(value, tf.Variable):
        return " | ".join(show(one) for one in value.values)
    if isinstance(value, (list, tuple)):
        return " | ".join(show(one) for one in value)
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    kind = "float" if array.dtype.kind == "f" else str(array.dtype)
    shape = "".join(f"[{size}]" for size in array.shape)
    return " ".join([kind + shape] + [f"{one:.7g}" for one in array.ravel()])


def case(name, function):
    try:
        text = show(function())
    except Exception:  # its kind differs between the two languages
        text = "error"
    print(f"{name}: {text}".rstrip(), flush=True)


@functools.cache  # a second strategy of the same devices would give collectives the same keys again
def mirrored(replicas):
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def in_replica(values):
    """The value of the calling replica."""
    return values[tf.distribute.get_replica_context().replica_id_in_sync_group]


def per_replica(strategy, values):
    return strategy.experimental_distribute_values_from_function(
        lambda context: values[context.replica_id_in_sync_group])


# ---- reductions

REDUCED = {"scalars": [1, 2], "rows": [[1, 2], [3, 6]], "matrices": [[[1, 2], [3, 4]], [[5, 6], [7, 9]]],
           "uneven": [[1, 2], [4]], "empty": [[1, 2], []], "negative": [[-1, -2], [-4, 2]]}


def reduction_cases():
    strategy = mirrored(2)
    for dtype in ("float32", "int32", "int64"):
        for op in ("SUM", "MEAN"):
            for name, values in REDUCED.items():
                for axis in (None, 0, 1):
                    if (axis is not None and name == "scalars") or (axis == 1 and name != "matrices"):
                        continue
                    if axis is None and name in ("uneven", "empty"):
                        continue
                    case(f"reduce/{dtype}/{op}/{name}/axis {axis}", lambda: strategy.reduce(
                        op, per_replica(strategy, [tf.constant(v, dtype) for v in values]), axis=axis))
    for op in ("SUM", "MEAN"):
        for axis in (None, 0):
            case(f"reduce/bare tensor/{op}/axis {axis}",
                 lambda: strategy.reduce(op, tf.constant([1.0, 2.0]), axis=axis))
    three = mirrored(3)
    for op in ("SUM", "MEAN"):
        case(f"reduce/three replicas/{op}", lambda: three.reduce(
            op, per_replica(three, [tf.constant(float(v)) for v in (1, 2, 4)]), axis=None))
    collective_cases(strategy)


def collective_cases(strategy):
    def call(function):
        return strategy.run(function)

    def context():
        return tf.distribute.get_replica_context()

    for dtype in ("float32", "int32"):
        for op in ("SUM", "MEAN"):
            case(f"all_reduce/{dtype}/{op}", lambda: call(lambda: context().all_reduce(
                op, in_replica([tf.constant([1, 2], dtype), tf.constant([4, 7], dtype)]))))
    case("all_reduce/a list", lambda: call(lambda: context().all_reduce(
        "SUM", [in_replica([tf.constant(1.0), tf.constant(2.0)]), in_replica([tf.constant([3.0]), tf.constant([5.0])])])[1]))
    matrices = [tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])]
    for axis in (0, 1, -1):
        case(f"all_gather/axis {axis}", lambda: call(lambda: context().all_gather(in_replica(matrices), axis)))
    uneven = [tf.constant([1.0, 2.0]), tf.constant([4.0])]
    case("all_gather/uneven", lambda: call(lambda: context().all_gather(in_replica(uneven), 0)))
    case("all_gather/scalars", lambda: call(lambda: context().all_gather(in_replica([tf.constant(1.0), tf.constant(2.0)]), 0)))
    for axis in (0, 1):
        case(f"gather/axis {axis}", lambda: strategy.gather(per_replica(strategy, matrices), axis))
    case("gather/uneven", lambda: strategy.gather(per_replica(strategy, uneven), 0))
    case("gather/scalars", lambda: strategy.gather(per_replica(strategy, [tf.constant(1.0), tf.constant(2.0)]), 0))
    case("merge_call/sum of ids", lambda: call(lambda: context().merge_call(
        lambda s, x: s.reduce("SUM", x, axis=None), args=(tf.constant(float(context().replica_id_in_sync_group + 1)),))))


def context_cases():
    strategy = mirrored(2)
    case("context/no strategy/in_cross_replica_context", tf.distribute.in_cross_replica_context)
    case("context/no strategy/has_strategy", tf.distribute.has_strategy)
    case("context/no strategy/replica_id",
         lambda: int(tf.distribute.get_replica_context().replica_id_in_sync_group))
    with strategy.scope():
        case("context/scope/in_cross_replica_context", tf.distribute.in_cross_replica_context)
        case("context/scope/has_strategy", tf.distribute.has_strategy)
        case("context/scope/there is a replica context", lambda: tf.distribute.get_replica_context() is not None)
        case("context/another strategy's scope", lambda: mirrored(1).scope().__enter__())
    case("context/run/replica ids", lambda: strategy.run(
        lambda: tf.constant(tf.distribute.get_replica_context().replica_id_in_sync_group)))
    case("context/run/in_cross_replica_context", lambda: strategy.run(
        lambda: tf.constant(float(tf.distribute.in_cross_replica_context()))))
    case("context/run/num_replicas_in_sync", lambda: strategy.run(
        lambda: tf.constant(tf.distribute.get_replica_context().num_replicas_in_sync)))
    case("context/run inside of run", lambda: strategy.run(lambda: strategy.run(lambda: tf.constant(1.0))))
    case("context/reduce inside of run", lambda: strategy.run(
        lambda: strategy.reduce("SUM", tf.constant(1.0), axis=None)))
    case("context/scope inside of run", lambda: strategy.run(lambda: strategy.scope().__enter__() and tf.constant(1.0)))
    case("context/value context", lambda: strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant([c.replica_id_in_sync_group, c.num_replicas_in_sync])))


# ---- input

def rows(value):
    return "(" + " ".join(f"{one:.7g}" for one in np.asarray(value).ravel()) + ")"


def steps(strategy, dataset):
    distributed = strategy.experimental_distribute_dataset(dataset)
    return ", ".join("".join(rows(one) for one in strategy.experimental_local_results(step)) for step in distributed)


def input_cases():
    for replicas in (1, 2, 3, 4):
        strategy = mirrored(replicas)
        for count, batch in ((6, 4), (8, 4), (5, 5), (10, 8), (7, 3), (12, 6), (9, 2), (1, 4)):
            for drop in (False, True):
                case(f"input/range({count}).batch({batch}{', drop' if drop else ''})/{replicas} replicas",
                     lambda: steps(strategy, tf.data.Dataset.range(count).batch(batch, drop_remainder=drop)))
    strategy = mirrored(2)
    data = tf.data.Dataset.range(10)
    case("input/batch of batches", lambda: steps(strategy, data.batch(2, drop_remainder=True).batch(3)))
    case("input/map behind batch", lambda: steps(strategy, data.batch(4).map(lambda x: x * 2)))
    case("input/map that makes rows", lambda: steps(strategy, tf.data.Dataset.range(8).batch(4).map(
        lambda x: tf.concat([x, x + 100], 0))))
    case("input/repeat behind batch", lambda: steps(strategy, tf.data.Dataset.range(3).batch(2).repeat(2)))
    case("input/take behind batch", lambda: steps(strategy, data.batch(4).take(2)))
    case("input/unbatched", lambda: steps(strategy, data.take(3)))
    for policy in ("OFF", "DATA", "AUTO"):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = getattr(tf.data.experimental.AutoShardPolicy, policy)
        case(f"input/policy {policy}", lambda: steps(strategy, data.batch(4).with_options(options)))
    case("input/from a function", lambda: ", ".join(
        "".join(rows(one) for one in strategy.experimental_local_results(step))
        for step in strategy.distribute_datasets_from_function(lambda context: data.batch(3))))
    from tensorflow.python.data.experimental.ops.distribute import batch_sizes_for_worker
    for size, workers, replicas in ((10, 1, 2), (10, 2, 2), (7, 2, 1), (16, 2, 4), (5, 2, 4), (1, 2, 2)):
        for worker in range(workers):
            case(f"input/batch_sizes_for_worker({size}, {workers}, {replicas}, {worker})",
                 lambda: rows(batch_sizes_for_worker(size, workers, replicas, worker)))
    context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    for size in (8, 6):
        case(f"input/get_per_replica_batch_size({size})", lambda: int(context.get_per_replica_batch_size(size)))


# ---- partitioners

SHAPES = [[1], [3], [10], [16], [1, 10], [10, 1], [7, 3], [100, 10], [1000, 1]]


def partitioner_cases():
    p = tf.distribute.experimental.partitioners
    made = {f"fixed({n})": p.FixedShardsPartitioner(n) for n in (1, 2, 4, 7)}
    made.update({f"min_size({size}, {most})": p.MinSizePartitioner(size, most)
                 for size in (1, 16, 64, 1024) for most in (2, 10, 100)})
    made.update({f"max_size({size})": p.MaxSizePartitioner(size) for size in (8, 16, 64, 256, 1024)})
    made.update({f"max_size({size}, {most})": p.MaxSizePartitioner(size, most) for size in (8, 16, 64, 256, 1024)
                 for most in (3,)})
    for name, partitioner in made.items():
        for dtype in ("float32", "int64", "uint8"):
            case(f"partitioners/{name}/{dtype}", lambda: rows(
                [partitioner(tf.TensorShape(shape), tf.as_dtype(dtype))[0] for shape in SHAPES]))


# ---- optimizers

def trained(make, gradients=((0.5, -1.0), (1.5, 3.0)), replicas=2, steps_done=3, start=(1.0, 2.0)):
    strategy = mirrored(replicas)
    with strategy.scope():
        weight = tf.Variable(list(start))
        optimizer = make()
        optimizer.build([weight])

    def step():
        optimizer.apply_gradients([(in_replica([tf.constant(g) for g in gradients]), weight)])

    for _ in range(steps_done):
        strategy.run(step)
    return tf.convert_to_tensor(weight)


def optimizer_cases():
    k = keras.optimizers
    makers = {
        "sgd": lambda **o: k.SGD(0.1, **o), "momentum": lambda **o: k.SGD(0.1, momentum=0.9, **o),
        "nesterov": lambda **o: k.SGD(0.1, momentum=0.9, nesterov=True, **o), "adam": lambda **o: k.Adam(0.1, **o),
        "amsgrad": lambda **o: k.Adam(0.1, amsgrad=True, **o), "adamw": lambda **o: k.AdamW(0.1, **{"weight_decay": 0.05, **o}),
        "rmsprop": lambda **o: k.RMSprop(0.1, **o), "rmsprop centered": lambda **o: k.RMSprop(0.1, momentum=0.5, centered=True, **o),
        "adagrad": lambda **o: k.Adagrad(0.1, **o), "nadam": lambda **o: k.Nadam(0.1, **o),
        "adamax": lambda **o: k.Adamax(0.1, **o), "adadelta": lambda **o: k.Adadelta(0.1, **o),
        "lion": lambda **o: k.Lion(0.1, **o), "ftrl": lambda **o: k.Ftrl(0.1, **o),
        "lamb": lambda **o: k.Lamb(0.1, **o)}
    for name, make in makers.items():
        for replicas in (1, 2):
            case(f"optimizers/{name}/{replicas} replicas", lambda: trained(make, replicas=replicas))
    for clip, value in (("clipnorm", 1.0), ("global_clipnorm", 1.0), ("clipvalue", 0.75)):
        for replicas in (1, 2):
            case(f"optimizers/sgd {clip}/{replicas} replicas",
                 lambda: trained(lambda: k.SGD(0.1, **{clip: value}), replicas=replicas))
    case("optimizers/clipnorm, one step", lambda: trained(
        lambda: k.SGD(1.0, clipnorm=1.0), gradients=((3.0,), (3.0,)), steps_done=1, start=(10.0,)))
    case("optimizers/weight_decay of sgd", lambda: trained(lambda: k.SGD(0.1, weight_decay=0.1)))
    case("optimizers/averages", lambda: trained(
        lambda: k.SGD(0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)))
    s = k.schedules
    schedules = {
        "piecewise": s.PiecewiseConstantDecay([2, 10], [1.0, 0.5, 0.1]), "exponential": s.ExponentialDecay(0.1, 10, 0.5),
        "exponential staircase": s.ExponentialDecay(0.1, 10, 0.5, staircase=True), "cosine": s.CosineDecay(0.1, 20),
        "cosine alpha": s.CosineDecay(0.1, 20, alpha=0.1),
        "cosine warmup": s.CosineDecay(0.0, 20, warmup_target=0.1, warmup_steps=5),
        "polynomial": s.PolynomialDecay(0.1, 20, 0.01, power=2.0), "polynomial cycle": s.PolynomialDecay(0.1, 8, 0.01, cycle=True),
        "inverse time": s.InverseTimeDecay(0.1, 10, 0.5), "inverse time staircase": s.InverseTimeDecay(0.1, 10, 0.5, staircase=True)}
    for name, schedule in schedules.items():
        case(f"schedules/{name}", lambda: rows([float(schedule(step)) for step in (0, 1, 2, 5, 10, 19, 20, 30)]))


def gradient_cases():
    case("clip/by_norm", lambda: tf.clip_by_norm([3.0, 4.0], 1.0))
    case("clip/by_norm within", lambda: tf.clip_by_norm([0.3, 0.4], 1.0))
    case("clip/by_global_norm", lambda: tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)[0])
    case("clip/by_global_norm with none", lambda: tf.clip_by_global_norm([None, tf.constant([4.0])], 1.0)[0])
    case("clip/by_global_norm of infinity",
         lambda: tf.clip_by_global_norm([tf.constant([float("inf")]), tf.constant([4.0])], 1.0)[0][1])
    case("clip/by_value", lambda: tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0))
    case("clip/global_norm", lambda: tf.linalg.global_norm([tf.constant([3.0]), tf.constant([4.0])]))
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    fixed = tf.Variable(5.0, trainable=False)

    def gradient(target, sources, **options):
        with tf.GradientTape(persistent=options.pop("persistent", False)) as tape:
            loss = target()
        found = tape.gradient(loss, sources, **options)
        return tape.gradient(loss, sources, **options) if options.get("again") else found

    case("tape/square", lambda: gradient(lambda: tf.reduce_sum(x * x), [x]))
    case("tape/a target that is not a scalar", lambda: gradient(lambda: x * x, [x]))
    case("tape/unconnected", lambda: gradient(lambda: tf.reduce_sum(x * x), [x, y]))
    case("tape/unconnected zero", lambda: gradient(
        lambda: tf.reduce_sum(x * x), [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO))
    case("tape/not trainable", lambda: gradient(lambda: fixed * fixed, [fixed]))

    def twice(persistent):
        with tf.GradientTape(persistent=persistent) as tape:
            loss = tf.reduce_sum(x * x)
        tape.gradient(loss, x)
        return tape.gradient(loss, x)

    case("tape/twice", lambda: twice(False))
    case("tape/twice persistent", lambda: twice(True))
    case("tape/maximum of equals", lambda: gradient(lambda: tf.maximum(x, tf.constant([1.0, 1.0])), [x]))
    case("tape/reduce_max of equals", lambda: gradient(lambda: tf.reduce_max(x * tf.constant([2.0, 1.0])), [x]))
    case("tape/norm at zero", lambda: gradient(lambda: tf.sqrt(tf.reduce_sum(tf.square(x - x))), [x]))


# ---- losses and metrics

LABELS, LOGITS = [0, 2], [[2.0, 1.0, 0.5], [0.1, 0.2, 3.0]]
ONE_HOT, PROBABILITIES = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]


def loss_cases():
    k = keras.losses
    case("losses/sparse from logits", lambda: k.sparse_categorical_crossentropy(tf.constant(LABELS), tf.constant(LOGITS), from_logits=True))
    case("losses/sparse", lambda: k.sparse_categorical_crossentropy(tf.constant(LABELS), tf.constant(PROBABILITIES)))
    case("losses/categorical smoothed", lambda: k.categorical_crossentropy(
        tf.constant(ONE_HOT), tf.constant(LOGITS), from_logits=True, label_smoothing=0.1))
    case("losses/categorical", lambda: k.categorical_crossentropy(tf.constant(ONE_HOT), tf.constant(PROBABILITIES)))
    case("losses/binary", lambda: k.binary_crossentropy(tf.constant(ONE_HOT), tf.constant(PROBABILITIES)))
    case("losses/binary smoothed", lambda: k.binary_crossentropy(
        tf.constant(ONE_HOT), tf.constant(LOGITS), from_logits=True, label_smoothing=0.2))
    case("losses/squared", lambda: k.mean_squared_error(tf.constant(ONE_HOT), tf.constant(PROBABILITIES)))
    case("losses/absolute", lambda: k.mean_absolute_error(tf.constant(ONE_HOT), tf.constant(PROBABILITIES)))
    strategy = mirrored(2)
    for place in ("no strategy", "in replicas", "cross-replica"):
        for reduction in (None, "sum", "sum_over_batch_size", "none"):
            def loss():
                made = k.MeanSquaredError() if reduction is None else k.MeanSquaredError(
                    reduction=None if reduction == "none" else reduction)
                return made(tf.constant([[1.0], [3.0]]), tf.constant([[0.0], [0.0]]))

            def here():
                if place == "no strategy":
                    return loss()
                if place == "in replicas":
                    return strategy.run(loss)
                with strategy.scope():
                    return loss()
            case(f"losses/object, {reduction or 'default'}/{place}", here)
    case("losses/object with weights", lambda: k.MeanSquaredError(reduction="sum")(
        tf.constant([[1.0], [3.0]]), tf.constant([[0.0], [0.0]]), sample_weight=tf.constant([0.5, 2.0])))
    case("losses/compute_average_loss", lambda: strategy.run(lambda: tf.nn.compute_average_loss(tf.constant([1.0, 3.0]))))
    case("losses/compute_average_loss of 8", lambda: strategy.run(
        lambda: tf.nn.compute_average_loss(tf.constant([1.0, 3.0]), global_batch_size=8)))
    case("losses/compute_average_loss with weights", lambda: strategy.run(lambda: tf.nn.compute_average_loss(
        tf.constant([1.0, 3.0]), sample_weight=tf.constant([1.0, 0.0]), global_batch_size=4)))
    case("losses/scale_regularization_loss", lambda: strategy.run(
        lambda: tf.nn.scale_regularization_loss(tf.constant([1.0, 3.0]))))

    def cross_average():
        with strategy.scope():
            return tf.nn.compute_average_loss(tf.constant([1.0]))
    case("losses/compute_average_loss, cross-replica", cross_average)


def metric_cases():
    strategy = mirrored(2)
    m = keras.metrics

    def in_replicas(make, update):
        with strategy.scope():
            metric = make()
        strategy.run(lambda: update(metric) and None)
        return tf.convert_to_tensor(metric.result())

    def cross(make, update):
        with strategy.scope():
            metric = make()
            update(metric)
            return tf.convert_to_tensor(metric.result())

    def alone(make, update):
        metric = make()
        update(metric)
        return tf.convert_to_tensor(metric.result())

    def id_plus_one():
        return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group + 1, tf.float32)

    case("metrics/mean in replicas", lambda: in_replicas(m.Mean, lambda x: x.update_state(id_plus_one())))
    case("metrics/sum in replicas", lambda: in_replicas(m.Sum, lambda x: x.update_state(id_plus_one())))
    case("metrics/mean weighted by replica", lambda: in_replicas(
        m.Mean, lambda x: x.update_state(id_plus_one(), sample_weight=id_plus_one())))
    case("metrics/accuracy in replicas", lambda: in_replicas(
        m.SparseCategoricalAccuracy, lambda x: x.update_state(LABELS, LOGITS)))
    case("metrics/mean cross-replica", lambda: cross(m.Mean, lambda x: x.update_state(4.0)))
    case("metrics/sum cross-replica", lambda: cross(m.Sum, lambda x: x.update_state(4.0)))
    case("metrics/mean of none", lambda: alone(m.Mean, lambda x: None))
    case("metrics/mean", lambda: alone(m.Mean, lambda x: x.update_state([1.0, 2.0, 6.0])))
    case("metrics/mean with weights", lambda: alone(m.Mean, lambda x: x.update_state([1.0, 3.0], sample_weight=[1.0, 0.5])))
    case("metrics/sum", lambda: alone(m.Sum, lambda x: x.update_state([1.0, 2.0])))
    case("metrics/sparse accuracy", lambda: alone(
        m.SparseCategoricalAccuracy, lambda x: x.update_state([0, 1], LOGITS)))
    case("metrics/sparse accuracy of columns", lambda: alone(
        m.SparseCategoricalAccuracy, lambda x: x.update_state([[0], [2]], LOGITS)))
    case("metrics/categorical accuracy", lambda: alone(m.CategoricalAccuracy, lambda x: x.update_state(ONE_HOT, LOGITS)))
    case("metrics/top 2", lambda: alone(
        lambda: m.SparseTopKCategoricalAccuracy(k=2), lambda x: x.update_state([1, 0], LOGITS)))


# ---- variables

def variable_cases():
    strategy = mirrored(2)
    synchronizations = {"AUTO": tf.VariableSynchronization.AUTO, "ON_READ": tf.VariableSynchronization.ON_READ}
    aggregations = ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")

    def made(synchronization, aggregation):
        with strategy.scope():
            return tf.Variable(10.0, synchronization=synchronizations[synchronization],
                               aggregation=getattr(tf.VariableAggregation, aggregation))

    def components(variable):
        return [tf.convert_to_tensor(one) for one in strategy.experimental_local_results(variable)]

    def after_run(variable, function):
        strategy.run(lambda: function(variable) and None)
        return components(variable)

    def cross(variable, function):
        with strategy.scope():
            function(variable)
        return components(variable)

    def read(variable):
        with strategy.scope():
            return tf.convert_to_tensor(variable.read_value())

    def mine():
        return in_replica([tf.constant(1.0), tf.constant(4.0)])

    for s in synchronizations:
        for a in aggregations:
            name = f"variables/{s}, {a}"
            case(f"{name}/assign in replicas", lambda: after_run(made(s, a), lambda v: v.assign(mine())))
            case(f"{name}/assign_add in replicas", lambda: after_run(made(s, a), lambda v: v.assign_add(mine())))
            case(f"{name}/assign_sub in replicas", lambda: after_run(made(s, a), lambda v: v.assign_sub(mine())))
            case(f"{name}/assign a number in replicas", lambda: after_run(made(s, a), lambda v: v.assign(3.0)))
            case(f"{name}/assign cross-replica", lambda: cross(made(s, a), lambda v: v.assign(3.0)))
            case(f"{name}/assign_add cross-replica", lambda: cross(made(s, a), lambda v: v.assign_add(3.0)))
            case(f"{name}/read cross-replica", lambda: read(made(s, a)))

            def read_after():
                variable = made(s, a)
                strategy.run(lambda: variable.assign_add(mine()) and None)
                return read(variable)
            case(f"{name}/read after assign_add", read_after)
            case(f"{name}/trainable", lambda: bool(made(s, a).trainable))

    two = made("AUTO", "SUM")
    four = mirrored(4)
    case("variables/read in another strategy's replicas", lambda: four.run(lambda: two + 0.0))


def name_cases():
    def paths(*networks):
        return " ".join(v.path for network in networks for v in network.variables)

    def network(*units):
        return keras.Sequential([keras.Input((4,))] + [keras.layers.Dense(u) for u in units])

    keras.backend.clear_session()
    case("names/a network", lambda: paths(network(3, 2)))
    keras.backend.clear_session()
    case("names/two networks", lambda: paths(network(3), network(2)))
    keras.backend.clear_session()
    case("names/normalization", lambda: paths(keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(2), keras.layers.BatchNormalization()])))


if __name__ == "__main__":
    # Optimizers first and contexts last: TensorFlow keeps something of calls that it refused.
    for cases in (optimizer_cases, reduction_cases, input_cases, partitioner_cases, gradient_cases, loss_cases,
                  metric_cases, functools.partial(weight_cases.weight_cases, case, mirrored(2)), variable_cases,
                  name_cases, functools.partial(strategy_cases.strategy_cases, case, mirrored)):
        cases()
    fit_cases.fit_cases(case, mirrored)
    model_cases.model_cases(case, mirrored)
    odd_cases.odd_cases(case, mirrored)
    layer_cases.layer_cases(case)
    rank_cases.rank_cases(case)
    loss_option_cases.loss_option_cases(case)
    metric_option_cases.metric_option_cases(case)
    optimizer_option_cases.optimizer_option_cases(case)
    callback_option_cases.callback_option_cases(case)
    resume_cases.resume_cases(case)
    size_layer_cases.size_layer_cases(case)
    wrapper_layer_cases.wrapper_layer_cases(case, mirrored)
    cell_cases.cell_cases(case)
    function_cases.function_cases(case)
    pipeline_cases.pipeline_cases(case)
    context_cases()

#!/usr/bin/env python3
"""Prints what TensorFlow's MultiWorkerMirroredStrategy does on two workers in small cases, a line
for each worker and case; tests/strategy/worker_cases_test.cpp does the same here. Ends with status
77 where TensorFlow is missing.

Usage: worker_cases.py > worker_cases.txt
"""
import json
import os
import socket
import subprocess
import sys


def run_workers():
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    workers = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    running = []
    for index in range(2):
        config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        running.append(subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "TF_CONFIG": json.dumps(config)}))
    for one in running:
        print(one.communicate()[0], end="")
    return max(one.returncode for one in running)


def plain_cases(case, strategy, mine):
    import tensorflow as tf
    extended = strategy.extended
    for op in ("SUM", "MEAN"):
        case(f"reduce {op} of a scalar", lambda: strategy.reduce(op, tf.constant(mine + 1), axis=None))
        case(f"reduce {op} of a vector", lambda: strategy.reduce(op, tf.constant([mine + 1, 2]), axis=None))
        case(f"reduce {op} of a vector, axis 0", lambda: strategy.reduce(op, tf.constant([mine + 1, mine + 2]), axis=0))
        case(f"reduce {op} of uneven vectors, axis 0", lambda: strategy.reduce(
            op, tf.fill([int(mine) + 1], mine + 1), axis=0))
        case(f"reduce {op} of 3", lambda: strategy.reduce(op, tf.constant(3.0), axis=None))
        case(f"reduce {op} of zero", lambda: strategy.reduce(op, tf.constant(0.0), axis=None))
        case(f"reduce {op} of a number", lambda: strategy.reduce(op, 1.5, axis=None))
        case(f"reduce_to {op} of a scalar", lambda: extended.reduce_to(op, tf.constant(mine + 1), "/cpu:0"))
        case(f"reduce_to {op} of a vector", lambda: extended.reduce_to(op, tf.constant([mine + 1, 2]), "/cpu:0"))
        case(f"batch_reduce_to {op}", lambda: extended.batch_reduce_to(
            op, [(tf.constant(mine + 1), "/cpu:0"), (tf.constant([mine, 1.0]), "/cpu:0")]))
        case(f"reduce {op} of a plain variable", lambda: strategy.reduce(op, tf.Variable(mine + 1), axis=None))
    case("gather", lambda: strategy.gather(tf.constant([mine + 1]), 0))
    case("gather uneven", lambda: strategy.gather(tf.fill([int(mine) + 1], mine + 1), 0))
    case("gather axis 1", lambda: strategy.gather(tf.fill([1, int(mine) + 1], mine + 1), 1))
    case("gather of scalars", lambda: strategy.gather(tf.constant(mine), 0))


def variable_cases(case, strategy):
    import tensorflow as tf
    kinds, moments = tf.VariableAggregation, tf.VariableSynchronization

    def made(moment=moments.AUTO):
        with strategy.scope():
            return tf.Variable(1.0, aggregation=kinds.MEAN, synchronization=moment)

    def on_read():
        variable = made(moments.ON_READ)
        strategy.run(lambda: variable.assign(own_id() + 3))
        return variable

    def after_run(change, kind):
        with strategy.scope():
            variable = tf.Variable(1.0, aggregation=kind)
        strategy.run(lambda: getattr(variable, change)(2.0))
        return variable.read_value()

    for kind in (kinds.NONE, kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA):
        for change in ("assign", "assign_add", "assign_sub"):
            case(f"{change} of a number, {kind.name}", lambda: after_run(change, kind))
    for op in ("SUM", "MEAN"):
        case(f"reduce {op} of a variable", lambda: tf.convert_to_tensor(strategy.reduce(op, made(), axis=None)))
        case(f"reduce {op} of a sync-on-read variable", lambda: strategy.reduce(op, on_read(), axis=None))
    case("device of a variable", lambda: made().device)


def own_id():
    import tensorflow as tf
    return float(tf.distribute.get_replica_context().replica_id_in_sync_group)


def run_cases(case, strategy, mine):
    import tensorflow as tf

    def here():
        return tf.distribute.get_replica_context()

    def results(values):
        return strategy.experimental_local_results(values)

    def own():
        return tf.constant(own_id() + 1)

    def reduced():
        return strategy.extended.reduce_to("SUM", tf.constant(mine + 1), "/cpu:0")

    def inside(function):
        return results(strategy.run(lambda: here().merge_call(lambda inner: inner.run(function))))

    def gathered():
        return here().all_gather({"a": tf.constant([own_id()]), "b": [tf.constant([1.0, own_id()])]}, 0)

    case("run of reduce_to", lambda: results(strategy.run(lambda x: x * 2, args=(reduced(),))))
    case("all_gather nested, a", lambda: results(strategy.run(lambda: gathered()["a"])))
    case("all_gather nested, b", lambda: results(strategy.run(lambda: gathered()["b"][0])))
    case("run in merge_call", lambda: inside(own))
    case("run in merge_call, all_reduce", lambda: inside(lambda: here().all_reduce("SUM", own())))


def error_cases(case, strategy):
    """All workers make the same mistake; what comes next works."""
    import tensorflow as tf

    def here():
        return tf.distribute.get_replica_context()

    def refused():
        raise ValueError("no")

    mistakes = {
        "a wrong argument in a replica": lambda: strategy.run(lambda: tf.matmul(tf.ones([1, 2]), tf.ones([1, 2]))),
        "an exception in a replica": lambda: strategy.run(refused),
        "an exception after an all_reduce": lambda: strategy.run(lambda: (here().all_reduce("SUM", tf.constant(1.0)),
                                                                         refused())),
        "an exception in a merge_call": lambda: strategy.run(lambda: here().merge_call(lambda inner: refused())),
        "an axis that is not there": lambda: strategy.reduce("SUM", strategy.run(lambda: tf.constant(1.0)), axis=3)}
    for name, mistake in mistakes.items():
        case(f"error/{name}", mistake)
        case(f"error/{name}, then all_reduce", lambda: strategy.experimental_local_results(
            strategy.run(lambda: here().all_reduce("SUM", tf.constant(own_id() + 1)))))
        case(f"error/{name}, then reduce", lambda: strategy.reduce(
            "SUM", strategy.run(lambda: tf.constant(own_id() + 1)), axis=None))


def main():
    try:
        import tensorflow as tf

        import tensorflow_cases
    except ImportError:
        return 77
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    mine = float(strategy.cluster_resolver.task_id)

    def case(name, function):
        tensorflow_cases.case(f"{mine:.0f}/{name}", function)

    plain_cases(case, strategy, mine)
    variable_cases(case, strategy)
    run_cases(case, strategy, mine)
    error_cases(case, strategy)
    sys.stdout.flush()
    os._exit(0)  # TensorFlow's threads of collectives wait for each other


if __name__ == "__main__":
    sys.exit(main() if "TF_CONFIG" in os.environ else run_workers())

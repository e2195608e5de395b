"""Writes distributed_batches.json: which rows TensorFlow gives to each replica, step by step, one case a line.

Usage: python3 distributed_batches.py distributed_batches.json   (with TensorFlow installed; made with 2.21)

A case is a pipeline ("range 6 | batch 4"), an AutoShardPolicy, the number of workers and of replicas of each, and how
the dataset is distributed: "dataset" (experimental_distribute_dataset), "function" (distribute_datasets_from_function)
or "per_replica" (the same with InputReplicationMode.PER_REPLICA). Its answer:
  steps     what `for batch in dataset` gives: per step, per replica of all workers, the rows (elements flattened)
  optional  what get_next_as_optional gives until it has no value; left out where it is the same as steps
  spec      the first axis in the element_spec of one replica (null: unknown)
  error     instead of these: type and beginning of the message, from the first call that fails
One worker is MirroredStrategy on logical CPUs; several are processes of a MultiWorkerMirroredStrategy, which takes the
first CPU alone and is made to take as many logical CPUs as it has replicas.
"""
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile

LIMIT = 12  # steps, for datasets without an end

PIPELINES = {
    # one batch transformation, with and without a remainder
    "one batch": [f"range {count} | {batch}" for count, batch in (
        (6, "batch 4"), (4, "batch 4"), (8, "batch 4"), (5, "batch 5"), (10, "batch 8"), (9, "batch 2"),
        (9, "batch_drop 2"), (15, "batch 4"), (8, "batch 3"), (13, "batch 6"), (10, "batch_drop 7"), (7, "batch 1"),
        (3, "batch 8"), (12, "batch 8"), (12, "batch_drop 6"), (0, "batch 4"))],
    # what may stand behind it
    "chains": [f"range 10 | {steps}" for steps in (
        "batch_drop 2 | batch 3", "batch 3 | batch 2", "batch 4 | unbatch | batch 3", "batch 3 | rebatch 4",
        "batch 4 | map_head 2", "batch 4 | map_twice", "batch 4 | map_same", "batch_drop 4 | map_head 3",
        "map_same | batch 4", "batch 4 | filter_all", "batch 4 | prefetch 2", "batch 4 | cache", "batch 4 | take 2",
        "batch 4 | skip 1", "batch 4 | repeat 2", "repeat 2 | batch 4", "batch_drop 4 | repeat 2",
        "batch_drop 3 | repeat", "batch 4 | repeat", "batch 4 | shard 2 1", "batch 4 | zip_range 12 4",
        "batch 4 | zip_range 12 3", "batch_drop 4 | zip_range_drop 12 3", "batch 4 | concat_range 5 4",
        "batch 4 | concat_range 5 3", "batch 4 | map_same | prefetch 1", "batch 4 | take 1 | map_head 3 | repeat 3",
        "batch 4 | filter_last", "batch 5 | shuffle 1")],
    "no batch": ["slices 3 5", "slices 4 6 | map_head 4", "ragged 3 5 2 4", "ragged 1 0 4", "parts 9 4", "parts 8 4",
                 "range 4", "range 4 | batch 2 | unbatch"],
    "files": [f"{files} | {steps}" for files, steps in itertools.product(
        ("files 5 4 3 2", "files 7 3 5 2 6"),
        ("batch 4", "batch_drop 4", "batch 6", "batch 4 | map_head 3", "map_same | batch 3 | prefetch 2",
         "batch 4 | unbatch | batch 3"))],
    "hint": ["range 8 | shard_hint | batch 2", "range 9 | shard_hint | batch 4", "range 9 | batch 4 | map_same | shard_hint"],
}
FUNCTIONS = ["range 6 | batch 2", "range 6 | batch_drop 2", "range 7 | batch 2", "range 7 | batch_drop 3",
             "range 12 | shard_context | batch 2", "range 13 | shard_context | batch 2",
             "range 13 | shard_context | batch_drop 2", "range 5", "slices 3 2", "range 3 | batch 2 | repeat",
             "range 0 | batch 2", "files 3 2 4 | batch 2"]
# One worker would fail and the others wait for it.
FAIL_WHILE_READ = ["range 10 | batch 3 | batch 2", "range 10 | batch 4 | zip_range 12 4"]
WORKERS = [(1, 2), (2, 1), (1, 3), (2, 2), (1, 1), (1, 4), (3, 1), (1, 5), (4, 1)]


def policies_of(group, workers, replicas):
    """Without files AUTO is DATA, so DATA is asked for in a few cases alone."""
    thorough = (workers, replicas) in ((1, 2), (2, 2))
    if group == "hint":
        return ["HINT"] if workers * replicas < 4 or thorough else []
    if thorough and group in ("files", "one batch"):
        return ["AUTO", "OFF", "DATA", "FILE"]
    if thorough or (workers, replicas) in ((1, 3), (2, 1), (3, 1)):
        return ["AUTO", "OFF"]
    return ["AUTO"]


def all_cases():
    for workers, replicas in WORKERS:
        for group, pipelines in PIPELINES.items():
            for pipeline, policy in itertools.product(pipelines, policies_of(group, workers, replicas)):
                if workers > 1 and pipeline in FAIL_WHILE_READ:
                    continue
                yield dict(how="dataset", workers=workers, replicas=replicas, policy=policy, pipeline=pipeline)
        for pipeline in FUNCTIONS:
            yield dict(how="function", workers=workers, replicas=replicas, policy="AUTO", pipeline=pipeline)
            if workers == 1:
                yield dict(how="per_replica", workers=1, replicas=replicas, policy="AUTO", pipeline=pipeline)


def write_files(folder, sizes):
    import tensorflow as tf
    paths, number = [], 0
    for i, size in enumerate(sizes):
        paths.append(os.path.join(folder, "-".join(map(str, sizes)) + f"-{i}-{os.getpid()}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for _ in range(size):
                writer.write(str(number).encode())
                number += 1
    return paths


def dataset_of(pipeline, folder, context=None):
    import tensorflow as tf
    source, *steps = [part.split() for part in pipeline.split(" | ")]
    n = [int(x) for x in source[1:]]
    if source[0] == "range":
        d = tf.data.Dataset.range(n[0])
    elif source[0] == "slices":
        d = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(n[0] * n[1], dtype=tf.int64), n))
    elif source[0] == "ragged":  # batches of these sizes from a generator
        def batches():
            first = 0
            for size in n:
                yield list(range(first, first + size))
                first += size
        d = tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec([None], tf.int64))
    elif source[0] == "parts":  # batches made inside of flat_map: their size is not known
        d = tf.data.Dataset.range(-(-n[0] // n[1])).flat_map(
            lambda i: tf.data.Dataset.range(i * n[1], tf.minimum((i + 1) * n[1], n[0])).batch(n[1]))
    else:
        d = tf.data.TFRecordDataset(write_files(folder, n)).map(lambda text: tf.strings.to_number(text, tf.int64))
    for name, *rest in steps:
        k = [int(x) for x in rest]
        if name == "batch": d = d.batch(k[0])
        elif name == "batch_drop": d = d.batch(k[0], drop_remainder=True)
        elif name == "unbatch": d = d.unbatch()
        elif name == "rebatch": d = d.rebatch(k[0])
        elif name == "map_head": d = d.map(lambda x: x[:k[0]])
        elif name == "map_twice": d = d.map(lambda x: tf.concat([x, x], 0))
        elif name == "map_same": d = d.map(lambda x: x + 0)
        elif name == "filter_all": d = d.filter(lambda x: True)
        elif name == "filter_last": d = d.filter(lambda x: x[0] > 0)
        elif name == "prefetch": d = d.prefetch(k[0])
        elif name == "cache": d = d.cache()
        elif name == "take": d = d.take(k[0])
        elif name == "skip": d = d.skip(k[0])
        elif name == "repeat": d = d.repeat(*k)
        elif name == "shuffle": d = d.shuffle(k[0])
        elif name == "shard": d = d.shard(*k)
        elif name == "shard_hint": d = d.shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)
        elif name == "shard_context": d = d.shard(context.num_input_pipelines, context.input_pipeline_id)
        elif name == "zip_range": d = tf.data.Dataset.zip((d, tf.data.Dataset.range(k[0]).batch(k[1])))
        elif name == "zip_range_drop": d = tf.data.Dataset.zip((d, tf.data.Dataset.range(k[0]).batch(k[1], True)))
        elif name == "concat_range": d = d.concatenate(tf.data.Dataset.range(k[0]).batch(k[1]))
        else: raise KeyError(name)
    return d


def first_component(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def rows_of(strategy, value):
    results = strategy.experimental_local_results(first_component(value))
    return [x.numpy().reshape(-1).tolist() for x in results]


def answer_of(case, strategy, folder):
    import tensorflow as tf

    def with_policy(dataset):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[case["policy"]]
        return dataset.with_options(options)

    try:
        if case["how"] == "dataset":
            distributed = strategy.experimental_distribute_dataset(with_policy(dataset_of(case["pipeline"], folder)))
        else:
            options = None
            if case["how"] == "per_replica":
                options = tf.distribute.InputOptions(
                    experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA)
            distributed = strategy.distribute_datasets_from_function(
                lambda context: dataset_of(case["pipeline"], folder, context), options)
        spec = first_component(distributed.element_spec)
        spec = spec._value_specs[0] if hasattr(spec, "_value_specs") else spec
        shape = spec.shape.as_list()
        steps = []
        for value in distributed:
            steps.append(rows_of(strategy, value))
            if len(steps) == LIMIT:
                break
        optional = []
        iterator = iter(distributed)
        while len(optional) < LIMIT:
            value = iterator.get_next_as_optional()
            if not value.has_value():
                break
            optional.append(rows_of(strategy, value.get_value()))
    except Exception as error:
        return {"error": type(error).__name__, "message": " ".join(str(error).split())[:300]}
    answer = {"steps": steps, "spec": shape[0] if shape else "scalar"}
    if optional != steps:
        answer["optional"] = optional
    return answer


def start_tensorflow(replicas):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf
    tf.get_logger().setLevel("ERROR")
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * replicas)
    return tf


def run_worker(cases, replicas, path):
    tf = start_tensorflow(replicas)
    from tensorflow.python.distribute import collective_all_reduce_strategy as multi_worker

    def all_logical_cpus(self, cluster_resolver, worker_device):
        return tuple(f"{worker_device}/device:CPU:{i}" for i in range(replicas)), "CPU"

    multi_worker.CollectiveAllReduceExtended._initialize_local_devices = all_logical_cpus
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with tempfile.TemporaryDirectory() as folder:
        answers = [answer_of(case, strategy, folder) for case in cases]
    with open(path, "w") as out:
        json.dump(answers, out)
    # No worker leaves before the others are done.
    strategy.reduce(tf.distribute.ReduceOp.SUM, 1.0, axis=None)


def run_mirrored(cases, replicas):
    import tensorflow as tf
    devices = [f"CPU:{i}" for i in range(replicas)]
    with tempfile.TemporaryDirectory() as folder:
        # A strategy each: after PER_REPLICA all later datasets of a MirroredStrategy get one pipeline per replica.
        return [answer_of(case, tf.distribute.MirroredStrategy(devices), folder) for case in cases]


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    return [s.getsockname()[1] for s in sockets]


def merged(answers):
    """One worker after the other; they must agree on everything but their rows."""
    if any("error" in a for a in answers):
        return next(a for a in answers if "error" in a)
    result = dict(answers[0])
    for key in ("steps", "optional"):
        if any(key in a for a in answers):
            parts = [a.get(key, a["steps"]) for a in answers]
            assert len({len(p) for p in parts}) == 1, answers
            result[key] = [sum(step, []) for step in zip(*parts)]
    assert len({json.dumps(a["spec"]) for a in answers}) == 1, answers
    return result


def run_workers(cases, workers, replicas):
    hosts = [f"127.0.0.1:{port}" for port in free_ports(workers)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, str(w)) for w in range(workers)]
        with open(os.path.join(folder, "cases"), "w") as out:
            json.dump(cases, out)
        processes = []
        for w in range(workers):
            config = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": w}}
            processes.append(subprocess.Popen(
                [sys.executable, __file__, "--worker", os.path.join(folder, "cases"), str(replicas), paths[w]],
                env={**os.environ, "TF_CONFIG": json.dumps(config)}))
        assert all(p.wait() == 0 for p in processes)
        return [merged(answers) for answers in zip(*(json.load(open(p)) for p in paths))]


def main():
    cases = list(all_cases())
    only = sys.argv[2:]  # for trying out: parts of pipelines
    cases = [c for c in cases if not only or any(o in c["pipeline"] for o in only)]
    start_tensorflow(max(replicas for _, replicas in WORKERS))
    lines = []
    for workers, replicas in WORKERS:
        mine = [c for c in cases if (c["workers"], c["replicas"]) == (workers, replicas)]
        if not mine:
            continue
        answers = run_mirrored(mine, replicas) if workers == 1 else run_workers(mine, workers, replicas)
        lines += [json.dumps({**case, **answer}) for case, answer in zip(mine, answers)]
        print(workers, replicas, len(mine), flush=True)
        with open(sys.argv[1], "w") as out:
            out.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        run_worker(json.load(open(sys.argv[2])), int(sys.argv[3]), sys.argv[4])
    else:
        main()

#!/usr/bin/env python3
"""All-reduce of float32 between processes of this machine by TensorFlow's ring.

Prints one JSON line: {"version": ..., "results": [{"bytes", "us_p50", "us_p99"}]}.
"""
import argparse
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import peer_common


def measure(tf, strategy, count, rounds):
    value = tf.ones([count])

    @tf.function
    def step():
        return strategy.run(lambda: tf.distribute.get_replica_context().all_reduce(
            tf.distribute.ReduceOp.SUM, value))

    times = []
    for _ in range(rounds + 3):
        start = time.perf_counter()
        step().numpy()
        times.append(time.perf_counter() - start)
    times = sorted(times[3:])
    return {"bytes": 4 * count, "us_p50": 1e6 * times[len(times) // 2],
            "us_p99": 1e6 * times[int(0.99 * (len(times) - 1))]}


def work(flags):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.RING)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    results = [measure(tf, strategy, size // 4, 10 if size > 10 << 20 else 50)
               for size in flags.bytes]
    if json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 0:
        print(json.dumps({"version": tf.__version__, "results": results}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", type=int, default=2)
    parser.add_argument("--bytes", type=int, nargs="+")
    flags = parser.parse_args()
    if "TF_CONFIG" in os.environ:
        return work(flags)
    cluster = {"worker": [f"127.0.0.1:{port}" for port in peer_common.free_ports(flags.world)]}
    workers = [subprocess.Popen([sys.executable, *sys.argv], env={
        **os.environ, "TF_CONFIG": json.dumps({"cluster": cluster,
                                               "task": {"type": "worker", "index": index}})})
        for index in range(flags.world)]
    sys.exit(max(worker.wait() for worker in workers))


if __name__ == "__main__":
    main()

"""Loads what a data service has saved, and saves a dataset with TensorFlow's own.

Usage: distributed_save.py OURS THEIRS COMPRESSION     COMPRESSION: None, GZIP
Prints the elements {a, b} of OURS in order.
"""
import os
import sys
import tempfile
import time

try:
    import tensorflow as tf
except ImportError:
    sys.exit(77)


def save(path, compression):
    service = tf.data.experimental.service
    with tempfile.TemporaryDirectory() as folder:
        dispatcher = service.DispatchServer(
            service.DispatcherConfig(fault_tolerant_mode=True, work_dir=folder))
        address = dispatcher.target.split("://")[1]
        workers = [service.WorkerServer(service.WorkerConfig(
                       dispatcher_address=address, heartbeat_interval_ms=100))
                   for _ in range(2)]
        dataset = tf.data.Dataset.range(50).map(
            lambda n: {"a": n, "b": tf.stack([tf.cast(n, tf.float32), tf.cast(n, tf.float32) / 2])})
        tf.data.experimental.distributed_save(dataset, path, address, compression=compression)
        while not os.path.exists(os.path.join(path, "DONE")):
            time.sleep(0.05)
        del workers


def main():
    ours, theirs, compression = sys.argv[1:]
    elements = [(int(e["a"]), float(e["b"])) for e in tf.data.Dataset.load(ours)]
    for a, b in sorted(elements):
        print(a, b)
    save(theirs, None if compression == "None" else compression)


if __name__ == "__main__":
    main()

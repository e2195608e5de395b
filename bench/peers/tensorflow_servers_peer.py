#!/usr/bin/env python3
"""The book network under TensorFlow's ParameterServerStrategy: 1 ps, workers and a coordinator.

Starts itself once for each task and prints one JSON line: images per second of all workers
together, from scheduling to joining the timed steps.
"""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import peer_common

FLAGS = peer_common.parse_flags(__doc__.splitlines()[0], ["keras"])


def launch():
    """Starts every task with TF_CONFIG; when the coordinator has ended, the others are killed."""
    ports = peer_common.free_ports(FLAGS.workers + 2)
    address = [f"127.0.0.1:{port}" for port in ports]
    cluster = {"chief": address[:1], "ps": address[1:2], "worker": address[2:]}
    tasks = [subprocess.Popen([sys.executable, *sys.argv], env={
        **os.environ, "TF_CONFIG": json.dumps({"cluster": cluster,
                                               "task": {"type": kind, "index": index}})})
        for kind in ("ps", "worker", "chief") for index in range(len(cluster[kind]))]
    status = tasks[-1].wait()
    for task in tasks[:-1]:
        task.kill()
    sys.exit(status)


def main():
    if "TF_CONFIG" not in os.environ:
        launch()
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(FLAGS.threads)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type != "chief":
        tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type,
                             task_index=resolver.task_id, protocol="grpc").join()
    coordinate(tf, resolver)


def coordinate(tf, resolver):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        layers = [tf.keras.Input((28, 28, 1))]
        for size, filters in peer_common.MODELS["book"][0]:
            layers += [tf.keras.layers.Conv2D(filters, size, padding="same", activation="relu"),
                       tf.keras.layers.MaxPool2D()]
        layers += [tf.keras.layers.Flatten(), tf.keras.layers.Dense(500, activation="relu"),
                   tf.keras.layers.Dense(10)]
        model = tf.keras.Sequential(layers)
        optimizer = tf.keras.optimizers.Adam(1e-4)
        optimizer.build(model.trainable_variables)
    batches = peer_common.batches(FLAGS)

    def dataset():
        images, labels = zip(*batches)
        return tf.data.Dataset.from_tensor_slices(
            (tf.concat(images, 0), tf.concat(labels, 0))).repeat().batch(
            FLAGS.batch_size, drop_remainder=True).prefetch(2)

    @tf.function
    def train_step(iterator):
        def replica(images, labels):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=model(images, training=True)))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        return strategy.run(replica, next(iterator))

    iterator = iter(coordinator.create_per_worker_dataset(dataset))

    def run(steps):
        start = time.perf_counter()
        for _ in range(steps):
            coordinator.schedule(train_step, args=(iterator,))
        coordinator.join()
        return time.perf_counter() - start

    run(FLAGS.warmup_steps * FLAGS.workers)
    seconds = run(FLAGS.steps)
    print(json.dumps({"framework": "tensorflow", "version": tf.__version__, "model": "book",
                      "workers": FLAGS.workers, "batch": FLAGS.batch_size, "steps": FLAGS.steps,
                      "images_per_second": FLAGS.steps * FLAGS.batch_size / seconds}), flush=True)
    os._exit(0)


main()

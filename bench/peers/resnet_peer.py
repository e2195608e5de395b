#!/usr/bin/env python3
"""A training step of ResNet-50 version 1.5 in TensorFlow or PyTorch on the CPU, synthetic pictures.

Momentum 0.9 and a mean cross entropy, as the resnet50 program's step. bfloat16 is Keras' policy
mixed_bfloat16 and PyTorch's autocast. Several workers are processes under
MultiWorkerMirroredStrategy and under DistributedDataParallel over Gloo. Prints one JSON line.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

from peer_common import free_ports

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
STAGES = [(64, 3), (128, 4), (256, 6), (512, 3)]


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=["tensorflow", "pytorch"], required=True)
    parser.add_argument("--policy", choices=["float32", "mixed_bfloat16"], default="float32")
    parser.add_argument("--batch_size", type=int, default=16, help="of each worker")
    parser.add_argument("--workers", type=int, default=1, help="processes with --threads each")
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5, help="timed steps, after two others")
    return parser.parse_args()


def launch_workers(flags):
    """Starts this script once for each worker; each knows its place as launchers tell it."""
    ports = free_ports(flags.workers)
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    workers = [subprocess.Popen([sys.executable, *sys.argv], env={
        **os.environ, "RANK": str(rank), "WORLD_SIZE": str(flags.workers),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ports[0]), "GLOO_SOCKET_IFNAME": "lo",
        "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}})})
        for rank in range(flags.workers)]
    sys.exit(max(worker.wait() for worker in workers))


def tensorflow_step(flags, images, labels):
    """On all workers of a strategy if there are several."""
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1 if flags.workers == 1 else 2)
    tf.keras.mixed_precision.set_global_policy(flags.policy)
    if flags.workers == 1:
        train = tensorflow_train(tf, images.shape[1:])
        x, y = tf.constant(images), tf.constant(labels)
        return tf.__version__, lambda: float(train(x, y))
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # before any tensor is made
    with strategy.scope():
        train = tensorflow_train(tf, images.shape[1:])
    x, y = tf.constant(images), tf.constant(labels)

    @tf.function
    def all_workers():
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(train, (x, y)), axis=None)

    return tf.__version__, lambda: float(all_workers())


def tensorflow_train(tf, shape):
    from tensorflow.keras import layers

    def convolution(x, filters, size, stride):
        if size > 1:
            x = layers.ZeroPadding2D(size // 2)(x)
        x = layers.Conv2D(filters, size, stride, use_bias=False)(x)
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)

    def block(x, filters, stride, projects):
        side = convolution(x, 4 * filters, 1, stride) if projects else x
        x = layers.ReLU()(convolution(x, filters, 1, 1))
        x = layers.ReLU()(convolution(x, filters, 3, stride))
        return layers.ReLU()(layers.Add()([convolution(x, 4 * filters, 1, 1), side]))

    entry = tf.keras.Input(shape)
    x = layers.ReLU()(convolution(entry, 64, 7, 2))
    x = layers.MaxPool2D(3, 2)(layers.ZeroPadding2D(1)(x))
    for stage, (filters, blocks) in enumerate(STAGES):
        for i in range(blocks):
            x = block(x, filters, 2 if stage and i == 0 else 1, i == 0)
    model = tf.keras.Model(entry, layers.Dense(1000, dtype="float32")(
        layers.GlobalAveragePooling2D()(x)))
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=y, logits=model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return train


def pytorch_step(flags, images, labels):
    import torch
    from torch import nn
    torch.set_num_threads(flags.threads)

    def convolution(inputs, filters, size, stride):
        return [nn.Conv2d(inputs, filters, size, stride, size // 2, bias=False),
                nn.BatchNorm2d(filters)]

    class Block(nn.Module):
        def __init__(self, inputs, filters, stride, projects):
            super().__init__()
            self.main = nn.Sequential(
                *convolution(inputs, filters, 1, 1), nn.ReLU(inplace=True),
                *convolution(filters, filters, 3, stride), nn.ReLU(inplace=True),
                *convolution(filters, 4 * filters, 1, 1))
            self.side = nn.Sequential(
                *(convolution(inputs, 4 * filters, 1, stride) if projects else []))

        def forward(self, x):
            return nn.functional.relu(self.main(x) + self.side(x), inplace=True)

    parts, inputs = [*convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for stage, (filters, blocks) in enumerate(STAGES):
        for i in range(blocks):
            parts.append(Block(inputs, filters, 2 if stage and i == 0 else 1, i == 0))
            inputs = 4 * filters
    model = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
    model = model.to(memory_format=torch.channels_last)
    if flags.workers > 1:
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.from_numpy(images.transpose(0, 3, 1, 2).copy()).to(memory_format=torch.channels_last)
    y, half = torch.from_numpy(labels), flags.policy == "mixed_bfloat16"

    def train():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = nn.functional.cross_entropy(model(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return torch.__version__, train


def main():
    flags = parse_flags()
    if flags.workers > 1 and "RANK" not in os.environ:
        launch_workers(flags)
    rng = np.random.default_rng(1)
    shape = (flags.batch_size, flags.image_size, flags.image_size, 3)
    images = rng.standard_normal(shape, np.float32)
    labels = rng.integers(0, 1000, flags.batch_size)
    make = tensorflow_step if flags.framework == "tensorflow" else pytorch_step
    version, step = make(flags, images, labels)
    times = []
    for i in range(2 + flags.steps):
        start, used = time.perf_counter(), time.process_time()
        loss = step()
        if i >= 2:
            times.append((time.perf_counter() - start, time.process_time() - used))
    median = statistics.median(wall for wall, _ in times)
    if os.environ.get("RANK", "0") != "0":
        return
    print(json.dumps({
        "framework": flags.framework, "version": version, "model": "resnet50",
        "policy": flags.policy, "threads": flags.threads, "workers": flags.workers,
        "global_batch": flags.batch_size * flags.workers, "steps": flags.steps,
        "images_per_second": flags.batch_size * flags.workers / median, "step_ms_p50": 1e3 * median,
        "cpu_ms_p50": 1e3 * statistics.median(cpu for _, cpu in times), "loss": loss,
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


main()

#!/usr/bin/env python3
"""A training step of ResNet-50 version 1.5 in TensorFlow or PyTorch on the CPU, synthetic pictures.

Momentum 0.9 and a mean cross entropy, as the resnet50 program's step. bfloat16 is Keras' policy
mixed_bfloat16 and PyTorch's autocast. Prints one JSON line.
"""
import argparse
import json
import os
import resource
import statistics
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
STAGES = [(64, 3), (128, 4), (256, 6), (512, 3)]


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=["tensorflow", "pytorch"], required=True)
    parser.add_argument("--policy", choices=["float32", "mixed_bfloat16"], default="float32")
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5, help="timed steps, after two others")
    return parser.parse_args()


def tensorflow_step(flags, images, labels):
    import tensorflow as tf
    from tensorflow.keras import layers
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.keras.mixed_precision.set_global_policy(flags.policy)

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

    entry = tf.keras.Input(images.shape[1:])
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

    x, y = tf.constant(images), tf.constant(labels)
    return tf.__version__, lambda: float(train(x, y))


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
    print(json.dumps({
        "framework": flags.framework, "version": version, "model": "resnet50",
        "policy": flags.policy, "threads": flags.threads, "global_batch": flags.batch_size,
        "steps": flags.steps, "images_per_second": flags.batch_size / median,
        "step_ms_p50": 1e3 * median,
        "cpu_ms_p50": 1e3 * statistics.median(cpu for _, cpu in times), "loss": loss,
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


main()

#!/usr/bin/env python3
"""Makes training_runs.json beside it: runs of the book's network in TensorFlow with other seeds and
optimizers than those of the reference data, on one thread, without oneDNN, deterministic.

The first weights follow from a formula, uniform(), which tests/parity/optimizers_test.cpp has too.
Usage: training_runs.py [FOLDER OF MNIST]      with a Python that has TensorFlow
"""
import gzip
import json
import os
import pathlib
import sys

os.environ.update(TF_ENABLE_ONEDNN_OPTS="0", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
import keras
import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).resolve().parent
BATCH, STEPS = 50, 10
SHAPES = {"conv1/kernel": (5, 5, 1, 32), "conv1/bias": (32,), "conv2/kernel": (5, 5, 32, 64), "conv2/bias": (64,),
          "fc1/kernel": (3136, 500), "fc1/bias": (500,), "fc2/kernel": (500, 10), "fc2/bias": (10,)}


def uniform(count, seed):
    """Numbers in [-1, 1) from a hash of position and seed, exact in float32."""
    x = (np.arange(count, dtype=np.uint64) * 2654435761 + seed * 40503 + 12345) & 0xFFFFFFFF
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    x ^= x >> 16
    return (x >> 8).astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def first_value(name, shape, seed):
    if name.endswith("bias"):
        return np.zeros(shape, np.float32)
    field = shape[0] * shape[1] if len(shape) == 4 else 1
    limit = np.float32(np.sqrt(6.0 / (field * (shape[-2] + shape[-1]))))
    return (uniform(int(np.prod(shape)), seed) * limit).reshape(shape)


def images(folder):
    raw = gzip.open(folder / "train-images-idx3-ubyte.gz").read()
    x = np.frombuffer(raw, np.uint8, offset=16)[:28 * 28 * BATCH * STEPS].reshape(-1, 28, 28, 1)
    y = np.frombuffer(gzip.open(folder / "train-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    return x.astype(np.float32) / np.float32(255), y[:BATCH * STEPS].astype(np.int64)


def logits(x, v):
    for name in ("conv1", "conv2"):
        x = tf.nn.relu(tf.nn.conv2d(x, v[name + "/kernel"], 1, "SAME") + v[name + "/bias"])
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = tf.nn.relu(tf.reshape(x, [-1, 3136]) @ v["fc1/kernel"] + v["fc1/bias"])
    return x @ v["fc2/kernel"] + v["fc2/bias"]


def run(seed, optimizer, x, y):
    v = {name: tf.Variable(first_value(name, shape, seed), name=name.replace("/", "_"))
         for name, shape in SHAPES.items()}
    names, found = list(v), {"loss": [], "grad_norm": []}

    @tf.function
    def gradients(batch, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits(batch, v)))
        return loss, tape.gradient(loss, [v[name] for name in names])

    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        loss, grads = gradients(x[part], y[part])
        found["loss"].append(float(loss))
        found["grad_norm"].append(float(tf.linalg.global_norm(grads)))
        if step == 0:
            found["step0_gradients"] = {name: float(tf.norm(g)) for name, g in zip(names, grads)}
        optimizer.apply_gradients(zip(grads, [v[name] for name in names]))
    found["final_norms"] = {name: float(tf.norm(v[name])) for name in names}
    return found


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()
    keras.utils.set_random_seed(1)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[2] / "examples/mnist_cnn/data"
    x, y = images(folder)
    k = keras.optimizers
    makers = {
        "rmsprop": lambda: k.RMSprop(1e-3), "adamw": lambda: k.AdamW(1e-3, weight_decay=0.004),
        "nesterov": lambda: k.SGD(k.schedules.CosineDecay(0.05, 10), momentum=0.9, nesterov=True, global_clipnorm=1.0),
        "sgd": lambda: k.SGD(0.05)}
    runs = [{"optimizer": name, "seed": seed, **run(seed, make(), x, y)}
            for name, make in makers.items() for seed in (11, 12)]
    text = json.dumps({"tensorflow": tf.__version__, "keras": keras.__version__, "batch": BATCH, "runs": runs}, indent=1)
    (HERE / "training_runs.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

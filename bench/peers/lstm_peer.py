#!/usr/bin/env python3
"""bench/lstm_bench.cpp in Keras or PyTorch: two LSTMs of 256 units, 100 steps of 256 numbers,
batch 64, trained by gradient descent. bench/peers/sequences.py times it.
"""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np

UNITS, TIMES, BATCH, CLASSES = 256, 100, 64, 10


def batch():
    random = np.random.default_rng(1)
    return (random.standard_normal((BATCH, TIMES, UNITS), np.float32),
            random.integers(0, CLASSES, BATCH))


def with_tensorflow(flags):
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    model = keras.Sequential([keras.Input((TIMES, UNITS)), keras.layers.LSTM(UNITS, return_sequences=True),
                              keras.layers.LSTM(UNITS), keras.layers.Dense(CLASSES)])
    optimizer = keras.optimizers.SGD(0.01)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = map(tf.constant, batch())

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables),
                                      model.trainable_variables))
        return loss

    for _ in range(flags.steps):
        loss = step()
    return float(loss)


def with_pytorch(flags):
    import torch
    from torch import nn

    torch.set_num_threads(flags.threads)
    torch.manual_seed(1)
    layers, head = nn.LSTM(UNITS, UNITS, 2, batch_first=True), nn.Linear(UNITS, CLASSES)
    optimizer = torch.optim.SGD([*layers.parameters(), *head.parameters()], 0.01)
    x, y = map(torch.from_numpy, batch())
    for _ in range(flags.steps):
        loss = nn.functional.cross_entropy(head(layers(x)[0][:, -1]), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=["tensorflow", "pytorch"], default="tensorflow")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    flags = parser.parse_args()
    print(f"loss {(with_tensorflow if flags.framework == 'tensorflow' else with_pytorch)(flags):.4f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The decoder of examples/text_transformer/decoder.cpp in Keras: trains on the same text and prints
tokens/s, the median over ten parts of the run without the first, and the loss of the last part.

  bench/peers/text_peer.py --steps=200 [--policy=mixed_bfloat16] [--threads=2]
"""
import argparse
import os
import pathlib
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf

CONTEXT, WIDTH, HEADS, BLOCKS, CHARACTERS, BATCH = 128, 128, 4, 4, 128, 16
TEXT = pathlib.Path(__file__).resolve().parents[2] / "examples/text_transformer/data/kjv.txt"


def block(x):
    layers = keras.layers
    y = layers.LayerNormalization()(x)
    x = x + layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(y, y, use_causal_mask=True)
    y = layers.Dense(4 * WIDTH, activation="gelu")(layers.LayerNormalization()(x))
    return x + layers.Dense(WIDTH)(y)


def decoder():
    tokens = keras.Input((CONTEXT,), dtype="int32")
    places = keras.layers.Embedding(CONTEXT, WIDTH)(tf.range(CONTEXT))
    x = keras.layers.Embedding(CHARACTERS, WIDTH)(tokens) + places
    for _ in range(BLOCKS):
        x = block(x)
    x = keras.layers.LayerNormalization()(x)
    return keras.Model(tokens, keras.layers.Dense(CHARACTERS, dtype="float32")(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--policy", default="float32")
    flags = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    keras.mixed_precision.set_global_policy(flags.policy)
    text = np.frombuffer(TEXT.read_bytes(), np.uint8).astype(np.int32)
    count = (len(text) - 1) // CONTEXT
    x, y = (text[first:first + count * CONTEXT].reshape(count, CONTEXT) for first in (0, 1))
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8000, 1).repeat().batch(BATCH)
    model = decoder()
    model.compile(keras.optimizers.AdamW(2e-3, weight_decay=0.1, global_clipnorm=1.0),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    part, speeds = flags.steps // 10, []
    for _ in range(10):
        begin = time.perf_counter()
        history = model.fit(data, epochs=1, steps_per_epoch=part, verbose=0)
        speeds.append(part * BATCH * CONTEXT / (time.perf_counter() - begin))
    print(f"{statistics.median(speeds[1:]):.0f} tokens/s, loss {history.history['loss'][0]:.4f}")


if __name__ == "__main__":
    main()

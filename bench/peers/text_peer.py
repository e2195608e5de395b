#!/usr/bin/env python3
"""The decoder of examples/text_transformer in Keras or PyTorch: trains on the same text as
text_transformer with its defaults, and prints the last loss. bench/peers/sequences.py times it.
"""
import argparse
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np

CHARACTERS = 128
TEXT = pathlib.Path(__file__).resolve().parents[2] / "examples/text_transformer/data/kjv.txt"


def pieces(flags):
    """What to read and what follows it, int32 [pieces, context]."""
    text = np.frombuffer(TEXT.read_bytes(), np.uint8).astype(np.int32)
    count = (len(text) - 1) // flags.context
    return [text[first:first + count * flags.context].reshape(count, -1) for first in (0, 1)]


def with_keras(flags):
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    keras.mixed_precision.set_global_policy(flags.policy)
    layers = keras.layers

    def block(x):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(flags.heads, flags.width // flags.heads)(
            y, y, use_causal_mask=True)
        y = layers.Dense(4 * flags.width, activation="gelu")(layers.LayerNormalization()(x))
        return x + layers.Dense(flags.width)(y)

    tokens = keras.Input((flags.context,), dtype="int32")
    places = layers.Embedding(flags.context, flags.width)(tf.range(flags.context))
    x = layers.Embedding(CHARACTERS, flags.width)(tokens) + places
    for _ in range(flags.layers):
        x = block(x)
    x = layers.LayerNormalization()(x)
    model = keras.Model(tokens, layers.Dense(CHARACTERS, dtype="float32")(x))
    model.compile(keras.optimizers.AdamW(2e-3, weight_decay=0.1, global_clipnorm=1.0),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    data = tf.data.Dataset.from_tensor_slices(tuple(pieces(flags)))
    data = data.shuffle(8000, 1).repeat().batch(flags.batch_size)
    return model.fit(data, epochs=1, steps_per_epoch=flags.steps, verbose=0).history["loss"][0]


def with_pytorch(flags):
    import torch
    from torch import nn

    torch.set_num_threads(flags.threads)
    torch.manual_seed(1)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(flags.width), nn.LayerNorm(flags.width)
            self.qkv = nn.Linear(flags.width, 3 * flags.width)
            self.joined = nn.Linear(flags.width, flags.width)
            self.dense = nn.Sequential(nn.Linear(flags.width, 4 * flags.width), nn.GELU(),
                                       nn.Linear(4 * flags.width, flags.width))

        def forward(self, x):
            batch, places, width = x.shape
            q, k, v = (part.view(batch, places, flags.heads, -1).transpose(1, 2)
                       for part in self.qkv(self.norm1(x)).split(width, -1))
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.joined(y.transpose(1, 2).reshape(batch, places, width))
            return x + self.dense(self.norm2(x))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.characters = nn.Embedding(CHARACTERS, flags.width)
            self.places = nn.Embedding(flags.context, flags.width)
            self.blocks = nn.Sequential(*(Block() for _ in range(flags.layers)))
            self.head = nn.Sequential(nn.LayerNorm(flags.width), nn.Linear(flags.width, CHARACTERS))

        def forward(self, tokens):
            x = self.characters(tokens) + self.places(torch.arange(tokens.shape[1]))
            return self.head(self.blocks(x))

    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1, fused=True)
    x, y = (torch.from_numpy(part.astype(np.int64)) for part in pieces(flags))
    order = torch.randperm(len(x))
    for step in range(flags.steps):
        rows = order[torch.arange(step * flags.batch_size, (step + 1) * flags.batch_size) % len(x)]
        with torch.autocast("cpu", torch.bfloat16, flags.policy == "mixed_bfloat16"):
            logits = model(x[rows])
        loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), y[rows].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=["tensorflow", "pytorch"], default="tensorflow")
    for name, value in (("steps", 200), ("threads", 2), ("layers", 4), ("width", 128), ("heads", 4),
                        ("context", 128), ("batch_size", 16)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--policy", choices=["float32", "mixed_bfloat16"], default="float32")
    flags = parser.parse_args()
    train = with_keras if flags.framework == "tensorflow" else with_pytorch
    print(f"loss {train(flags):.4f}")


if __name__ == "__main__":
    main()

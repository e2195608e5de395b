#!/usr/bin/env python3
"""Checkpoints of Keras 3 models: keras_checkpoints.py make|check DIRECTORY, see keras_files.py."""
import keras_files
from keras_script import keras, np, tf

L, O = keras.layers, keras.optimizers


class Subclass(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = L.Dense(2)
        self.blocks = [L.Dense(3), L.Dense(2)]
        self.last = L.Dense(1)

    def call(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def pictures():
    return keras.Sequential([L.Conv2D(2, 2), L.DepthwiseConv2D(2), L.SeparableConv2D(2, 2), L.Conv2DTranspose(2, 2),
                             L.GroupNormalization(1), L.Flatten(), L.Dense(1)])


def text():
    return keras.Sequential([L.Embedding(5, 2, mask_zero=True), L.Bidirectional(L.LSTM(2, return_sequences=True)), L.Dropout(0.5),
                             L.GRU(2), L.LayerNormalization(), L.Dense(1)])


def cells():
    return keras.Sequential([L.Embedding(5, 2, mask_zero=True),
                             L.Bidirectional(L.RNN([L.LSTMCell(2), L.GRUCell(3), L.LSTMCell(2)], return_sequences=True)),
                             L.RNN(L.SimpleRNNCell(2)), L.Dense(1)])


def attention():
    ids = keras.Input((4,), dtype="int32", name="ids")
    e = L.Embedding(5, 4, mask_zero=True)(ids)
    f = L.Embedding(5, 4, mask_zero=True)(ids)
    x = L.LayerNormalization()(L.Add()([L.MultiHeadAttention(2, 2)(e, e), e]))
    return keras.Model({"ids": ids}, {"y": L.Dense(1)(L.LSTM(2)(L.Concatenate()([x, f])))})


def minimize(optimizer, loss, model):
    with tf.GradientTape() as tape:
        scaled = optimizer.scale_loss(loss())
    weights = model.trainable_variables
    gradients = tape.gradient(scaled, weights)
    optimizer.apply_gradients(zip([g if g is not None else tf.zeros_like(w) for g, w in zip(gradients, weights)], weights))


ids, x = np.array([[1, 2, 3, 0]], "int32"), np.full((1, 3), 0.5, "float32")

if __name__ == "__main__":
    keras_files.Files(
        keras=keras,
        models={**keras_files.models(keras), "pictures": pictures, "subclass": Subclass, "text": text, "attention": attention,
                "cells": cells},
        optimizers={**keras_files.optimizers(keras), "adamw": O.AdamW, "lamb": O.Lamb,
                    "nadam_schedule": lambda: O.Nadam(O.schedules.CosineDecay(0.1, 10)),
                    "scaled": lambda: O.LossScaleOptimizer(O.Adam(0.01), 64.0, 3),
                    "scaled_sgd": lambda: O.LossScaleOptimizer(O.SGD(0.25), 64.0, 3)},
        inputs={"functional": {"a": x, "b": x}, "attention": {"ids": ids}, "text": ids, "cells": ids,
                "pictures": np.full((1, 6, 6, 2), 0.5, "float32")},
        minimize=minimize,
        scale_of=lambda optimizer: (float(optimizer.dynamic_scale), int(optimizer.step_counter))).main()

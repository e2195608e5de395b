#!/usr/bin/env python3
"""Checkpoints of Keras 2 (package tf_keras): keras2_checkpoints.py DIRECTORY.

Trains two steps, saves with tf.train.Checkpoint, and writes what the models answer then and after a third step to DIRECTORY/answers.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf
import tf_keras as keras

L, O = keras.layers, keras.optimizers


def sequential():
    return keras.Sequential([L.Dense(2), L.BatchNormalization(), L.Dropout(0.5), L.Dense(1)])


def functional():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    left = L.Dense(2)(L.Dense(2)(a))
    right = L.Dense(2)(b)
    inner = keras.Sequential([L.Dense(2), L.BatchNormalization()])
    y = inner(L.Add()([left, right]))
    return keras.Model({"a": a, "b": b}, {"x": L.Dense(1)(y), "c": L.Dense(2)(right)})


MODELS = {"sequential": sequential, "functional": functional}
OPTIMIZERS = {"sgd": lambda: O.SGD(0.25), "momentum": lambda: O.SGD(0.25, momentum=0.5), "adam": O.Adam, "amsgrad": lambda: O.Adam(amsgrad=True),
              "nadam": O.Nadam, "adamax": O.Adamax, "rmsprop": lambda: O.RMSprop(momentum=0.5, centered=True), "adagrad": O.Adagrad,
              "adadelta": O.Adadelta, "ftrl": O.Ftrl, "legacy_adam": O.legacy.Adam, "legacy_momentum": lambda: O.legacy.SGD(0.25, momentum=0.5)}


def run(name, model):
    x = np.full((1, 3), 0.5, "float32")
    y = model({"a": x, "b": x} if name == "functional" else x)
    return tf.concat([tf.reshape(y[key], [-1]) for key in sorted(y)], 0) if isinstance(y, dict) else tf.reshape(y, [-1])


def main(directory):
    answers = {}
    for name, optimizer_name in [("functional", "adam")] + [("sequential", o) for o in OPTIMIZERS]:
        keras.utils.set_random_seed(1)
        model, optimizer = MODELS[name](), OPTIMIZERS[optimizer_name]()

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(run(name, model) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

        step()
        step()
        both = f"{name}_{optimizer_name}"
        tf.train.Checkpoint(model=model, optimizer=optimizer).write(f"{directory}/{both}")
        answers[f"{both}/before"] = run(name, model)
        step()
        answers[f"{both}/after"] = run(name, model)
    tf.raw_ops.SaveV2(prefix=f"{directory}/answers", tensor_names=list(answers), shape_and_slices=[""] * len(answers),
                      tensors=list(answers.values()))


if __name__ == "__main__":
    main(sys.argv[1])

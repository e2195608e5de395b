#!/usr/bin/env python3
"""Prints what Keras says of the trainings in fit_options_test.cpp and fit_outputs_test.cpp."""
import keras
import numpy as np

ROWS = 22
x = np.sin(np.arange(ROWS * 5, dtype=np.float32)).reshape(ROWS, 5)
y = np.where(x[:, 0] > 0.3, 2, np.where(x[:, 1] > 0, 1, 0)).astype(np.int64)
target = 2 * x[:, :1]
weight = (1 + np.arange(ROWS) % 3).astype(np.float32)


def fill(layers):
    phase = np.float32(0)  # as in the tests
    for layer in layers:
        values = []
        for variable in layer.weights:
            flat = []
            for _ in range(int(np.prod(variable.shape))):
                phase += np.float32(1.7)
                flat.append(np.float32(0.7) * np.sin(phase))
            values.append(np.array(flat, np.float32).reshape(variable.shape))
        layer.set_weights(values)


def small(shape=(5,)):
    net = keras.Sequential([keras.Input(shape), keras.layers.Dense(8, "tanh"), keras.layers.Dense(3)])
    fill(net.layers)
    return net


def compiled(net, **more):
    net.compile(optimizer=keras.optimizers.SGD(0.3, momentum=0.9), **more)
    return net


def classifier(**more):
    return compiled(small(), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                    metrics=["accuracy"], **more)


def show(name, history):
    for key, values in history.items():
        print(name, key, [float(f"{v:.7g}") for v in np.atleast_1d(values)])


fit = {"batch_size": 8, "epochs": 3, "shuffle": False, "verbose": 0}
show("class_weight", classifier(weighted_metrics=["accuracy"]).fit(
    x, y, class_weight={0: 0.5, 2: 3.0}, **fit).history)
show("sample_weight", classifier(weighted_metrics=["accuracy"]).fit(
    x, y, sample_weight=weight, **fit).history)
show("validation_split", classifier().fit(x, y, validation_split=0.25, **fit).history)
show("steps_per_execution", classifier(steps_per_execution=2).fit(x, y, **fit).history)
steps = compiled(small((2, 5)), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
show("steps weighted", steps.evaluate(x.reshape(11, 2, 5), y.reshape(11, 2), batch_size=4, verbose=0,
                                      sample_weight=weight.reshape(11, 2), return_dict=True))


def two_heads():
    image = keras.Input((5,), name="features")
    hidden = keras.layers.Dense(8, "tanh", name="hidden")
    kind, size = keras.layers.Dense(3, name="kind"), keras.layers.Dense(1, name="size")
    h = hidden(image)
    net = keras.Model(image, {"kind": kind(h), "size": size(h)})
    fill([hidden, kind, size])
    return net


def outputs(**more):
    return compiled(two_heads(), loss={
        "kind": keras.losses.SparseCategoricalCrossentropy(from_logits=True), "size": "mse"},
        metrics={"kind": ["accuracy"], "size": ["mae"]}, **more)


# Whole batches: Keras's losses of outputs are means over batches, whatever their sizes.
x, weight, targets = x[:16], weight[:16], {"kind": y[:16], "size": target[:16]}
show("outputs", outputs().fit(x, targets, **fit).history)
show("loss_weights", outputs(loss_weights={"kind": 1.0, "size": 0.25}).fit(x, targets, **fit).history)
show("output weights", outputs().fit(
    x, targets, sample_weight={"kind": weight, "size": np.ones_like(weight)}, **fit).history)

#!/usr/bin/env python3
"""Writes a ResNet-50 of keras.applications with random weights: keras_resnet_writes.py [check] DIRECTORY.

DIRECTORY/weights: a TensorBundle; x, y: raw float32, images [2, 64, 64, 3] and logits [2, 10]. With the same weights: probabilities
[2, 10], and without the top features [2, 2, 2, 2048], avg and max [2, 2048].
DIRECTORY/trained: a checkpoint after a step of SGD with momentum; trained_y: its probabilities [2, 10].
check: restores DIRECTORY/ours, the same as keras_resnet_test.cpp wrote it, and compares.
Exit status 77 where TensorFlow is not installed.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import np, tf


def write(directory):
    random = np.random.default_rng(1)
    model = tf.keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10,
                                           classifier_activation=None)
    for layer in model.layers:  # statistics and biases that are no zeros and ones
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.set_weights([w + random.uniform(0, 0.2, w.shape) for w in layer.get_weights()])
        elif isinstance(layer, tf.keras.layers.Conv2D):
            kernel, bias = layer.get_weights()
            layer.set_weights([kernel, random.uniform(-0.1, 0.1, bias.shape)])
    x = random.uniform(-1, 1, (2, 64, 64, 3)).astype("float32")
    y = model(x, training=False).numpy()
    tf.train.Checkpoint(model=model).write(str(directory / "weights"))
    x.tofile(directory / "x")
    y.tofile(directory / "y")
    variants = {"probabilities": {"classes": 10}, "features": {"include_top": False},
                "avg": {"include_top": False, "pooling": "avg"},
                "max": {"include_top": False, "pooling": "max"}}
    for name, options in variants.items():
        other = tf.keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), **options)
        other.set_weights(model.get_weights()[:len(other.weights)])
        other(x, training=False).numpy().tofile(directory / name)
    model, optimizer = with_optimizer()
    for weight in model.weights:  # variances stay positive
        weight.assign_add(random.uniform(0, 0.01, weight.shape))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=False) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables),
                                  model.trainable_variables))
    tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(directory / "trained"))
    model(x, training=False).numpy().tofile(directory / "trained_y")


def with_optimizer():
    return (tf.keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10),
            tf.keras.optimizers.SGD(0.5, momentum=0.5))


def check(directory):
    model, optimizer = with_optimizer()
    optimizer.build(model.trainable_variables)
    tf.train.Checkpoint(model=model, optimizer=optimizer).restore(
        str(directory / "ours")).assert_consumed()
    x = np.fromfile(directory / "x", "float32").reshape(2, 64, 64, 3)
    y = np.fromfile(directory / "trained_y", "float32").reshape(2, 10)
    np.testing.assert_allclose(model(x, training=False), y, atol=1e-6)
    momenta = tf.train.load_checkpoint(str(directory / "trained"))
    for i, variable in enumerate(optimizer.variables):
        if i > 1:
            np.testing.assert_array_equal(variable, momenta.get_tensor(
                f"optimizer/_variables/{i}/.ATTRIBUTES/VARIABLE_VALUE"))
    assert int(optimizer.iterations) == 1


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(pathlib.Path(sys.argv[2]))
    else:
        write(pathlib.Path(sys.argv[1]))

#!/usr/bin/env python3
"""Writes a ResNet-50 of keras.applications with random weights: keras_resnet_writes.py DIRECTORY.

DIRECTORY/weights: a TensorBundle; x, y: raw float32, images [2, 64, 64, 3] and logits [2, 10]. With the same weights: probabilities
[2, 10], and without the top features [2, 2, 2, 2048], avg and max [2, 2048].
Exit status 77 where TensorFlow is not installed.
"""
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
try:
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def main():
    directory = pathlib.Path(sys.argv[1])
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
    return 0


if __name__ == "__main__":
    sys.exit(main())

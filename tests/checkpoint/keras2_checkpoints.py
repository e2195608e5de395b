#!/usr/bin/env python3
"""Checkpoints of Keras 2 (package tf_keras): keras2_checkpoints.py make|check DIRECTORY, see keras_files.py."""
import sys

import keras_files
from keras_script import np, tf
try:
    import tf_keras as keras
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

O = keras.optimizers


def minimize(optimizer, loss, model):
    scaled = hasattr(optimizer, "get_scaled_loss")
    with tf.GradientTape() as tape:
        value = optimizer.get_scaled_loss(loss()) if scaled else loss()
    weights = model.trainable_variables
    gradients = tape.gradient(value, weights)
    optimizer.apply_gradients(zip(optimizer.get_unscaled_gradients(gradients) if scaled else gradients, weights))


def scaled(inner):
    return keras.mixed_precision.LossScaleOptimizer(inner, initial_scale=64, dynamic_growth_steps=3)


if __name__ == "__main__":
    x = np.full((1, 3), 0.5, "float32")
    keras_files.Files(
        keras=keras,
        models=keras_files.models(keras),
        optimizers={**keras_files.optimizers(keras),
                    "scaled": lambda: scaled(O.Adam(0.01)), "scaled_sgd": lambda: scaled(O.SGD(0.25)),
                    "legacy_adam": O.legacy.Adam, "legacy_momentum": lambda: O.legacy.SGD(0.25, momentum=0.5)},
        inputs={"functional": {"a": x, "b": x}},
        minimize=minimize,
        scale_of=lambda optimizer: (float(optimizer.loss_scale), int(optimizer.dynamic_counter)),
        without_check=("legacy_",),  # files of TensorFlow 2.10 and before are read alone
        without_third_step=("nadam",)).main()  # it then multiplies the product once for each weight

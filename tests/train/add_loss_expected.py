#!/usr/bin/env python3
"""Prints what Keras says of the trainings in add_loss_test.cpp. Made with Keras 3.15, TensorFlow 2.21."""
import keras
import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
x = (np.arange(30).reshape(10, 3) % 7 / 7).astype("float32")
y = (np.arange(10) % 3).astype("float32").reshape(10, 1)


class Penalty(keras.layers.Layer):
    def __init__(self, of_examples=False):
        super().__init__()
        self.of_examples = of_examples

    def call(self, inputs):
        squares = tf.square(inputs)
        if self.of_examples:
            self.add_loss(0.01 * tf.reduce_sum(squares, axis=-1))
        else:
            self.add_loss(0.1 * tf.reduce_mean(squares))
        return inputs


def constant(value):
    return keras.initializers.Constant(value)


for strategy in (tf.distribute.get_strategy(), tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])):
    for of_examples, twice in ((False, False), (False, True), (True, False)):
        with strategy.scope():
            model = keras.Sequential([
                keras.Input((3,)), *([Penalty()] if twice else []),
                keras.layers.Dense(2, kernel_initializer=constant(0.5)), Penalty(of_examples),
                keras.layers.Dense(1, kernel_initializer=constant(1.0))])
            model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse", metrics=["mae"])
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
        history = model.fit(data, epochs=2, verbose=0).history
        print(of_examples, twice, strategy.num_replicas_in_sync, history["loss"], history["mae"],
              model.evaluate(data, verbose=0)[0], [float(np.sum(w)) for w in model.get_weights()])

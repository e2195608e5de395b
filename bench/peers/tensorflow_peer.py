#!/usr/bin/env python3
"""The book and tutorial networks in TensorFlow, as fast as a careful user would write them.

Forms: `fused`  tf.nn layers, tf.function, TensorFlow's fused update kernels (the fastest found)
       `keras`  a Keras model and a Keras optimizer inside tf.function with GradientTape
       `xla`    `fused` compiled by XLA (jit_compile=True), for information
"""
import json
import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import peer_common

FLAGS = peer_common.parse_flags(__doc__.splitlines()[0], ["fused", "keras", "xla"])

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(FLAGS.threads)
tf.config.threading.set_inter_op_parallelism_threads(
    int(os.environ.get("PEER_INTER_OP_THREADS", "1" if FLAGS.workers == 1 else "2")))
CONVOLUTIONS, PADDING, HIDDEN = peer_common.MODELS[FLAGS.model]


def loss_of(labels, logits):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def launch_workers():
    """Starts this script once for each worker, with TF_CONFIG."""
    cluster = {"worker": [f"127.0.0.1:{port}" for port in peer_common.free_ports(FLAGS.workers)]}
    workers = [subprocess.Popen([sys.executable, *sys.argv], env={
        **os.environ, "TF_CONFIG": json.dumps({"cluster": cluster,
                                               "task": {"type": "worker", "index": index}})})
        for index in range(FLAGS.workers)]
    sys.exit(max(worker.wait() for worker in workers))


def worker_step():
    """The Keras step on every worker of MultiWorkerMirroredStrategy."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        step = keras_step()

    @tf.function
    def all_workers(images, labels):
        losses = strategy.run(step, (images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return all_workers


def keras_step():
    layers = [tf.keras.Input((28, 28, 1))]
    for size, filters in CONVOLUTIONS:
        layers += [tf.keras.layers.Conv2D(filters, size, padding=PADDING.lower(),
                                          activation="relu"), tf.keras.layers.MaxPool2D()]
    layers += [tf.keras.layers.Flatten(), tf.keras.layers.Dense(HIDDEN, activation="relu"),
               tf.keras.layers.Dense(10)]
    model = tf.keras.Sequential(layers)
    optimizer = (tf.keras.optimizers.Adam(1e-4) if FLAGS.model == "book"
                 else tf.keras.optimizers.SGD(0.01))
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return step


def make_weights():
    """Pairs (kernel, bias) of every layer, Glorot uniform and zero as in Keras."""
    shapes, channels, side = [], 1, 28
    for size, filters in CONVOLUTIONS:
        shapes.append((size, size, channels, filters))
        side = (side if PADDING == "SAME" else side - size + 1) // 2
        channels = filters
    shapes += [(side * side * channels, HIDDEN), (HIDDEN, 10)]
    glorot = tf.initializers.GlorotUniform(seed=1)
    return [(tf.Variable(glorot(shape)), tf.Variable(tf.zeros(shape[-1]))) for shape in shapes]


def forward(weights, images):
    value = images
    for kernel, bias in weights[:-2]:
        value = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(value, kernel, 1, PADDING), bias))
        value = tf.nn.max_pool2d(value, 2, 2, "VALID")
    value = tf.reshape(value, [FLAGS.batch_size, -1])
    value = tf.nn.relu(tf.matmul(value, weights[-2][0]) + weights[-2][1])
    return tf.matmul(value, weights[-1][0]) + weights[-1][1]


def fused_step(xla):
    weights = make_weights()
    variables = [variable for pair in weights for variable in pair]
    moments = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]
    power1, power2 = tf.Variable(0.9), tf.Variable(0.999)

    def update(variable, moment, gradient):
        if FLAGS.model != "book":
            return tf.raw_ops.ResourceApplyGradientDescent(
                var=variable.handle, alpha=0.01, delta=gradient)
        return tf.raw_ops.ResourceApplyAdam(
            var=variable.handle, m=moment[0].handle, v=moment[1].handle, beta1_power=power1,
            beta2_power=power2, lr=1e-4, beta1=0.9, beta2=0.999, epsilon=1e-7, grad=gradient)

    @tf.function(jit_compile=xla)
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, forward(weights, images))
        for variable, moment, gradient in zip(variables, moments, tape.gradient(loss, variables)):
            update(variable, moment, gradient)
        power1.assign(power1 * 0.9)
        power2.assign(power2 * 0.999)
        return loss

    return step


def main():
    if FLAGS.workers > 1 and "TF_CONFIG" not in os.environ:
        launch_workers()
    if FLAGS.workers > 1:
        step = worker_step()
    else:
        step = keras_step() if FLAGS.form == "keras" else fused_step(xla=FLAGS.form == "xla")
    data = [(tf.constant(x), tf.constant(y)) for x, y in peer_common.batches(FLAGS)]
    prints = FLAGS.workers == 1 or json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 0
    peer_common.measure(FLAGS, "tensorflow", tf.__version__, data,
                        lambda batch: float(step(*batch)), prints)


main()

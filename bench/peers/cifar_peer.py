#!/usr/bin/env python3
"""Training of ResNet-9 or ResNet-20 on CIFAR-10 in TensorFlow on the CPU, from TFRecords of JPEGs.

The networks, the batch, Nesterov momentum, weight decay, label smoothing and the augmentation (pad,
crop, mirror, normalize) of `resnet50 --dataset=cifar10`, in a Keras model inside tf.function, fed
by tf.data with parallel decoding and prefetch. Prints one JSON line.
"""
import argparse
import glob
import json
import os
import resource
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import tensorflow as tf
from tensorflow.keras import layers


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--model", choices=["resnet9", "resnet20"], default="resnet20")
    parser.add_argument("--policy", choices=["float32", "mixed_bfloat16"], default="float32")
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=30, help="timed steps, after five others")
    return parser.parse_args()


def pictures(flags):
    spec = {"image/encoded": tf.io.FixedLenFeature([], tf.string),
            "image/class/label": tf.io.FixedLenFeature([], tf.int64)}
    mean, stddev = tf.constant([125.3, 123.0, 113.9]), tf.constant([63.0, 62.1, 66.7])

    def load(record):
        example = tf.io.parse_single_example(record, spec)
        image = (tf.cast(tf.io.decode_jpeg(example["image/encoded"], channels=3), tf.float32) -
                 mean) / stddev
        image = tf.image.random_crop(tf.image.pad_to_bounding_box(image, 4, 4, 40, 40),
                                     [32, 32, 3])
        return tf.image.random_flip_left_right(image), example["image/class/label"]

    files = sorted(glob.glob(os.path.join(flags.data_dir, "train-*-of-*")))
    options = tf.data.Options()
    options.threading.private_threadpool_size = flags.threads
    return tf.data.TFRecordDataset(files, num_parallel_reads=10).shuffle(10_000).repeat().map(
        load, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True).batch(
            flags.batch_size, drop_remainder=True).prefetch(2).with_options(options)


def convolution(x, filters, size=3, stride=1):
    return layers.Conv2D(filters, size, stride, padding="same", use_bias=False)(x)


def activated(x):
    return layers.ReLU()(layers.BatchNormalization()(x))


def residual(x, side):
    return layers.ReLU()(layers.Add()([layers.BatchNormalization()(x), side]))


def resnet20(x):
    x = activated(convolution(x, 16))
    for stage, filters in enumerate((16, 32, 64)):
        for i in range(3):
            stride = 2 if stage and i == 0 else 1
            side = x if stride == 1 else layers.BatchNormalization()(
                convolution(x, filters, 1, stride))
            inner = activated(convolution(x, filters, 3, stride))
            x = residual(convolution(inner, filters), side)
    return layers.Dense(10, dtype="float32")(layers.GlobalAveragePooling2D()(x))


def resnet9(x):
    x = activated(convolution(x, 64))
    for filters in (128, 256, 512):
        x = activated(layers.MaxPooling2D()(convolution(x, filters)))
        if filters != 256:
            x = residual(convolution(activated(convolution(x, filters)), filters), x)
    logits = layers.Dense(10, dtype="float32")(layers.GlobalMaxPooling2D()(x))
    return layers.Rescaling(0.125, dtype="float32")(logits)


def main():
    flags = parse_flags()
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.keras.mixed_precision.set_global_policy(flags.policy)
    entry = tf.keras.Input((32, 32, 3))
    model = tf.keras.Model(entry, {"resnet9": resnet9, "resnet20": resnet20}[flags.model](entry))
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    optimizer.exclude_from_weight_decay(var_names=["gamma", "beta", "bias"])
    optimizer.build(model.trainable_variables)
    loss_of = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(tf.one_hot(labels, 10), model(images, training=True))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    times, begin = [], time.perf_counter()
    for number, (images, labels) in enumerate(pictures(flags)):
        loss = float(step(images, labels))
        now = time.perf_counter()
        times.append(now - begin)  # with the wait for the batch
        begin = now
        if number + 1 == 5 + flags.steps:
            break
    median = statistics.median(times[5:])
    print(json.dumps({
        "framework": "tensorflow", "version": tf.__version__, "model": flags.model,
        "policy": flags.policy, "threads": flags.threads, "global_batch": flags.batch_size,
        "steps": flags.steps, "images_per_second": flags.batch_size / median,
        "step_ms_p50": 1e3 * median, "loss": loss,
        "parameters": sum(int(tf.size(v)) for v in model.trainable_variables),
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


main()

#!/usr/bin/env python3
"""Writes the records beside it in the form of TensorFlow Datasets' cassava: image, image/filename,
label from 0, compressed by nothing. The pictures are noise of 16 x 16 pixels.

Usage: make_cassava.py      with a Python that has TensorFlow
"""
import pathlib

import tensorflow as tf

HERE = pathlib.Path(__file__).parent


def example(number, label):
    pixels = tf.random.stateless_uniform([16, 16, 3], [number, label], 0, 255, tf.int32)
    picture = tf.io.encode_jpeg(tf.cast(pixels, tf.uint8), quality=30).numpy()
    feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture])),
               "image/filename": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"leaf-%d.jpg" % number])),
               "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString(deterministic=True)


for split, count in (("train", 6), ("validation", 5)):
    with tf.io.TFRecordWriter(str(HERE / f"cassava-{split}.tfrecord-00000-of-00001")) as writer:
        for number in range(count):
            writer.write(example(number, number % 5))

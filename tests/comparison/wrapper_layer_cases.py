"""Layers around layers, and layers that resize, for tensorflow_cases.py: what wrapper_layer_cases.cpp and
resizing_cases.cpp do here.
"""
import itertools

import keras
import numpy as np
import tensorflow as tf

from fit_cases import numbers
from layer_cases import IDS, IMAGE, MASK, R, STEPS, Cases, sums, uniform

L = keras.layers


def spectral_cases(check):
    norm = L.SpectralNormalization
    layers = {"dense": (lambda: L.Dense(4, activation="tanh"), STEPS), "flat dense": (lambda: L.Dense(1), (2, 3)),
              "einsum": (lambda: L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de"), STEPS),
              "conv1d": (lambda: L.Conv1D(2, 2), STEPS), "conv2d": (lambda: L.Conv2D(3, (2, 3)), IMAGE),
              "depthwise": (lambda: L.DepthwiseConv2D(2, depth_multiplier=2), IMAGE),
              "transposed": (lambda: L.Conv2DTranspose(3, 2, 2), IMAGE),
              "no bias": (lambda: L.Dense(2, use_bias=False), STEPS),
              "float indices": (lambda: L.Embedding(4, 3), IDS.astype(np.float32))}
    for name, (make, shape) in layers.items():
        check(f"spectral {name}", lambda: norm(make()), shape)
        for iterations, calls in ((1, 1), (3, 1), (1, 3)):
            check(f"spectral {name}, {iterations} iterations, {calls} calls", lambda: norm(make(), iterations), shape,
                  training=True, calls=calls)
    check("spectral masked", lambda: norm(L.Dense(2)), STEPS, training=True, mask=MASK)
    check("spectral lstm", lambda: norm(L.LSTM(2)), STEPS)
    check("spectral batch norm", lambda: norm(L.BatchNormalization()), STEPS)
    check("spectral separable", lambda: norm(L.SeparableConv1D(2, 2)), STEPS)
    check("spectral frozen", lambda: norm(L.Dense(2)), STEPS, training=True, frozen=True)
    check("spectral regularized", lambda: norm(L.Dense(
        2, kernel_regularizer=R.L2(0.1), bias_regularizer=R.L1(0.2))), STEPS, training=True)
    check("spectral of spectral", lambda: norm(norm(L.Dense(2), 2)), STEPS, training=True)
    for iterations in (0, -1):
        check(f"spectral {iterations} iterations", lambda: norm(L.Dense(2), iterations), STEPS)
    case = lambda name, function: check.case("layers/spectral " + name, function)

    def indices():
        layer = norm(L.Embedding(4, 3, embeddings_initializer="ones"))
        return f"{layer(IDS).dtype.name} {sums('out', layer(IDS))}"
    case("indices", indices)

    def zeros():
        layer = norm(L.Dense(2, kernel_initializer="zeros"))
        return sums("out", layer(uniform(STEPS, 500), training=True)) + " " + sums("kernel", layer.layer.kernel)
    case("zeros", zeros)

    def trained(policy, replicas):
        keras.config.set_dtype_policy(policy)
        strategy = check.mirrored(replicas)
        with strategy.scope():
            model = keras.Sequential([keras.Input((4,)), norm(L.Dense(2))])
            for i, weight in enumerate(model.weights):
                weight.assign(uniform(weight.shape, i + 1))
            model.compile(keras.optimizers.SGD(0.125), "mse")
        keras.config.set_dtype_policy("float32")
        x = uniform((8, 4), 7)
        history = model.fit(x, np.ones((8, 2), np.float32), batch_size=4, epochs=3, shuffle=False, verbose=0)
        return " ".join([numbers(history.history["loss"]), *(numbers(np.ravel(w)) for w in model.get_weights()),
                         numbers(np.ravel(model.predict(x[:2], verbose=0)))])
    for replicas in (1, 2):
        case(f"trained on {replicas}", lambda: trained("float32", replicas))


METHODS = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")
SIZES = ((5, 6), (3, 4), (9, 7), (2, 11), (1, 1), (12, 3), (4, 6))
PICTURES = (2, 5, 6, 3)


def resizing_cases(check):
    counts = (np.arange(2 * 5 * 6 * 3, dtype=np.int32).reshape(PICTURES) * 7 - 200) % 251
    for method, (height, width), antialias in itertools.product(METHODS, SIZES, (False, True)):
        check(f"resizing {height} {width} {method}, antialias {antialias}", lambda: L.Resizing(
            height, width, method, antialias=antialias), PICTURES)
    for method, (height, width), keeps in itertools.product(METHODS, SIZES, ("crop", "pad")):
        check(f"resizing {height} {width} {method}, {keeps}", lambda: L.Resizing(
            height, width, method, **{keeps + "_to_aspect_ratio": True}), PICTURES)
    for height, width in SIZES:
        check(f"resizing {height} {width}, pad with 0.5", lambda: L.Resizing(
            height, width, pad_to_aspect_ratio=True, fill_value=0.5), (2, 6, 5, 3))
        check(f"resizing {height} {width}, crop of one image, antialias", lambda: L.Resizing(
            height, width, crop_to_aspect_ratio=True, antialias=True), (6, 5, 3))
        check(f"resizing {height} {width}, pad of one image", lambda: L.Resizing(height, width, pad_to_aspect_ratio=True), (6, 5, 3))
    for dtype, method, keeps in itertools.product(("uint8", "int32"), METHODS, ("stretch", "crop", "pad")):
        options = {} if keeps == "stretch" else {keeps + "_to_aspect_ratio": True}
        pictures = np.abs(counts).astype(dtype) if dtype == "uint8" else counts
        check(f"resizing of {dtype} {method}, {keeps}", lambda: L.Resizing(3, 8, method, **options), pictures)
    check("resizing crop and pad", lambda: L.Resizing(3, 3, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True), PICTURES)
    check("resizing fill_value 1 of integers", lambda: L.Resizing(9, 3, pad_to_aspect_ratio=True, fill_value=1), counts)
    for method, size in itertools.product(METHODS, ((2, 2), (1, 3), (3, 1), (1, 1))):
        check(f"up sampling {size} {method}", lambda: L.UpSampling2D(size, interpolation=method), PICTURES)


def wrapper_layer_cases(case, mirrored):
    check = Cases(case)
    check.mirrored = mirrored
    spectral_cases(check)
    resizing_cases(check)

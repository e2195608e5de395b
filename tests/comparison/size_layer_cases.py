"""Layers of sequences and volumes, of edges and sizes, penalties on results, and axes of
normalizations, for tensorflow_cases.py: what size_layer_cases.cpp does here."""
import itertools

import keras
import numpy as np
import tensorflow as tf

from layer_cases import IDS, IMAGE, MASK, NONE, STEPS, Cases

L, R, C = keras.layers, keras.regularizers, keras.constraints
VOLUME = (2, 4, 5, 3, 2)
REGULAR = {"kernel_regularizer": R.L1L2(0.01, 0.02), "bias_regularizer": R.L2(0.03)}


def edges(check):
    for padding in (0, 1, (2, 0), (1, 3)):
        check(f"zero padding 1d {padding}", lambda: L.ZeroPadding1D(padding), STEPS)
        check(f"cropping 1d {padding}", lambda: L.Cropping1D(padding), STEPS)
    check("cropping 1d masked", lambda: L.Cropping1D((1, 0)), STEPS, mask=MASK)
    check("cropping 1d of all", lambda: L.Cropping1D((2, 3)), STEPS)
    check("cropping 1d negative", lambda: L.Cropping1D(-1), STEPS)
    for cropping in (0, 2, (1, 2), ((1, 0), (2, 3)), ((0, 2), (0, 0))):
        check(f"cropping 2d {cropping}", lambda: L.Cropping2D(cropping), IMAGE)
    check("cropping 2d of all", lambda: L.Cropping2D(3), IMAGE)
    for three in (0, 1, (1, 0, 1), ((0, 1), (2, 1), (1, 0))):
        check(f"zero padding 3d {three}", lambda: L.ZeroPadding3D(three), VOLUME)
        check(f"cropping 3d {three}", lambda: L.Cropping3D(three), VOLUME)
    for size in (1, 2, 3):
        check(f"up sampling 1d {size}", lambda: L.UpSampling1D(size), STEPS)
    check("up sampling 1d masked", lambda: L.UpSampling1D(1), STEPS, mask=MASK)
    for size in (1, 2, (1, 2, 3)):
        check(f"up sampling 3d {size}", lambda: L.UpSampling3D(size), VOLUME)
    for height, width in ((3, 4), (5, 6), (2, 5), (8, 4), (7, 9), (1, 8)):
        check(f"center crop {height} {width}", lambda: L.CenterCrop(height, width), IMAGE)
    check("center crop of integers", lambda: L.CenterCrop(2, 2), np.arange(24, dtype=np.int32).reshape(1, 4, 3, 2))
    check("center crop of one image", lambda: L.CenterCrop(2, 3), (5, 6, 2))


def sequences(check):
    for stride, padding, dilation in itertools.product((1, 2, 3), ("valid", "same"), (1, 2)):
        text = f"{stride} {padding} {dilation}"
        check(f"depthwise 1d {text}", lambda: L.DepthwiseConv1D(2, stride, padding, depth_multiplier=2,
                                                                dilation_rate=dilation), (2, 7, 3))
        check(f"separable 1d {text}", lambda: L.SeparableConv1D(4, 3, stride, padding, dilation_rate=dilation),
              (2, 7, 3))
        if stride == 1 or dilation == 1:
            check(f"transpose 1d {text}", lambda: L.Conv1DTranspose(2, 3, stride, padding, dilation_rate=dilation),
                  STEPS)
    for kernel, more, padding in itertools.product((2, 3), (0, 1), ("valid", "same")):
        check(f"transpose 1d output padding {kernel} {more} {padding}",
              lambda: L.Conv1DTranspose(2, kernel, 2, padding, output_padding=more), STEPS)
        check(f"transpose 2d output padding {kernel} {more} {padding}",
              lambda: L.Conv2DTranspose(2, kernel, 2, padding, output_padding=more), IMAGE)
    check("transpose 1d output padding 2", lambda: L.Conv1DTranspose(2, 3, 2, output_padding=2), STEPS)
    check("transpose 1d stride 4", lambda: L.Conv1DTranspose(2, 3, 4), STEPS)
    check("transpose 1d options", lambda: L.Conv1DTranspose(2, 3, activation="relu", activity_regularizer="l1",
                                                            **REGULAR), STEPS)
    check("depthwise 1d options", lambda: L.DepthwiseConv1D(
        3, activation="tanh", use_bias=False, depthwise_regularizer=R.L2(0.1), activity_regularizer="l2"), STEPS)
    check("separable 1d options", lambda: L.SeparableConv1D(
        2, 3, depth_multiplier=2, activation="relu", depthwise_regularizer=R.L2(0.1),
        pointwise_regularizer=R.L1(0.1), bias_regularizer=R.L2(0.2)), STEPS)
    check("separable 1d masked", lambda: L.SeparableConv1D(2, 1), STEPS, mask=MASK)


def volumes(check):
    for stride, padding, dilation in ((1, "valid", 1), (1, "same", 1), (2, "same", 1), (2, "valid", 1), (1, "same", 2),
                                      ((1, 2, 2), "same", 1), (1, "valid", (1, 2, 1))):
        text = f"{stride} {padding} {dilation}"
        check(f"conv3d {text}", lambda: L.Conv3D(3, (2, 3, 2), stride, padding, dilation_rate=dilation), VOLUME)
    check("conv3d options", lambda: L.Conv3D(4, 2, groups=2, activation="relu", activity_regularizer="l2", **REGULAR),
          VOLUME)
    check("conv3d wrong groups", lambda: L.Conv3D(3, 2, groups=2), VOLUME)
    for stride, padding, more in ((1, "valid", None), (1, "same", None), (2, "same", None), (2, "valid", None),
                                  ((1, 2, 3), "valid", None), (2, "same", 1), (2, "valid", (0, 1, 1))):
        check(f"transpose 3d {stride} {padding} {more}",
              lambda: L.Conv3DTranspose(2, (2, 3, 1), stride, padding, output_padding=more), VOLUME)
    check("transpose 3d options", lambda: L.Conv3DTranspose(2, 2, activation="tanh", use_bias=False, **REGULAR), VOLUME)
    for size, stride, padding in ((2, None, "valid"), (2, None, "same"), ((1, 2, 3), 1, "same"), (3, 2, "same"),
                                  (2, (2, 1, 2), "valid")):
        text = f"{size} {stride} {padding}"
        check(f"max pooling 3d {text}", lambda: L.MaxPooling3D(size, stride, padding), VOLUME)
        check(f"average pooling 3d {text}", lambda: L.AveragePooling3D(size, stride, padding), VOLUME)
    check("max pooling 3d of equals", lambda: keras.Sequential([L.UpSampling3D(2), L.MaxPooling3D(2)]), VOLUME)
    for keep in (False, True):
        check(f"global average 3d {keep}", lambda: L.GlobalAveragePooling3D(keepdims=keep), VOLUME)
        check(f"global max 3d {keep}", lambda: L.GlobalMaxPooling3D(keepdims=keep), VOLUME)
    # not to one element, nor to as many as there are, which end TensorFlow's program
    for kind, size in itertools.product(("Average", "Max"), (2, 3)):
        check(f"adaptive {kind} 1d {size}", lambda: getattr(L, f"Adaptive{kind}Pooling1D")(size), STEPS)
    for kind, size in itertools.product(("Average", "Max"), (2, (3, 4), (4, 2))):
        check(f"adaptive {kind} 2d {size}", lambda: getattr(L, f"Adaptive{kind}Pooling2D")(size), IMAGE)
    for kind, size in itertools.product(("Average", "Max"), (2, (3, 2, 2))):
        check(f"adaptive {kind} 3d {size}", lambda: getattr(L, f"Adaptive{kind}Pooling3D")(size), VOLUME)


def penalties(check):
    both = R.L1L2(0.1, 0.2)
    layers = {
        "dense": (lambda: L.Dense(2, activity_regularizer=both), STEPS),
        "conv1d": (lambda: L.Conv1D(2, 2, activity_regularizer=both), STEPS),
        "conv2d": (lambda: L.Conv2D(2, 2, activation="relu", activity_regularizer=both), IMAGE),
        "depthwise": (lambda: L.DepthwiseConv2D(2, activity_regularizer=both), IMAGE),
        "separable": (lambda: L.SeparableConv2D(2, 2, activity_regularizer=both), IMAGE),
        "transpose": (lambda: L.Conv2DTranspose(2, 2, activity_regularizer=both), IMAGE),
        "embedding": (lambda: L.Embedding(4, 3, activity_regularizer=both), IDS),
        "lstm": (lambda: L.LSTM(2, activity_regularizer=both), STEPS),
        "gru": (lambda: L.GRU(2, return_sequences=True, activity_regularizer=both, **REGULAR), STEPS),
        "rnn": (lambda: L.SimpleRNN(2, activity_regularizer=both), STEPS),
        "bidirectional": (lambda: L.Bidirectional(L.LSTM(2, activity_regularizer=both)), STEPS),
        "layer": (lambda: L.ActivityRegularization(0.1, 0.2), STEPS),
        "layer of one axis": (lambda: L.ActivityRegularization(0.1, 0.2), (3,))}
    for name, (make, shape) in layers.items():
        check(f"activity {name}", make, shape)
        check(f"activity {name} frozen", make, shape, frozen=True)
    check("activity of two calls", layers["dense"][0], STEPS, calls=3)
    check("activity masked", lambda: L.ActivityRegularization(0.1, 0.2), STEPS, mask=NONE)
    check("activity heads", lambda: L.MultiHeadAttention(2, 3, activity_regularizer=both), STEPS,
          call=lambda f, x: f(x, x))

    def losses_of(model, width):
        model(np.ones((2, width), np.float32))
        for weight in model.weights:
            weight.assign(np.full(weight.shape, 0.5, np.float32))
        model(np.ones((2, width), np.float32))
        model(np.ones((2, width), np.float32))
        return tf.stack(model.losses)

    def shared():
        layer, x = L.Dense(3, activity_regularizer=both), keras.Input((3,))
        return keras.Model(x, layer(keras.ops.relu(layer(x))))
    check.case("layers/activity of a layer twice", lambda: losses_of(shared(), 3))

    def fitted():
        model = keras.Sequential([keras.Input((2,)), L.Dense(2, kernel_initializer="ones", activity_regularizer=both),
                                  L.Dense(1, kernel_initializer="ones")])
        model.compile(keras.optimizers.SGD(0.01), "mse")
        x, y = np.float32([[1, 2], [3, 4], [0, 1], [2, 0]]), np.float32([[1], [2], [3], [4]])
        history = model.fit(x, y, batch_size=2, epochs=2, shuffle=False, verbose=0).history["loss"]
        return [*map(float, history), *np.ravel(model.weights[0]).tolist()]
    check.case("fit/activity penalty", lambda: np.float32(fitted()))


def functions(check):
    for alpha in (1, 0.5, -0.5, 0):
        check(f"elu layer {alpha}", lambda: L.ELU(alpha), STEPS, mask=MASK)
    check("elu layer of integers", lambda: L.ELU(), IDS)
    check("identity", lambda: L.Identity(), STEPS, mask=MASK)
    for axis in (-1, 1, (1, 2)):
        check(f"unit norm {axis}", lambda: L.UnitNormalization(axis), STEPS, mask=MASK)
    check("unit norm of zeros", lambda: L.UnitNormalization(), np.float32([[0, 0], [1e-7, 0], [3, 4]]))
    check("unit norm of integers", lambda: L.UnitNormalization(), IDS)
    for axis, training in itertools.product((1, 2, -2, 3), (False, True)):
        check(f"batch norm axis {axis} {training}", lambda: L.BatchNormalization(axis), IMAGE, training=training)
    for axis in (1, 2, 3, -2):
        check(f"group norm axis {axis}", lambda: L.GroupNormalization(2 if axis != 1 else 5, axis=axis), IMAGE)
    for name in ("AlphaDropout", "GaussianDropout", "SpatialDropout3D"):
        shape = VOLUME if name == "SpatialDropout3D" else STEPS
        check(f"{name} outside of training", lambda: getattr(L, name)(0.4), shape, mask=None if len(shape) == 5 else MASK)
        check(f"{name} of 0", lambda: getattr(L, name)(0), shape, training=True)
        check(f"{name} of 1.5", lambda: getattr(L, name)(1.5), shape)
    for name in ("AlphaDropout", "GaussianDropout"):
        check(f"{name} of 1", lambda: getattr(L, name)(1.0), STEPS, training=True)


def size_layer_cases(case):
    check = Cases(case)
    for part in (edges, sequences, volumes, penalties, functions):
        part(check)

"""Every option of every layer, for tensorflow_cases.py: what layer_cases.cpp does here.

A line has the output and its mask, gradients of inputs and weights of sum(output * factors), in the
order of Layer.weights, values of weights that are not trained, and the regularization terms. Of each
tensor it has two sums: of its elements times factors, and of its squares.
"""
import itertools
import re

import keras
import numpy as np
import tensorflow as tf

L, I, R, K = keras.layers, keras.initializers, keras.regularizers, keras.constraints
MASK = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 0, 0]], bool)
IDS = np.array([[2, 0, 1, 3, 0], [3, 3, 0, 1, 2]], np.int32)
STEPS, IMAGE = (2, 5, 3), (2, 5, 6, 4)
NONE = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0]], bool)  # the second example is all padding


def uniform(shape, seed):
    """Numbers in [-1, 1) from a hash of position and seed, exact in float32."""
    x = (np.arange(int(np.prod(shape)), dtype=np.uint64) * 2654435761 + seed * 40503 + 12345) & 0xFFFFFFFF
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    x ^= x >> 16
    return ((x >> 8).astype(np.float32) / np.float32(1 << 23) - np.float32(1)).reshape(shape)


def sums(name, tensor):
    y = np.asarray(tensor).astype(np.float64)
    sizes = "".join(f"[{size}]" for size in y.shape)
    return f"{name}{sizes} {(y * uniform(y.shape, 77)).sum():.7g} {(y * y).sum():.7g}"


def name_of(weight):
    """Without the layer's name, and without the numbers of automatic names."""
    return re.sub(r"_\d+(?=/)", "", weight.path.split("/", 1)[-1])


def set_weights(weights):
    for i, weight in enumerate(weights):
        value = uniform(weight.shape, i + 1) * np.float32(0.75)
        weight.assign(np.abs(value) + np.float32(0.5) if "variance" in weight.path else value)


def masked(x, mask):
    x = tf.identity(x)
    if mask is not None:
        x._keras_mask = tf.constant(mask)
    return x


def describe(layer, shapes, mask, training, frozen, call, calls):
    sources = [tf.Variable(uniform(s, 500 + i)) if isinstance(s, tuple) else tf.constant(s)
               for i, s in enumerate(shapes)]
    masks = mask if isinstance(mask, list) else [mask] + [None] * (len(sources) - 1)
    options = {"training": training} if getattr(layer, "_call_has_training_arg", False) else {}

    def compute():
        inputs = [masked(source, one) for source, one in zip(sources, masks)]
        if call:
            return call(layer, *inputs)
        return layer(inputs if len(inputs) > 1 else inputs[0], **options)
    compute()
    if hasattr(layer, "reset_state") and getattr(layer, "stateful", False):
        layer.reset_state()
    layer.trainable = not frozen
    set_weights(layer.weights)
    for _ in range(calls - 1):
        compute()
    with tf.GradientTape() as tape:
        results = compute()
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        loss = sum(tf.reduce_sum(tf.cast(y, tf.float32) * uniform(y.shape, 900)) for y in results)
    parts = [sums("out", y) for y in results]
    if getattr(results[0], "_keras_mask", None) is not None:
        parts.append("mask " + " ".join(str(int(one)) for one in np.ravel(results[0]._keras_mask)))
    inputs = [source for source in sources if isinstance(source, tf.Variable)]
    trained = [weight for weight in layer.weights if weight.trainable]
    gradients = tape.gradient(loss, inputs + [weight.value for weight in trained],
                              unconnected_gradients="zero")
    parts += [sums("input", gradient) for gradient in gradients[:len(inputs)]]
    found = dict(zip([weight.path for weight in trained], gradients[len(inputs):]))
    for weight in layer.weights:
        name = name_of(weight)
        if weight.path in found:
            parts.append(sums(name, tf.convert_to_tensor(found[weight.path])))
        else:
            parts.append(sums("value of " + name, weight.value))
    if layer.losses:
        parts.append("losses " + " ".join(f"{float(one):.7g}" for one in layer.losses))
    return " | ".join(parts)


class Cases:
    def __init__(self, case):
        self.case = case

    def __call__(self, name, make, *shapes, mask=None, training=False, frozen=False, call=None, calls=1):
        self.case("layers/" + name,
                  lambda: describe(make(), shapes, mask, training, frozen, call, calls))


REGULAR = {"kernel_regularizer": R.L1L2(0.01, 0.02), "bias_regularizer": R.L2(0.03)}


def convolutions(check):
    for padding, kernel, (strides, dilation) in itertools.product(
            ("valid", "same", "causal"), (1, 2, 4), ((1, 1), (2, 1), (3, 1), (1, 2))):
        check(f"conv1d {padding} kernel {kernel} strides {strides} dilation {dilation}",
              lambda: L.Conv1D(2, kernel, strides, padding, dilation_rate=dilation), (2, 7, 3))
    check("conv1d groups", lambda: L.Conv1D(4, 3, groups=2, activation="tanh"), (2, 7, 6))
    check("conv1d no bias", lambda: L.Conv1D(4, 3, use_bias=False, activation="relu", **REGULAR), (2, 7, 3))
    check("conv1d strides and dilation", lambda: L.Conv1D(4, 3, strides=2, dilation_rate=2), (2, 7, 3))
    check("conv1d masked", lambda: L.Conv1D(4, 2, padding="same"), STEPS, mask=MASK)
    check("conv1d frozen", lambda: L.Conv1D(4, 2, **REGULAR), STEPS, frozen=True)
    check("conv1d too few steps", lambda: L.Conv1D(4, 8), STEPS)
    for padding, kernel, (strides, dilation) in itertools.product(
            ("valid", "same"), (1, (2, 3), (4, 2), (5, 5)), (((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (1, 2)))):
        text = f"{padding} kernel {kernel} strides {strides} dilation {dilation}"
        check(f"conv2d {text}", lambda: L.Conv2D(3, kernel, strides, padding, dilation_rate=dilation), (2, 6, 7, 2))
        if strides == (1, 1) or dilation == (1, 1):
            check(f"separable {text}", lambda: L.SeparableConv2D(
                3, kernel, strides[0], padding, dilation_rate=dilation), (2, 6, 7, 2))
            check(f"depthwise {text}", lambda: L.DepthwiseConv2D(
                kernel, strides[0], padding, 2, dilation_rate=dilation), (2, 6, 7, 2))
    check("conv2d groups", lambda: L.Conv2D(4, (2, 3), groups=2, padding="same", **REGULAR), IMAGE)
    check("conv2d groups, strides", lambda: L.Conv2D(8, 3, strides=2, groups=4, activation="gelu"), IMAGE)
    check("conv2d strides and dilation", lambda: L.Conv2D(4, 2, strides=2, dilation_rate=2), IMAGE)
    check("conv2d wrong groups", lambda: L.Conv2D(3, 2, groups=2), IMAGE)
    check("depthwise strides of two sizes", lambda: L.DepthwiseConv2D(3, (2, 1)), IMAGE)
    check("depthwise regularized", lambda: L.DepthwiseConv2D(
        3, activation="relu", depthwise_regularizer=R.L1(0.1), bias_regularizer=R.L2(0.1)), IMAGE)
    check("separable options", lambda: L.SeparableConv2D(
        3, 3, depth_multiplier=2, activation="tanh", depthwise_regularizer=R.L1(0.1),
        pointwise_regularizer=R.L2(0.2), bias_regularizer=R.L2(0.1)), IMAGE)
    check("separable no bias", lambda: L.SeparableConv2D(3, 3, use_bias=False), IMAGE)
    for padding, kernel, strides in itertools.product(("valid", "same"), (1, (2, 3), 4), (1, 2, (3, 2))):
        check(f"transpose {padding} kernel {kernel} strides {strides}",
              lambda: L.Conv2DTranspose(3, kernel, strides, padding), (2, 3, 4, 2))
    check("transpose dilation", lambda: L.Conv2DTranspose(3, (2, 3), dilation_rate=(2, 1), activation="relu"), (2, 3, 4, 2))
    check("transpose dilation same", lambda: L.Conv2DTranspose(3, 3, padding="same", dilation_rate=2), (2, 3, 4, 2))
    check("transpose no bias", lambda: L.Conv2DTranspose(3, 3, use_bias=False, kernel_regularizer=R.L2(0.1)), (2, 3, 4, 2))


def pooling(check):
    for kind, padding, size, strides in itertools.product(
            ("Max", "Average"), ("valid", "same"), (2, 3), (None, 1, 2, 4)):
        check(f"{kind} 1d {padding} {size} {strides}",
              lambda: getattr(L, kind + "Pooling1D")(size, strides, padding), (2, 7, 3))
    for kind, padding, size, strides in itertools.product(
            ("Max", "Average"), ("valid", "same"), (2, (3, 2)), (None, (1, 2), 3)):
        check(f"{kind} 2d {padding} {size} {strides}",
              lambda: getattr(L, kind + "Pooling2D")(size, strides, padding), (2, 5, 6, 3))
    check("Max 1d masked", lambda: L.MaxPooling1D(1), STEPS, mask=MASK)
    check("Average 1d too wide", lambda: L.AveragePooling1D(6), STEPS)
    for kind, keep in itertools.product(("Max", "Average"), (False, True)):
        check(f"global {kind} 1d {keep}", lambda: getattr(L, f"Global{kind}Pooling1D")(keepdims=keep), STEPS)
        check(f"global {kind} 1d {keep} masked",
              lambda: getattr(L, f"Global{kind}Pooling1D")(keepdims=keep), STEPS, mask=MASK)
        check(f"global {kind} 2d {keep}", lambda: getattr(L, f"Global{kind}Pooling2D")(keepdims=keep), IMAGE)
    check("global Average 1d all masked", lambda: L.GlobalAveragePooling1D(), STEPS, mask=NONE)
    check("Max 2d ties", lambda: L.MaxPooling2D(2), np.ones((1, 4, 4, 1), np.float32))


def normalization(check):
    norm = L.BatchNormalization
    for shape, training in itertools.product(((4, 3), STEPS, IMAGE), (False, True)):
        check(f"batch norm {len(shape)} {training}", lambda: norm(), shape, training=training)
    for name, options in {
            "momentum": {"momentum": 0.3}, "epsilon": {"epsilon": 0.5}, "no center": {"center": False},
            "no scale": {"scale": False}, "neither": {"center": False, "scale": False},
            "regularized": {"beta_regularizer": R.L2(0.1), "gamma_regularizer": R.L1(0.2)}}.items():
        for training in (False, True):
            check(f"batch norm {name} {training}", lambda: norm(**options), STEPS, training=training)
        check(f"layer norm {name}", lambda: L.LayerNormalization(
            **{k: v for k, v in options.items() if k != "momentum"}), STEPS)
        check(f"group norm {name}", lambda: L.GroupNormalization(
            2, **{
k: v for k, v in options.items() if k != "momentum"}), IMAGE)
    check("batch norm twice", lambda: norm(momentum=0.6), STEPS, training=True, calls=2)
    check("batch norm frozen", lambda: norm(gamma_regularizer=R.L2(0.1)), STEPS, training=True, frozen=True)
    check("batch norm masked", lambda: norm(momentum=0.6), STEPS, training=True, mask=MASK)
    check("batch norm all masked", lambda: norm(momentum=0.6), STEPS, training=True, mask=NONE)
    check("batch norm masked, not training", lambda: norm(momentum=0.6), STEPS, mask=MASK)
    check("batch norm of one", lambda: norm(momentum=0.6), (1, 3), training=True)
    check("batch norm constant", lambda: norm(momentum=0.6), np.full((3, 2), 0.5, np.float32), training=True)
    for axis in (1, 2, -2, [1], [1, 2], (1, 2), [2, 1], [-1, 1], [1, 3], [1, 1]):
        check(f"layer norm axis {axis}", lambda: L.LayerNormalization(axis=axis), IMAGE)
    check("layer norm masked", lambda: L.LayerNormalization(), STEPS, mask=MASK)
    check("layer norm constant", lambda: L.LayerNormalization(), np.full((3, 2), 0.5, np.float32))
    check("layer norm large mean", lambda: L.LayerNormalization(), np.float32([[10, 11, 12.5]]))
    for groups in (1, 2, 4, -1, 3):
        check(f"group norm {groups}", lambda: L.GroupNormalization(groups), IMAGE)
        check(f"group norm {groups} of 2", lambda: L.GroupNormalization(groups), (3, 4))
    check("group norm masked", lambda: L.GroupNormalization(3), STEPS, mask=MASK)
    for axis in (-1, 1, 2):
        check(f"rms norm axis {axis}", lambda: L.RMSNormalization(axis=axis, epsilon=0.1), IMAGE)
    check("rms norm masked", lambda: L.RMSNormalization(), STEPS, mask=MASK)


def halves(check):
    """Values under a policy of 16 bits."""
    makes = {"heads of axes": (lambda: L.MultiHeadAttention(2, 3, attention_axes=(2,)), (2, 3, 4, 5)),
             "heads gate": (lambda: L.MultiHeadAttention(2, 3, use_gate=True, sliding_window=2), STEPS),
             "bidirectional of two": (lambda: L.Bidirectional(L.LSTM(2), backward_layer=L.GRU(2, go_backwards=True)), STEPS)}

    def describe(make, shape):
        keras.config.set_dtype_policy("mixed_bfloat16")
        layer = make()
        keras.config.set_dtype_policy("float32")
        x = uniform(shape, 500)
        call = (lambda: layer(x, x)) if isinstance(layer, L.MultiHeadAttention) else lambda: layer(x)
        call()
        for i, weight in enumerate(layer.weights):
            weight.assign(uniform(weight.shape, i + 1) * np.float32(0.75))
        y = call()
        return " ".join([*(weight.dtype for weight in layer.weights), y.dtype.name, sums("out", tf.cast(y, tf.float32))])
    for name, (make, shape) in makes.items():
        check.case(f"layers/{name}, mixed_bfloat16", lambda: describe(make, shape))


def renormed(check):
    norm = L.BatchNormalization
    clipped = {"rmax": 1.5, "rmin": 0.5, "dmax": 0.2}
    for name, options in {"plain": {}, "clipped": {"renorm_clipping": clipped}, "rmax alone": {"renorm_clipping": {"rmax": 1.0}},
                          "no scale": {"scale": False}, "no center": {"center": False}, "axis 1": {"axis": 1},
                          "momentum": {"momentum": 0.3, "renorm_momentum": 0.6}}.items():
        for training, calls in ((False, 1), (True, 1), (True, 3)):
            check(f"renorm {name}, training {training}, {calls} calls", lambda: norm(renorm=True, **options), STEPS,
                  training=training, calls=calls)
    check("renorm frozen", lambda: norm(renorm=True), STEPS, training=True, frozen=True)
    check("renorm masked", lambda: norm(renorm=True, renorm_clipping=clipped), STEPS, training=True, mask=MASK, calls=2)
    check("renorm of pictures", lambda: norm(renorm=True), IMAGE, training=True, calls=2)
    check("renorm of rows", lambda: norm(renorm=True), (4, 3), training=True, calls=2)
    check("renorm rmax below rmin", lambda: norm(renorm=True, renorm_clipping={"rmax": 0.5, "rmin": 1.0}), STEPS)
    check("renorm dmax negative", lambda: norm(renorm=True, renorm_clipping={"dmax": -1.0}), STEPS)


def recurrent(check):
    kinds = {"lstm": L.LSTM, "gru": L.GRU, "simple": L.SimpleRNN}
    for (kind, make), mask, sequences, back, zero in itertools.product(
            kinds.items(), (None, MASK, NONE), (False, True), (False, True), (False, True)):
        text = "no mask" if mask is None else "gaps" if mask is MASK else "padding"
        check(f"{kind} {text}, sequences {sequences}, backwards {back}, zero {zero}",
              lambda: make(2, return_sequences=sequences, go_backwards=back, zero_output_for_mask=zero), STEPS, mask=mask)
    for kind, make in kinds.items():
        check(f"{kind} no bias", lambda: make(2, use_bias=False), STEPS)
        check(f"{kind} activation", lambda: make(2, activation="relu", return_sequences=True), STEPS)
        check(f"{kind} linear", lambda: make(2, activation=None), STEPS)
        check(f"{kind} regularized", lambda: make(
            2, kernel_regularizer=R.L1(0.1), recurrent_regularizer=R.L2(0.2), bias_regularizer=R.L2(0.3)), STEPS)
        check(f"{kind} stateful", lambda: make(2, stateful=True, return_sequences=True), STEPS, calls=3)
        check(f"{kind} stateful, masked", lambda: make(2, stateful=True), STEPS, mask=MASK, calls=2)
        check(f"{kind} stateful, backwards", lambda: make(2, stateful=True, go_backwards=True), STEPS, calls=2)
        check(f"{kind} frozen", lambda: make(2), STEPS, frozen=True)
        check(f"{kind} states", lambda: make(2, return_state=True), STEPS, mask=MASK)
        for dropout in (0, 0.5):
            check(f"{kind} dropout {dropout}, not training", lambda: make(2, dropout=dropout), STEPS)
    check("lstm recurrent activation", lambda: L.LSTM(2, recurrent_activation="hard_sigmoid"), STEPS)
    check("gru recurrent activation", lambda: L.GRU(2, recurrent_activation="hard_sigmoid"), STEPS)
    check("gru reset before", lambda: L.GRU(2, reset_after=False, return_sequences=True), STEPS, mask=MASK)
    check("gru reset before, no bias", lambda: L.GRU(2, reset_after=False, use_bias=False), STEPS)
    for mode, sequences, mask in itertools.product(("concat", "sum", "mul", "ave"), (False, True), (None, MASK, NONE)):
        text = "no mask" if mask is None else "gaps" if mask is MASK else "padding"
        check(f"bidirectional {mode}, sequences {sequences}, {text}",
              lambda: L.Bidirectional(L.LSTM(2, return_sequences=sequences), merge_mode=mode), STEPS, mask=mask)
    check("bidirectional gru", lambda: L.Bidirectional(L.GRU(2, return_sequences=True), "sum"), STEPS, mask=MASK)
    check("bidirectional zero outputs", lambda: L.Bidirectional(
        L.GRU(2, zero_output_for_mask=True)), STEPS, mask=MASK)
    check("bidirectional backwards", lambda: L.Bidirectional(L.GRU(2, go_backwards=True)), STEPS)
    check("bidirectional stateful", lambda: L.Bidirectional(L.LSTM(2, stateful=True)), STEPS, calls=2)
    check("bidirectional frozen", lambda: L.Bidirectional(L.LSTM(2)), STEPS, frozen=True)
    check("bidirectional regularized", lambda: L.Bidirectional(L.LSTM(
        2, kernel_regularizer=R.L1(0.1), recurrent_regularizer=R.L2(0.2), bias_regularizer=R.L2(0.3))), STEPS)
    check("bidirectional states", lambda: L.Bidirectional(L.LSTM(2, return_state=True)), STEPS, mask=MASK)
    two_directions(check, kinds)
    for training in (False, True):
        check(f"steps of batch norm {training}",
              lambda: L.TimeDistributed(L.BatchNormalization(momentum=0.6)), STEPS, training=training)
        check(f"steps of batch norm {training}, masked",
              lambda: L.TimeDistributed(L.BatchNormalization(momentum=0.6)), STEPS, training=training, mask=MASK)
    check("steps of dense", lambda: L.TimeDistributed(L.Dense(2, activation="tanh")), STEPS, mask=MASK)
    check("steps of conv", lambda: L.TimeDistributed(L.Conv2D(2, 2)), (2, 3, 4, 5, 2))
    check("steps of lstm", lambda: L.TimeDistributed(L.LSTM(2)), (2, 3, 4, 5))
    check("steps of flatten", lambda: L.TimeDistributed(L.Flatten()), (2, 3, 4, 5))
    check("steps of two axes", lambda: L.TimeDistributed(L.Dense(2)), (2, 3))


def two_directions(check, kinds):
    """Unrolled layers, a second layer of its own, and outputs that stay apart."""
    for kind, make in kinds.items():
        for text, mask in {"no mask": None, "gaps": MASK, "padding": NONE}.items():
            check(f"{kind} unrolled, {text}", lambda: make(2, unroll=True, return_sequences=True), STEPS, mask=mask)
    for (kind, make), sequences, (text, mask) in itertools.product(
            kinds.items(), (False, True), {"no mask": None, "gaps": MASK, "padding": NONE}.items()):
        both = lambda **options: L.Bidirectional(
            L.LSTM(2, return_sequences=sequences, **options), backward_layer=make(
                3, return_sequences=sequences, go_backwards=True, activation="relu", **options))
        check(f"bidirectional lstm and {kind}, sequences {sequences}, {text}", both, STEPS, mask=mask)
        check(f"bidirectional lstm and {kind}, sequences {sequences}, {text}, states", lambda: both(return_state=True), STEPS,
              mask=mask, call=lambda f, x: list(f(x)))
        check(f"bidirectional {kind} apart, sequences {sequences}, {text}",
              lambda: L.Bidirectional(make(2, return_sequences=sequences), merge_mode=None), STEPS, mask=mask)
        check(f"bidirectional {kind} apart, sequences {sequences}, {text}, states", lambda: L.Bidirectional(
            make(2, return_sequences=sequences, return_state=True), merge_mode=None), STEPS, mask=mask, call=lambda f, x: list(f(x)))
    for mode in ("sum", "mul", "ave", "concat"):
        check(f"bidirectional of two, {mode}", lambda: L.Bidirectional(
            L.LSTM(2), mode, backward_layer=L.GRU(2, go_backwards=True)), STEPS)
        check(f"bidirectional of two sizes, {mode}", lambda: L.Bidirectional(
            L.LSTM(2), mode, backward_layer=L.GRU(3, go_backwards=True)), STEPS)
        check(f"bidirectional of sizes 2 and 1, {mode}", lambda: L.Bidirectional(
            L.LSTM(2), mode, backward_layer=L.GRU(1, go_backwards=True)), STEPS)
        check(f"bidirectional from states, {mode}", lambda: L.Bidirectional(L.LSTM(2, return_state=True), mode), STEPS,
              *[(2, 2)] * 4, call=lambda f, x, *states: list(f(x, initial_state=list(states))))
    check("bidirectional apart from states", lambda: L.Bidirectional(L.GRU(2, return_state=True), None), STEPS, (2, 2), (2, 2),
          call=lambda f, x, *states: list(f(x, initial_state=list(states))))
    check("bidirectional of lstm and gru from states", lambda: L.Bidirectional(
        L.LSTM(2, return_state=True), backward_layer=L.GRU(2, go_backwards=True, return_state=True)), STEPS,
          *[(2, 2)] * 3, call=lambda f, x, *states: list(f(x, initial_state=list(states))))
    check("bidirectional turned", lambda: L.Bidirectional(
        L.LSTM(2, go_backwards=True, return_sequences=True), backward_layer=L.LSTM(2, return_sequences=True)), STEPS, mask=MASK)
    check("bidirectional of two, frozen", lambda: L.Bidirectional(
        L.LSTM(2), backward_layer=L.LSTM(2, go_backwards=True)), STEPS, frozen=True)
    check("bidirectional of two, stateful", lambda: L.Bidirectional(
        L.LSTM(2, stateful=True), backward_layer=L.GRU(2, go_backwards=True, stateful=True)), STEPS, calls=2)
    check("bidirectional of two, regularized", lambda: L.Bidirectional(
        L.LSTM(2, kernel_regularizer=R.L1(0.1)), backward_layer=L.LSTM(2, go_backwards=True, bias_regularizer=R.L2(0.3))), STEPS)
    check("bidirectional of two forwards", lambda: L.Bidirectional(L.LSTM(2), backward_layer=L.LSTM(2)), STEPS)
    check("bidirectional of two, sequences of one", lambda: L.Bidirectional(
        L.LSTM(2, return_sequences=True), backward_layer=L.LSTM(2, go_backwards=True)), STEPS)
    check("bidirectional of two, one stateful", lambda: L.Bidirectional(
        L.LSTM(2, stateful=True), backward_layer=L.LSTM(2, go_backwards=True)), STEPS)


def heads_of_axes(check, heads):
    """Options of heads that few use: axes, windows, gates, and scores."""
    four, five, other = (2, 3, 4, 5), (2, 3, 2, 4, 5), (2, 3, 6, 2)
    for axes in (None, (1,), (2,), (1, 2), (2, 1), (-2,), (-3, -2), 1):
        check(f"heads of axes {list(axes) if isinstance(axes, tuple) else axes}", lambda: heads(2, 3, attention_axes=axes),
              four, call=lambda f, x: f(x, x))
        check(f"heads of axes {list(axes) if isinstance(axes, tuple) else axes}, scores", lambda: heads(2, 3, attention_axes=axes),
              four, call=lambda f, x: list(f(x, x, return_attention_scores=True)))
    for axes in ((2,), (1, 3), (3, 1), (1, 2, 3)):
        check(f"heads of axes {list(axes)} of three", lambda: heads(2, 3, attention_axes=axes, value_dim=2), five, call=lambda f, x: f(x, x))
    check("heads of axes of other keys", lambda: heads(2, 3, attention_axes=(2,)), four, other, call=lambda f, q, v: f(q, v))
    check("heads of axes of keys that do not fit", lambda: heads(2, 3, attention_axes=(1,)), four, other, call=lambda f, q, v: f(q, v))
    for axes in ((0,), (3,), (1, 1), (4,)):
        check(f"heads of axes {list(axes)}, wrong", lambda: heads(2, 3, attention_axes=axes), four, call=lambda f, x: f(x, x))
    line = uniform((2, 4), 7) > -0.5
    rows, pairs = uniform((2, 3, 4), 6) > -0.5, uniform((2, 3, 4, 4), 5) > 0
    options = {"pairs": {"attention_mask": pairs},
               "shared pairs": {"attention_mask": pairs[:, 0]}, "line": {"value_mask": line}, "pairs of heads": {"attention_mask": pairs[:, None]}}
    for name, some in options.items():
        check(f"heads of axis 2, {name}", lambda: heads(2, 3, attention_axes=2), four, call=lambda f, x: f(x, x, **some))
    check("heads of axis 2, masked", lambda: heads(2, 3, attention_axes=2), four, mask=rows, call=lambda f, x: f(x, x))
    check("heads of axis 1, masked", lambda: heads(2, 3, attention_axes=1), four, mask=rows, call=lambda f, x: f(x, x))
    check("heads of all axes, masked", lambda: heads(2, 3), four, mask=rows, call=lambda f, x: f(x, x))
    check("heads of all axes, pairs", lambda: heads(2, 3), four, call=lambda f, x: f(x, x, attention_mask=uniform((2, 3, 4, 3, 4), 4) > 0))
    for axes in (1, 2, None):
        check(f"heads of axis {axes}, causal", lambda: heads(2, 3, attention_axes=axes), (2, 4, 4, 5), call=lambda f, x: f(x, x, use_causal_mask=True))
        check(f"heads of axis {axes}, window", lambda: heads(2, 3, attention_axes=axes, sliding_window=2), (2, 4, 4, 5), call=lambda f, x: f(x, x))
    for window in (1, 2, 3, 9, 0, -1):
        check(f"heads window {window}", lambda: heads(2, 3, sliding_window=window), STEPS, call=lambda f, x: f(x, x))
        check(f"heads window {window}, causal", lambda: heads(2, 3, sliding_window=window), STEPS, call=lambda f, x: f(x, x, use_causal_mask=True))
        check(f"heads window {window}, masked", lambda: heads(2, 3, sliding_window=window), STEPS, mask=MASK, call=lambda f, x: f(x, x))
        check(f"heads window {window} of other keys", lambda: heads(2, 3, sliding_window=window), (2, 4, 3), STEPS, call=lambda f, q, v: f(q, v))
    for name, some in {"gate": {}, "gate, no bias": {"use_bias": False}, "gate of values": {"value_dim": 5},
                       "gate regularized": {**REGULAR, "activity_regularizer": R.L2(0.1)}}.items():
        check(f"heads {name}", lambda: heads(2, 3, use_gate=True, **some), STEPS, mask=MASK, call=lambda f, x: f(x, x))
    for name, some in {"plain": {}, "causal": {"use_causal_mask": True}, "pairs": {"attention_mask": uniform((2, 5, 5), 5) > 0},
                       "pairs of heads": {"attention_mask": uniform((2, 2, 5, 5), 5) > 0}, "pairs of all": {"attention_mask": uniform((5, 5), 5) > 0},
                       "keys": {"attention_mask": uniform((2, 1, 5), 5) > 0}}.items():
        for text, mask in {"no mask": None, "gaps": MASK, "padding": NONE}.items():
            check(f"heads scores of {name}, {text}", lambda: heads(2, 3), STEPS, mask=mask,
                  call=lambda f, x: list(f(x, x, return_attention_scores=True, **some)))
            check(f"heads result of {name}, {text}", lambda: heads(2, 3), STEPS, mask=mask, call=lambda f, x: f(x, x, **some))
    check("heads scores of other keys", lambda: heads(2, 3), (2, 4, 3), STEPS, call=lambda f, q, v: list(f(q, v, return_attention_scores=True)))
    check("heads of one axis", lambda: heads(2, 3), (2, 3), call=lambda f, x: f(x, x))


def attention(check):
    heads = L.MultiHeadAttention
    options = {
        "plain": {}, "value_dim": {"value_dim": 5}, "no bias": {"use_bias": False},
        "output_shape": {"output_shape": 7}, "regularized": REGULAR,
        "dropout": {"dropout": 0.5}}
    for name, some in options.items():
        for mask in (None, MASK, NONE):
            text = "no mask" if mask is None else "gaps" if mask is MASK else "padding"
            check(f"heads {name}, {text}", lambda: heads(2, 3, **some), STEPS, mask=mask,
                  call=lambda layer, x: layer(x, x))
    pairs = uniform((2, 4, 5), 5) > 0
    shapes = [(2, 4, 3), STEPS, (2, 5, 2)]
    calls = {
        "two": lambda f, q, v, k: f(q, v),
        "three": lambda f, q, v, k: f(q, v, k),
        "causal": lambda f, q, v, k: f(q, v, k, use_causal_mask=True),
        "pairs": lambda f, q, v, k: f(q, v, k, attention_mask=pairs),
        "pairs of one": lambda f, q, v, k: f(q, v, k, attention_mask=pairs[:1]),
        "value mask": lambda f, q, v, k: f(q, v, k, value_mask=MASK),
        "key mask": lambda f, q, v, k: f(q, v, k, key_mask=MASK),
        "key mask without key": lambda f, q, v, k: f(q, v, key_mask=MASK),
        "all masks": lambda f, q, v, k: f(q, v, k, value_mask=MASK, key_mask=NONE, attention_mask=pairs,
                                          use_causal_mask=True),
        "query mask": lambda f, q, v, k: f(q, v, query_mask=MASK[:, :4])}
    for name, call in calls.items():
        check(f"heads of {name}", lambda: heads(2, 3), *shapes, call=call)
    check("heads of masked query", lambda: heads(2, 3), (2, 5, 3), (2, 5, 2), mask=MASK, call=lambda f, q, v: f(q, v))
    check("heads of masked value", lambda: heads(2, 3), (2, 5, 3), (2, 5, 2), mask=[None, MASK],
          call=lambda f, q, v: f(q, v))
    check("heads of masked key", lambda: heads(2, 3), (2, 5, 3), (2, 5, 2), (2, 5, 4), mask=[None, None, MASK],
          call=lambda f, q, v, k: f(q, v, k))
    check("heads frozen", lambda: heads(2, 3), STEPS, frozen=True, call=lambda f, x: f(x, x))
    heads_of_axes(check, heads)
    modes = {
        "attention": lambda: L.Attention(), "attention scale": lambda: L.Attention(use_scale=True),
        "attention concat": lambda: L.Attention(score_mode="concat"),
        "attention concat scale": lambda: L.Attention(score_mode="concat", use_scale=True),
        "attention dropout": lambda: L.Attention(dropout=0.5),
        "additive": lambda: L.AdditiveAttention(), "additive no scale": lambda: L.AdditiveAttention(use_scale=False)}
    q, v, k = (2, 4, 3), STEPS, (2, 5, 3)
    for name, make in modes.items():
        check(f"{name} of two", make, q, v)
        check(f"{name} of three", make, q, v, k)
        check(f"{name} masked", make, q, v, k, mask=[MASK[:, :4], NONE, MASK])
        check(f"{name} causal", make, q, v, call=lambda f, a, b: f([a, b], use_causal_mask=True))
        check(f"{name} causal masked", make, q, v, mask=[None, MASK],
              call=lambda f, a, b: f([a, b], use_causal_mask=True))
        check(f"{name} scores", make, q, v, call=lambda f, a, b: f([a, b], return_attention_scores=True))
    group = {"plain": {}, "one": {"num_key_value_heads": 1}, "no bias": {"use_bias": False}}
    for name, some in group.items():
        check(f"groups {name}", lambda: L.GroupQueryAttention(
            **{"head_dim": 4, "num_query_heads": 4, "num_key_value_heads": 2, **some}), STEPS, call=lambda f, x: f(x, x))
    check("groups causal", lambda: L.GroupQueryAttention(4, 4, 2), STEPS,
          call=lambda f, x: f(x, x, use_causal_mask=True))
    check("groups masked", lambda: L.GroupQueryAttention(4, 4, 2), STEPS, mask=MASK,
          call=lambda f, x: f(x, x))


def dense(check):
    check("dense", lambda: L.Dense(3), (2, 4))
    check("dense no bias", lambda: L.Dense(3, "relu", use_bias=False), (2, 4))
    check("dense of steps", lambda: L.Dense(2, "softmax", **REGULAR), STEPS, mask=MASK)
    check("dense frozen", lambda: L.Dense(2, **REGULAR), STEPS, frozen=True)
    check("dense of integers", lambda: L.Dense(2), IDS)
    check("dense of one axis", lambda: L.Dense(2), (4,))
    einsums = {
        "ab,bc->ac": (3, "c"), "abc,cd->abd": ((None, 3), "d"), "abc,cde->abde": ((None, 2, 3), "de"),
        "abc,cde->abde, e": ((None, 2, 3), "e"), "abc,cde->abde, d": ((None, 2, 3), "d"),
        "abc,cd->abd, bd": ((5, 2), "bd"), "abc,cd->abd, b": ((5, 2), "b"), "...x,xy->...y": (4, "y"),
        "...x,xy->...y, none": (4, None), "abc,bcd->ad": (4, "d"), "abcd,cde->abe": ((None, 3), "e"),
        "abc,cd->adb": ((2, None), None), "abc,dc->abd": ((None, 2), "d"), "abc,bd->adc": ((2, 3), None),
        "ab,b->ab": (3, None)}
    for text, (sizes, axes) in einsums.items():
        equation = text.split(", ")[0] if text.count(",") > 1 else text
        rank = len(equation.split(",")[0])
        shape = STEPS if equation.startswith("...") else {2: (2, 3), 3: STEPS, 4: IMAGE}[rank]
        check(f"einsum {text}", lambda: L.EinsumDense(equation, sizes, bias_axes=axes, activation="tanh",
                                                     kernel_regularizer=R.L2(0.1)), shape)
    check("einsum masked", lambda: L.EinsumDense("abc,cd->abd", (None, 2)), STEPS, mask=MASK)
    check("embedding", lambda: L.Embedding(4, 3), IDS)
    check("embedding mask_zero", lambda: L.Embedding(4, 3, mask_zero=True, embeddings_regularizer=R.L2(0.1)), IDS)
    check("embedding of a masked input", lambda: L.Embedding(4, 3), IDS, mask=MASK)
    check("embedding frozen", lambda: L.Embedding(4, 3), IDS, frozen=True)
    check("embedding of floats", lambda: L.Embedding(4, 3), np.float32([[1.7, 2.2]]))
    check("embedding too large", lambda: L.Embedding(3, 3), IDS)
    check("embedding negative", lambda: L.Embedding(3, 3), -IDS)
    check("embedding of one axis", lambda: L.Embedding(4, 3, mask_zero=True), IDS[0])
    blank = uniform(STEPS, 500) * MASK[:, :, None]
    check("masking", lambda: L.Masking(), blank)
    check("masking of 1", lambda: L.Masking(1.0), np.where(MASK[:, :, None], blank, 1).astype(np.float32))
    check("masking of four axes", lambda: L.Masking(), np.float32(uniform((2, 3, 4, 2), 5) > 0))
    check("masking of two axes", lambda: L.Masking(), np.float32([[0, 1], [0, 0]]))


def activations(check):
    for most, slope, least in itertools.product((None, 0.5, 0), (0, 0.1), (0, 0.2)):
        check(f"relu layer {most} {slope} {least}", lambda: L.ReLU(most, slope, least), STEPS, mask=MASK)
    check("relu layer negative", lambda: L.ReLU(threshold=-0.5), STEPS)
    check("relu layer at its ends", lambda: L.ReLU(6, 0.1, 1), np.float32([-1, 0, 1, 6, 7]))
    for slope in (0.3, 0.01, 1.5, 0):
        check(f"leaky {slope}", lambda: L.LeakyReLU(slope), STEPS)
    check("leaky default", lambda: L.LeakyReLU(), STEPS, mask=MASK)
    for axes in (None, [1], [2], [1, 2], [-1]):
        check(f"prelu {axes}", lambda: L.PReLU(shared_axes=axes, alpha_regularizer=R.L1(0.1)), IMAGE)
    for axis in (-1, 1, 0):
        check(f"softmax layer {axis}", lambda: L.Softmax(axis), STEPS)
    wide = uniform(STEPS, 3) > -0.2
    check("softmax masked", lambda: L.Softmax(), STEPS, call=lambda f, x: tf.identity(f(x, mask=wide)))
    wide = np.broadcast_to(NONE[:, :, None], STEPS)
    check("softmax all masked", lambda: L.Softmax(), STEPS, call=lambda f, x: tf.identity(f(x, mask=wide)))
    check("softmax of axis 1 masked", lambda: L.Softmax(1), STEPS, call=lambda f, x: tf.identity(f(x, mask=wide)))
    check("softmax of scores masked", lambda: L.Softmax(), (2, 5), call=lambda f, x: tf.identity(f(x, mask=MASK)))
    for name in ("elu", "selu", "gelu", "silu", "mish", "softplus", "softsign", "tanh", "sigmoid", "hard_sigmoid",
                 "hard_silu", "exponential", "relu6", "celu", "hard_tanh", "tanh_shrink", "softmax", "log_softmax",
                 "leaky_relu", "swish", "hard_swish", "linear", "relu", "log_sigmoid", "hard_shrink", "soft_shrink",
                 "squareplus", "sparse_plus", "sparse_sigmoid"):
        check(f"activation {name}", lambda: L.Activation(name), (2, 5, 4))
    check("activation masked", lambda: L.Activation("tanh"), STEPS, mask=MASK)


def shapes(check):
    check("flatten", lambda: L.Flatten(), IMAGE)
    check("flatten of one axis", lambda: L.Flatten(), (3,))
    check("flatten masked", lambda: L.Flatten(), STEPS, mask=MASK)
    check("reshape", lambda: L.Reshape((-1, 2)), IMAGE)
    check("reshape to one", lambda: L.Reshape((15,)), STEPS, mask=MASK)
    check("reshape wrong", lambda: L.Reshape((4, -1)), STEPS)
    check("reshape to none", lambda: L.Reshape(()), (3, 1))
    check("reshape of two unknown", lambda: L.Reshape((-1, -1)), STEPS)
    check("permute", lambda: L.Permute((2, 3, 1)), IMAGE)
    check("permute wrong", lambda: L.Permute((1, 3)), STEPS)
    check("permute of too few", lambda: L.Permute((2, 1)), IMAGE)
    check("repeat", lambda: L.RepeatVector(3), (2, 4))
    check("repeat of steps", lambda: L.RepeatVector(3), STEPS)
    for padding in (0, 2, (1, 2), ((1, 0), (2, 3))):
        check(f"zero padding {padding}", lambda: L.ZeroPadding2D(padding), IMAGE)
    for size, method in itertools.product((1, 2, (3, 2)), ("nearest", "bilinear")):
        check(f"up sampling {size} {method}", lambda: L.UpSampling2D(size, interpolation=method), (2, 3, 4, 2))
    counts = np.arange(24, dtype=np.int32).reshape(1, 4, 3, 2)
    for (height, width), method in itertools.product(((5, 6), (3, 4), (7, 13), (1, 1), (2, 9), (10, 4)), ("nearest", "bilinear")):
        check(f"resizing {height} {width} {method}", lambda: L.Resizing(height, width, method), (2, 5, 6, 3))
        check(f"resizing {height} {width} {method} of integers", lambda: L.Resizing(height, width, method), counts)
    check("resizing of bytes", lambda: L.Resizing(3, 5), np.uint8(counts * 10))
    check("resizing of one image", lambda: L.Resizing(3, 5), (4, 6, 2))
    check("up sampling of integers", lambda: L.UpSampling2D(2, interpolation="bilinear"), counts)
    check("up sampling of integers, nearest", lambda: L.UpSampling2D(2), counts)
    for name, scale, offset in (("numbers", 0.5, 1), ("lists", [1, 2, 3], [0, 0.5, 1])):
        check(f"rescaling {name}", lambda: L.Rescaling(scale, offset), STEPS, mask=MASK)
    check("rescaling of integers", lambda: L.Rescaling(1 / 255), counts)
    check("rescaling of bytes", lambda: L.Rescaling(1 / 255, -0.5), np.uint8(counts * 10))
    check("lambda", lambda: L.Lambda(lambda x: x * 2), STEPS, mask=MASK)
    check("average pooling of integers", lambda: L.AveragePooling2D(2), counts)
    check("max pooling of integers", lambda: L.MaxPooling2D(2), counts)
    check("global average of integers", lambda: L.GlobalAveragePooling2D(), counts)
    check("global average 1d of integers", lambda: L.GlobalAveragePooling1D(), counts[0])
    check("layer norm of integers", lambda: L.LayerNormalization(), counts)
    check("rms norm of integers", lambda: L.RMSNormalization(), counts)
    check("group norm of integers", lambda: L.GroupNormalization(1), counts)
    check("batch norm of integers", lambda: L.BatchNormalization(), counts)
    check("conv2d of integers", lambda: L.Conv2D(2, 2), counts)
    check("conv1d of integers", lambda: L.Conv1D(2, 2), counts[0])
    check("lstm of integers", lambda: L.LSTM(2), counts[0])
    check("add of integers", lambda: L.Add(), IDS, IDS)
    check("average of integers", lambda: L.Average(), IDS, IDS + 1)
    check("heads of integers", lambda: L.MultiHeadAttention(2, 3), counts[0], call=lambda f, x: f(x, x))
    check("softmax of integers", lambda: L.Softmax(), IDS)
    check("leaky of integers", lambda: L.LeakyReLU(), IDS - 2)
    check("prelu of integers", lambda: L.PReLU(), IDS - 2)
    check("relu of integers", lambda: L.ReLU(2), IDS)
    check("activation of integers", lambda: L.Activation("tanh"), IDS)
    check("sigmoid of integers", lambda: L.Activation("sigmoid"), IDS)
    check("dropout of integers", lambda: L.Dropout(0.5), IDS)
    check("noise of integers", lambda: L.GaussianNoise(0.5), IDS)
    check("einsum of integers", lambda: L.EinsumDense("ab,bc->ac", 3), IDS)
    check("masking of integers", lambda: L.Masking(), counts)
    check("depthwise of integers", lambda: L.DepthwiseConv2D(2), counts)
    check("transpose of integers", lambda: L.Conv2DTranspose(2, 2), counts)
    flips = {"flip": lambda: L.RandomFlip(), "rotation": lambda: L.RandomRotation(0.2), "zoom": lambda: L.RandomZoom(0.2),
             "translation": lambda: L.RandomTranslation(0.2, 0.2), "contrast": lambda: L.RandomContrast(0.2)}
    for name, make in flips.items():
        check(f"random {name}, not training", make, IMAGE)
        check.case(f"layers/random {name}, bytes, not training", lambda: make()(np.uint8(counts * 10), training=False))
    check("normalization of integers", lambda: L.Normalization(mean=1.5, variance=2.0), counts)


def merging(check):
    kinds = {"add": L.Add, "subtract": L.Subtract, "multiply": L.Multiply, "average": L.Average, "maximum": L.Maximum,
             "minimum": L.Minimum}
    for name, make in kinds.items():
        check(f"{name} of two", make, STEPS, STEPS)
        check(f"{name} of three", make, STEPS, STEPS, STEPS)
        check(f"{name} of one", make, STEPS, call=lambda f, x: f([x]))
        check(f"{name} of (1, 3)", make, STEPS, (2, 1, 3))
        check(f"{name} of batch 1", make, STEPS, (1, 5, 3))
        check(f"{name} of fewer axes", make, STEPS, (2, 3))
        check(f"{name} of fewer axes, square", make, (3, 3, 3), (3, 3))
        check(f"{name} of scalars", make, STEPS, (2, 1))
        check(f"{name} of wrong sizes", make, STEPS, (2, 4, 3))
        check(f"{name} masked", make, STEPS, STEPS, mask=[MASK, NONE])
        check(f"{name} half masked", make, STEPS, STEPS, mask=[MASK, None])
    for axis in (-1, 1, 2, 0, 3):
        check(f"concatenate {axis}", lambda: L.Concatenate(axis=axis), STEPS, STEPS)
        check(f"concatenate {axis} masked", lambda: L.Concatenate(axis=axis), STEPS, STEPS, mask=[MASK, NONE])
        check(f"concatenate {axis} half masked", lambda: L.Concatenate(axis=axis), STEPS, STEPS, mask=[MASK, None])
    check("concatenate of other sizes", lambda: L.Concatenate(axis=1), STEPS, (2, 2, 3))
    check("concatenate of wrong sizes", lambda: L.Concatenate(), STEPS, (2, 2, 3))
    for axes, normalize in itertools.product(((1, 1), (2, 2), (-1, -1), (1, 2), (2, 1)), (False, True)):
        check(f"dot {axes} {normalize}", lambda: L.Dot(axes, normalize), (2, 3, 3), (2, 3, 3))
    check("dot of vectors", lambda: L.Dot(1), (2, 4), (2, 4))
    check("dot of vectors, normalized", lambda: L.Dot(-1, normalize=True), (2, 4), (2, 4))
    check("dot of zeros, normalized", lambda: L.Dot(-1, normalize=True), np.zeros((2, 4), np.float32), (2, 4))
    check("dot of four axes", lambda: L.Dot((3, 1)), IMAGE, (2, 4, 3))
    check("dot of wrong sizes", lambda: L.Dot((1, 1)), STEPS, (2, 4, 3))
    check("dot of the batch", lambda: L.Dot((0, 0)), (2, 4), (2, 4))
    check("dot masked", lambda: L.Dot((2, 2)), STEPS, STEPS, mask=[MASK, NONE])


def drops(check):
    for name, make in {"dropout": L.Dropout, "spatial 1d": L.SpatialDropout1D, "noise": L.GaussianNoise}.items():
        check(f"{name} not training", lambda: make(0.5), STEPS, mask=MASK)
        check(f"{name} of rate 0", lambda: make(0.0), STEPS, training=True, mask=MASK)
        check(f"{name} of rate 1.5", lambda: make(1.5), STEPS)
        check(f"{name} of rate -1", lambda: make(-1.0), STEPS)
    check("dropout of rate 1", lambda: L.Dropout(1.0), STEPS, training=True)
    check("spatial 2d not training", lambda: L.SpatialDropout2D(0.5), IMAGE)
    check("dropout of noise_shape 0", lambda: L.Dropout(0.5, noise_shape=(None, 0, 1)), STEPS)

    def shares(make, shape, axes):
        """Whether decisions are shared along axes, and no others."""
        y = make()(np.ones(shape, np.float32), training=True).numpy()
        kept = [np.all(y == np.take(y, [0], axis)) for axis in axes]
        return " ".join(str(bool(one)) for one in kept) + f" {np.unique(y)}"
    big = (8, 9, 10)
    for name, make in {"dropout": lambda: L.Dropout(0.5, seed=1),
                       "dropout of rows": lambda: L.Dropout(0.5, noise_shape=(None, 1, None), seed=1),
                       "dropout of an example": lambda: L.Dropout(0.75, noise_shape=(None, 1, 1), seed=1),
                       "dropout of the batch": lambda: L.Dropout(0.5, noise_shape=(1, None, None), seed=1),
                       "spatial dropout": lambda: L.SpatialDropout1D(0.5, seed=1)}.items():
        check.case(f"layers/{name}, shared", lambda: shares(make, big, (0, 1, 2)))


def constraints(check):
    keras.utils.set_random_seed(1)
    weight = uniform((3, 4, 2), 1) * 3
    for name, one in {
            "max_norm": K.MaxNorm(), "max_norm 1, axis 1": K.MaxNorm(1, axis=1),
            "max_norm axes": K.MaxNorm(1, axis=[0, 1]), "non_neg": K.NonNeg(), "unit_norm": K.UnitNorm(),
            "unit_norm axis": K.UnitNorm(axis=[1, 2]), "min_max": K.MinMaxNorm(), "min_max 2 3": K.MinMaxNorm(2, 3),
            "min_max rate": K.MinMaxNorm(2, 3, rate=0.3, axis=[0, 2])}.items():
        check.case(f"layers/constraint {name}", lambda: sums("w", one(tf.constant(weight))))
    for name, one in {"l1": R.L1(), "l2": R.L2(), "l1l2": R.L1L2(), "l1l2 of two": R.L1L2(0.1, 0.2),
                      "l2 of 0.5": R.L2(0.5)}.items():
        check.case(f"layers/regularizer {name}", lambda: sums("w", one(tf.constant(weight))))

    def spread(values):
        """The first figure of the deviation, which many random numbers have in common."""
        return f"{np.std(np.asarray(values)):.1g}"

    def first(make, *shapes):
        layer = make()
        inputs = [np.zeros(shape, np.float32) for shape in shapes]
        layer(*inputs)
        return " | ".join(f"{name_of(weight)} {spread(weight.value)}" for weight in layer.weights)
    makes = {"glorot_uniform": I.GlorotUniform, "glorot_normal": I.GlorotNormal, "he_uniform": I.HeUniform,
             "he_normal": I.HeNormal, "lecun_uniform": I.LecunUniform, "lecun_normal": I.LecunNormal,
             "random_normal": I.RandomNormal, "random_uniform": I.RandomUniform, "truncated_normal": I.TruncatedNormal,
             "orthogonal": I.Orthogonal, "scaling": lambda: I.VarianceScaling(3.0, "fan_out", "untruncated_normal")}
    for name, make in makes.items():
        for shape in ((300, 70), (3, 3, 40, 30), (40, 8, 60)):
            check.case(f"layers/initializer {name} {len(shape)}", lambda: spread(make()(shape)))
        check.case(f"layers/initializer {name} einsum", lambda: first(
            lambda: L.EinsumDense("abc,cde->abde", (None, 8, 60), kernel_initializer=make()), (1, 2, 40)))
    check.case("layers/first weights of heads", lambda: first(lambda: L.MultiHeadAttention(8, 16), (1, 2, 100), (1, 2, 100)))
    check.case("layers/first weights of groups", lambda: first(
        lambda: L.GroupQueryAttention(16, 8, 2), (1, 2, 100), (1, 2, 100)))
    check.case("layers/first weights of dense", lambda: first(lambda: L.Dense(70), (1, 100)))
    check.case("layers/first weights of embedding", lambda: first(lambda: L.Embedding(70, 50), (1, 100)))
    check.case("layers/first weights of conv1d", lambda: first(lambda: L.Conv1D(60, 3), (1, 5, 50)))
    check.case("layers/first weights of conv2d", lambda: first(lambda: L.Conv2D(80, 3), (1, 5, 5, 50)))
    check.case("layers/first weights of groups of conv2d", lambda: first(
        lambda: L.Conv2D(60, 3, groups=2), (1, 5, 5, 50)))
    check.case("layers/first weights of depthwise", lambda: first(
        lambda: L.DepthwiseConv2D(3, depth_multiplier=4), (1, 5, 5, 100)))
    check.case("layers/first weights of separable", lambda: first(
        lambda: L.SeparableConv2D(50, 3, depth_multiplier=4), (1, 5, 5, 100)))
    check.case("layers/first weights of transpose", lambda: first(lambda: L.Conv2DTranspose(80, 3), (1, 5, 5, 50)))
    for name, make in {"lstm": L.LSTM, "gru": L.GRU, "simple": L.SimpleRNN}.items():
        check.case(f"layers/first weights of {name}", lambda: first(lambda: make(60), (1, 5, 70)))
    check.case("layers/first weights of lora", lambda: first(lambda: L.Dense(70, lora_rank=20), (1, 100)))


def normalizations(check):
    data = uniform(STEPS, 4) * 3 + 1
    for axis, given in ((-1, [1, 2, 3]), (-1, 2), (None, 2), (1, [1, 2, 3, 4, 5]), ((1, 2), 2), (2, [3, 2, 1])):
        for invert in (False, True):
            check(f"normalization axis {axis} of {given}, {invert}", lambda: L.Normalization(
                axis, mean=given, variance=np.float32(given) * 2, invert=invert), STEPS, mask=MASK)
    for axis, invert in itertools.product((-1, None, 1, (1, 2), (0, 2), 0), (False, True)):
        def adapted():
            layer = L.Normalization(axis, invert=invert)
            layer.adapt(data)
            return layer
        check.case(f"layers/normalization adapted along {axis}, {invert}",
                   lambda: sums("out", adapted()(uniform(STEPS, 500))))
    check("normalization variance 0", lambda: L.Normalization(mean=1.0, variance=0.0), STEPS)
    check("normalization without variance", lambda: L.Normalization(mean=1.0), STEPS)
    check("normalization of other axes", lambda: L.Normalization(axis=3, mean=1.0, variance=1.0), STEPS)


def categories(check):
    case = lambda name, function: check.case("layers/" + name, function)
    ids = {"[5]": IDS[0], "[2, 5]": IDS, "[2, 1]": IDS[:, :1], "[1, 2, 1]": IDS[None, :, :1], "none": np.int32(2)}
    for mode, (text, numbers) in itertools.product(("one_hot", "multi_hot", "count"), ids.items()):
        case(f"encoding {mode} {text}", lambda: L.CategoryEncoding(4, mode)(numbers))
    case("encoding count weights", lambda: L.CategoryEncoding(4, "count")(IDS, count_weights=uniform((2, 5), 1)))
    case("encoding too large", lambda: L.CategoryEncoding(3)(IDS))
    case("encoding negative", lambda: L.CategoryEncoding(3)(-IDS))
    values = np.float32([[-1, -0.5, 0.2, 0.5], [0.7, 0, 9, 0.49]])
    for mode in ("int", "one_hot", "multi_hot", "count"):
        case(f"discretization {mode}", lambda: L.Discretization([-0.5, 0.0, 0.5], output_mode=mode)(
            values[:, :1] if mode == "one_hot" else values))
        case(f"discretization {mode} of one axis", lambda: L.Discretization([-0.5, 0.0, 0.5], output_mode=mode)(values[0]))
    case("discretization of integers", lambda: L.Discretization([0.5, 2.0])(IDS))
    case("discretization not a number", lambda: L.Discretization([0.5, 2.0])(np.float32([np.nan, np.inf])))

    def adapted(bins, epsilon):
        layer = L.Discretization(num_bins=bins, epsilon=epsilon)
        layer.adapt(uniform((200,), 9))
        return layer(uniform((2, 8), 3))
    for bins, epsilon in ((2, 0.01), (5, 0.01), (5, 0.1)):
        case(f"discretization adapted {bins} {epsilon}", lambda: adapted(bins, epsilon))


def lookups(check):
    case = lambda name, function: check.case("layers/" + name, function)
    words = np.array([["b", "zz", "a"], ["", "c", "qq"]])
    numbers = np.array([[20, 7, 10], [0, 30, 8]], np.int64)

    def texts(result):
        return " ".join(one.decode() or "-" for one in np.ravel(result.numpy()))
    kinds = {"string": (L.StringLookup, ["a", "b", "c"], words, ""),
             "integer": (L.IntegerLookup, [10, 20, 30], numbers, 0)}
    for kind, (make, vocabulary, inputs, mask) in kinds.items():
        for mode, oov, masked_too in itertools.product(("int", "one_hot", "multi_hot", "count"), (1, 3), (False, True)):
            case(f"{kind} lookup {mode}, {oov} unknown, mask {masked_too}", lambda: make(
                vocabulary=vocabulary, num_oov_indices=oov, output_mode=mode, mask_token=mask if masked_too else None)(
                    inputs[:, :1] if mode == "one_hot" else inputs))
        case(f"{kind} lookup of none unknown", lambda: make(vocabulary=vocabulary, num_oov_indices=0)(inputs))
        case(f"{kind} lookup of none unknown, all known", lambda: make(
            vocabulary=vocabulary, num_oov_indices=0)(inputs[:, :1][:1]))
        case(f"{kind} lookup tf_idf", lambda: make(vocabulary=vocabulary, idf_weights=[0.5, 1.5, 2.5], output_mode="tf_idf")(inputs))
        case(f"{kind} lookup padded", lambda: make(
            max_tokens=7, vocabulary=vocabulary, output_mode="count", pad_to_max_tokens=True)(inputs))
        case(f"{kind} lookup too many", lambda: make(max_tokens=3, vocabulary=vocabulary)(inputs))
        case(f"{kind} lookup twice the same", lambda: make(vocabulary=[*vocabulary, vocabulary[0]])(inputs))
    back = np.array([[1, 2, 0, 3, 9]])
    case("string lookup inverted", lambda: texts(L.StringLookup(vocabulary=["a", "b", "c"], invert=True)(back)))
    case("string lookup inverted, mask", lambda: texts(
        L.StringLookup(vocabulary=["a", "b", "c"], invert=True, mask_token="")(back)))
    case("string lookup inverted, token", lambda: texts(
        L.StringLookup(vocabulary=["a", "b", "c"], invert=True, oov_token="?")(back)))
    case("integer lookup inverted", lambda: L.IntegerLookup(vocabulary=[10, 20, 30], invert=True)(back))
    case("integer lookup inverted, mask", lambda: L.IntegerLookup(vocabulary=[10, 20, 30], invert=True, mask_token=0)(back))

    def learned(make, data, **options):
        layer = make(**options)
        layer.adapt(data)
        return " ".join(str(one) or "-" for one in layer.get_vocabulary())
    case("string lookup learned", lambda: learned(L.StringLookup, np.array(["b", "a", "c", "b", "c", "d"])))
    case("string lookup learned, most", lambda: learned(
        L.StringLookup, np.array(["b", "a", "c", "b", "c", "d"]), max_tokens=3))
    case("integer lookup learned", lambda: learned(L.IntegerLookup, np.array([3, 1, 2, 3, 2, 5])))
    case("integer lookup learned, mask", lambda: learned(L.IntegerLookup, np.array([3, 1, 0, 3, 2, 5]), mask_token=0))


def policies(check):
    """Dtypes of the result and of the weights under each policy."""
    counts = np.arange(24, dtype=np.int32).reshape(1, 4, 3, 2)
    floats, pictures = uniform(STEPS, 500), uniform(IMAGE, 500)
    makes = {
        "dense": (lambda: L.Dense(2), floats), "conv1d": (lambda: L.Conv1D(2, 2), floats),
        "conv2d": (lambda: L.Conv2D(2, 2), pictures), "depthwise": (lambda: L.DepthwiseConv2D(2), pictures),
        "batch norm": (lambda: L.BatchNormalization(), floats), "layer norm": (lambda: L.LayerNormalization(), floats),
        "group norm": (lambda: L.GroupNormalization(1), floats), "rms norm": (lambda: L.RMSNormalization(), floats),
        "lstm": (lambda: L.LSTM(2), floats), "bidirectional": (lambda: L.Bidirectional(L.GRU(2)), floats),
        "embedding": (lambda: L.Embedding(4, 3), IDS), "softmax": (lambda: L.Softmax(), floats),
        "relu": (lambda: L.ReLU(), floats), "prelu": (lambda: L.PReLU(), floats),
        "dropout": (lambda: L.Dropout(0.5), floats), "global average": (lambda: L.GlobalAveragePooling1D(), floats),
        "flatten": (lambda: L.Flatten(), floats), "flatten of integers": (lambda: L.Flatten(), IDS),
        "masking": (lambda: L.Masking(), floats), "einsum": (lambda: L.EinsumDense("abc,cd->abd", (None, 2)), floats),
        "rescaling": (lambda: L.Rescaling(0.5), floats), "rescaling of integers": (lambda: L.Rescaling(0.5), counts),
        "normalization": (lambda: L.Normalization(mean=1.0, variance=2.0), floats),
        "resizing": (lambda: L.Resizing(3, 3), pictures), "resizing of integers": (lambda: L.Resizing(3, 3), counts),
        "max pooling": (lambda: L.MaxPooling2D(2), pictures), "steps": (lambda: L.TimeDistributed(L.Dense(2)), floats),
        "flip": (lambda: L.RandomFlip(), pictures), "flip of integers": (lambda: L.RandomFlip(), counts)}

    def dtypes(policy, make, inputs):
        keras.config.set_dtype_policy(policy)
        try:
            layer = make()
            result = layer(inputs)
            return " ".join([result.dtype.name] + [weight.dtype for weight in layer.weights])
        finally:
            keras.config.set_dtype_policy("float32")
    for policy in ("float32", "mixed_bfloat16", "mixed_float16"):
        for name, (make, inputs) in makes.items():
            check.case(f"layers/dtypes of {name}, {policy}", lambda: dtypes(policy, make, inputs))


def parts(check):
    """Numbers of weights that are trained and not, and of penalties, where parts are frozen."""
    penalty = R.L2(0.1)

    def numbers(*settings):
        model = keras.Sequential([keras.Input((2,)), L.Dense(3, kernel_regularizer=penalty),
                                  L.BatchNormalization(gamma_regularizer=penalty), L.Dense(1)])
        for part, trainable in settings:
            (model if part is None else model.layers[part]).trainable = trainable
        return f"{len(model.trainable_weights)} {len(model.non_trainable_weights)} {len(model.losses)}"
    for name, settings in {
            "nothing": [], "all": [(None, False)], "the second": [(1, False)], "two": [(0, False), (1, False)],
            "all for a while": [(None, False), (None, True)], "all but the first": [(None, False), (0, True)]}.items():
        check.case(f"layers/frozen, {name}", lambda: numbers(*settings))

    class Own(L.Layer):
        def __init__(self):
            super().__init__()
            self.a = self.add_weight(shape=(2,), name="a", trainable=False)
            self.part = L.Dense(2)
            self.b = self.add_weight(shape=(2,), name="b")

        def call(self, x):
            return self.part(x) + self.a + self.b

    def order():
        layer = Own()
        layer(np.ones((1, 2), np.float32))
        return " ".join(weight.name for weight in layer.weights)
    check.case("layers/order of own weights", order)


def layer_cases(case):
    check = Cases(case)
    for part in (dense, convolutions, pooling, normalization, renormed, halves, recurrent, attention, activations, shapes, merging,
                 drops, normalizations, categories, lookups, policies, parts, constraints):
        part(check)

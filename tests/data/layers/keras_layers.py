#!/usr/bin/env python3
"""Makes keras_layers.json beside it: what Keras's layers give for fixed weights and inputs, and the
gradients of sum(output * weights). Inputs, weights and factors follow from uniform(), which
tests/nn/keras_layers.hpp has too.
Usage: keras_layers.py      with a Python that has TensorFlow
"""
import json
import os
import pathlib

os.environ.update(TF_ENABLE_ONEDNN_OPTS="0", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
import keras
import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).resolve().parent
L = keras.layers
MASK = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]], bool)  # a gap, both ends, none
SHORT = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], bool)  # one is all padding
PAIRS = np.array([[[1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]]], bool)


def uniform(shape, seed):
    """Numbers in [-1, 1) from a hash of position and seed, exact in float32."""
    count = int(np.prod(shape))
    x = (np.arange(count, dtype=np.uint64) * 2654435761 + seed * 40503 + 12345) & 0xFFFFFFFF
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    x ^= x >> 16
    values = (x >> 8).astype(np.float32) / np.float32(1 << 23) - np.float32(1)
    return values.reshape(shape)


def sequence(*layers):
    """Layers one after the other, with masks that Keras hands on."""
    def call(x):
        for layer in layers:
            x = layer(x)
        return x
    call.layers = layers
    return call


def masked(x):
    """A mask of the queries counts only where Keras has attached it."""
    x = tf.identity(x)
    x._keras_mask = tf.constant(SHORT)
    return x


def blank_steps(x):
    """Where MASK does not count, zeros."""
    return x * tf.cast(MASK, tf.float32)[:, :, None]


steps, image = [(3, 4, 5)], [(2, 5, 4, 3)]
IDS = np.array([[2, 0, 1], [3, 3, 0]], np.int32)
# name: layers, shapes of the inputs, how they are called
CASES = {
    "attention": (L.MultiHeadAttention(2, 3), steps, lambda f, x: f(x, x)),
    "attention_causal": (L.MultiHeadAttention(2, 3), steps, lambda f, x: f(x, x, use_causal_mask=True)),
    "attention_sizes": (L.MultiHeadAttention(2, 3, value_dim=4, output_shape=7, use_bias=False), steps,
                        lambda f, x: f(x, x)),
    "attention_mask": (L.MultiHeadAttention(2, 3), steps, lambda f, x: f(x, x, attention_mask=PAIRS)),
    "attention_padding": (L.MultiHeadAttention(2, 3), steps,
                          lambda f, x: f(masked(x), x, value_mask=tf.constant(SHORT))),
    "attention_padding_causal": (L.MultiHeadAttention(2, 3), steps,
                                 lambda f, x: f(x, x, value_mask=tf.constant(MASK), use_causal_mask=True)),
    "attention_cross": (L.MultiHeadAttention(2, 3), [(3, 2, 5), (3, 4, 6), (3, 4, 2)],
                        lambda f, q, v, k: f(q, v, k, value_mask=tf.constant(MASK), key_mask=tf.constant(SHORT))),
    "attention_dropout_padding": (L.MultiHeadAttention(2, 3, dropout=0.5), steps,
                                  lambda f, x: f(masked(x), x, value_mask=tf.constant(SHORT))),
    "attention_dropout_mask": (L.MultiHeadAttention(2, 3, dropout=0.5), steps,
                               lambda f, x: f(x, x, attention_mask=PAIRS, value_mask=tf.constant(MASK),
                                              use_causal_mask=True)),
    "lstm": (L.LSTM(3), steps, lambda f, x: f(x)),
    "lstm_sequences": (L.LSTM(3, return_sequences=True), steps, lambda f, x: f(x, mask=tf.constant(MASK))),
    "lstm_backwards": (L.LSTM(3, return_sequences=True, go_backwards=True), steps,
                       lambda f, x: f(x, mask=tf.constant(MASK))),
    "lstm_zero_output": (L.LSTM(3, return_sequences=True, zero_output_for_mask=True, use_bias=False), steps,
                         lambda f, x: f(x, mask=tf.constant(MASK))),
    "lstm_relu": (L.LSTM(3, activation="relu", recurrent_activation="tanh", return_sequences=True), steps,
                  lambda f, x: f(x, mask=tf.constant(MASK))),
    "lstm_states": (L.LSTM(3, return_state=True), steps + [(3, 3), (3, 3)],
                    lambda f, x, h, c: tf.concat(f(x, initial_state=[h, c], mask=tf.constant(MASK)), -1)),
    "gru": (L.GRU(3), steps, lambda f, x: f(x)),
    "gru_sequences": (L.GRU(3, return_sequences=True), steps, lambda f, x: f(x, mask=tf.constant(MASK))),
    "gru_reset_before": (L.GRU(3, reset_after=False, return_sequences=True), steps,
                         lambda f, x: f(x, mask=tf.constant(MASK))),
    "gru_states": (L.GRU(3, return_state=True, use_bias=False), steps + [(3, 3)],
                   lambda f, x, h: tf.concat(f(x, initial_state=h), -1)),
    "simple_rnn": (L.SimpleRNN(3), steps, lambda f, x: f(x)),
    "simple_rnn_sequences": (L.SimpleRNN(3, return_sequences=True, go_backwards=True), steps,
                             lambda f, x: f(x, mask=tf.constant(MASK))),
    "bidirectional": (L.Bidirectional(L.LSTM(3, return_sequences=True, name="inner")), steps,
                      lambda f, x: f(x, mask=tf.constant(MASK))),
    "bidirectional_sum": (L.Bidirectional(L.GRU(3, name="inner"), merge_mode="sum"), steps,
                          lambda f, x: f(x, mask=tf.constant(MASK))),
    "bidirectional_plain": (L.Bidirectional(L.SimpleRNN(3, return_sequences=True, name="inner"), merge_mode="ave"),
                            steps, lambda f, x: f(x)),
    "masking_flows": (sequence(L.Masking(name="a"), L.Bidirectional(L.GRU(2, return_sequences=True, name="inner"), name="b"),
                               L.LSTM(2, name="c")), steps, lambda f, x: f(blank_steps(x))),
    "masking_pooled": (sequence(L.Masking(name="a"), L.GlobalAveragePooling1D(name="b")), steps,
                       lambda f, x: f(blank_steps(x))),
    "embedding_flows": (sequence(L.Embedding(4, 3, mask_zero=True, name="a"), L.GRU(2, return_sequences=True, name="b"),
                                 L.GlobalAveragePooling1D(name="c")), [], lambda f: f(IDS)),
    "transpose_same": (L.Conv2DTranspose(2, (3, 2), strides=2, padding="same"), image, lambda f, x: f(x)),
    "transpose_valid": (L.Conv2DTranspose(2, 4, strides=(2, 1), activation="tanh"), image, lambda f, x: f(x)),
    "transpose_gaps": (L.Conv2DTranspose(2, 1, strides=(3, 2), use_bias=False), image, lambda f, x: f(x)),
    "relu_options": (L.ReLU(max_value=0.5, negative_slope=0.1, threshold=0.2), steps, lambda f, x: f(x)),
    "leaky_relu": (L.LeakyReLU(), steps, lambda f, x: f(x)),
    "prelu": (L.PReLU(shared_axes=[1]), image, lambda f, x: f(x)),
    "softmax": (L.Softmax(axis=1), steps, lambda f, x: f(x)),
    "reshape": (L.Reshape((-1, 10)), steps, lambda f, x: f(x)),
    "permute": (L.Permute((3, 1, 2)), image, lambda f, x: f(x)),
    "repeat_vector": (L.RepeatVector(3), [(2, 4)], lambda f, x: f(x)),
    "zero_padding": (L.ZeroPadding2D(((1, 2), (0, 3))), image, lambda f, x: f(x)),
    "up_sampling": (L.UpSampling2D((2, 3)), image, lambda f, x: f(x)),
    "average": (L.Average(), steps * 3, lambda f, *x: f(x)),
    "subtract": (L.Subtract(), steps * 2, lambda f, *x: f(x)),
    "multiply": (L.Multiply(), steps + [(3, 1, 5)], lambda f, *x: f(x)),
    "maximum": (L.Maximum(), steps * 2, lambda f, *x: f(x)),
    "concatenate": (L.Concatenate(axis=1), steps + [(3, 2, 5)], lambda f, *x: f(x)),
    "einsum_dense": (L.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de", activation="tanh"), steps,
                     lambda f, x: f(x)),
    "einsum_dense_two": (L.EinsumDense("...bc,bcd->...d", output_shape=(6,), bias_axes="d"), steps,
                         lambda f, x: f(x)),
    "conv1d": (L.Conv1D(4, 3, strides=2, padding="same", activation="relu"), steps, lambda f, x: f(x)),
    "conv1d_causal": (L.Conv1D(4, 2, padding="causal", dilation_rate=2), steps, lambda f, x: f(x)),
    "conv1d_valid": (L.Conv1D(4, 3, use_bias=False), steps, lambda f, x: f(x)),
    "separable": (L.SeparableConv2D(4, 3, padding="same", depth_multiplier=2), image, lambda f, x: f(x)),
    "group_norm": (L.GroupNormalization(2), [(2, 3, 4)], lambda f, x: f(x)),
    "instance_norm": (L.GroupNormalization(-1, scale=False), image, lambda f, x: f(x)),
    "rms_norm": (L.RMSNormalization(), steps, lambda f, x: f(x)),
    "layer_norm_inner": (L.LayerNormalization(axis=1), steps, lambda f, x: f(x)),
    "layer_norm_two": (L.LayerNormalization(axis=[1, 2], epsilon=1e-6, scale=False), steps, lambda f, x: f(x)),
    "max_pool_1d": (L.GlobalMaxPooling1D(), steps, lambda f, x: f(x)),
}


def listed(x):
    return [float(f"{v:.8g}") for v in np.asarray(x, np.float64).ravel()]


def run(layer, shapes, call):
    inputs = [tf.Variable(uniform(shape, 500 + i)) for i, shape in enumerate(shapes)]
    call(layer, *[tf.convert_to_tensor(x) for x in inputs])
    layers = getattr(layer, "layers", [layer])
    weights = {}
    for one in layers:
        for w in one.trainable_variables:
            below = w.path.split("/", 1)[1]
            weights[f"{one.name}/{below}" if len(layers) > 1 else below] = w
    for i, name in enumerate(sorted(weights)):
        weights[name].assign(uniform(weights[name].shape, i + 1) * np.float32(0.75))
    with tf.GradientTape() as tape:
        y = call(layer, *[tf.convert_to_tensor(x) for x in inputs])
        loss = tf.reduce_sum(y * uniform(y.shape, 900))
    names = sorted(weights)
    got = tape.gradient(loss, inputs + [weights[n].value for n in names])
    return {
        "inputs": [list(shape) for shape in shapes], "shape": list(y.shape), "output": listed(y),
        "weights": {n: list(weights[n].shape) for n in names},
        "input_gradients": [listed(g) for g in got[:len(inputs)]],
        "gradients": {n: listed(tf.convert_to_tensor(g)) for n, g in zip(names, got[len(inputs):])},
    }


out = {"made_with": {"tensorflow": tf.__version__, "keras": keras.__version__}, "cases": {}}
for name, (layer, shapes, call) in CASES.items():
    out["cases"][name] = run(layer, shapes, call)
text = json.dumps(out, separators=(",", ":")).replace('},"', '},\n"')
(HERE / "keras_layers.json").write_text(text + "\n")

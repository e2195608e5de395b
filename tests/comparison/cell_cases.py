"""Recurrent cells and layers around them, for tensorflow_cases.py: what cell_cases.cpp does here."""
import itertools

import keras
import numpy as np
import tensorflow as tf

from layer_cases import MASK, NONE, R, STEPS, Cases, sums, uniform

L = keras.layers
MASKS = {"no mask": None, "gaps": MASK, "padding": NONE}
CELLS = {"simple": L.SimpleRNNCell, "lstm": L.LSTMCell, "gru": L.GRUCell}
LAYERS = {"simple": L.SimpleRNN, "lstm": L.LSTM, "gru": L.GRU}
PENALTIES = {"kernel_regularizer": R.L1(0.1), "recurrent_regularizer": R.L2(0.2), "bias_regularizer": R.L2(0.3)}


@keras.saving.register_keras_serializable("cases")
class Mixer(L.Layer):
    """A cell of two states of different sizes, whose output has a third size."""
    state_size, output_size = [2, 1], 3

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 2), name="kernel")
        self.recurrent = self.add_weight(shape=(2, 2), name="recurrent")
        self.projection = self.add_weight(shape=(2, 3), name="projection")

    def call(self, x, states):
        h = tf.tanh(x @ self.kernel + states[0] @ self.recurrent)
        level = states[1] * 0.5 + tf.reduce_mean(h, -1, keepdims=True)
        return h @ self.projection + level, [h, level]


class Sum(L.Layer):
    """A cell without weights, which begins with ones; half as much in training."""
    state_size = 3

    def call(self, x, states, training=False):
        total = states[0] + x * (0.5 if training else 1.0)
        return total, [total]

    def get_initial_state(self, batch_size=None):
        return [tf.ones((batch_size, 3))]


class Resettable(L.RNN):
    """Keras 3.15 fails where it resets the states of several cells."""
    def reset_state(self):
        for state in keras.tree.flatten(self.states):
            state.assign(tf.zeros_like(state))


def flat(results):
    return keras.tree.flatten(list(results))


def stack(kind="mixed"):
    if kind == "own":
        return L.StackedRNNCells([Mixer(), L.GRUCell(2)])
    if kind == "one":
        return L.StackedRNNCells([L.LSTMCell(2)])
    return L.StackedRNNCells([L.LSTMCell(2), L.GRUCell(3), L.SimpleRNNCell(2)])


def grid(check, name, make):
    for (text, mask), sequences, back, zero in itertools.product(
            MASKS.items(), (False, True), (False, True), (False, True)):
        check(f"{name} {text}, sequences {sequences}, backwards {back}, zero {zero}", lambda: L.RNN(
            make(), return_sequences=sequences, go_backwards=back, zero_output_for_mask=zero), STEPS, mask=mask)
    for text, mask in MASKS.items():
        check(f"{name} {text}, states", lambda: L.RNN(make(), return_state=True), STEPS, mask=mask,
              call=lambda layer, x: flat(layer(x)))
        check(f"{name} {text}, stateful", lambda: Resettable(make(), stateful=True, return_sequences=True), STEPS,
              mask=mask, calls=3)
    check(f"{name} stateful, backwards", lambda: Resettable(make(), stateful=True, go_backwards=True), STEPS, calls=2)
    check(f"{name} frozen", lambda: L.RNN(make()), STEPS, frozen=True)
    check(f"{name} one example", lambda: L.RNN(make(), return_sequences=True), (1, 5, 3))
    check(f"{name} one step", lambda: L.RNN(make(), return_sequences=True), (2, 1, 3))
    check(f"{name} of two axes", lambda: L.RNN(make()), (2, 3))
    for sequences, (text, mask) in itertools.product((False, True), MASKS.items()):
        check(f"{name} in both directions, sequences {sequences}, {text}",
              lambda: L.Bidirectional(L.RNN(make(), return_sequences=sequences)), STEPS, mask=mask)


def cells(check):
    for kind, make in CELLS.items():
        sizes = [(2, 2)] * (2 if kind == "lstm" else 1)
        step = lambda cell, x, *states: flat(cell(x, list(states)))
        check(f"{kind} cell", lambda: make(2), (2, 3), *sizes, call=step)
        check(f"{kind} cell, no bias", lambda: make(2, use_bias=False), (2, 3), *sizes, call=step)
        check(f"{kind} cell, relu", lambda: make(2, activation="relu"), (2, 3), *sizes, call=step)
        check(f"{kind} cell, linear", lambda: make(2, activation=None), (2, 3), *sizes, call=step)
        check(f"{kind} cell, regularized", lambda: make(2, **PENALTIES), (2, 3), *sizes, call=step)
        check(f"{kind} cell, frozen", lambda: make(2), (2, 3), *sizes, call=step, frozen=True)
        check(f"{kind} cell, dropout, not training", lambda: make(2, dropout=0.5, recurrent_dropout=0.5), (2, 3), *sizes,
              call=step)
        check(f"{kind} cell, wrong state", lambda: make(2), (2, 3), *[(2, 4)] * len(sizes), call=step)
        check(f"{kind} cell, wrong inputs", lambda: make(2), (3,), *sizes, call=step)
        check(f"{kind} cell of no units", lambda: make(0), (2, 3), *sizes, call=step)
        check.case(f"layers/{kind} cell, sizes", lambda: " ".join(str(one) for one in keras.tree.flatten(
            [make(3).state_size, make(3).output_size])))
        check.case(f"layers/{kind} cell, first states", lambda: " | ".join(
            sums("state", one) for one in make(3).get_initial_state(2)))
        grid(check, f"rnn of {kind}", lambda: make(2))
        check(f"rnn of {kind}, regularized", lambda: L.RNN(make(2, **PENALTIES)), STEPS)
        check(f"rnn of {kind}, activity", lambda: L.RNN(make(2), activity_regularizer=R.L2(0.1)), STEPS)
        check(f"rnn of {kind}, dropout, not training", lambda: L.RNN(make(2, dropout=0.5, recurrent_dropout=0.5)), STEPS)
        check(f"rnn of {kind} from states", lambda: L.RNN(make(2), return_state=True), STEPS, *sizes, mask=MASK,
              call=lambda layer, x, *states: flat(layer(x, initial_state=list(states))))
        check(f"rnn of {kind} from states, with a mask", lambda: L.RNN(make(2), return_state=True, return_sequences=True),
              STEPS, *sizes, call=lambda layer, x, *states: flat(layer(x, initial_state=list(states), mask=tf.constant(MASK))))
        check(f"rnn of {kind} from states, sequences", lambda: L.RNN(make(2), return_state=True, return_sequences=True),
              STEPS, *sizes, mask=MASK, call=lambda layer, x, *states: flat(layer(x, initial_state=list(states))))
        check(f"{kind} layer from states", lambda: LAYERS[kind](2, return_state=True), STEPS, *sizes, mask=MASK,
              call=lambda layer, x, *states: flat(layer(x, initial_state=list(states))))
        check(f"rnn of {kind} from states, stateful", lambda: L.RNN(make(2), stateful=True), STEPS, *sizes,
              call=lambda layer, x, *states: [layer(x, initial_state=list(states)), layer(x)])
        check(f"rnn of {kind} both from states", lambda: L.Bidirectional(L.RNN(make(2), return_state=True)), STEPS,
              *sizes * 2, mask=MASK, call=lambda layer, x, *states: flat(layer(x, initial_state=list(states))))
        for rate in (1.0, 1.5, -0.5):
            check(f"{kind} layer, dropout {rate}", lambda: LAYERS[kind](2, dropout=rate), STEPS, training=True)
            check(f"rnn of {kind}, dropout {rate}", lambda: L.RNN(make(2, dropout=rate)), STEPS, training=True)
        check(f"rnn of {kind}, recurrent dropout 1", lambda: L.RNN(make(2, recurrent_dropout=1.0)), STEPS, training=True)
        for mode in ("sum", "mul", "ave"):
            check(f"rnn of {kind} both, {mode}", lambda: L.Bidirectional(
                L.RNN(make(2), return_sequences=True), merge_mode=mode), STEPS, mask=MASK)
    check("gru cell, reset before", lambda: L.GRUCell(2, reset_after=False), (2, 3), (2, 2),
          call=lambda cell, x, h: flat(cell(x, [h])))
    check("lstm cell, hard", lambda: L.LSTMCell(2, recurrent_activation="hard_sigmoid"), (2, 3), (2, 2), (2, 2),
          call=lambda cell, x, h, c: flat(cell(x, [h, c])))
    check("rnn of gru, reset before", lambda: L.RNN(L.GRUCell(2, reset_after=False)), STEPS, mask=MASK)
    check("rnn of lstm, hard", lambda: L.RNN(L.LSTMCell(2, recurrent_activation="hard_sigmoid")), STEPS, mask=MASK)
    check.case("layers/lstm cell, first biases", lambda: " | ".join(
        sums("bias", built(L.LSTMCell(2, unit_forget_bias=forget)).bias) for forget in (True, False)))


def built(layer):
    layer.build((2, 3))
    return layer


def stacks(check):
    for kind in ("mixed", "own", "one"):
        grid(check, f"rnn of {kind} stack", lambda: stack(kind))
        check.case(f"layers/{kind} stack, sizes", lambda: " ".join(str(one) for one in keras.tree.flatten(
            [stack(kind).state_size, stack(kind).output_size])))
    check("mixed stack", stack, (2, 3), (2, 2), (2, 2), (2, 3), (2, 2),
          call=lambda cell, x, h, c, g, s: flat(cell(x, [[h, c], [g], [s]])))
    check("rnn of a list", lambda: L.RNN([L.LSTMCell(2), L.LSTMCell(3)]), STEPS, mask=MASK)
    check("rnn of mixed stack, regularized", lambda: L.RNN(
        [L.LSTMCell(2, **PENALTIES), L.GRUCell(2, **PENALTIES)]), STEPS)
    check("rnn of mixed stack, dropout, not training", lambda: L.RNN(
        [L.LSTMCell(2, dropout=0.5), L.GRUCell(2, recurrent_dropout=0.5)]), STEPS)
    check("rnn of a stack from states", lambda: L.RNN([L.LSTMCell(2), L.GRUCell(3)], return_state=True), STEPS,
          (2, 2), (2, 2), (2, 3), mask=MASK, call=lambda layer, x, h, c, g: flat(layer(x, initial_state=[[h, c], [g]])))


def own(check):
    grid(check, "rnn of own", Mixer)
    check("own cell", Mixer, (2, 3), (2, 2), (2, 1), call=lambda cell, x, h, n: flat(cell(x, [h, n])))
    for training, (text, mask) in itertools.product((False, True), MASKS.items()):
        check(f"rnn that begins with ones, {training}, {text}", lambda: L.RNN(Sum(), return_sequences=True), STEPS,
              mask=mask, training=training)
    check("rnn that begins with ones, stateful", lambda: L.RNN(Sum(), stateful=True), STEPS, calls=2)
    check("rnn of own, too few states", lambda: L.RNN(Mixer()), STEPS, (2, 2),
          call=lambda layer, x, h: layer(x, initial_state=[h]))


def half(check):
    """Values under a policy of 16 bits."""
    makes = {**{kind: (lambda make=make: L.RNN(make(2), return_sequences=True)) for kind, make in CELLS.items()},
             "mixed stack": lambda: L.RNN(stack()), "own": lambda: L.RNN(Mixer()),
             "both": lambda: L.Bidirectional(L.RNN(L.LSTMCell(2), return_sequences=True))}

    def describe(make, policy, shape=STEPS):
        keras.config.set_dtype_policy(policy)
        layer = make()
        keras.config.set_dtype_policy("float32")
        x = uniform(shape, 500)
        layer(x)
        for i, weight in enumerate(layer.weights):
            weight.assign(uniform(weight.shape, i + 1) * np.float32(0.75))
        y = layer(x)
        return " ".join([*(weight.dtype for weight in layer.weights), y.dtype.name, sums("out", tf.cast(y, tf.float32))])
    for name, make in makes.items():
        check.case(f"layers/rnn of {name}, mixed_bfloat16", lambda: describe(make, "mixed_bfloat16"))
    check.case("layers/conv_lstm2d, mixed_bfloat16", lambda: describe(
        lambda: L.ConvLSTM2D(2, 2), "mixed_bfloat16", CONVOLUTIONS[2][1]))


CONVOLUTIONS = {1: (L.ConvLSTM1D, (2, 3, 6, 2)), 2: (L.ConvLSTM2D, (2, 3, 5, 6, 2)), 3: (L.ConvLSTM3D, (2, 2, 4, 5, 4, 2))}
FRAMES = {"no mask": None, "gaps": np.array([[1, 0, 1], [0, 1, 0]], bool), "padding": np.array([[1, 1, 0], [0, 0, 0]], bool)}


def convolutions(check):
    for rank, (make, shape) in CONVOLUTIONS.items():
        name = f"conv_lstm{rank}d"
        for padding, size, (strides, dilation) in itertools.product(
                ("valid", "same"), (1, 2, (3, 2, 2)[:rank]), ((1, 1), (2, 1), (1, 2), ((1, 2, 2)[:rank], 1))):
            check(f"{name} {padding} kernel {size} strides {strides} dilation {dilation}", lambda: make(
                2, size, strides, padding, dilation_rate=dilation), shape)
        check(f"{name} frozen", lambda: make(2, 2), shape, frozen=True)
        check(f"{name} states", lambda: make(2, 2, return_state=True), shape, call=lambda layer, x: flat(layer(x)))
        check(f"{name} regularized", lambda: make(2, 2, activity_regularizer=R.L1(0.1), **PENALTIES), shape)
        check(f"{name} one example", lambda: make(2, 2, return_sequences=True), (1, *shape[1:]))
        check(f"{name} one step", lambda: make(2, 2, return_sequences=True), (2, 1, *shape[2:]))
        check(f"{name} of fewer axes", lambda: make(2, 2), shape[1:])
        check(f"{name} in both directions", lambda: L.Bidirectional(make(2, 2, return_sequences=True)), shape)
        check.case(f"layers/{name} weights", lambda: " ".join(
            f"{weight.path.split('/', 1)[1]} {list(weight.shape)}" for weight in after_call(make(2, 2), shape).weights))
    make, shape = CONVOLUTIONS[2]
    for (text, mask), sequences, back, zero in itertools.product(
            FRAMES.items(), (False, True), (False, True), (False, True)):
        check(f"conv_lstm2d {text}, sequences {sequences}, backwards {back}, zero {zero}", lambda: make(
            2, 2, padding="same", return_sequences=sequences, go_backwards=back, zero_output_for_mask=zero), shape, mask=mask)
    for text, mask in FRAMES.items():
        check(f"conv_lstm2d {text}, stateful", lambda: make(2, 2, stateful=True), shape, mask=mask, calls=3)
        check(f"conv_lstm2d {text}, both", lambda: L.Bidirectional(make(2, 2)), shape, mask=mask)
    for text, options in {
            "no bias": {"use_bias": False}, "no forget bias": {"unit_forget_bias": False}, "relu": {"activation": "relu"},
            "linear": {"activation": None}, "hard": {"recurrent_activation": "hard_sigmoid"},
            "dropout, not training": {"dropout": 0.5, "recurrent_dropout": 0.5}}.items():
        check(f"conv_lstm2d {text}", lambda: make(2, 2, **options), shape)
    check("conv_lstm2d from states", lambda: make(2, 2, padding="same", return_state=True), shape, (2, 5, 6, 2),
          (2, 5, 6, 2), mask=FRAMES["gaps"], call=lambda layer, x, *states: flat(layer(x, initial_state=list(states))))
    check("conv_lstm2d from states of another size", lambda: make(2, 2, return_state=True), shape, (2, 5, 6, 2),
          (2, 5, 6, 2), call=lambda layer, x, *states: flat(layer(x, initial_state=list(states))))
    check("conv_lstm2d strides and dilation", lambda: make(2, 2, 2, dilation_rate=2), shape)
    check("conv_lstm2d of no filters", lambda: make(0, 2), shape)
    check("conv_lstm2d too large", lambda: make(2, 7), shape)
    check("steps of conv_lstm1d", lambda: L.TimeDistributed(L.ConvLSTM1D(2, 2)), (2, 2, 3, 5, 2))
    check.case("layers/conv_lstm2d first biases", lambda: " | ".join(sums(
        "bias", after_call(make(2, 2, unit_forget_bias=forget), shape).weights[2]) for forget in (True, False)))


def after_call(layer, shape):
    layer(uniform(shape, 500))
    return layer


def cell_cases(case):
    check = Cases(case)
    for part in (cells, stacks, own, half, convolutions):
        part(check)

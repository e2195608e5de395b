#!/usr/bin/env python3
"""Checkpoints of Keras 3 models: keras_checkpoints.py make|check DIRECTORY.

make: trains two steps, saves with tf.train.Checkpoint, and writes what the models answer then and after a third step to DIRECTORY/answers.
check: restores files that keras_checkpoint_test.cpp wrote, asserts that all is consumed, and compares the answers with DIRECTORY/answers.
Exit status 77 where TensorFlow is not installed.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import keras, np, tf

L, O = keras.layers, keras.optimizers


class Subclass(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = L.Dense(2)
        self.blocks = [L.Dense(3), L.Dense(2)]
        self.last = L.Dense(1)

    def call(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def sequential():
    return keras.Sequential([L.Dense(2), L.BatchNormalization(), L.Dropout(0.5), L.Dense(1)])


def pictures():
    return keras.Sequential([L.Conv2D(2, 2), L.DepthwiseConv2D(2), L.SeparableConv2D(2, 2), L.Conv2DTranspose(2, 2),
                             L.GroupNormalization(1), L.Flatten(), L.Dense(1)])


def functional():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    left = L.Dense(2)(L.Dense(2)(a))
    right = L.Dense(2)(b)
    inner = keras.Sequential([L.Dense(2), L.BatchNormalization()])
    y = inner(L.Add()([left, right]))
    return keras.Model({"a": a, "b": b}, {"x": L.Dense(1)(y), "c": L.Dense(2)(right)})


def text():
    return keras.Sequential([L.Embedding(5, 2, mask_zero=True), L.Bidirectional(L.LSTM(2, return_sequences=True)), L.Dropout(0.5),
                             L.GRU(2), L.LayerNormalization(), L.Dense(1)])


def attention():
    ids = keras.Input((4,), dtype="int32", name="ids")
    e = L.Embedding(5, 4, mask_zero=True)(ids)
    f = L.Embedding(5, 4, mask_zero=True)(ids)
    x = L.LayerNormalization()(L.Add()([L.MultiHeadAttention(2, 2)(e, e), e]))
    return keras.Model({"ids": ids}, {"y": L.Dense(1)(L.LSTM(2)(L.Concatenate()([x, f])))})


MODELS = {"sequential": sequential, "pictures": pictures, "functional": functional, "subclass": Subclass, "text": text,
          "attention": attention}
OPTIMIZERS = {
    "sgd": lambda: O.SGD(0.25), "momentum": lambda: O.SGD(0.25, momentum=0.5), "adam": O.Adam, "amsgrad": lambda: O.Adam(amsgrad=True),
    "adamw": O.AdamW, "nadam": O.Nadam, "adamax": O.Adamax, "rmsprop": lambda: O.RMSprop(momentum=0.5, centered=True),
    "adagrad": O.Adagrad, "adadelta": O.Adadelta, "ftrl": O.Ftrl, "lion": O.Lion, "lamb": O.Lamb,
    "average": lambda: O.Adam(use_ema=True), "schedule": lambda: O.Adam(O.schedules.CosineDecay(0.1, 10)),
    "nadam_schedule": lambda: O.Nadam(O.schedules.CosineDecay(0.1, 10)),
    "scaled": lambda: O.LossScaleOptimizer(O.Adam(0.01), 64.0, 3), "scaled_sgd": lambda: O.LossScaleOptimizer(O.SGD(0.25), 64.0, 3)}
PAIRS = [(m, "adam") for m in MODELS] + [("sequential", o) for o in OPTIMIZERS if o != "adam"]


def run(name, model):
    ids, x = np.array([[1, 2, 3, 0]], "int32"), np.full((1, 3), 0.5, "float32")
    inputs = {"functional": {"a": x, "b": x}, "attention": {"ids": ids}, "text": ids,
              "pictures": np.full((1, 6, 6, 2), 0.5, "float32")}.get(name, x)
    y = model(inputs)
    return tf.concat([tf.reshape(y[key], [-1]) for key in sorted(y)], 0) if isinstance(y, dict) else tf.reshape(y, [-1])


def step(name, model, optimizer):
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_sum(run(name, model) ** 2))
    weights = model.trainable_variables
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip([g if g is not None else tf.zeros_like(w) for g, w in zip(gradients, weights)], weights))


def make(directory):
    answers = {}
    for name, optimizer_name in PAIRS:
        keras.utils.set_random_seed(1)
        model, optimizer = MODELS[name](), OPTIMIZERS[optimizer_name]()
        for _ in range(2):
            step(name, model, optimizer)
        both = f"{name}_{optimizer_name}"
        tf.train.Checkpoint(model=model, optimizer=optimizer).write(f"{directory}/{both}")
        answers[f"{both}/before"] = run(name, model)
        step(name, model, optimizer)
        answers[f"{both}/after"] = run(name, model)
    tf.raw_ops.SaveV2(prefix=f"{directory}/answers", tensor_names=list(answers), shape_and_slices=[""] * len(answers),
                      tensors=list(answers.values()))


def check(directory):
    answers = tf.train.load_checkpoint(f"{directory}/answers")
    wrong = []
    for name, optimizer_name in PAIRS:
        model, optimizer = MODELS[name](), OPTIMIZERS[optimizer_name]()
        run(name, model)
        optimizer.build(model.trainable_variables)
        both = f"{name}_{optimizer_name}"
        try:
            tf.train.Checkpoint(model=model, optimizer=optimizer).restore(f"{directory}/{both}").assert_consumed()
            np.testing.assert_allclose(run(name, model), answers.get_tensor(f"{both}/before").reshape(-1), rtol=1e-5, atol=1e-6)
            step(name, model, optimizer)
            np.testing.assert_allclose(run(name, model), answers.get_tensor(f"{both}/after").reshape(-1), rtol=1e-5, atol=2e-6)
            assert int(optimizer.iterations) == 3
            if optimizer_name.startswith("scaled"):  # the third good step doubles the scale
                assert (float(optimizer.dynamic_scale), int(optimizer.step_counter)) == (128, 0)
            print(both, "ok")
        except Exception as error:
            wrong.append(both)
            print(both, "WRONG", type(error).__name__, str(error)[:1500])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit({"make": make, "check": check}[sys.argv[1]](sys.argv[2]))

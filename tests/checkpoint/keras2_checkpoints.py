#!/usr/bin/env python3
"""Checkpoints of Keras 2 (package tf_keras): keras2_checkpoints.py make|check DIRECTORY.

make: trains two steps, saves with tf.train.Checkpoint, and writes what the models answer then and after a third step to DIRECTORY/answers.
check: restores files that keras_checkpoint_test.cpp wrote, asserts that all is consumed, and compares the answers with DIRECTORY/answers.
Exit status 77 where TensorFlow or tf_keras is not installed.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import np, tf
try:
    import tf_keras as keras
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

L, O = keras.layers, keras.optimizers


def sequential():
    return keras.Sequential([L.Dense(2), L.BatchNormalization(), L.Dropout(0.5), L.Dense(1)])


def functional():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    left = L.Dense(2)(L.Dense(2)(a))
    right = L.Dense(2)(b)
    inner = keras.Sequential([L.Dense(2), L.BatchNormalization()])
    y = inner(L.Add()([left, right]))
    return keras.Model({"a": a, "b": b}, {"x": L.Dense(1)(y), "c": L.Dense(2)(right)})


MODELS = {"sequential": sequential, "functional": functional}
OPTIMIZERS = {
    "sgd": lambda: O.SGD(0.25), "momentum": lambda: O.SGD(0.25, momentum=0.5), "adam": O.Adam, "amsgrad": lambda: O.Adam(amsgrad=True),
    "nadam": O.Nadam, "adamax": O.Adamax, "rmsprop": lambda: O.RMSprop(momentum=0.5, centered=True), "adagrad": O.Adagrad,
    "adadelta": O.Adadelta, "ftrl": O.Ftrl, "lion": O.Lion, "average": lambda: O.Adam(use_ema=True),
    "schedule": lambda: O.Adam(O.schedules.CosineDecay(0.1, 10)),
    "scaled": lambda: keras.mixed_precision.LossScaleOptimizer(O.Adam(0.01), initial_scale=64, dynamic_growth_steps=3),
    "scaled_sgd": lambda: keras.mixed_precision.LossScaleOptimizer(O.SGD(0.25), initial_scale=64, dynamic_growth_steps=3),
    "legacy_adam": O.legacy.Adam, "legacy_momentum": lambda: O.legacy.SGD(0.25, momentum=0.5)}
PAIRS = [("functional", "adam")] + [("sequential", o) for o in OPTIMIZERS]


def run(name, model):
    x = np.full((1, 3), 0.5, "float32")
    y = model({"a": x, "b": x} if name == "functional" else x)
    return tf.concat([tf.reshape(y[key], [-1]) for key in sorted(y)], 0) if isinstance(y, dict) else tf.reshape(y, [-1])


def step(name, model, optimizer):
    scaled = hasattr(optimizer, "get_scaled_loss")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(run(name, model) ** 2)
        loss = optimizer.get_scaled_loss(loss) if scaled else loss
    weights = model.trainable_variables
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(optimizer.get_unscaled_gradients(gradients) if scaled else gradients, weights))


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
        both = f"{name}_{optimizer_name}"
        if optimizer_name.startswith("legacy_"):  # files of TensorFlow 2.10 and before are read alone
            continue
        model, optimizer = MODELS[name](), OPTIMIZERS[optimizer_name]()
        run(name, model)
        optimizer.build(model.trainable_variables)
        try:
            tf.train.Checkpoint(model=model, optimizer=optimizer).restore(f"{directory}/{both}").assert_consumed()
            np.testing.assert_allclose(run(name, model), answers.get_tensor(f"{both}/before").reshape(-1), rtol=1e-5, atol=1e-6)
            step(name, model, optimizer)
            if optimizer_name == "nadam":  # its own files, too: it then multiplies the product once for each weight
                continue
            np.testing.assert_allclose(run(name, model), answers.get_tensor(f"{both}/after").reshape(-1), rtol=1e-5, atol=2e-6)
            assert int(optimizer.iterations) == 3
            if optimizer_name.startswith("scaled"):  # the third good step doubles the scale
                assert (float(optimizer.loss_scale), int(optimizer.dynamic_counter)) == (128, 0)
            print(both, "ok")
        except Exception as error:
            wrong.append(both)
            print(both, "WRONG", type(error).__name__, str(error)[:1500])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit({"make": make, "check": check}[sys.argv[1]](sys.argv[2]))

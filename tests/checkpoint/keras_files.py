"""What keras_checkpoints.py and keras2_checkpoints.py share: models, and how their files are made and checked.

make: trains two steps, saves with tf.train.Checkpoint, and writes what the models answer then and after a third step to DIRECTORY/answers.
check: restores files that keras_checkpoint_test.cpp wrote, asserts that all is consumed, and compares the answers with DIRECTORY/answers.
Exit status 77 where TensorFlow or the Keras is not installed.
"""
import dataclasses
import pathlib
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import np, tf


def models(keras):
    L = keras.layers

    def sequential():
        return keras.Sequential([L.Dense(2), L.BatchNormalization(), L.Dropout(0.5), L.Dense(1)])

    def functional():
        a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
        left = L.Dense(2)(L.Dense(2)(a))
        right = L.Dense(2)(b)
        inner = keras.Sequential([L.Dense(2), L.BatchNormalization()])
        y = inner(L.Add()([left, right]))
        return keras.Model({"a": a, "b": b}, {"x": L.Dense(1)(y), "c": L.Dense(2)(right)})

    return {"sequential": sequential, "functional": functional}


def optimizers(keras):
    O = keras.optimizers
    return {
        "sgd": lambda: O.SGD(0.25), "momentum": lambda: O.SGD(0.25, momentum=0.5), "adam": O.Adam, "amsgrad": lambda: O.Adam(amsgrad=True),
        "nadam": O.Nadam, "adamax": O.Adamax, "rmsprop": lambda: O.RMSprop(momentum=0.5, centered=True), "adagrad": O.Adagrad,
        "adadelta": O.Adadelta, "ftrl": O.Ftrl, "lion": O.Lion, "average": lambda: O.Adam(use_ema=True),
        "schedule": lambda: O.Adam(O.schedules.CosineDecay(0.1, 10))}


@dataclasses.dataclass
class Files:
    keras: typing.Any
    models: dict
    optimizers: dict
    inputs: dict  # of models that do not take the usual row
    minimize: typing.Callable  # (optimizer, loss, model): one step
    scale_of: typing.Callable  # the scale of a loss scale optimizer, and its counter
    without_check: tuple = ()  # beginnings of names of optimizers whose files are read alone
    without_third_step: tuple = ()

    def pairs(self):
        """The models with Adam, and one of them with the other optimizers."""
        return [(m, "adam") for m in self.models] + [("sequential", o) for o in self.optimizers if o != "adam"]

    def run(self, name, model):
        y = model(self.inputs.get(name, np.full((1, 3), 0.5, "float32")))
        return tf.concat([tf.reshape(y[key], [-1]) for key in sorted(y)], 0) if isinstance(y, dict) else tf.reshape(y, [-1])

    def step(self, name, model, optimizer):
        self.minimize(optimizer, lambda: tf.reduce_sum(self.run(name, model) ** 2), model)

    def make(self, directory):
        answers = {}
        for name, optimizer_name in self.pairs():
            self.keras.utils.set_random_seed(1)
            model, optimizer = self.models[name](), self.optimizers[optimizer_name]()
            for _ in range(2):
                self.step(name, model, optimizer)
            both = f"{name}_{optimizer_name}"
            tf.train.Checkpoint(model=model, optimizer=optimizer).write(f"{directory}/{both}")
            answers[f"{both}/before"] = self.run(name, model)
            self.step(name, model, optimizer)
            answers[f"{both}/after"] = self.run(name, model)
        tf.raw_ops.SaveV2(prefix=f"{directory}/answers", tensor_names=list(answers), shape_and_slices=[""] * len(answers),
                          tensors=list(answers.values()))

    def check_one(self, name, optimizer_name, prefix, answer):
        model, optimizer = self.models[name](), self.optimizers[optimizer_name]()
        self.run(name, model)
        optimizer.build(model.trainable_variables)
        tf.train.Checkpoint(model=model, optimizer=optimizer).restore(prefix).assert_consumed()
        np.testing.assert_allclose(self.run(name, model), answer("before"), rtol=1e-5, atol=1e-6)
        self.step(name, model, optimizer)
        if optimizer_name in self.without_third_step:
            return
        np.testing.assert_allclose(self.run(name, model), answer("after"), rtol=1e-5, atol=2e-6)
        assert int(optimizer.iterations) == 3
        if optimizer_name.startswith("scaled"):  # the third good step doubles the scale
            assert self.scale_of(optimizer) == (128, 0)

    def check(self, directory):
        answers = tf.train.load_checkpoint(f"{directory}/answers")
        wrong = 0
        for name, optimizer_name in self.pairs():
            both = f"{name}_{optimizer_name}"
            if optimizer_name.startswith(self.without_check):
                continue
            try:
                self.check_one(name, optimizer_name, f"{directory}/{both}",
                               lambda when: answers.get_tensor(f"{both}/{when}").reshape(-1))
                print(both, "ok")
            except Exception as error:
                wrong += 1
                print(both, "WRONG", type(error).__name__, str(error)[:1500])
        return 1 if wrong else 0

    def main(self):
        sys.exit({"make": self.make, "check": self.check}[sys.argv[1]](sys.argv[2]))

"""Each option of callbacks away from its default, for tensorflow_cases.py: what callback_option_cases.cpp
does here. A callback before them writes the figures of each epoch into the logs, and sets the weight to
the number of the epoch, from 1."""
import contextlib
import functools
import io
import itertools
import os
import tempfile

import keras
import numpy as np

C = keras.callbacks
FALLING = [5.0, 4.0, 4.5, 3.0, 3.5, 3.25, 3.125, 2.0, 9.0, 8.0]
RISING = [-value for value in FALLING]
HOLES = [float("nan"), 5.0, float("nan"), 4.0, 4.0, 4.0, 3.0]
STEADY = [1.0] * 8
SEQUENCES = {"falling": FALLING, "rising": RISING, "holes": HOLES, "steady": STEADY}


def made(rate=1.0):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(rate), "mse", run_eagerly=True)
    return model


class Figure(C.Callback):
    def __init__(self, values):
        super().__init__()
        self.values = values

    def on_epoch_end(self, epoch, logs=None):
        logs["val_loss"] = self.values[epoch]
        self.model.layers[0].kernel.assign([[epoch + 1.0]])


@functools.cache  # not while TensorFlow's devices are still to be set
def model_of_all():
    return made()


def fit(values, callbacks, batches=2):
    """What Model.fit calls, without the training; gives the logs of the epochs."""
    model, history = model_of_all(), []
    model.optimizer.learning_rate, model.stop_training = 1.0, False
    callbacks, epochs = [Figure(values), *callbacks], len(values)
    with contextlib.redirect_stdout(io.StringIO()):
        for one in callbacks:
            one.set_params({"epochs": epochs, "steps": batches, "verbose": 0})
            one.set_model(model)
        for one in callbacks:
            one.on_train_begin({})
        for epoch in range(epochs):
            for one in callbacks:
                one.on_epoch_begin(epoch, {})
            for batch in range(batches):
                for one in callbacks:
                    one.on_train_batch_end(batch, {"loss": 1.0})
            logs = {}
            for one in callbacks:
                one.on_epoch_end(epoch, logs)
            history.append(logs)
            if model.stop_training:
                break
        for one in callbacks:
            one.on_train_end({})
    return history


def weight():
    return f"{float(model_of_all().get_weights()[0][0, 0]):.7g}"


def stopping(check):
    def run(name, **options):
        def result():
            stop = C.EarlyStopping(**options)
            history = fit(SEQUENCES[name], [stop])
            return f"{len(history)} epochs, stopped {stop.stopped_epoch}, best {stop.best:g} in {stop.best_epoch}, {weight()}"
        check(f"stopping {name} " + " ".join(f"{k} {v}" for k, v in options.items()), result)
    for patience, start, restore in itertools.product((0, 1, 2, 3), (0, 2, 5), (False, True)):
        for name in ("falling", "steady", "holes"):
            run(name, patience=patience, start_from_epoch=start, restore_best_weights=restore)
    for patience, delta in itertools.product((1, 3), (0.25, 0.5, -0.5, 1.0)):
        run("falling", patience=patience, min_delta=delta)
        run("rising", patience=patience, min_delta=delta, mode="max")
    for patience, baseline, restore in itertools.product((1, 3), (10.0, 3.5, 1.0), (False, True)):
        run("falling", patience=patience, baseline=baseline, restore_best_weights=restore)
        run("rising", patience=patience, baseline=-baseline, mode="max", restore_best_weights=restore)
    run("falling", patience=2, baseline=3.5, start_from_epoch=2, restore_best_weights=True)
    run("falling", patience=2, baseline=1.0, start_from_epoch=2, restore_best_weights=True)
    run("falling", patience=2, start_from_epoch=20, restore_best_weights=True)
    run("rising", patience=2, mode="min")
    run("falling", patience=2, mode="max", restore_best_weights=True)
    run("falling", patience=-1)


def plateaus(check):
    def run(name, **options):
        def result():
            history = fit(SEQUENCES[name], [C.ReduceLROnPlateau(**options)])
            return " ".join(f"{logs['learning_rate']:.7g}" for logs in history)
        check(f"plateau {name} " + " ".join(f"{k} {v}" for k, v in options.items()), result)
    for patience, cooldown in itertools.product((0, 1, 2, 3), (0, 1, 2)):
        for name in ("falling", "steady", "holes"):
            run(name, patience=patience, cooldown=cooldown, factor=0.5)
    for delta, least in itertools.product((0.0, 0.25, 1.0), (0.0, 0.3, 2.0)):
        run("falling", patience=1, min_delta=delta, min_lr=least, factor=0.5)
        run("rising", patience=1, min_delta=delta, min_lr=least, factor=0.5, mode="max")
    for factor in (0.0, 0.9, 1.0, 1.5, -0.5):
        run("steady", patience=1, factor=factor)
    run("rising", patience=1, mode="min")
    run("steady", patience=0, factor=0.1)
    run("steady", patience=1, min_lr=-1.0)
    run("steady", patience=1, cooldown=-1)


def rates(check):
    def run(name, schedule):
        check(f"rates {name}", lambda: " ".join(f"{logs['learning_rate']:.7g}" for logs in fit(
            [1.0] * 4, [C.LearningRateScheduler(schedule, verbose=1)])))
    run("of the epoch", lambda epoch: 1.0 / (epoch + 1))
    run("of both", lambda epoch, rate: rate * 0.5)
    run("0", lambda epoch: 0.0)
    run("negative", lambda epoch: -1.0)


def files(check):
    def run(name, values, **options):
        def result():
            with tempfile.TemporaryDirectory() as folder:
                save = C.ModelCheckpoint(os.path.join(folder, "{epoch}-{batch}.weights.h5" if options.get("save_freq")
                                                      else "{epoch}.weights.h5"), save_weights_only=True, **options)
                fit(values, [save])
                names = [one.removesuffix(".weights.h5") for one in os.listdir(folder)]
                return " ".join(sorted(names))
        check(f"files {name} " + " ".join(f"{k} {v}" for k, v in options.items()), result)
    for name in ("falling", "holes", "steady"):
        run(name, SEQUENCES[name])
        run(name, SEQUENCES[name], save_best_only=True)
        for threshold in (10.0, 3.5, 1.0):
            run(name, SEQUENCES[name], save_best_only=True, initial_value_threshold=threshold)
    run("rising", RISING, save_best_only=True, mode="max")
    run("rising", RISING, save_best_only=True, mode="max", initial_value_threshold=-3.5)
    run("rising", RISING, save_best_only=True, mode="min")
    run("falling", FALLING, initial_value_threshold=1.0)
    for every in (1, 2, 3, 5, 100):
        run("three epochs", [1.0] * 3, save_freq=every)


def ends(check):
    def nan(**options):
        model = made()
        history = model.fit(np.full((4, 1), np.nan, np.float32), np.zeros((4, 1), np.float32), batch_size=1, epochs=3, verbose=0,
                            callbacks=[C.TerminateOnNaN(**options)])
        return f"{len(history.epoch)} epochs"
    for raises in (False, True):
        def run():
            with contextlib.redirect_stdout(io.StringIO()):
                return nan(raise_error=raises)
        check(f"nan raise_error {raises}", run)


def callback_option_cases(case):
    for part in (stopping, plateaus, rates, files, ends):
        part(lambda name, function: case("options of callbacks/" + name, function))

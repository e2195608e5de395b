"""What callbacks write and read again, and optimizers that count, for tensorflow_cases.py: what
resume_cases.cpp does here."""
import glob
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

from fit_cases import Figure, X, Y, number, numbers
from odd_cases import W, line, result

C, O = keras.callbacks, keras.optimizers
NAN, INF = float("nan"), float("inf")


def fit(model, **options):
    return model.fit(X, Y, batch_size=4, verbose=0, shuffle=False, **options)


class Kill(C.Callback):
    """Raises in a batch of an epoch."""

    def __init__(self, epoch, batch=0):
        super().__init__()
        self.at, self.now = (epoch, batch), 0

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if (self.now, batch) == self.at:
            raise KeyboardInterrupt


def csv_cases(check):
    def rows(name, run):
        def text():
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "log.csv")
                separator = run(path) or ","
                with open(path, newline="") as file:
                    return file.read().replace(separator, " ").replace("\r", " \\r").replace("\n", "\\n ").strip()
        check("csv " + name, text)

    def once(separator=",", callbacks=(), **options):
        def run(path):
            fit(line(O.SGD(0.1), metrics=["mae"]), callbacks=[*callbacks, C.CSVLogger(path, separator)], **options)
            return separator
        return run

    def twice(append, same, validated=False):
        def run(path):
            log = C.CSVLogger(path, append=append)
            for times in range(2):
                more = {"validation_data": (X, Y)} if validated and times else {}
                fit(line(O.SGD(0.1)), epochs=2 * times + 2, initial_epoch=2 * times,
                    callbacks=[log if same else C.CSVLogger(path, append=append)], **more)
        return run
    rows("without validation", once(epochs=2))
    rows("separator", once(";", validation_data=(X, Y), epochs=2))
    rows("of two letters", once("::"))
    rows("validation of some epochs", once(validation_data=(X, Y), validation_freq=2, epochs=4))
    rows("validation of listed epochs", once(validation_data=(X, Y), validation_freq=[1, 4], epochs=4))
    rows("a late name", once(validation_data=(X, Y), validation_freq=2, epochs=2, callbacks=[Figure("zeta", [1, 2])]))
    rows("no numbers", once(epochs=3, callbacks=[Figure("val_loss", [NAN, INF, -INF])]))
    rows("large and small", once(epochs=3, callbacks=[Figure("val_loss", [1e-12, 123456789.0, 1e22])]))
    for at, name in enumerate(("a,b", 'say "x"', "semi;colon", "line\nbreak", " space", "quote'")):
        for separator in (",", ";"):
            rows(f"odd name {at} with {separator}", once(separator, epochs=3, callbacks=[Figure(name, [0.1, 1e-5, 1e16])]))
    rows("rates", once(epochs=2, callbacks=[C.LearningRateScheduler(lambda epoch, rate: rate * 0.3)]))
    for append in (False, True):
        for same in (False, True):
            rows(f"twice, append {append}, same object {same}", twice(append, same))

    def after(text):
        def run(path):
            with open(path, "w", newline="") as file:
                file.write(text)
            fit(line(O.SGD(0.1)), callbacks=[C.CSVLogger(path, append=True)])
        return run
    for ends in ("\r\n", "\n"):
        rows(f"after a file with {ends!r}", after(f"epoch,loss,val_loss{ends}0,0.5,NA{ends}"))
    rows("after an empty file", after(""))
    rows("twice, validated later", twice(True, False, True))


def resumed(make, kill, epochs=4, more=lambda: [], save_freq="epoch", **options):
    with tempfile.TemporaryDirectory() as folder:
        backup = lambda: C.BackupAndRestore(os.path.join(folder, "backup"), save_freq=save_freq, **options)
        model = line(make())
        try:
            fit(model, epochs=epochs, callbacks=[*more(), backup(), Kill(*kill)])
        except KeyboardInterrupt:
            pass
        kept = os.path.exists(os.path.join(folder, "backup"))
        model = line(make())
        history = fit(model, epochs=epochs, callbacks=[*more(), backup()])
        ended = os.path.exists(os.path.join(folder, "backup"))
        return f"{kept} {ended} {history.epoch} {int(model.optimizer.iterations)} {result(model, history)}"


def backup_cases(check):
    adam = lambda: O.Adam(0.1)
    makes = {"adam": adam, "momentum": lambda: O.SGD(0.05, momentum=0.9),
             "schedule": lambda: O.Adam(O.schedules.ExponentialDecay(0.1, 2, 0.5)),
             "averages": lambda: O.SGD(0.1, use_ema=True, ema_momentum=0.5)}
    for name, make in makes.items():
        check(f"backup {name}", lambda: resumed(make, (2,)))
        check(f"backup {name}, in a batch", lambda: resumed(make, (2, 1)))
    check("backup, first epoch", lambda: resumed(adam, (0, 1)))
    check("backup, never killed", lambda: resumed(adam, (9,)))
    check("backup, never killed, kept", lambda: resumed(adam, (9,), delete_checkpoint=False))
    check("backup, kept", lambda: resumed(adam, (3,), delete_checkpoint=False))
    for every in (1, 2, 4, 5):
        check(f"backup every {every}", lambda: resumed(adam, (2, 1), save_freq=every))
    check("backup and stopping", lambda: resumed(lambda: O.SGD(1.2), (2,), epochs=8, more=lambda: [
        C.EarlyStopping("loss", patience=3)]))
    check("backup and plateau", lambda: resumed(lambda: O.SGD(0.1), (2,), epochs=6, more=lambda: [
        C.ReduceLROnPlateau("loss", factor=0.5, patience=2, min_delta=10.0)]))


def lambda_cases(check):
    def run():
        noted = []

        def note(name):
            def hook(*args, logs=None):
                positions, given = [a for a in args if isinstance(a, int)], [a for a in args if isinstance(a, dict)]
                noted.append(" ".join([name, *map(str, positions), *sorted(logs or (given[0] if given else {}))]))
            return hook
        names = ("epoch_begin", "epoch_end", "train_begin", "train_end", "train_batch_begin", "train_batch_end",
                 "test_begin", "test_end", "test_batch_begin", "test_batch_end")
        fit(line(O.SGD(0.1), metrics=["mae"]), epochs=3, initial_epoch=1, validation_data=(X, Y), validation_freq=[3],
            callbacks=[C.LambdaCallback(**{"on_" + name: note(name) for name in names})])
        return " | ".join(noted)
    check("lambda", run)


def scalar(name, data, step=None, description=None):
    """tf.summary.scalar, which is a part of another package."""
    with tf.summary.experimental.summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        return tf.summary.write(tag=tag, tensor=tf.cast(data, tf.float32), step=step)


def scalars(folder):
    lines = []
    for run in ("train", "validation"):
        for path in sorted(glob.glob(os.path.join(folder, run, "*"))):
            for event in tf.compat.v1.train.summary_iterator(path):
                for value in event.summary.value:
                    lines.append(f"{run} {value.tag} {event.step} {number(tf.make_ndarray(value.tensor))}")
    return " | ".join(sorted(lines))


def board_cases(check):
    import tensorflow.summary
    tensorflow.summary.scalar = scalar

    def board(name, make=lambda: O.SGD(0.1), fits=1, validated=True, **options):
        def run():
            with tempfile.TemporaryDirectory() as folder:
                model, log = line(make(), metrics=["mae"]), C.TensorBoard(folder, write_graph=False, **options)
                for times in range(fits):
                    fit(model, epochs=times + 2, initial_epoch=2 * times if times else 0, callbacks=[log],
                        **({"validation_data": (X, Y)} if validated else {}))
                return scalars(folder)
        check("board " + name, run)
    board("of epochs")
    board("without validation", validated=False)
    board("of batches", update_freq="batch")
    board("every 2", update_freq=2)
    board("every 4", update_freq=4)
    board("of a schedule", lambda: O.SGD(O.schedules.ExponentialDecay(0.1, 2, 0.5)))
    board("of accumulation", lambda: O.SGD(0.1, gradient_accumulation_steps=2))
    board("of two fits", fits=2, update_freq=2)


def scaled_steps(inner, gradients, **options):
    """Steps of a LossScaleOptimizer with these gradients of the loss that is not scaled."""
    optimizer, weight = O.LossScaleOptimizer(inner, **options), tf.Variable([1.0, 2.0])
    optimizer.build([weight])
    text = []
    for gradient in gradients:
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(tf.reduce_sum(weight * tf.constant(gradient, tf.float32)))
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        text.append(f"{number(optimizer.dynamic_scale)} {int(optimizer.step_counter)} {int(optimizer.iterations)} "
                    + numbers(weight.numpy()))
    optimizer.finalize_variable_values([weight])
    return " | ".join([*text, numbers(weight.numpy())])


def scaled_gradients(inner, gradients, **options):
    """The same with gradients of the loss that is scaled."""
    optimizer, weight = O.LossScaleOptimizer(inner, **options), tf.Variable([1.0, 2.0])
    optimizer.build([weight])
    text = []
    for gradient in gradients:
        optimizer.apply_gradients([(tf.constant(gradient, tf.float32), weight)])
        text.append(f"{number(optimizer.dynamic_scale)} {int(optimizer.iterations)} {numbers(weight.numpy())}")
    return " | ".join(text)


def scale_cases(check):
    fine, bad, nan = [0.5, -0.25], [INF, 1.0], [NAN, 1.0]
    sgd = lambda **options: O.SGD(0.1, **options)
    inners = {"sgd": sgd, "adam": lambda: O.Adam(0.1), "averages": lambda: sgd(use_ema=True, ema_momentum=0.5),
              "overwritten": lambda: sgd(use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2),
              "clipnorm": lambda: sgd(clipnorm=0.25), "global_clipnorm": lambda: sgd(global_clipnorm=0.25),
              "clipvalue": lambda: sgd(clipvalue=0.3), "weight_decay": lambda: sgd(weight_decay=0.1),
              "schedule": lambda: O.Adam(O.schedules.ExponentialDecay(0.1, 2, 0.5))}
    steps = [fine, fine, bad, fine, nan, fine, fine, fine]
    for name, make in inners.items():
        check(f"scale {name}", lambda: scaled_steps(make(), steps, initial_scale=8.0, dynamic_growth_steps=2))
    check("scale falls below 1", lambda: scaled_steps(sgd(), [bad, bad, bad, fine], initial_scale=2.0))
    check("scale below 1", lambda: scaled_steps(sgd(), [fine, fine], initial_scale=0.25, dynamic_growth_steps=1))
    check("scale grows each step", lambda: scaled_steps(sgd(), [fine] * 4, initial_scale=1.0, dynamic_growth_steps=1))
    check("scale and large gradients", lambda: scaled_steps(sgd(), [[1e25, 1.0], fine], initial_scale=2.0))
    check("scale grows too large", lambda: scaled_steps(sgd(), [fine] * 3, initial_scale=1e38, dynamic_growth_steps=1))
    check("scale and a large norm", lambda: scaled_steps(sgd(), [[3e38, 3e38], fine], initial_scale=1.0))
    for scale in (0.25, 3.0):
        check(f"scale {number(scale)} of given gradients", lambda: scaled_gradients(
            sgd(), [[2e38, 1.0], fine, bad], initial_scale=scale))
    check("scale -1", lambda: scaled_steps(sgd(), [fine], initial_scale=-1.0))

    def shown(**options):
        model = line(sgd(loss_scale_factor=8.0, **options))
        history = fit(model, epochs=2)
        return f"{int(model.optimizer.iterations)} {result(model, history)}"
    for name, options in {"alone": {}, "clipnorm": {"clipnorm": 0.5}, "global_clipnorm": {"global_clipnorm": 0.5},
                          "clipvalue": {"clipvalue": 0.3}, "averages": {"use_ema": True, "ema_momentum": 0.5}}.items():
        check(f"scale factor {name}", lambda: shown(**options))


class Scales(C.Callback):
    """Notes the scale, its counter, the steps and the weights after each batch."""

    def __init__(self):
        super().__init__()
        self.text = []

    def on_train_batch_end(self, batch, logs=None):
        optimizer, (kernel, bias) = self.model.optimizer, self.model.get_weights()
        self.text.append(f"{number(optimizer.dynamic_scale)} {int(optimizer.step_counter)} "
                         f"{int(optimizer.iterations)} {numbers(kernel[0])} {numbers(bias)}")


def left_out(optimizer, bad, value, policy="float32"):
    """Training on steps of 2 examples in which batches `bad` have a gradient that is not finite."""
    x = np.arange(1, 13, dtype=np.float32).reshape(12, 1) / 8
    for batch in bad:
        x[2 * batch] = value
    keras.config.set_dtype_policy(policy)
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
    model.build((None, 1))
    model.compile(optimizer, "mae")
    keras.config.set_dtype_policy("float32")
    scales = Scales()
    model.fit(x, np.full((12, 1), 16, np.float32), batch_size=2, epochs=2, shuffle=False, verbose=0, callbacks=[scales])
    return " | ".join([*scales.text, numbers(model.get_weights()[0][0])])


def left_out_cases(check):
    scaled = lambda inner: O.LossScaleOptimizer(inner, initial_scale=8.0, dynamic_growth_steps=2)
    makes = {"sgd": lambda n: O.SGD(0.125, gradient_accumulation_steps=n),
             "momentum": lambda n: O.SGD(0.125, momentum=0.5, gradient_accumulation_steps=n),
             "adam": lambda n: O.Adam(0.125, gradient_accumulation_steps=n),
             "schedule": lambda n: O.SGD(O.schedules.ExponentialDecay(0.125, 2, 0.5), gradient_accumulation_steps=n),
             "clipnorm": lambda n: O.SGD(0.125, clipnorm=0.25, gradient_accumulation_steps=n),
             "global_clipnorm": lambda n: O.SGD(0.125, global_clipnorm=0.25, gradient_accumulation_steps=n),
             "clipvalue": lambda n: O.SGD(0.125, clipvalue=0.5, gradient_accumulation_steps=n),
             "weight_decay": lambda n: O.SGD(0.125, weight_decay=0.25, gradient_accumulation_steps=n),
             "averages": lambda n: O.SGD(0.125, use_ema=True, ema_momentum=0.5, gradient_accumulation_steps=n),
             "overwritten": lambda n: O.SGD(0.125, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2,
                                            gradient_accumulation_steps=n)}
    where = {"no batch": [], "the first batch": [0], "a middle batch": [1], "the last batch": [2],
             "two batches": [1, 2], "all batches": range(6)}
    for name, batches in where.items():
        for value in (INF, NAN):
            check(f"left out, {name}, {number(value)}", lambda: left_out(scaled(makes["sgd"](3)), batches, value))
        check(f"left out, {name}, float16", lambda: left_out(makes["sgd"](3), batches, INF, "mixed_float16"))
    for name, make in makes.items():
        for steps in (2, 3):
            check(f"left out, {steps} batches, {name}", lambda: left_out(scaled(make(steps)), [1, 4], INF))


def accumulation_cases(check):
    decay = O.schedules.ExponentialDecay(0.2, 2, 0.5)
    makes = {"sgd": lambda n: O.SGD(0.1, gradient_accumulation_steps=n),
             "momentum": lambda n: O.SGD(0.1, momentum=0.9, gradient_accumulation_steps=n),
             "schedule": lambda n: O.SGD(decay, gradient_accumulation_steps=n),
             "adam": lambda n: O.Adam(0.1, gradient_accumulation_steps=n),
             "clipnorm": lambda n: O.SGD(0.1, clipnorm=0.5, gradient_accumulation_steps=n),
             "clipvalue": lambda n: O.SGD(0.1, clipvalue=0.3, gradient_accumulation_steps=n),
             "weight_decay": lambda n: O.SGD(0.1, weight_decay=0.2, gradient_accumulation_steps=n),
             "averages": lambda n: O.SGD(0.1, use_ema=True, ema_momentum=0.5, gradient_accumulation_steps=n),
             "overwritten": lambda n: O.SGD(0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3,
                                            gradient_accumulation_steps=n)}
    for name, make in makes.items():
        for steps in (2, 4):
            def run():
                model = line(make(steps))
                history = fit(model, epochs=3)
                return result(model, history)
            check(f"accumulation {steps}, {name}", run)

    def uneven():
        model = line(O.SGD(0.1, gradient_accumulation_steps=2))
        first = fit(model)  # 3 batches: one is left over
        second = fit(model)
        return result(model, first) + " " + result(model, second)
    check("accumulation over two fits", uneven)
    check("accumulation and weights", lambda: (lambda model: result(model, fit(model, sample_weight=W, epochs=2)))(
        line(O.SGD(0.1, gradient_accumulation_steps=3))))


def argument_cases(check):
    def run(**options):
        model = line(O.SGD(0.1))
        return result(model, fit(model, **options))
    check("fit class weights and sample weights", lambda: run(class_weight={0: 2.0}, sample_weight=W))
    check("fit validation of listed epochs", lambda: run(
        validation_data=(X[:5], Y[:5]), validation_freq=[1, 4], epochs=5))
    check("fit validation of a list without epochs", lambda: run(validation_data=(X[:5], Y[:5]), validation_freq=[], epochs=2))
    check("fit validation of later epochs", lambda: run(
        validation_data=(X[:5], Y[:5]), validation_freq=3, epochs=6, initial_epoch=2))
    check("fit validation with weights", lambda: run(validation_data=(X, Y, W), epochs=2))
    for steps in (1, 2, 3, 5):
        check(f"fit steps_per_epoch {steps}", lambda: run(steps_per_epoch=steps, epochs=2))
    for share in (0.1, 0.5, 0.99, 1.0, 0.05):
        check(f"fit validation_split {share}", lambda: run(validation_split=share, epochs=2))
    check("fit split and data", lambda: run(validation_split=0.5, validation_data=(X, Y)))
    check("fit steps of a validation", lambda: run(validation_data=(X, Y), validation_steps=2, epochs=2))
    check("fit steps of a validation beyond", lambda: run(validation_data=(X, Y), validation_steps=5, epochs=2))
    check("fit batch of a validation", lambda: run(
        validation_data=(X, Y), validation_batch_size=3, validation_steps=2, epochs=2))


def resume_cases(case):
    for part in (csv_cases, backup_cases, lambda_cases, board_cases, scale_cases, left_out_cases, accumulation_cases,
                 argument_cases):
        part(lambda name, function: case("resumed/" + name, function))

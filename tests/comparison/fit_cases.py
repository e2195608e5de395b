"""Cases of fit, evaluate, predict, their callbacks and averages, for tensorflow_cases.py: what
fit_cases.cpp does here."""
import math
import os
import tempfile
import warnings

import keras
import numpy as np
import tensorflow as tf

callbacks = keras.callbacks
X = np.arange(1, 11, dtype=np.float32).reshape(10, 1) / 10
Y = (X * 2 + 1).astype(np.float32)


def number(value):
    return f"{float(value):.7g}"


def numbers(values):
    return " ".join(number(value) for value in values)


def figures(logs):
    return " ".join(f"{name} {number(value)}" for name, value in (logs or {}).items())


def batches(size, rows=10):
    return tf.data.Dataset.from_tensor_slices((X[:rows], Y[:rows])).batch(size)


def weighted(size):
    weights = np.float32([1, 2] * 4)
    return tf.data.Dataset.from_tensor_slices((X[:8], Y[:8], weights)).batch(size)


def sgd(rate=0.1, **options):
    return lambda: keras.optimizers.SGD(rate, **options)


def ema(**options):
    return sgd(use_ema=True, ema_momentum=0.5, **options)


def line(strategy, optimizer=sgd(), metrics=("mae",), regularizer=None, loss="mse", **options):
    """One weight that begins with 1."""
    with strategy.scope():
        model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(
            1, use_bias=False, kernel_initializer="ones", kernel_regularizer=regularizer)])
        model.compile(optimizer(), loss, metrics=list(metrics), **options)
    return model


def weight_of(model):
    return number(model.get_weights()[0].ravel()[0])


class Events(callbacks.Callback):
    NAMES = {"train_begin": "TB", "train_end": "TE", "test_begin": "VB", "test_end": "VE", "predict_begin": "PB",
             "predict_end": "PE", "epoch_begin": "eb", "epoch_end": "ee", "train_batch_begin": "b",
             "train_batch_end": "d", "test_batch_begin": "vb", "test_batch_end": "vd", "predict_batch_begin": "pb",
             "predict_batch_end": "pd"}

    def __init__(self, with_logs=False):
        super().__init__()
        self.events = []
        for hook, name in self.NAMES.items():
            setattr(self, "on_" + hook, self.noting(name, with_logs and not name.startswith("p")))

    def noting(self, name, with_logs):
        def note(*args, logs=None):
            index = args[0] if args and isinstance(args[0], int) else ""
            logs = logs or next((one for one in args if isinstance(one, dict)), None)
            text = f"({figures(logs)})" if with_logs and logs else ""
            self.events.append(f"{name}{index}{text}")
        return note

    def text(self):
        return " ".join(self.events)


class Stop(callbacks.Callback):
    """Stops in the first batch of an epoch."""

    def __init__(self, epoch=0):
        super().__init__()
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.model.stop_training = self.now == self.epoch


class Figure(callbacks.Callback):
    """Gives the logs of each epoch one of these figures."""

    def __init__(self, name, values):
        super().__init__()
        self.name, self.values = name, values

    def on_epoch_end(self, epoch, logs=None):
        logs[self.name] = self.values[epoch]


def fit(model, data=None, quiet=True, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default")
        return model.fit(batches(4, 8) if data is None else data, verbose=0, **options).history


def event_cases(case, s2, one):
    def events(name, *args, strategy=s2, with_logs=False, model=None, **options):
        def run():
            note = Events(with_logs)
            fit(model() if model else line(strategy), *args, **{**options, "callbacks": options.get("callbacks", []) + [note]})
            return note.text()
        case(f"fit/events of {name}", run)

    events("two epochs with validation", batches(4), epochs=2, validation_data=batches(4, 6))
    events("logs", with_logs=True)
    events("logs on one device", batches(4), strategy=one, with_logs=True)
    events("data that run out", steps_per_epoch=5)
    events("a stop in a batch", batches(2), epochs=3, validation_data=batches(4, 4), callbacks=[Stop()])
    events("later epochs", epochs=4, initial_epoch=2)
    events("validation_steps", validation_data=batches(2, 8), validation_steps=2)
    events("steps_per_execution 2 of 3", batches(4), model=lambda: line(s2, steps_per_execution=2))

    def around(name, method, *args, **options):
        def run():
            note = Events()
            getattr(line(s2), method)(*args, verbose=0, callbacks=[note], **options)
            return note.text()
        case(f"fit/events of {name}", run)

    around("predict", "predict", batches(4))
    around("evaluate with steps", "evaluate", batches(4), steps=2)

    def twice():
        model, note = line(s2), Events()
        fit(model, callbacks=[note])
        fit(model, callbacks=[note])
        return note.text()
    case("fit/events of two fits", twice)


def weight_cases(case, s2, one):
    def weight(name, *args, optimizer=sgd(), strategy=s2, model=None, **options):
        def run():
            trained = model() if model else line(strategy, optimizer)
            fit(trained, *args, **options)
            return f"{int(trained.optimizer.iterations.numpy())} {weight_of(trained)}"
        case(f"fit/weight after {name}", run)

    weight("a partial batch of 2", batches(4))
    weight("a partial batch of 1", batches(4, 9))
    weight("whole batches")
    weight("two epochs", epochs=2)
    weight("Adam", optimizer=lambda: keras.optimizers.Adam(0.1), epochs=2)
    weight("nesterov and decay", optimizer=sgd(momentum=0.9, nesterov=True, weight_decay=0.01), epochs=2)
    weight("repeated data", batches(4, 8).repeat(), epochs=2, steps_per_epoch=3)
    weight("a schedule", optimizer=sgd(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)), epochs=2)
    weight("accumulation", batches(2, 8), optimizer=sgd(gradient_accumulation_steps=2), strategy=one)
    weight("clipvalue", optimizer=sgd(clipvalue=0.05))
    weight("global_clipnorm", optimizer=sgd(global_clipnorm=0.05))

    def arrays():
        model = line(s2)
        history = model.fit(X, Y, batch_size=4, shuffle=False, validation_split=0.2, verbose=0).history
        return weight_of(model) + " " + figures({name: values[0] for name, values in history.items()})
    case("fit/arrays with validation_split", arrays)
    for name, strategy in (("two replicas", s2), ("one", one)):
        def decayed():
            model = line(strategy, regularizer=keras.regularizers.L2(0.5))
            history = fit(model)
            return weight_of(model) + " " + number(history["loss"][0])
        case(f"fit/L2 under {name}", decayed)

    def with_flag():
        with s2.scope():
            class Flag(keras.layers.Layer):
                def call(self, x, training=None):
                    return x * (2.0 if training else 3.0)
            model = keras.Sequential([keras.layers.Input((1,)), Flag(), keras.layers.Dense(
                1, use_bias=False, kernel_initializer="ones")])
            model.compile(sgd()(), "mse")
        fit(model)
        predicted = model.predict(batches(4, 4), verbose=0).ravel()
        return f"{weight_of(model)} {numbers(predicted)} {number(model.evaluate(batches(4, 8), verbose=0))}"
    case("fit/training flag", with_flag)


def figure_cases(case, s2, one):
    def history(name, *args, model=None, epoch=0, **options):
        case(f"fit/history of {name}", lambda: figures({key: values[epoch] for key, values in fit(
            (model or (lambda: line(s2)))(), *args, **options).items()}))

    history("sample weights", weighted(4))
    history("a partial batch", batches(4))
    history("a partial batch of 1", batches(4, 9))
    history("a second epoch", batches(4), epochs=2, epoch=1, model=lambda: line(
        s2, metrics=["mae", keras.metrics.RootMeanSquaredError(name="r")]))
    history("validation", validation_data=batches(4, 8))
    case("fit/history of every other validation", lambda: " ".join(
        f"{name}:{len(values)}" for name, values in fit(
            line(s2), epochs=4, validation_data=batches(4, 8), validation_freq=2).items()))
    for name, data in (("whole batches", batches(4, 8)), ("a partial batch", batches(4)), ("weights", weighted(4))):
        case(f"fit/evaluate {name}", lambda: figures(line(s2).evaluate(data, verbose=0, return_dict=True)))
    case("fit/predict", lambda: numbers(line(s2).predict(batches(4), verbose=0).ravel()))
    case("fit/predict two steps", lambda: str(len(line(s2).predict(batches(4), steps=2, verbose=0))))

    def columns():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log.csv")
            fit(line(s2), epochs=2, validation_data=batches(4, 8), callbacks=[callbacks.CSVLogger(path)])
            return open(path).readline().strip()
    case("fit/columns of CSVLogger", columns)


def average_cases(case, s2, one):
    kinds = {"SGD": {}, "Adam": {}, "AdamW": {}, "RMSprop": {}, "Adagrad": {}, "Adadelta": {}, "Adamax": {},
             "Nadam": {}, "Ftrl": {}, "Lion": {}, "Lamb": {}}
    for kind in kinds:
        def trained():
            model = line(one, lambda: getattr(keras.optimizers, kind)(0.1, use_ema=True, ema_momentum=0.5))
            fit(model, epochs=2)
            return weight_of(model)
        case(f"averages/{kind}", trained)

    def weight(name, strategy=one, optimizer=ema(), **options):
        def run():
            model = line(strategy, optimizer)
            history = fit(model, **options)
            return weight_of(model) + " " + numbers(history.get("val_loss", []))
        case(f"averages/{name}", run)

    weight("two replicas", s2)
    weight("no epoch", epochs=0)
    for frequency in (1, 2, 3):
        weight(f"overwritten every {frequency}", optimizer=ema(ema_overwrite_frequency=frequency), epochs=2)
    weight("a stop in the second epoch", epochs=5, callbacks=[Stop(1)])
    weight("early stopping", epochs=5, validation_data=batches(4, 8), optimizer=ema(rate=1.0),
           callbacks=[callbacks.EarlyStopping(patience=1)])
    weight("restored best weights", epochs=5, validation_data=batches(4, 8), optimizer=ema(rate=1.0),
           callbacks=[callbacks.EarlyStopping(patience=1, restore_best_weights=True)])
    for swap in (False, True):
        weight(f"swapped, on epochs {swap}", epochs=3, validation_data=batches(4, 8),
               callbacks=[callbacks.SwapEMAWeights(swap_on_epoch=swap)])
        weight(f"swapped, on epochs {swap}, and stopped", epochs=5, validation_data=batches(4, 8),
               callbacks=[callbacks.SwapEMAWeights(swap_on_epoch=swap), Stop(1)])

    def second(swap=None):
        model = line(one, ema())
        more = [] if swap is None else [callbacks.SwapEMAWeights(swap_on_epoch=swap)]
        fit(model, epochs=2, callbacks=more)
        first = weight_of(model)
        fit(model, epochs=2, callbacks=more)
        return first + " " + weight_of(model)
    case("averages/two fits", second)
    case("averages/two fits, swapped", lambda: second(True))

    def saved():
        with tempfile.TemporaryDirectory() as folder:
            model = line(one, ema())
            fit(model, epochs=2)
            path = os.path.join(folder, "model.keras")
            model.save(path)
            again = keras.models.load_model(path)
            fit(again)
            return weight_of(again)
    case("averages/a fit of what was saved", saved)


def epochs_of(monitor, values, stopping=callbacks.EarlyStopping, metrics=("mae",), **options):
    """How many epochs are trained with these figures."""
    model = line(tf.distribute.get_strategy(), metrics=metrics)
    return str(len(fit(model, epochs=len(values), callbacks=[
        Figure(monitor, values), stopping(monitor=monitor, **options)])["loss"]))


def direction_cases(case, s2, one):
    rising = [1.0, 2.0, 3.0, 4.0]
    for metric in ("accuracy", "binary_accuracy", "mse", "mae", "mape", "msle", "RootMeanSquaredError", "cosine_similarity",
                   "kl_divergence", "poisson", "binary_crossentropy", "hinge", "squared_hinge", "categorical_hinge",
                   "AUC", "Precision", "Recall", "TruePositives", "FalseNegatives"):
        case(f"directions/{metric}", lambda: epochs_of("val_" + metric, rising, metrics=[metric]))
    objects = {"AUC": lambda: keras.metrics.AUC(name="m"), "Precision": lambda: keras.metrics.Precision(name="m"),
               "F1Score": lambda: keras.metrics.F1Score(name="m"), "MeanIoU": lambda: keras.metrics.BinaryIoU(name="m"),
               "LogCoshError": lambda: keras.metrics.LogCoshError(name="m"),
               "TopK": lambda: keras.metrics.TopKCategoricalAccuracy(name="m"),
               "function": lambda: keras.metrics.MeanMetricWrapper(lambda a, b: a - b, name="m")}
    for name, make in objects.items():
        case(f"directions/object {name}", lambda: epochs_of("val_m", rising, metrics=[make()]))
    for name in ("loss", "val_loss"):
        case(f"directions/{name}", lambda: epochs_of(name, rising))
    case("directions/what is no metric", lambda: epochs_of("val_acc", rising))
    case("directions/what is no metric, with a mode", lambda: epochs_of("val_acc", rising, mode="max"))
    for kind, more in (("ReduceLROnPlateau", {}), ("ModelCheckpoint", {"filepath": "unused.keras"})):
        case(f"directions/{kind} of what is no metric", lambda: epochs_of(
            "val_acc", rising, getattr(callbacks, kind), **more))


def stopping_cases(case, s2, one):
    def epochs(name, values, **options):
        case(f"stopping/{name}", lambda: epochs_of("val_loss", values, **options))

    nan = math.nan
    epochs("patience", [4.0, 3, 3, 3, 3], patience=2)
    epochs("baseline", [4.0, 3, 3, 3, 3], patience=2, baseline=1.5)
    epochs("baseline that is beaten", [4.0, 3, 1, 1, 1], patience=2, baseline=1.5)
    epochs("min_delta", [4.0, 3.95, 3.9, 3], min_delta=0.2)
    epochs("start_from_epoch", [1.0, 2, 3, 3, 4], start_from_epoch=2)
    epochs("not a number", [nan, nan, nan, 1], patience=2)
    epochs("not a number later", [1.0, nan, nan, 1, 1], patience=2)
    epochs("infinity", [math.inf, math.inf, math.inf, math.inf], patience=2)

    def restored():
        model = line(s2, sgd(0.9))
        stop = callbacks.EarlyStopping(monitor="val_loss", patience=1, restore_best_weights=True)
        history = fit(model, epochs=10, validation_data=batches(4, 8), callbacks=[stop])
        return f"{len(history['loss'])} {weight_of(model)}"
    case("stopping/restored weights", restored)

    def rates(name, values, rate=0.5, **options):
        def run():
            model = line(one, sgd(rate))
            fall = callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, **options)
            history = fit(model, epochs=len(values), callbacks=[Figure("val_loss", values), fall])
            return numbers(history["learning_rate"])
        case(f"rates/{name}", run)

    rates("plateau", [3.0, 2, 2, 2, 2, 2, 2], patience=2, cooldown=1, min_lr=0.2)
    rates("plateau of patience 1", [3.0, 2, 2, 2, 2, 2, 2], patience=1, cooldown=2)
    rates("plateau and small changes", [3.0, 2.9, 2.8, 2.7], patience=1, min_delta=1.0)
    rates("plateau and not a number", [nan, nan, 2.0, 1.0], patience=1)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    rates("plateau over a schedule", [3.0, 3, 3, 3], rate=schedule, patience=1)

    def scheduled(rate):
        return numbers(fit(line(s2, sgd(rate)), epochs=3, callbacks=[
            callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)])["learning_rate"])
    case("rates/LearningRateScheduler", lambda: scheduled(0.1))
    case("rates/LearningRateScheduler over a schedule", lambda: scheduled(schedule))


    def assigned(first, second):
        optimizer = keras.optimizers.SGD(first)
        optimizer.learning_rate = second
        return number(optimizer.learning_rate)
    case("rates/a number over a schedule", lambda: assigned(schedule, 0.5))
    case("rates/a schedule over a number", lambda: assigned(0.5, schedule))
    case("rates/a schedule over a schedule", lambda: assigned(schedule, schedule))


def file_cases(case, s2, one):
    def files(name, pattern, values=(0.25, 1.0), **options):
        def run():
            with tempfile.TemporaryDirectory() as folder:
                figure = Figure(options.pop("figure", "val_loss"), values)
                save = callbacks.ModelCheckpoint(
                    os.path.join(folder, pattern + ".weights.h5"), save_weights_only=True, **options)
                fit(line(one), epochs=len(values), callbacks=[figure, save])
                return " ".join(sorted(one.removesuffix(".weights.h5").replace(" ", "_") for one in os.listdir(folder)))
        case(f"files/{name}", run)

    files("best only", "{epoch}", [3.0, 4.0, 2.0, 2.0], save_best_only=True)
    files("best only, not a number first", "{epoch}", [math.nan, 4.0, 2.0, 5.0], save_best_only=True)
    files("best only, threshold", "{epoch}", [3.0, 2.5, 2.0], save_best_only=True, initial_value_threshold=2.7)
    files("best only without the monitor", "{epoch}", [3.0, 4.0, 2.0], save_best_only=True, monitor="val_loss",
          figure="other")
    files("best only, every 2 batches, val_loss", "{epoch}-{batch}", [3.0, 4.0], save_best_only=True, save_freq=2)
    files("best only, every batch, val_loss", "{epoch}-{batch}", [3.0, 4.0], save_best_only=True, save_freq=1)
    files("every 3 batches", "{epoch}-{batch}", [3.0, 4.0, 1.0, 1.0], save_freq=3)
    for spec in ("{epoch:>3}", "{epoch:03d}", "{epoch:<3}|", "{epoch:^5}|", "{epoch:*^5}", "{epoch:+d}", "{epoch: d}",
                 "{epoch:x}", "{epoch:#x}", "{epoch:b}", "{epoch:.1f}", "{epoch:.0%}", "{epoch:e}", "{epoch:5.1f}",
                 "{epoch:=+4}", "{epoch:,}", "{epoch!r}", "{{epoch}}{epoch}", "{epoch:.2d}", "{epoch:s}", "{other}",
                 "{val_loss}", "{val_loss:.1%}", "{val_loss:%}", "{val_loss:.2f}", "{val_loss:08.3f}",
                 "{val_loss:>8.2f}", "{val_loss:<8.2f}|", "{val_loss:+.2e}", "{val_loss:g}", "{val_loss:.3}",
                 "{val_loss:G}", "{val_loss:_>9}", "{val_loss:,.1f}", "{val_loss:_.1f}", "{val_loss:d}", "{val_loss:#.0f}",
                 "{val_loss:-.1f}", "{val_loss:E}", "{val_loss:n}", "{val_loss:010,.1f}", "{val_loss:.2f"):
        files(f"name {spec}", spec, [12345.678])
    for value in (1e-5, 1e16, 0.1, 1.0, 123456789.0, 0.0001, math.nan, math.inf, -0.5, 1e22):
        files(f"figure {value}", "{val_loss}", [value])
        files(f"figure {value}, three digits", "{val_loss:.3}", [value])


def number_cases(case, s2, one):
    def run(name, function):
        case(f"numbers/{name}", function)

    def epochs(**options):
        return str(len(fit(line(one), **options).get("loss", [])))

    run("epochs=0", lambda: epochs(epochs=0))
    run("epochs=-1", lambda: epochs(epochs=-1))
    run("initial_epoch=5 of 2", lambda: epochs(epochs=2, initial_epoch=5))
    run("steps_per_epoch=0", lambda: epochs(steps_per_epoch=0))
    run("validation_steps=0", lambda: epochs(validation_data=batches(4), validation_steps=0))
    run("validation_freq=0", lambda: epochs(validation_data=batches(4), validation_freq=0))
    run("evaluate steps=0", lambda: figures(line(one).evaluate(batches(4), steps=0, verbose=0, return_dict=True)))
    run("predict steps=0", lambda: str(len(line(one).predict(batches(4), steps=0, verbose=0))))
    for size in (0, -1):
        run(f"batch_size={size}", lambda: str(len(line(one).fit(X, Y, batch_size=size, verbose=0).history["loss"])))
    run("steps_per_execution=0", lambda: str(len(fit(line(one, steps_per_execution=0)))))
    run("gradient_accumulation_steps=1", lambda: str(sgd(gradient_accumulation_steps=1)() and 1))
    run("ema_momentum=2", lambda: str(sgd(use_ema=True, ema_momentum=2)() and 1))
    run("ema_overwrite_frequency=0", lambda: str(sgd(use_ema=True, ema_overwrite_frequency=0)() and 1))
    run("clipnorm=-1", lambda: str(sgd(clipnorm=-1)() and 1))


def mixed_cases(case, s2, one):
    def tiny(**options):
        keras.mixed_precision.set_global_policy("mixed_float16")
        try:
            with one.scope():
                x = keras.Input((1,))
                y = keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")(x)
                model = keras.Model(x, y)
                model.compile(keras.optimizers.SGD(1e6), lambda t, p: keras.ops.cast(p, "float32")[:, 0] * 1e-8, **options)
            model.fit(np.ones((2, 1), np.float32), np.zeros((2, 1), np.float32), batch_size=2, epochs=1, verbose=0)
            return type(model.optimizer).__name__ + " " + weight_of(model)
        finally:
            keras.mixed_precision.set_global_policy("float32")
    case("mixed/tiny gradient", tiny)
    case("mixed/tiny gradient without scale", lambda: tiny(auto_scale_loss=False))

    def scaled(**options):
        keras.mixed_precision.set_global_policy("mixed_float16")
        try:
            model = line(one, sgd(**options))
            history = fit(model, batches(4, 8), epochs=2)
            scale = model.optimizer.dynamic_scale
            return f"{weight_of(model)} {number(scale.numpy())} {int(model.optimizer.iterations.numpy())} " + numbers(history["loss"])
        finally:
            keras.mixed_precision.set_global_policy("float32")
    case("mixed/fit", scaled)
    case("mixed/fit with averages", lambda: scaled(use_ema=True, ema_momentum=0.5))


def fit_cases(case, mirrored):
    strategies = mirrored(2), tf.distribute.OneDeviceStrategy("/cpu:0")
    for cases in (event_cases, weight_cases, figure_cases, average_cases, direction_cases, stopping_cases, file_cases,
                  number_cases, mixed_cases):
        cases(case, *strategies)

"""Cases of models and inputs under strategies, for tensorflow_cases.py: what model_cases.cpp does here."""
import keras
import numpy as np
import tensorflow as tf

import fit_cases

L = keras.layers


def local(strategy, value):
    return list(strategy.experimental_local_results(value))


def replica():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def norm_cases(case, s2):
    for synchronized in (False, True):
        name = "models/" + ("synchronized " if synchronized else "") + "batch norm"
        with s2.scope():
            layer = L.BatchNormalization(synchronized=synchronized)
            layer.build((None, 1))

        def step():
            x = 4.0 * tf.cast(replica(), tf.float32)
            return layer(tf.reshape(tf.stack([x, x + 2]), [2, 1]), training=True)

        case(name, lambda: local(s2, s2.run(step)))
        for moving in ("moving_mean", "moving_variance"):
            case(f"{name}, {moving} of the replicas", lambda: local(s2, s2.run(
                lambda: tf.identity(getattr(layer, moving).value))))
            case(f"{name}, {moving}", lambda: getattr(layer, moving).numpy())


def random_cases(case, s2):
    def masks(**options):
        with s2.scope():
            layer = L.Dropout(0.5, **options)
        a, b = local(s2, s2.run(lambda: layer(tf.ones([64]), training=True)))
        return str(bool(np.all(a == b)))

    case("models/dropout, equal in both replicas", masks)
    case("models/dropout with a seed, equal in both replicas", lambda: masks(seed=3))

    def numbers():
        a, b = local(s2, s2.run(lambda: tf.random.uniform([8])))
        return str(bool(np.all(a == b)))

    case("models/random numbers, equal in both replicas", numbers)


def logs_of_predict():
    told = []

    class Told(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            told.append(f"{batch}:{' '.join(sorted(logs or {}))}")

    fit_cases.line(tf.distribute.get_strategy()).predict(fit_cases.batches(4, 8), verbose=0, callbacks=[Told()])
    return " ".join(told)


def training_cases(case, s2):
    case("models/logs of batches of predict", logs_of_predict)
    case("models/fit on nothing", lambda: str(len(fit_cases.fit(
        fit_cases.line(s2), tf.data.Dataset.from_tensor_slices((fit_cases.X[:0], fit_cases.Y[:0])).batch(4))["loss"])))

    def line_of_scope():
        return keras.Sequential([L.Input((1,)), L.Dense(1, use_bias=False, kernel_initializer="ones")])

    def not_compiled():
        with s2.scope():
            model = line_of_scope()
        return str(model.fit(fit_cases.batches(4), verbose=0))

    case("models/fit without compile", not_compiled)

    def inside():
        model = fit_cases.line(s2)
        with s2.scope():
            fit_cases.fit(model)
        return fit_cases.weight_of(model)

    case("models/fit inside of the scope", inside)

    def compiled_outside():
        with s2.scope():
            model = line_of_scope()
        model.compile(keras.optimizers.SGD(0.1), "mse")
        fit_cases.fit(model)
        return fit_cases.weight_of(model)

    case("models/compile outside of the scope", compiled_outside)

    def replicas():
        model = fit_cases.line(s2)
        fit_cases.fit(model)
        return local(s2, s2.run(lambda: tf.identity(model.weights[0].value)))

    case("models/weight of the replicas after fit", replicas)


def input_cases(case, s2):
    def numbers(batch, **options):
        return s2.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(batch, **options))

    case("models/length of a distributed dataset", lambda: str(len(numbers(4))))

    def spec(batch, **options):
        first = iter(numbers(batch, **options)).element_spec._value_specs[0]
        return " ".join(str(size or -1) for size in first.shape) + " " + first.dtype.name

    case("models/spec of a distributed iterator", lambda: spec(4))
    case("models/spec of a distributed iterator, drop_remainder", lambda: spec(4, drop_remainder=True))


def model_cases(case, mirrored):
    s2 = mirrored(2)
    for cases in (norm_cases, random_cases, training_cases, input_cases):
        cases(case, s2)

#!/usr/bin/env python3
"""Writes the files of Keras in tests/saving/files, or uses Keras on files of this library.

Usage: keras_files.py make DIR | trained DIR | layers DIR | resnet50 DIR | check DIR
make: NAME.weights.h5, text.keras, text.h5 and expected.json (inputs and outputs).
trained: trained_* with optimizers, graph.keras, and trained.json (what they compute, and the weights
after the next step).
layers: layers_tokens.keras, layers_pictures.keras and layers.json (what they compute, their penalties,
and the weights after the next step of the first).
resnet50: resnet50.weights.h5 of keras.applications and resnet50.json.
check: loads DIR/ours_* that the tests wrote, weights and models, and lists in DIR/answers.json what
they compute.
Exit status 77: no Keras.
"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import keras, np
import h5py
from keras import layers as L
from keras.src.legacy.saving import legacy_h5_format


def images():
    return keras.Sequential([
        L.Input((6, 6, 3)), L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(), L.ReLU(),
        L.SeparableConv2D(4, 2), L.Conv2D(2, 1), L.Flatten(), L.Dropout(0.1), L.Dense(3),
        L.PReLU(), keras.Sequential([L.Dense(4, activation="tanh"), L.Dense(2)])])


def text():
    return keras.Sequential([
        L.Input((6,)), L.Embedding(10, 4, mask_zero=True),
        L.Bidirectional(L.LSTM(3, return_sequences=True)), L.GRU(3), L.Dense(2)])


def attention():
    tokens = L.Input((5,), dtype="int32")
    x = L.Embedding(12, 4, name="tokens")(tokens)
    y = L.MultiHeadAttention(2, 3, name="attention")(x, x)
    x = L.LayerNormalization(name="norm")(x + y)
    return keras.Model(tokens, L.Dense(3, name="head")(L.GlobalAveragePooling1D()(x)))


def small_resnet():
    from keras.src.applications import resnet

    def stage(x):
        return resnet.stack_residual_blocks_v1(x, 64, 1, stride1=1, name="conv2")

    return resnet.ResNet(stage, False, True, weights=None, classes=5, input_shape=(32, 32, 3),
                         classifier_activation=None, weights_name=None)


def numbers(shape, seed):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def randomize(model, bits=None):
    """Every weight another value, variances positive; few bits make small files."""
    for i, v in enumerate(model.weights):
        value = numbers(v.shape, i) * (0.5 if len(v.shape) < 2 else 3 / np.sqrt(np.prod(v.shape[:-1])))
        if bits:
            value = np.round(value * bits) / bits
        v.assign(np.abs(value) + 0.5 if "variance" in v.path else value)


def train_text(model):
    """On sequences that are the other way round where the first token is larger than the last."""
    random = np.random.default_rng(7)
    x = random.integers(1, 10, (256, 6))
    x[:, 4:][random.uniform(size=256) < 0.5] = 0
    y = (x[:, 0] > x[:, 3]).astype("int32")
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.optimizer.learning_rate = 0.02
    return model.fit(x, y, epochs=6, verbose=0).history["loss"]


def listed(array):
    return {"shape": list(array.shape), "values": [float(f"{v:.7g}") for v in np.ravel(array)]}


def compress(path):
    """The same file with compressed arrays: HDF5's filters are read, too."""
    with h5py.File(path) as old, h5py.File(str(path) + ".tmp", "w") as new:
        def copy(name, item):
            if isinstance(item, h5py.Group):
                new.require_group(name).attrs.update(item.attrs)
            else:
                new.create_dataset(name, data=item[()], compression="gzip", compression_opts=9)
        old.visititems(copy)
    os.replace(str(path) + ".tmp", path)


def make(folder):
    keras.utils.set_random_seed(1)
    expected = {"keras": keras.__version__}
    tokens = np.random.default_rng(3).integers(0, 10, (3, 6))
    cases = {"images": (images(), np.round(numbers((2, 6, 6, 3), 99), 2)), "text": (text(), tokens),
             "attention": (attention(), tokens[:, :5]),
             "small_resnet": (small_resnet(), np.round(numbers((1, 32, 32, 3), 98), 2))}
    for name, (model, x) in cases.items():
        if name == "text":
            expected["losses"] = train_text(model)
        else:
            randomize(model, 64 if name == "small_resnet" else None)
        model.save_weights(folder / f"{name}.weights.h5")
        if name == "text":
            model.save(folder / "text.keras")
            model.save(folder / "text.h5")
        if name == "small_resnet":
            compress(folder / f"{name}.weights.h5")
        y = model.predict(x, verbose=0)
        expected[name] = {"x": listed(x), "y": listed(y)}
    (folder / "expected.json").write_text(json.dumps(expected))


def trained_model():
    return keras.Sequential([L.Input((3,)), L.Dense(4, activation="tanh"), L.BatchNormalization(),
                             L.Dense(2)])


OPTIMIZERS = {
    "adam": lambda: keras.optimizers.Adam(0.03, amsgrad=True, use_ema=True),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.02, momentum=0.9, centered=True),
    "sgd": lambda: keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.5),
                                        momentum=0.9),
    "scaled": lambda: keras.optimizers.LossScaleOptimizer(
        keras.optimizers.Adam(0.03), initial_scale=64.0, dynamic_growth_steps=4),
    "nadam": lambda: keras.optimizers.Nadam(0.03, use_ema=True)}


def step_data():
    return np.round(numbers((8, 3), 40), 2), np.round(numbers((8, 2), 41), 2)


def graph():
    picture, vector = keras.Input((4, 4, 1), name="picture"), keras.Input((3,), name="vector")
    shared = L.Dense(3, activation="relu", name="shared")
    low = keras.Sequential([L.Dense(5, activation="gelu"), L.Dense(3)], name="low")(vector)
    high = L.Dense(3, name="high")(L.Flatten()(L.Conv2D(2, 3, activation="relu")(picture)))
    one, two = shared(high), shared(shared(low))
    both = L.Concatenate(name="both")([one, two])
    return keras.Model([picture, vector], {"sum": L.Add()([one, two]),
                                           "out": L.Dense(2, name="out")(both)})


def trained(folder):
    keras.utils.set_random_seed(2)
    x, y = step_data()
    expected = {"x": listed(x), "y": listed(y)}
    for name, path in {"adam": "trained_adam.keras", "rmsprop": "trained_rmsprop.weights.h5",
                       "sgd": "trained_sgd.h5", "scaled": "trained_scaled.keras",
                       "nadam": "trained_nadam.weights.h5"}.items():
        model = trained_model()
        model.compile(OPTIMIZERS[name](), "mse")
        for _ in range(3):
            model.train_on_batch(x, y)
        model.save_weights(folder / path) if "weights" in path else model.save(folder / path)
        model.train_on_batch(x, y)
        expected[name] = listed(np.concatenate([np.ravel(w) for w in model.get_weights()]))
    model = graph()
    randomize(model)
    model.save(folder / "graph.keras")
    answers = model.predict([np.reshape(numbers((2, 16), 50), (2, 4, 4, 1)), x[:2]], verbose=0)
    expected["graph"] = {"picture": listed(numbers((2, 16), 50)),
                         **{key: listed(value) for key, value in answers.items()}}
    (folder / "trained.json").write_text(json.dumps(expected))


def tokens():
    penalty = keras.regularizers
    ids, memory = keras.Input((6,), dtype="int32", name="ids"), keras.Input((5, 4), name="memory")
    x = L.Embedding(12, 4, mask_zero=True)(ids)
    y = L.MultiHeadAttention(2, 3, kernel_regularizer=penalty.L2(0.01),
                             bias_regularizer=penalty.L1(0.02))(x, x, use_causal_mask=True)
    x = L.RMSNormalization(epsilon=1e-5)(x + y)
    seen = L.Masking(0.5)(memory)
    y = L.MultiHeadAttention(2, 2, value_dim=3, dropout=0.1, output_shape=4, use_bias=False)(
        x, value=seen, key=L.LayerNormalization(beta_regularizer="l1", gamma_regularizer="l2")(seen))
    x = L.Add()([x, y])
    x = L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de", activation="tanh",
                      kernel_regularizer=penalty.L1(0.02), bias_regularizer="l2")(x)
    x = L.GaussianNoise(0.3)(L.SpatialDropout1D(0.2)(L.Reshape((6, 6))(x)))
    x = L.Conv1D(4, 2, padding="causal", kernel_regularizer="l2", bias_regularizer="l1")(x)
    x = L.MaxPooling1D(2)(x)
    x = L.Dot(axes=(2, 2), normalize=True)([x, L.AveragePooling1D(3, strides=1, padding="same")(x)])
    x = L.LSTM(3, kernel_regularizer="l2", recurrent_regularizer=penalty.L1L2(0.01, 0.02),
               bias_regularizer="l1")(x)
    x = L.ELU()(L.Permute((2, 1))(L.RepeatVector(2)(x)))
    x = L.Dense(3, kernel_regularizer=penalty.L1L2(0.1, 0.2), bias_regularizer="l2")(L.Flatten()(x))
    return keras.Model([ids, memory], x)


def pictures():
    learned = L.Normalization()
    learned.adapt(numbers((4, 6, 6, 3), 60) * [1, 2, 3])
    return keras.Sequential([
        L.Input((6, 6, 3)), L.Rescaling([0.5, 1, 2], offset=0.1), learned,
        L.Normalization(axis=None, mean=0.1, variance=2.0, invert=True), L.RandomFlip("horizontal"),
        L.RandomRotation(0.1, fill_mode="nearest"), L.RandomZoom((-0.1, 0.2), 0.1),
        L.RandomTranslation(0.1, (0.0, 0.2), interpolation="nearest"),
        L.RandomContrast(0.2, value_range=(-5, 5)), L.ZeroPadding2D(((1, 0), (2, 1))),
        L.Conv2DTranspose(4, 3, strides=2, padding="same", kernel_regularizer="l2"),
        L.GroupNormalization(2, epsilon=1e-4), L.SpatialDropout2D(0.1),
        L.DepthwiseConv2D(2, depthwise_regularizer="l1"), L.UpSampling2D((1, 2)),
        L.PReLU(shared_axes=[1, 2], alpha_regularizer="l2"), L.GlobalAveragePooling2D(), L.Dense(3)])


def layers(folder):
    import tensorflow as tf
    keras.utils.set_random_seed(3)
    model = tokens()
    randomize(model)
    model.compile(keras.optimizers.AdamW(0.01, weight_decay=0.1, epsilon=1e-3), "mse")
    ids = np.random.default_rng(4).integers(0, 12, (3, 6))
    memory, wanted = np.round(numbers((3, 5, 4), 70), 2), np.round(numbers((3, 3), 71), 2)
    memory[1, 3:] = 0.5

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model([ids, memory], training=False) - wanted))
            loss = 1000 * (loss + tf.add_n(model.losses))  # no gradient that counts is near epsilon
        variables = model.trainable_variables
        gradients = tape.gradient(loss, [v.value for v in variables])
        # Keras squares the rows of an embedding's gradient before it adds those that are repeated.
        model.optimizer.apply([tf.convert_to_tensor(g) for g in gradients], variables)

    step()
    model.save(folder / "layers_tokens.keras")
    expected = {"tokens": {"x": [listed(ids), listed(memory)], "wanted": listed(wanted),
                           "y": listed(model.predict([ids, memory], verbose=0)),
                           "penalty": float(sum(model.losses))}}
    step()
    expected["tokens"]["next"] = listed(np.concatenate([np.ravel(w) for w in model.get_weights()]))
    expected["tokens"]["y_next"] = listed(model.predict([ids, memory], verbose=0))
    model = pictures()
    for i, v in enumerate(model.trainable_variables):
        v.assign(numbers(v.shape, i))
    model.save(folder / "layers_pictures.keras")
    x = np.round(numbers((2, 6, 6, 3), 61), 2)
    expected["pictures"] = {"x": listed(x), "y": listed(model.predict(x, verbose=0)),
                            "penalty": float(sum(model.losses))}
    (folder / "layers.json").write_text(json.dumps(expected))


def is_model(path):
    if path.suffix == ".keras":
        return True
    with h5py.File(path) as file:
        return "model_config" in file.attrs


def next_step(path, name):
    """The weights after a step from what the file has of model and optimizer."""
    if is_model(path):
        model = keras.models.load_model(path)
        optimizer = model.optimizer
        if path.suffix == ".h5":  # for which Keras's loader makes an optimizer of no variables
            optimizer = type(optimizer).from_config(optimizer.get_config())
            optimizer.build(model.trainable_variables)
            with h5py.File(path) as file:
                saved = legacy_h5_format.load_optimizer_weights_from_hdf5_group(file)
                for variable, value in zip(optimizer.variables, saved, strict=True):
                    variable.assign(value)  # set_weights() leaves out those of an optimizer inside
        model.compile(optimizer, "mse")
    else:
        model = trained_model()
        model.compile(OPTIMIZERS[name](), "mse")
        model.optimizer.build(model.trainable_variables)
        model.load_weights(path)
    model.train_on_batch(*step_data())
    return listed(np.concatenate([np.ravel(w) for w in model.get_weights()]))


def resnet50(folder):
    model = keras.applications.ResNet50(weights=None, classifier_activation=None)
    randomize(model)
    model.save_weights(folder / "resnet50.weights.h5")
    x = numbers((1, 224, 224, 3), 1)
    x.tofile(folder / "resnet50.x")
    model.predict(x, verbose=0).tofile(folder / "resnet50.y")


def check(folder):
    answers = {}
    expected = json.loads((folder / "expected.json").read_text())
    for path in sorted(folder.glob("ours_*")):
        name = path.name.split(".")[0].removeprefix("ours_")
        if name.startswith("trained_"):
            answers[path.name] = next_step(path, name.removeprefix("trained_"))
            continue
        if is_model(path):
            model = keras.models.load_model(path)
        else:
            model = globals()[name]()
            model.load_weights(path)
        x = expected[name]["x"]
        answers[path.name + " penalty"] = float(sum(model.losses))
        if isinstance(x, list):
            y = model.predict([np.reshape(one["values"], one["shape"]) for one in x], verbose=0)
            answers[path.name] = ({key: listed(value) for key, value in y.items()}
                                  if isinstance(y, dict) else listed(y))
            continue
        y = model.predict(np.reshape(x["values"], x["shape"]), verbose=0)
        answers[path.name] = listed(y)
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    {"make": make, "trained": trained, "layers": layers, "resnet50": resnet50, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))

"""The cases of weight_cases.cpp: sample weights, masks and class weights in losses, metrics, layers
and fit. tensorflow_cases.py runs them."""
import keras
import numpy as np
import tensorflow as tf

L, I, M = keras.losses, keras.layers, keras.metrics


def f32(values):
    return tf.constant(values, tf.float32)


def counted(shape, first=1.0):
    return tf.reshape(tf.range(first, first + float(np.prod(shape))), shape)


MATRIX = [[1, 2, 3], [4, 5, 6]]
ROW, COLUMN = [1, 3], [[1], [3]]
FULL = [[1, 2, 3], [3, 1, 1]]


def average_cases(case):
    def average(name, losses, weight, size=None):
        case(f"weights/average, {name}", lambda: tf.nn.compute_average_loss(
            losses, sample_weight=None if weight is None else f32(weight), global_batch_size=size))
    two, column, matrix = f32([1, 2]), f32([[1], [2]]), f32(MATRIX)
    average("[2] scalar", two, 2)
    average("[2,3] of [2]", matrix, [1, 2])
    average("[2,3] of [2,1]", matrix, [[1], [2]])
    average("[2,1] of [2]", column, [1, 2])
    average("[2] of [2,1], size 4", two, [[1], [2]], 4)
    average("[2] of [3]", two, [1, 2, 3])
    average("[2,3] of [2,3]", matrix, [[1, 0, 1], [0, 1, 0]])
    average("[2,3] of [3]", matrix, [1, 2, 3])
    average("[2,3] of [1,3]", matrix, [[1, 2, 3]])
    average("[3,3] of [3]", counted([3, 3], 0.0), [1, 0, 2])
    average("[2,3,2] of [2,3]", counted([2, 3, 2], 0.0), [[1, 2, 0], [1, 0, 1]])
    average("[2,3,2] of [2]", counted([2, 3, 2], 0.0), [1, 2])
    average("integers", tf.constant([1, 2]), None)
    average("integers of [2,1]", tf.constant([1, 2]), [[1], [2]])
    average("a scalar", f32(1), None)
    average("a scalar of size 2", f32(1), None, 2)


class OneNumber(L.Loss):
    def call(self, y_true, y_pred):
        return tf.reduce_sum(tf.square(y_true - y_pred))


def object_cases(case):
    def loss(name, prediction, weight, made=None):
        case(f"weights/{name}", lambda: (made or L.MeanSquaredError())(
            tf.zeros_like(prediction), prediction, sample_weight=None if weight is None else f32(weight)))
    two, steps = f32([[1], [2]]), counted([2, 3, 1])
    loss("mse [2] scalar", two, 2)
    loss("mse [2] of [2,1]", two, COLUMN)
    loss("mse [2] of [3]", two, [1, 2, 3])
    loss("mse [2] of [1]", two, [3])
    loss("mse [2,3] of [2]", steps, ROW)
    loss("mse [2,3] of [2,1]", steps, COLUMN)
    loss("mse [2,3] of [2,3]", steps, FULL)
    loss("mse [2,3] of [2,3,1]", steps, tf.reshape(f32(FULL), [2, 3, 1]))
    loss("mse [2,3] of [2,1,1]", steps, [[[1]], [[3]]])
    loss("mse [2,3] of [3]", steps, [1, 0, 2])
    loss("mse [2,2] of [2]", counted([2, 2, 1]), ROW)
    loss("one number", two, None, OneNumber())
    loss("one number, scalar", two, 2, OneNumber())
    for reduction in ("sum", "none", "mean", "mean_with_sample_weight", "sum_over_batch_size"):
        made = L.MeanSquaredError(reduction=None if reduction == "none" else reduction)
        for name, weight in (("no weights", None), ("a scalar", 2), ("[2,1]", COLUMN), ("[2,3]", FULL)):
            loss(f"{reduction}, {name}", steps, weight, made)
    half = f32([[0.5, 0.5], [0.25, 0.75]])
    case("weights/sparse of [2,1]", lambda: L.SparseCategoricalCrossentropy()(
        tf.constant([0, 1]), half, sample_weight=f32([[1], [2]])))
    case("weights/sparse columns of [2]", lambda: L.SparseCategoricalCrossentropy()(
        tf.constant([[0], [1]]), half, sample_weight=f32([1, 2])))


def update(case, name, make, *calls):
    def result():
        metric = make()
        for values in calls:
            metric.update_state(*values)
        return tf.convert_to_tensor(metric.result())
    case(name, result)


def metric_cases(case):
    matrix, row = f32(MATRIX), f32([[10, 20]])
    mean = lambda name, *calls: update(case, f"weights/mean, {name}", M.Mean, *calls)
    mean("[2] of [2,1]", (f32([1, 2]), f32(COLUMN)))
    mean("[2,3] of [2]", (matrix, f32(ROW)))
    mean("[2,3] of [2,1]", (matrix, f32(COLUMN)))
    mean("[2,3] of [3]", (matrix, f32([1, 2, 3])))
    mean("[2,1] of [2]", (f32([[1], [2]]), f32(ROW)))
    mean("[2,1] of [2,3]", (f32([[1], [2]]), matrix))
    mean("[2,3,2] of [2]", (counted([2, 3, 2], 0.0), f32(ROW)))
    mean("[2,3,2] of [2,3]", (counted([2, 3, 2], 0.0), f32([[1, 3, 0], [1, 0, 0]])))
    mean("scalar weights", (f32([1, 2, 3]), 2.0), (f32([10]), 2.0))
    mean("[2,3], then [1,2]", (matrix,), (row,))
    mean("[2,3] of [2], then [1,2] of [1]", (matrix, f32([1, 2])), (row, f32([3])))
    mean("[2,3] of [2,3], then [1,2] of [1,2]", (matrix, f32([[1, 2, 0], [1, 0, 0]])), (row, f32([[3, 1]])))
    mean("scalars", (f32(3),), (f32(5), 2.0))
    update(case, "weights/sum, a scalar", M.Sum, (matrix, 2.0))
    update(case, "weights/sum, [2]", M.Sum, (matrix, f32([1, 2])))
    update(case, "weights/mae, 2 steps, then 4", M.MeanAbsoluteError,
           (tf.zeros([2, 2, 1]), counted([2, 2, 1])), (tf.zeros([1, 4, 1]), 10 * counted([1, 4, 1])))
    update(case, "weights/rmse of [2]", M.RootMeanSquaredError, (tf.zeros([2, 3]), matrix, f32(ROW)))
    y, p = f32([[1], [0]]), f32([[0.9], [0.8]])
    update(case, "weights/binary accuracy of [2]", M.BinaryAccuracy, (y, p, f32(ROW)))
    update(case, "weights/binary accuracy of [2,1]", M.BinaryAccuracy, (y, p, f32(COLUMN)))
    update(case, "weights/precision of [3]", M.Precision,
           (f32([1, 0, 1]), f32([0.9, 0.8, 0.2]), f32([1, 2, 3])))
    update(case, "weights/auc of [2,1]", M.AUC, (y, f32([[0.9], [0.6]]), f32(COLUMN)))


LOSSES = ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError",
          "Huber", "LogCosh", "CosineSimilarity", "Hinge", "SquaredHinge", "CategoricalHinge", "KLDivergence",
          "Poisson", "BinaryCrossentropy", "CategoricalCrossentropy", "BinaryFocalCrossentropy",
          "CategoricalFocalCrossentropy")


def shape_cases(case):
    y, p = f32([1, 0, 1, 0]), f32([0.9, 0.2, 0.4, 0.6])
    shapes = {"[4,1] [4]": ((4, 1), (4,)), "[4] [4,1]": ((4,), (4, 1)), "[4,1] [4,1]": ((4, 1), (4, 1)),
              "[4] [4]": ((4,), (4,)), "[2,2,1] [2,2]": ((2, 2, 1), (2, 2)), "[2,2] [2,2,1]": ((2, 2), (2, 2, 1))}
    for name in LOSSES:
        for text, (of_y, of_p) in shapes.items():
            case(f"shapes/{name} {text}",
                 lambda: getattr(L, name)()(tf.reshape(y, of_y), tf.reshape(p, of_p)))
    for name in ("KLDivergence", "Poisson", "Hinge", "LogCoshError", "BinaryCrossentropy"):
        for text, (of_y, of_p) in list(shapes.items())[:3]:
            update(case, f"shapes/metric {name} {text}", getattr(M, name),
                   (tf.reshape(y, of_y), tf.reshape(p, of_p)))


# ---- masks

STEPS_A = [[[1.0], [2], [0]], [[0], [3], [0]]]
STEPS_B = [[[-1.0], [0], [0]], [[4], [0], [-5]]]
STEPS = [[[1.0], [2], [0]], [[3], [0], [0]]]
TARGETS = [[[2.0], [2], [5]], [[1], [4], [6]]]
WIDE = [[[1.0, 2], [0, 0], [0, 1]], [[0, 0], [3, 1], [0, 0]]]


def mask_of(tensor):
    mask = getattr(tensor, "_keras_mask", None)
    return None if mask is None else tf.cast(mask, tf.float32)


def masked(values):
    return I.Masking()(f32(values))


def ones(units=1):
    return I.Dense(units, use_bias=False, kernel_initializer="ones")


def merging_cases(case):
    layers = {name: getattr(I, name) for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum",
                                                  "Concatenate")}
    layers["Concatenate 1"] = lambda: I.Concatenate(axis=1)
    layers["Dot"] = lambda: I.Dot(axes=2)
    for name, make in layers.items():
        for text, masks in (("both", (True, True)), ("the first", (True, False)), ("the second", (False, True))):
            def merge():
                inputs = [masked(x) if is_masked else f32(x) for x, is_masked in zip((STEPS_A, STEPS_B), masks)]
                result = make()(inputs)
                return [result, mask_of(result)]
            case(f"masks/{name}, {text}", merge)


class Doubled(keras.layers.Layer):
    def call(self, x):
        return x * 2


class Embedded(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.embedding, self.dense = I.Embedding(5, 1, mask_zero=True), I.Dense(1)

    def call(self, x):
        return self.dense(self.embedding(x))


def layer_cases(case):
    layers = {
        "Dense": I.Dense(1), "Activation": I.Activation("relu"), "ReLU": I.ReLU(), "LeakyReLU": I.LeakyReLU(),
        "PReLU": I.PReLU(), "Dropout": I.Dropout(0.5), "SpatialDropout1D": I.SpatialDropout1D(0.5),
        "GaussianNoise": I.GaussianNoise(0.1), "BatchNormalization": I.BatchNormalization(),
        "LayerNormalization": I.LayerNormalization(), "GroupNormalization": I.GroupNormalization(1),
        "RMSNormalization": I.RMSNormalization(),
        "Lambda": I.Lambda(lambda x: x * 2), "identity": I.Lambda(lambda x: x), "a layer of one's own": Doubled(),
        "Flatten": I.Flatten(), "Reshape": I.Reshape((3, 2)), "Permute": I.Permute((1, 2)),
        "Conv1D": I.Conv1D(1, 1), "GlobalAveragePooling1D": I.GlobalAveragePooling1D(),
        "GlobalMaxPooling1D": I.GlobalMaxPooling1D(), "LSTM": I.LSTM(2), "LSTM, sequences": I.LSTM(2, return_sequences=True),
        "LSTM, backwards": I.LSTM(2, return_sequences=True, go_backwards=True),
        "Bidirectional": I.Bidirectional(I.LSTM(2)),
        "Bidirectional, sequences": I.Bidirectional(I.GRU(2, return_sequences=True)),
    }
    for name, layer in layers.items():
        case(f"masks/of {name}", lambda: mask_of(layer(masked(WIDE))))
    case("masks/of layers within a layer", lambda: mask_of(Embedded()(tf.constant([[1, 0, 2]]))))
    plain = f32([[[1, 2]], [[3, 4]]])
    case("masks/of attention of the query", lambda: mask_of(I.MultiHeadAttention(1, 2)(masked(WIDE), plain)))
    case("masks/of attention of the value", lambda: mask_of(I.MultiHeadAttention(1, 2)(plain, masked(WIDE))))

    def taken():
        x = masked(WIDE)
        seen = I.MultiHeadAttention(1, 2)(x, x)
        return [mask_of(x), mask_of(seen), mask_of(I.Add()([x, seen]))]
    case("masks/attention takes them", taken)

    def normalized():
        layer = I.BatchNormalization(momentum=0.5)
        return [layer(masked(WIDE), training=True)] + layer.non_trainable_weights[-2:]
    case("masks/batch normalization", normalized)


def masked_object_cases(case):
    model = keras.Sequential([I.Input((3, 1)), I.Masking(), ones()])
    for reduction in ("sum", "none", "mean", "mean_with_sample_weight", "sum_over_batch_size"):
        made = L.MeanSquaredError(reduction=None if reduction == "none" else reduction)
        for name, weight in (("no weights", None), ("a scalar", 2), ("[2,1]", COLUMN), ("[2,3]", FULL)):
            case(f"masks/{reduction}, {name}", lambda: made(
                f32(TARGETS), model(f32(STEPS)), sample_weight=None if weight is None else f32(weight)))
    for name in ("MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "BinaryAccuracy", "Precision",
                 "CosineSimilarity"):
        for text, weight in (("no weights", None), ("a scalar", 2.0), ("[2,1]", COLUMN), ("[2,3]", FULL)):
            update(case, f"masks/metric {name}, {text}", getattr(M, name),
                   (f32(TARGETS), model(f32(STEPS)), None if weight is None else f32(weight)))
    for text, weight in (("no weights", None), ("[2,1]", COLUMN)):
        update(case, f"masks/metric Mean, {text}", M.Mean,
               (model(f32(STEPS)), None if weight is None else f32(weight)))


# ---- fit and evaluate

def figures(layers, x, y, loss="mse", metrics=("mse", "mae"), weighted=(), sample_weight=None, class_weight=None):
    """Of one batch in fit; then the weights."""
    model = keras.Sequential(layers) if isinstance(layers, list) else layers
    model.compile(keras.optimizers.SGD(0.1), loss, metrics=list(metrics), weighted_metrics=list(weighted))
    weight = None if sample_weight is None else np.array(sample_weight, "float32")
    history = model.fit(x, y, sample_weight=weight, class_weight=class_weight, batch_size=100, shuffle=False,
                        verbose=0).history
    values = [history[name][0] for name in ["loss", *metrics, *weighted]]
    return f32(values + [w for variable in model.get_weights() for w in variable.ravel()])


def fit_cases(case):
    steps, targets = np.array(STEPS, "float32"), np.array(TARGETS, "float32")

    def dense(mask=True):
        return [I.Input((3, 1))] + ([I.Masking()] if mask else []) + [ones()]
    case("fit/[n] masked", lambda: figures(
        [I.Input((1,)), I.Masking(), ones()], np.array([[1.0], [0], [1]]), np.array([[0.0], [1], [1]]), "mae"))
    case("fit/[n,1] of [n]", lambda: figures(
        [I.Input((1,)), ones()], np.array([[1.0], [2]]), np.array([[3.0], [5]]), weighted=["mae"], metrics=(),
        sample_weight=ROW))
    case("fit/[n] of [n,1]", lambda: figures(
        [I.Input((1,)), ones()], np.array([[1.0], [2]]), np.array([3.0, 5]), weighted=["mae"], metrics=(),
        sample_weight=COLUMN))
    for mask in (True, False):
        text = "masked" if mask else "plain"
        for name, weight in (("no weights", None), ("[2,1]", COLUMN), ("[2,3]", FULL), ("[2]", ROW)):
            case(f"fit/{text}, {name}", lambda: figures(
                dense(mask), steps, targets, sample_weight=weight, metrics=["mse"], weighted=["mae"]))
            for reduction in ("sum", "mean", "mean_with_sample_weight"):
                case(f"fit/{text}, {reduction}, {name}", lambda: figures(
                    dense(mask), steps, targets, L.MeanSquaredError(reduction=reduction), sample_weight=weight))
    case("fit/without reduction", lambda: figures(
        dense(), steps, targets, L.MeanSquaredError(reduction=None), ["mse"]))
    case("fit/all masked", lambda: figures(dense(), 0 * steps, targets))
    case("fit/batch normalization", lambda: figures(
        [I.Input((3, 2)), I.Masking(), I.BatchNormalization(momentum=0.5)], np.array(WIDE), np.zeros((2, 3, 2))))


def half_cases(case):
    x, regression = np.array([[1.1], [2.3], [-3.7]], "float32"), np.array([[3.3], [5.7], [0.1]])

    def half(name, loss, y, units=1, activation=None):
        def fit():
            keras.config.set_dtype_policy("mixed_bfloat16")
            try:
                layers = [I.Input((1,)), I.Dense(units, use_bias=False, activation=activation,
                                                 kernel_initializer=keras.initializers.Constant([[0.5, -0.25, 1.25][:units]]))]
                model = keras.Sequential(layers)
            finally:
                keras.config.set_dtype_policy("float32")
            return figures(model, x, y, loss, ())[0]  # gradients are rounded to bfloat16 there
        case(f"fit/mixed_bfloat16, {name}", fit)
    for name in ("mse", "mae", "huber", "log_cosh"):
        half(name, name, regression)
    half("binary", "binary_crossentropy", np.array([[1.0], [0], [1]]), 1, "sigmoid")
    half("sparse", "sparse_categorical_crossentropy", np.array([0, 1, 2]), 3, "softmax")
    half("sparse of logits", L.SparseCategoricalCrossentropy(from_logits=True), np.array([0, 1, 2]), 3)
    for reduction in ("none", "sum_over_batch_size"):
        case(f"losses/bfloat16, {reduction}", lambda: L.MeanSquaredError(
            reduction=None if reduction == "none" else reduction)(f32([[3.3], [5.7]]), tf.cast(f32([[1.1], [2.3]]), "bfloat16")))


TOKENS = np.array([[1, 2, 0], [3, 0, 0]], "int32")
TOKEN_TARGETS = np.array([[[1], [1], [1]], [[2], [2], [2]]], "float32")


def embedding(width=1):
    table = [[0.0], [1], [2], [4]] if width == 1 else [[0.0, 0], [1, 0], [2, 1], [4, -1]]
    return I.Embedding(4, width, mask_zero=True, embeddings_initializer=keras.initializers.Constant(table))


def rnn(sequences):
    return I.SimpleRNN(1, return_sequences=sequences, activation=None, use_bias=False, kernel_initializer="ones",
                       recurrent_initializer="ones")


def embedding_cases(case):
    last, flat = np.array([[1.0], [2]]), np.array([[1.0, 1, 1], [2, 2, 2]])
    layers = {
        "Dense": (lambda: ones(), TOKEN_TARGETS), "SimpleRNN, sequences": (lambda: rnn(True), TOKEN_TARGETS),
        "SimpleRNN": (lambda: rnn(False), last),
        "Bidirectional, sequences": (lambda: I.Bidirectional(rnn(True), merge_mode="sum"), TOKEN_TARGETS),
        "Bidirectional": (lambda: I.Bidirectional(rnn(False), merge_mode="sum"), last),
        "Flatten": (I.Flatten, flat), "GlobalAveragePooling1D": (I.GlobalAveragePooling1D, last),
        "Conv1D": (lambda: I.Conv1D(1, 1, use_bias=False, kernel_initializer="ones"), TOKEN_TARGETS),
        "Lambda": (lambda: I.Lambda(lambda x: x * 1.0), TOKEN_TARGETS),
        "a model": (lambda: keras.Sequential([I.Input((3, 1)), ones()]), TOKEN_TARGETS),
    }
    for name, (make, targets) in layers.items():
        case(f"fit/embedding and {name}", lambda: figures(
            [I.Input((3,), dtype="int32"), embedding(), make()], TOKENS, targets))

    def tagger():
        return [I.Input((3,), dtype="int32"), embedding(2),
                I.Dense(2, use_bias=False, kernel_initializer="identity", activation="softmax")]
    for name, weight in (("no weights", None), ("[2,1]", [[1], [2]]), ("[2,3]", MATRIX)):
        case(f"fit/classes of tokens, {name}", lambda: figures(
            tagger(), TOKENS, np.array([[0, 1, 0], [1, 1, 1]]), "sparse_categorical_crossentropy", ["accuracy"],
            ["sparse_categorical_accuracy"], sample_weight=weight))

    def attention(*wrap):
        x = keras.Input((3,), dtype="int32")
        e = embedding(2)(x)
        y = I.MultiHeadAttention(1, 2, use_bias=False, kernel_initializer=keras.initializers.Constant(0.5))(e, e)
        for layer in wrap:
            y = layer([e, y])
        return keras.Model(x, y)
    case("fit/attention", lambda: figures(attention(), TOKENS, np.ones((2, 3, 2))))
    case("fit/attention and Add", lambda: figures(attention(I.Add()), TOKENS, np.ones((2, 3, 2))))


def merged_cases(case):
    for name in ("Add", "Multiply", "Average", "Maximum", "Concatenate"):
        for text, both in (("both", True), ("the first", False)):
            def evaluate():
                a, b = keras.Input((3, 1)), keras.Input((3, 1))
                y = getattr(I, name)()([I.Masking()(a), I.Masking()(b) if both else b])
                model = keras.Model([a, b], y)
                model.compile("sgd", "mae", metrics=["mae"])
                return f32(model.evaluate([f32(STEPS_A), f32(STEPS_B)], tf.ones([2, 3, 1]), verbose=0))
            case(f"evaluate/{name}, {text}", evaluate)

    def outputs():
        x = keras.Input((3,), dtype="int32")
        e = embedding()(x)
        model = keras.Model(x, {"p": I.Dense(1, use_bias=False, kernel_initializer="ones", name="p")(e),
                                "q": I.Flatten(name="q")(e)})
        model.compile("sgd", {"p": "mse", "q": "mse"}, metrics={"p": ["mae"], "q": ["mae"]})
        logs = model.evaluate(TOKENS, {"p": TOKEN_TARGETS, "q": np.array([[1.0, 1, 1], [2, 2, 2]])}, verbose=0,
                              return_dict=True)
        return f32([logs[name] for name in ("loss", "p_loss", "q_loss", "p_mae", "q_mae")])
    case("evaluate/two outputs, one masked", outputs)


def class_cases(case):
    x, sparse = np.array([[1.0], [2], [-1], [-2]]), "sparse_categorical_crossentropy"

    def classes(name, y, weights, loss=sparse, units=3):
        case(f"classes/{name}", lambda: figures(
            [I.Input((1,)), I.Dense(units, use_bias=False, kernel_initializer="ones",
                                    activation="softmax" if units > 1 else None)],
            x, np.array(y), loss, (), class_weight=weights))
    classes("the highest left out", [0, 1, 2, 0], {0: 1.0, 1: 3.0})
    classes("in columns", [[0], [1], [2], [0]], {0: 2.0, 1: 3.0})
    classes("one-hot", np.eye(3, dtype="float32")[[0, 1, 2, 0]], {0: 2.0, 1: 3.0}, "categorical_crossentropy")
    classes("the lowest left out", [0, 1, 2, 0], {2: 3.0})
    classes("negative", [-1.0, 1, 1, -1], {-1: 2.0, 1: 3.0}, "hinge", 1)
    classes("rounded", [0.4, 1.2, 1.6, 0.6], {0: 2.0, 1: 3.0}, "mse", 1)
    classes("none", [0, 1, 2, 0], {})


def replica_cases(case, strategy):
    for mask in (True, False):
        for reduction in ("sum_over_batch_size", "mean_with_sample_weight", "sum"):
            for name, weight in (("no weights", None), ("[2,1]", COLUMN), ("[2,3]", FULL)):
                def fit():
                    with strategy.scope():
                        model = keras.Sequential([I.Input((3, 1))] + ([I.Masking()] if mask else []) + [ones()])
                        model.compile(keras.optimizers.SGD(0.1), L.MeanSquaredError(reduction=reduction),
                                      metrics=["mse"])
                    parts = [f32(STEPS), f32(TARGETS)] + ([] if weight is None else [f32(weight)])
                    data = tf.data.Dataset.from_tensor_slices(tuple(parts)).batch(2)
                    history = model.fit(data, verbose=0).history
                    return f32([history["loss"][0], history["mse"][0], model.get_weights()[0][0, 0]])
                case(f"replicas/{'masked' if mask else 'plain'}, {reduction}, {name}", fit)


def weight_cases(case, strategy):
    for cases in (average_cases, object_cases, metric_cases, shape_cases, merging_cases, layer_cases,
                  masked_object_cases, fit_cases, half_cases, embedding_cases, merged_cases, class_cases):
        cases(case)
    replica_cases(case, strategy)

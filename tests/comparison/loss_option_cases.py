"""Each option of each loss away from its default, with odd targets, predictions, weights and masks,
for tensorflow_cases.py: what loss_option_cases.cpp does here. A line has the loss, and two sums of the
gradient of its sum."""
import keras
import numpy as np
import tensorflow as tf

from layer_cases import masked, sums, uniform

L = keras.losses
REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")


def positive(shape, seed):
    """In [0.05, 0.95]."""
    return np.abs(uniform(shape, seed)) * np.float32(0.9) + np.float32(0.05)


def bits(shape, seed):
    return (uniform(shape, seed) > 0).astype(np.float32)


def one_hot(shape, seed):
    scores = uniform(shape, seed)
    return (scores == scores.max(-1, keepdims=True)).astype(np.float32)


def ids(shape, classes, seed):
    return np.floor((uniform(shape, seed) + 1) / 2 * classes).astype(np.int32)


MASK = np.array([[1, 0, 1], [0, 0, 1]], bool)
WEIGHTS = {
    "no weights": None, "a number": np.float32(0.5),     "[2, 1]": np.array([[0.5], [2]], np.float32), "zeros": np.zeros((2, 1), np.float32),
    "negative": np.array([[-1], [2]], np.float32), "integers": np.array([[1], [3]], np.int32),
    "[2, 3]": np.abs(uniform((2, 3), 31)), "[2, 3, 1]": np.abs(uniform((2, 3, 1), 31)),
    "nan": np.array([[np.nan], [1]], np.float32)}


def describe(loss, y, p, weight=None, mask=None):
    source = tf.Variable(p) if p.dtype.kind == "f" else tf.constant(p)
    with tf.GradientTape() as tape:
        value = loss(tf.constant(y), masked(source, mask), weight)
        total = tf.reduce_sum(value)
    text = ("float" + "".join(f"[{size}]" for size in value.shape) + " "
            + " ".join(f"{one:.7g}" for one in np.ravel(value)))
    gradient = tape.gradient(total, source) if p.dtype.kind == "f" else None
    return text + (" | " + sums("gradient", gradient) if gradient is not None else "")


SHAPE = (2, 3, 4)
# Targets and predictions by the kind of loss.
PAIRS = {
    "regression": (uniform(SHAPE, 1), uniform(SHAPE, 2)), "distribution": (positive(SHAPE, 3), positive(SHAPE, 4)),
    "one hot": (one_hot(SHAPE, 5), positive(SHAPE, 6)), "bits": (bits(SHAPE, 7), positive(SHAPE, 8)),
    "ids": (ids((2, 3), 4, 9), positive(SHAPE, 10)), "signs": (2 * bits(SHAPE, 11) - 1, uniform(SHAPE, 12))}
KINDS = {
    "MeanSquaredError": "regression", "MeanAbsoluteError": "regression", "MeanAbsolutePercentageError": "regression",
    "MeanSquaredLogarithmicError": "distribution", "Huber": "regression", "LogCosh": "regression",
    "CosineSimilarity": "regression", "KLDivergence": "distribution", "Poisson": "distribution", "Hinge": "signs",
    "SquaredHinge": "signs", "CategoricalHinge": "one hot", "BinaryCrossentropy": "bits",
    "CategoricalCrossentropy": "one hot", "SparseCategoricalCrossentropy": "ids", "BinaryFocalCrossentropy": "bits",
    "CategoricalFocalCrossentropy": "one hot"}


def reductions(check):
    for name, kind in KINDS.items():
        for reduction in REDUCTIONS:
            for weights in ("no weights", "[2, 1]", "[2, 3]"):
                check(f"{name} {reduction}, {weights}", lambda: getattr(L, name)(reduction=reduction), *PAIRS[kind],
                      WEIGHTS[weights])
    for reduction in REDUCTIONS:
        for weights in WEIGHTS:
            for mask in (None, MASK):
                text = f"{reduction}, {weights}{', masked' if mask is not None else ''}"
                check(f"mse {text}", lambda: L.MeanSquaredError(reduction=reduction), *PAIRS["regression"],
                      WEIGHTS[weights], mask)


def options(check):
    for name in ("BinaryCrossentropy", "CategoricalCrossentropy", "BinaryFocalCrossentropy",
                 "CategoricalFocalCrossentropy"):
        y, p = PAIRS[KINDS[name]]
        for smoothing in (0.0, 0.1, 1.0, 1.5, -0.5):
            for logits in (False, True):
                check(f"{name} label_smoothing {smoothing}{', logits' if logits else ''}",
                      lambda: getattr(L, name)(label_smoothing=smoothing, from_logits=logits), y,
                      uniform(SHAPE, 13) * 4 if logits else p)
        for axis in (0, 1, 2, -2, -3, 3):
            for logits in (False, True):
                check(f"{name} axis {axis}{', logits' if logits else ''}",
                      lambda: getattr(L, name)(axis=axis, from_logits=logits, reduction="none"), y,
                      uniform(SHAPE, 13) * 4 if logits else p)
        check(f"{name} axis 1, smoothed", lambda: getattr(L, name)(axis=1, label_smoothing=0.2), y, p)
    for name, key in (("BinaryFocalCrossentropy", "apply_class_balancing"), ("CategoricalFocalCrossentropy", None)):
        y, p = PAIRS[KINDS[name]]
        for alpha in (0.0, 0.25, 0.75, 2.0):
            for gamma in (0.0, 0.5, 2.0, 3.0):
                more = {key: True} if key else {}
                check(f"{name} alpha {alpha} gamma {gamma}",
                      lambda: getattr(L, name)(alpha=alpha, gamma=gamma, **more), y, p)
        check(f"{name} alpha alone", lambda: getattr(L, name)(alpha=0.75), y, p)
        check(f"{name} all", lambda: getattr(L, name)(alpha=0.4, gamma=1.5, from_logits=True, label_smoothing=0.1), y,
              uniform(SHAPE, 13) * 4)
    sparse(check)
    for delta in (0.0, 0.1, 0.5, 1.0, 2.0, -1.0):
        check(f"huber delta {delta}", lambda: L.Huber(delta=delta), *PAIRS["regression"])
    for axis in (0, 1, 2, -1, -2, -3, 3):
        check(f"cosine axis {axis}", lambda: L.CosineSimilarity(axis=axis), *PAIRS["regression"])
        check(f"cosine axis {axis}, none", lambda: L.CosineSimilarity(axis=axis, reduction="none"), *PAIRS["regression"])


def sparse(check):
    y, p = PAIRS["ids"]
    make = L.SparseCategoricalCrossentropy
    logits = uniform(SHAPE, 13) * 4
    void = y.copy()
    void[0, 1] = -1
    far = np.where(void < 0, 255, void)
    check("sparse logits", lambda: make(from_logits=True), y, logits)
    for ignored in (0, 2, -1, 255, 7):
        for name, targets in {"ids": y, "-1": void, "255": far}.items():
            for with_logits in (False, True):
                check(f"sparse ignore_class {ignored} of {name}{', logits' if with_logits else ''}",
                      lambda: make(ignore_class=ignored, from_logits=with_logits), targets,
                      logits if with_logits else p)
    for reduction in REDUCTIONS:
        for weights in ("no weights", "[2, 1]", "[2, 3]"):
            for mask in (None, MASK):
                check(f"sparse ignore_class -1, {reduction}, {weights}{', masked' if mask is not None else ''}",
                      lambda: make(ignore_class=-1, reduction=reduction), void, p, WEIGHTS[weights], mask)
    check("sparse all ignored", lambda: make(ignore_class=3), np.full((2, 3), 3, np.int32), p)
    check("sparse ignore_class of columns", lambda: make(ignore_class=2), y[..., None], p)
    check("sparse ignore_class of floats", lambda: make(ignore_class=2), y.astype(np.float32), p)
    check("sparse of scalars", make, np.int32(1), p[0, 0])
    check("sparse [2, 3] of [2, 3]", make, y, p[:, :, 0])


EXTREME = np.array([[0, 1, 0.5, 0], [1, 0, 1, 0]], np.float32)
TARGETS = np.array([[0, 1, 1, 1], [1, 0, 0, 0]], np.float32)


def odd(check):
    nan, infinite = EXTREME.copy(), EXTREME.copy()
    nan[0, 2], infinite[0, 2] = np.nan, np.inf
    inputs = {
        "extreme": (TARGETS, EXTREME), "zeros": (np.zeros((2, 4), np.float32),) * 2,
        "ones": (np.ones((2, 4), np.float32),) * 2, "negative": (-TARGETS, EXTREME - 2), "nan": (TARGETS, nan),
        "nan targets": (nan, EXTREME), "inf": (TARGETS, infinite), "large": (TARGETS * 100, EXTREME * 1000),
        "empty": (np.zeros((0, 4), np.float32),) * 2, "no elements": (np.zeros((2, 0), np.float32),) * 2,
        "integers": (TARGETS.astype(np.int32), EXTREME), "bools": (TARGETS.astype(bool), EXTREME),
        "both integers": (TARGETS.astype(np.int32), np.ones((2, 4), np.int32)),
        "one axis": (TARGETS[0], EXTREME[0]), "numbers": (np.float32(1), np.float32(0.25)),
        "[2, 4] of [2, 1]": (TARGETS, EXTREME[:, 2:3]), "[2, 1] of [2, 4]": (TARGETS[:, :1], EXTREME),
        "[1, 4] of [2, 4]": (TARGETS[:1], EXTREME), "[4] of [2, 4]": (TARGETS[0], EXTREME)}
    for name in KINDS:
        if name == "SparseCategoricalCrossentropy":
            continue
        for text, (y, p) in inputs.items():
            for reduction in ("none", "sum_over_batch_size"):
                check(f"{name} of {text}, {reduction}", lambda: getattr(L, name)(reduction=reduction), y, p)
    for logits in (TARGETS * 200 - 100, TARGETS * -200 + 100):
        for name in ("BinaryCrossentropy", "CategoricalCrossentropy", "BinaryFocalCrossentropy",
                     "CategoricalFocalCrossentropy"):
            check(f"{name} of logits {logits[0, 0]:g}", lambda: getattr(L, name)(from_logits=True), TARGETS, logits)
    rare = {"too large": [0, 4], "negative": [-1, 2], "floats": [0.0, 2.0], "fractions": [0.7, 2.9],
            "columns": [[0], [2]], "bools": [True, False], "bytes": np.array([0, 2], np.uint8)}
    for text, y in rare.items():
        for logits in (False, True):
            y = np.array(y, np.float32) if "f" in text else np.array(y)
            check(f"sparse of {text}{', logits' if logits else ''}", lambda: L.SparseCategoricalCrossentropy(
                from_logits=logits, reduction="none"), y, EXTREME)
    check("hinge of zeros and ones", L.Hinge, TARGETS, EXTREME)
    check("hinge of zeros, ones and minus ones", L.Hinge, TARGETS - 2 * np.eye(2, 4, dtype=np.float32), EXTREME)
    check("hinge of halves", L.Hinge, TARGETS / 2, EXTREME)
    check("squared hinge of zeros and ones", L.SquaredHinge, TARGETS, EXTREME)
    for rows in ("[[1, 2, 0], [2, 2, 1]]", "[[0, 0, 0], [1, 0, 0]]", "[[1, 0, 2], [3, 0, 0]]"):
        for reduction in ("none", "sum_over_batch_size"):
            check(f"ctc of {rows}, {reduction}", lambda: L.CTC(reduction=reduction),
                  np.array(eval(rows), np.int32), uniform((2, 5, 4), 15) * 2)


def loss_option_cases(case):
    def check(name, make, y, p, weight=None, mask=None):
        case("loss options/" + name, lambda: describe(make(), np.asarray(y), np.asarray(p), weight, mask))
    for part in (reductions, options, odd):
        part(check)

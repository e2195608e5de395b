"""Odd uses of fit, callbacks, optimizers, losses and metrics, for tensorflow_cases.py: what
odd_cases.cpp does here."""
import contextlib
import io

import keras
import numpy as np
import tensorflow as tf

from fit_cases import X, Y, number, numbers

C, L, M, O = keras.callbacks, keras.losses, keras.metrics, keras.optimizers
S = O.schedules
W = np.arange(1, 11, dtype=np.float32) / 5


def line(optimizer, loss="mse", layers=(), **options):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(
        1, kernel_initializer="ones", bias_initializer="zeros"), *layers])
    model.compile(optimizer, loss, **options)
    return model


def result(model, history):
    columns = [f"{name} {numbers(values)}" for name, values in sorted(history.history.items())]
    return " ".join([*columns, "weights", numbers(np.concatenate([w.ravel() for w in model.get_weights()]))])


def fit(model, *args, **options):
    with contextlib.redirect_stdout(io.StringIO()):  # TerminateOnNaN prints a line
        return result(model, model.fit(*args, verbose=0, shuffle=False, **options))


def data(size, repeat=1):
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(size).repeat(repeat)


def fit_odd(case, mirrored):
    sgd = lambda **options: O.SGD(0.1, **options)
    wm = {"weighted_metrics": ["mae"]}
    case("odd/split", lambda: fit(line(sgd()), X, Y, batch_size=4, validation_split=0.3))
    case("odd/split with weights", lambda: fit(
        line(sgd(), **wm), X, Y, batch_size=4, validation_split=0.3, sample_weight=W))
    case("odd/split 0.25", lambda: fit(line(sgd(), metrics=["mae"]), X, Y, batch_size=3, epochs=2,
                                       validation_split=0.25, validation_batch_size=2))
    case("odd/class weights", lambda: fit(
        line(sgd(), "binary_crossentropy", [keras.layers.Activation("sigmoid")], weighted_metrics=["accuracy"]),
        X, np.float32(X > 0.45), batch_size=4, epochs=2, class_weight={0: 3.0, 1: 0.5}))
    case("odd/steps of repeated data", lambda: fit(line(sgd()), data(4, 2), epochs=2, steps_per_epoch=2))
    case("odd/steps go on", lambda: fit(line(sgd()), data(4, -1), epochs=3, steps_per_epoch=2))
    case("odd/validation steps", lambda: fit(
        line(sgd()), data(4), epochs=2, validation_data=data(4), validation_steps=2))
    case("odd/initial epoch", lambda: fit(
        line(sgd()), X, Y, batch_size=4, initial_epoch=2, epochs=4,
        callbacks=[C.LearningRateScheduler(lambda e, r: r / (e + 1))]))
    case("odd/no epochs left", lambda: fit(line(sgd()), X, Y, initial_epoch=3, epochs=3))
    schedules = {
        "staircase": S.ExponentialDecay(0.1, 2, 0.5, staircase=True),
        "cosine warmup": S.CosineDecay(0.01, 4, alpha=0.1, warmup_target=0.2, warmup_steps=2),
        "restarts": S.CosineDecayRestarts(0.1, 2, t_mul=1.5, m_mul=0.5, alpha=0.01),
        "cycle": S.PolynomialDecay(0.1, 3, 0.01, power=2.0, cycle=True),
        "pieces": S.PiecewiseConstantDecay([1, 3], [0.1, 0.05, 0.01]),
        "inverse": S.InverseTimeDecay(0.1, 2, 0.5, staircase=True)}
    for name, schedule in schedules.items():
        case(f"odd/{name}, averages", lambda: fit(
            line(O.Adam(schedule, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3)),
            X, Y, batch_size=2, epochs=2))
        for accumulation in (2, 3):
            case(f"odd/{name}, accumulation {accumulation}", lambda: fit(
                line(O.Adam(schedule, gradient_accumulation_steps=accumulation)), X, Y, batch_size=2, epochs=2))
    accumulating = {
        "nesterov": lambda: O.SGD(0.05, momentum=0.9, nesterov=True, weight_decay=0.1, clipvalue=0.5,
                                  gradient_accumulation_steps=3),
        "amsgrad": lambda: O.Adam(0.1, amsgrad=True, global_clipnorm=0.3, gradient_accumulation_steps=2),
        "centered": lambda: O.RMSprop(0.05, centered=True, momentum=0.5, clipnorm=0.2, gradient_accumulation_steps=2),
        "adamw": lambda: O.AdamW(0.1, weight_decay=0.3, gradient_accumulation_steps=2, use_ema=True, ema_momentum=0.3),
        "adagrad": lambda: O.Adagrad(0.2, gradient_accumulation_steps=2),
        "nadam": lambda: O.Nadam(0.1, gradient_accumulation_steps=2),
        "adamax": lambda: O.Adamax(0.1, gradient_accumulation_steps=2),
        "lion": lambda: O.Lion(0.05, weight_decay=0.1, gradient_accumulation_steps=2)}
    for name, make in accumulating.items():
        case(f"odd/accumulation, {name}", lambda: fit(line(make()), X, Y, batch_size=2, epochs=2))

    def on_two(make, *args, **options):
        with mirrored(2).scope():
            model = make()
        return fit(model, *args, **options)
    case("odd/two replicas, last batch", lambda: on_two(lambda: line(sgd(), **wm), X, Y, batch_size=4, epochs=2))
    case("odd/two replicas, last batch of one", lambda: on_two(
        lambda: line(sgd(), **wm), X[:9], Y[:9], batch_size=4, epochs=2))
    case("odd/two replicas, weights", lambda: on_two(
        lambda: line(sgd(), **wm), X, Y, batch_size=4, sample_weight=np.where(W < 0.9, 0, W)))
    case("odd/two replicas, class weights", lambda: on_two(
        lambda: line(sgd(), "binary_crossentropy", [keras.layers.Activation("sigmoid")], weighted_metrics=["accuracy"]),
        X, np.float32(X > 0.45), batch_size=4, class_weight={0: 3.0, 1: 0.5}))
    case("odd/two replicas, accumulation", lambda: on_two(
        lambda: line(O.Adam(0.1, gradient_accumulation_steps=2)), X, Y, batch_size=4, epochs=2))
    case("odd/two replicas, schedule and averages", lambda: on_two(
        lambda: line(O.SGD(schedules["staircase"], momentum=0.9, use_ema=True, ema_momentum=0.5,
                           ema_overwrite_frequency=2)), X, Y, batch_size=4, epochs=2))
    plateau = lambda **o: C.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=0.05, **o)
    case("odd/plateau", lambda: fit(line(sgd()), X, Y, batch_size=5, epochs=6,
                                    callbacks=[plateau(cooldown=1, min_lr=0.02)]))
    case("odd/plateau and scheduler", lambda: fit(
        line(sgd()), X, Y, batch_size=5, epochs=5,
        callbacks=[plateau(), C.LearningRateScheduler(lambda e, r: r * (2 if e == 3 else 1))]))
    case("odd/stopping, best weights", lambda: fit(
        line(O.SGD(1.2)), X, Y, batch_size=5, epochs=8, callbacks=[
            C.EarlyStopping("loss", patience=2, restore_best_weights=True), plateau()]))
    case("odd/stopping, start and baseline", lambda: fit(
        line(sgd()), X, Y, batch_size=5, epochs=8, callbacks=[
            C.EarlyStopping("loss", patience=1, baseline=0.01, start_from_epoch=2)]))
    case("odd/stopping, max", lambda: fit(
        line(sgd(), metrics=["mae"]), X, Y, batch_size=5, epochs=8, callbacks=[
            C.EarlyStopping("mae", mode="max", patience=2, restore_best_weights=True)]))
    case("odd/swapped averages", lambda: fit(
        line(O.Adam(0.1, use_ema=True, ema_momentum=0.5)), X, Y, batch_size=5, epochs=2,
        validation_data=(X, Y), callbacks=[C.SwapEMAWeights(swap_on_epoch=True)]))
    case("odd/not a number", lambda: fit(line(sgd()), np.where(X > 0.55, np.nan, X), Y, batch_size=2, epochs=2,
                                         callbacks=[C.TerminateOnNaN()]))


def loss_odd(case):
    a = np.sin(np.arange(12.)).astype("float32")
    b = np.cos(np.arange(12.)).astype("float32")
    p, q = np.abs(a).reshape(2, 3, 2), np.abs(b).reshape(2, 3, 2)
    shapes = {"[12]": (12,), "[2, 3, 2]": (2, 3, 2), "[2, 6, 1]": (2, 6, 1)}
    for text, shape in shapes.items():
        y, z = a.reshape(shape), b.reshape(shape)
        for name in ("mse", "mae", "mape", "msle", "log_cosh", "huber", "hinge", "squared_hinge", "poisson",
                     "cosine_similarity", "kl_divergence"):
            case(f"odd/{name} {text}", lambda: number(tf.reduce_sum(keras.losses.get(name)(y, z))))
        case(f"odd/huber 0.3 {text}", lambda: number(L.Huber(0.3)(y, z)))
        case(f"odd/smoothed binary {text}", lambda: number(
            L.BinaryCrossentropy(from_logits=True, label_smoothing=0.2)(np.float32(y > 0), z)))
    for axis in (0, 1, -2):
        case(f"odd/cosine over {axis}", lambda: number(L.CosineSimilarity(axis=axis)(p, q)))
    case("odd/smoothed categorical", lambda: number(
        L.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(np.eye(2)[[[0, 1, 1], [1, 0, 0]]], q)))
    case("odd/categorical, not normalized", lambda: number(L.CategoricalCrossentropy()(np.eye(2)[[0, 1]], q[0, :2])))
    labels = np.array([[0, 1, 1], [1, 0, 0]])
    for text, weight in {"[2]": [1, 3], "[2, 1]": [[1], [3]], "[2, 3]": [[1, 0, 2], [0, 0, 1]], "2": 2}.items():
        w = np.float32(weight)
        for reduction in ("sum", "none", "sum_over_batch_size", "mean_with_sample_weight"):
            case(f"odd/sparse {reduction}, weights {text}", lambda: numbers(np.ravel(
                L.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)(labels, q, w))))


def metric_odd(case):
    def of(metric, *updates):
        for update in updates:
            metric.update_state(*[np.float32(one) for one in update])
        return numbers(np.ravel(metric.result()))
    y, p, w = [0, 1, 1, 0], [0.2, 0.7, 0.4, 0.6], [1, 2, 0, 3]
    case("odd/auc pr weights", lambda: of(M.AUC(curve="PR", num_thresholds=5), (y, p, w)))
    case("odd/auc minoring", lambda: of(M.AUC(num_thresholds=3, summation_method="minoring"), (y, p, w)))
    case("odd/auc logits", lambda: of(M.AUC(from_logits=True), (y, [-1, 2, 0.5, 0], w)))
    case("odd/auc multi label", lambda: of(
        M.AUC(num_thresholds=5, multi_label=True, num_labels=2), ([[0, 1], [1, 0]], [[0.2, 0.7], [0.4, 0.6]])))
    case("odd/precision of two thresholds", lambda: of(M.Precision(thresholds=[0.3, 0.65]), (y, p, w), (y, p)))
    case("odd/precision top 1, class 1", lambda: of(
        M.Precision(top_k=1, class_id=1), ([[0, 1], [0, 1], [1, 0]], [[0.2, 0.7], [0.6, 0.4], [0.3, 0.6]])))
    case("odd/recall class 0", lambda: of(M.Recall(class_id=0), ([[0, 1], [1, 0]], [[0.6, 0.7], [0.4, 0.6]])))
    case("odd/rmse weights", lambda: of(M.RootMeanSquaredError(), (y, p, w), (y, p)))
    case("odd/mean iou weights", lambda: of(M.MeanIoU(3), ([0, 1, 2, 1], [0, 1, 1, 2], w)))
    case("odd/binary iou", lambda: of(M.BinaryIoU([1], threshold=0.45), (y, p, w)))
    case("odd/f1 weighted", lambda: of(
        M.F1Score("weighted", 0.5), ([[0, 1], [1, 1], [1, 0]], [[0.2, 0.7], [0.6, 0.4], [0.3, 0.6]], [1, 2, 1])))
    case("odd/fbeta", lambda: of(
        M.FBetaScore(None, 2.0), ([[0, 1], [0, 1], [1, 0]], [[0.2, 0.7], [0.6, 0.4], [0.3, 0.6]])))
    case("odd/top 2, weights", lambda: of(
        M.SparseTopKCategoricalAccuracy(2), ([2, 0], [[0.1, 0.9, 0.8], [0.05, 0.95, 0.3]], [1, 3])))
    case("odd/top k, ties", lambda: of(M.SparseTopKCategoricalAccuracy(1), ([0, 1], [[0.5, 0.5], [0.5, 0.5]])))
    case("odd/sum weights", lambda: of(M.Sum(), ([[1, 2], [3, 4]], [1, 0])))
    case("odd/mean weights [2, 1]", lambda: of(M.Mean(), ([[1, 2], [3, 4]], [[1], [3]])))
    case("odd/mean of nothing", lambda: of(M.Mean()))
    case("odd/auc of nothing", lambda: of(M.AUC()))
    case("odd/cosine over 0", lambda: of(M.CosineSimilarity(axis=0), ([[0, 1], [1, 1]], [[1, 0], [1, 1]])))
    case("odd/binary accuracy threshold", lambda: of(M.BinaryAccuracy(threshold=0.65), (y, p, w)))
    case("odd/true positives", lambda: of(M.TruePositives([0.3, 0.65]), (y, p, w)))
    case("odd/hinge of 0 and 1", lambda: of(M.Hinge(), (y, p, w)))
    case("odd/kl zeros", lambda: of(M.KLDivergence(), ([[0, 1]], [[0, 1]])))
    case("odd/categorical crossentropy smoothed", lambda: of(
        M.CategoricalCrossentropy(label_smoothing=0.1), ([[0, 1], [1, 0]], [[0.2, 0.6], [0.5, 0.1]], [1, 3])))


def odd_cases(case, mirrored):
    fit_odd(case, mirrored)
    loss_odd(case)
    metric_odd(case)

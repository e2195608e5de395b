"""Each option of each metric away from its default, with odd targets, predictions and weights, for
tensorflow_cases.py: what metric_option_cases.cpp does here. A line has the result after one update, and
after a second one with other numbers."""
import keras
import numpy as np
import tensorflow as tf

from layer_cases import masked, uniform
from loss_option_cases import bits, ids, one_hot, positive

M = keras.metrics
WEIGHTS = {"no weights": None, "[6]": np.abs(uniform((6,), 41)), "[6, 1]": np.abs(uniform((6, 1), 41)),
           "[6, 4]": np.abs(uniform((6, 4), 42)), "a number": np.float32(2)}


def show(value):
    value = np.asarray(value)
    return "".join(f"[{size}]" for size in value.shape) + "".join(f" {one:.6g}" for one in value.ravel())


def describe(metric, updates):
    parts = []
    for y, p, weight in updates:
        metric.update_state(y, p, weight)
        parts.append(show(metric.result()))
    return " | ".join(parts)


BITS = [(bits((6, 4), 1 + i), positive((6, 4), 3 + i)) for i in (0, 10)]
ONE_HOT = [(one_hot((6, 4), 5 + i), positive((6, 4), 6 + i)) for i in (0, 10)]
IDS = [(ids((6,), 4, 7 + i), positive((6, 4), 8 + i)) for i in (0, 10)]
NUMBERS = [(ids((6,), 4, 9 + i), ids((6,), 4, 10 + i)) for i in (0, 10)]
REAL = [(uniform((6, 4), 11 + i), uniform((6, 4), 12 + i)) for i in (0, 10)]


def confusion(check):
    names = ("TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives", "Precision", "Recall")
    for name in names:
        make = getattr(M, name)
        for text, thresholds in {"none": None, "0.5": 0.5, "0": 0.0, "1": 1.0, "list": [0.2, 0.5, 0.8],
                                 "unsorted": [0.8, 0.2], "one": [0.3], "too large": 1.5,
                                 "negative": [-0.1, 0.5]}.items():
            for weights in ("no weights", "[6]"):
                check(f"{name} thresholds {text}, {weights}", lambda: make(thresholds=thresholds), BITS, weights)
        for weights in WEIGHTS:
            check(f"{name} {weights}", make, BITS, weights)
        check(f"{name} of predictions at the threshold", make, [(np.ones(3), np.array([0.5, 0.49, 0.51]))])
        check(f"{name} of predictions outside", make, [(np.ones(2), np.array([-0.5, 0.7]))])
        check(f"{name} of targets of 2", make, [(np.array([2, 0, 1]), np.array([0.9, 0.7, 0.1]))])
        check(f"{name} of bools", make, [(np.array([True, False]), np.array([True, True]))])
        check(f"{name} of columns", make, [(np.ones((3, 1), np.float32), np.array([0.9, 0.1, 0.8], np.float32))])
        check(f"{name} of nothing", make, [(np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32))])
    for name in ("Precision", "Recall"):
        make = getattr(M, name)
        for k in (1, 2, 4, 5, 0):
            for class_id in (None, 0, 3):
                for thresholds in (None, [0.3, 0.6]):
                    check(f"{name} top_k {k} class_id {class_id} thresholds {thresholds}",
                          lambda: make(top_k=k, class_id=class_id, thresholds=thresholds), BITS)
        for class_id in (0, 1, 3, 4, -1):
            for weights in ("no weights", "[6]", "[6, 4]"):
                check(f"{name} class_id {class_id}, {weights}", lambda: make(class_id=class_id), BITS, weights)
        check(f"{name} top_k of one axis", lambda: make(top_k=1), [(np.array([0., 1, 0]), np.array([.2, .3, .9]))])
        check(f"{name} top_k of equals", lambda: make(top_k=2), [(np.array([[0., 1, 0]]), np.array([[.5, .5, .5]]))])


def areas(check):
    for curve in ("ROC", "PR"):
        for method in ("interpolation", "minoring", "majoring"):
            text = f"auc {curve} {method}"
            for count in (2, 3, 10, 200):
                check(f"{text} num_thresholds {count}", lambda: M.AUC(
                    num_thresholds=count, curve=curve, summation_method=method), BITS)
            for thresholds in ([0.5], [0.2, 0.8], [0.8, 0.2], [0.0, 0.5, 1.0], [0.3, 0.3]):
                check(f"{text} thresholds {thresholds}", lambda: M.AUC(
                    thresholds=thresholds, curve=curve, summation_method=method), BITS)
            for weights in WEIGHTS:
                check(f"{text}, {weights}", lambda: M.AUC(curve=curve, summation_method=method), BITS, weights)
            for label_weights in (None, [1, 2, 3, 4], [0, 0, 1, 0], [0, 0, 0, 0]):
                for weights in ("no weights", "[6]", "[6, 1]", "[6, 4]"):
                    check(f"{text} multi_label {label_weights}, {weights}", lambda: M.AUC(
                        curve=curve, summation_method=method, multi_label=True, num_labels=4,
                        label_weights=label_weights), BITS, weights)
            check(f"{text} multi_label, thresholds", lambda: M.AUC(
                curve=curve, summation_method=method, multi_label=True, num_labels=4, thresholds=[0.25, 0.5]), BITS)
            check(f"{text} from_logits", lambda: M.AUC(
                curve=curve, summation_method=method, from_logits=True), [(y, 6 * p - 3) for y, p in BITS])
            check(f"{text} of all true", lambda: M.AUC(curve=curve, summation_method=method),
                  [(np.ones(4), np.array([0.1, 0.4, 0.6, 1.0]))])
            check(f"{text} of all false", lambda: M.AUC(curve=curve, summation_method=method),
                  [(np.zeros(4), np.array([0.1, 0.4, 0.6, 1.0]))])
            check(f"{text} of nothing", lambda: M.AUC(curve=curve, summation_method=method),
                  [(np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32))])
    check("auc label_weights without multi_label", lambda: M.AUC(label_weights=[1, 2, 3, 4]), BITS)
    check("auc num_thresholds 1", lambda: M.AUC(num_thresholds=1), BITS)
    check("auc thresholds outside", lambda: M.AUC(thresholds=[1.5]), BITS)
    check("auc of predictions outside", lambda: M.AUC(), [(np.array([0., 1]), np.array([0.5, 1.5]))])
    check("auc at thresholds", lambda: M.AUC(num_thresholds=5),
          [(np.array([0., 1, 0, 1, 1]), np.array([0, 0.25, 0.5, 0.75, 1]))])


def scores(check):
    for average in (None, "micro", "macro", "weighted"):
        for threshold in (None, 0.3, 0.5, 1.0):
            for weights in ("no weights", "[6]", "[6, 1]"):
                for beta in (0.5, 1.0, 2.0):
                    check(f"fbeta {average} threshold {threshold} beta {beta}, {weights}", lambda: M.FBetaScore(
                        average=average, threshold=threshold, beta=beta), BITS, weights)
                check(f"f1 {average} threshold {threshold}, {weights}", lambda: M.F1Score(
                    average=average, threshold=threshold), BITS, weights)
    check("fbeta beta 0", lambda: M.FBetaScore(beta=0.0), BITS)
    check("fbeta threshold 0", lambda: M.FBetaScore(threshold=0.0), BITS)
    check("fbeta threshold 2", lambda: M.FBetaScore(threshold=2.0), BITS)
    check("f1 of one axis", M.F1Score, [(np.ones(3, np.float32), np.ones(3, np.float32))])
    check("f1 of equals", M.F1Score, [(np.array([[0., 1], [1, 0]]), np.array([[0.5, 0.5], [0, 0]]))])
    check("f1 of negative predictions", M.F1Score, [(np.array([[0., 1], [1, 0]]), np.array([[-2., -1], [-1, -3]]))])


def intersections(check):
    for targets in ([0], [1, 3], [0, 1, 2, 3], [3, 3]):
        for ignored in (None, 0, 3, -1, 255):
            for weights in ("no weights", "[6]"):
                check(f"iou {targets} ignore_class {ignored}, {weights}", lambda: M.IoU(
                    4, targets, ignore_class=ignored), NUMBERS, weights)
    for ignored in (None, 1, 255):
        void = [(np.where(y == 2, 255, y), p) for y, p in NUMBERS]
        check(f"mean iou ignore_class {ignored}", lambda: M.MeanIoU(4, ignore_class=ignored), NUMBERS)
        if ignored == 255:
            check("mean iou ignore_class 255 of 255", lambda: M.MeanIoU(4, ignore_class=255), void)
    check("iou of numbers too large", lambda: M.IoU(3, [0, 1]), NUMBERS)
    check("iou target class too large", lambda: M.IoU(3, [3]), NUMBERS)
    check("mean iou of one class", lambda: M.MeanIoU(4), [(np.ones(3, np.int32), np.ones(3, np.int32))])
    for axis in (-1, 1):
        check(f"iou sparse_y_pred False axis {axis}", lambda: M.IoU(
            4, [0, 2], sparse_y_pred=False, axis=axis), IDS, "[6]")
        check(f"iou both False axis {axis}", lambda: M.IoU(
            4, [0, 2], sparse_y_true=False, sparse_y_pred=False, axis=axis), ONE_HOT, "[6]")
        check(f"one hot iou axis {axis}", lambda: M.OneHotIoU(4, [0, 2], axis=axis), ONE_HOT)
        check(f"one hot mean iou axis {axis}", lambda: M.OneHotMeanIoU(4, axis=axis), ONE_HOT)
        check(f"mean iou both False axis {axis}, ignore_class", lambda: M.MeanIoU(
            4, sparse_y_true=False, sparse_y_pred=False, axis=axis, ignore_class=1), ONE_HOT)
    rows = [(np.stack([y] * 2, 0), np.stack([p] * 2, 0)) for y, p in ONE_HOT]
    check("one hot iou axis 1 of three axes", lambda: M.OneHotIoU(6, [0, 2], axis=1), rows)
    check("one hot iou sparse_y_pred", lambda: M.OneHotIoU(4, [0, 2], sparse_y_pred=True),
          [(y, ids((6,), 4, 10)) for y, p in ONE_HOT])
    for targets in ([0, 1], [0], [1]):
        for threshold in (0.5, 0.25, 0.75, 0.0, 1.0, 2.0):
            for weights in ("no weights", "[6, 4]"):
                check(f"binary iou {targets} threshold {threshold}, {weights}", lambda: M.BinaryIoU(
                    targets, threshold=threshold), BITS, weights)
    check("binary iou at the threshold", M.BinaryIoU, [(np.ones(3), np.array([0.5, 0.49, 0.51]))])


def means(check):
    for name, data in {"MeanSquaredError": REAL, "MeanAbsoluteError": REAL, "MeanAbsolutePercentageError": REAL,
                       "MeanSquaredLogarithmicError": REAL, "LogCoshError": REAL, "RootMeanSquaredError": REAL,
                       "CosineSimilarity": REAL, "KLDivergence": ONE_HOT, "Poisson": ONE_HOT, "Hinge": BITS,
                       "SquaredHinge": BITS, "CategoricalHinge": ONE_HOT, "BinaryCrossentropy": BITS,
                       "CategoricalCrossentropy": ONE_HOT, "SparseCategoricalCrossentropy": IDS, "Accuracy": NUMBERS,
                       "BinaryAccuracy": BITS, "CategoricalAccuracy": ONE_HOT, "SparseCategoricalAccuracy": IDS,
                       "TopKCategoricalAccuracy": ONE_HOT, "SparseTopKCategoricalAccuracy": IDS}.items():
        for weights in ("no weights", "[6]", "[6, 1]", "a number"):
            check(f"{name} {weights}", getattr(M, name), data, weights)
        check(f"{name} of integers", getattr(M, name),
              [(np.asarray(y).astype(np.int32), np.round(p).astype(np.int32)) for y, p in data])
        check(f"{name} of nothing", getattr(M, name), [(y[:0], p[:0]) for y, p in data])
    for axis in (0, 1, -1, -2, 2):
        check(f"cosine axis {axis}", lambda: M.CosineSimilarity(axis=axis), REAL)
        check(f"categorical axis {axis}", lambda: M.CategoricalCrossentropy(axis=axis), ONE_HOT)
        check(f"categorical axis {axis}, logits", lambda: M.CategoricalCrossentropy(axis=axis, from_logits=True), ONE_HOT)
    for smoothing in (0, 0.1, 1, 1.5):
        for logits in (False, True):
            text = f"label_smoothing {smoothing}{', logits' if logits else ''}"
            check("binary " + text, lambda: M.BinaryCrossentropy(label_smoothing=smoothing, from_logits=logits), BITS)
            check("categorical " + text, lambda: M.CategoricalCrossentropy(
                label_smoothing=smoothing, from_logits=logits), ONE_HOT)
    for ignored in (0, 2, -1):
        for logits in (False, True):
            for weights in ("no weights", "[6]"):
                check(f"sparse ignore_class {ignored}{', logits' if logits else ''}, {weights}",
                      lambda: M.SparseCategoricalCrossentropy(ignore_class=ignored, from_logits=logits), IDS, weights)
    check("sparse ignore_class of -1", lambda: M.SparseCategoricalCrossentropy(ignore_class=-1),
          [(np.where(y == 2, -1, y), p) for y, p in IDS])
    for threshold in (0.5, 0.25, 0.9, 0.0, 1.0):
        check(f"binary accuracy threshold {threshold}", lambda: M.BinaryAccuracy(threshold=threshold), BITS)
    check("binary accuracy at the threshold", M.BinaryAccuracy, [(np.ones(3), np.array([0.5, 0.49, 0.51]))])
    check("binary accuracy threshold 2", lambda: M.BinaryAccuracy(threshold=2.0), BITS)
    for k in (1, 2, 4, 5, 0):
        check(f"top_k {k}", lambda: M.TopKCategoricalAccuracy(k), ONE_HOT, "[6]")
        check(f"sparse top_k {k}", lambda: M.SparseTopKCategoricalAccuracy(k), IDS, "[6]")
    for k in (1, 2, 4):
        sorted_ids = [(ids((6,), 4, 7), np.argsort(-p, -1).astype(np.int32)) for y, p in IDS]
        check(f"sparse top_k {k} from_sorted_ids",
              lambda: M.SparseTopKCategoricalAccuracy(k, from_sorted_ids=True), sorted_ids)
    equal = [(np.array([0, 1, 2, 3], np.int32), np.full((4, 4), 0.5, np.float32))]
    check("top_k of equals", lambda: M.SparseTopKCategoricalAccuracy(2), equal)
    check("sparse accuracy of equals", M.SparseCategoricalAccuracy, equal)
    check("top_k of nan", lambda: M.SparseTopKCategoricalAccuracy(2), [(equal[0][0], equal[0][1] * np.nan)])
    check("sparse accuracy of nan", M.SparseCategoricalAccuracy, [(equal[0][0], equal[0][1] * np.nan)])
    check("sparse accuracy of floats", M.SparseCategoricalAccuracy, [(np.array([0.0, 1.7]), np.eye(2, 4))])
    check("accuracy of floats", M.Accuracy, [(np.array([0.0, 1.7]), np.array([0.0, 1.7]))])
    check("accuracy of columns", M.Accuracy, [(np.array([[0], [1]]), np.array([0, 1]))])
    check("sparse accuracy too large", M.SparseCategoricalAccuracy, [(np.array([7, 1]), np.eye(2, 4))])


def metric_option_cases(case):
    def check(name, make, data, weights="no weights"):
        case("metric options/" + name, lambda: describe(
            make(), [(y, p, WEIGHTS[weights]) for y, p in data]))
    for part in (confusion, areas, scores, intersections, means):
        part(check)
    for name, weights in {"no weights": None, "a number": 2.0, "[3]": [1, 2, 0.5], "[1]": [2.0], "zeros": [0, 0, 0]}.items():
        for kind in ("Mean", "Sum"):
            def result():
                metric = getattr(M, kind)()
                metric.update_state(np.array([1, 2, 6], np.float32), weights)
                return show(metric.result())
            case(f"metric options/{kind} {name}", result)

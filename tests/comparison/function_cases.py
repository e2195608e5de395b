"""Functions of tf.math, tf.nn, tf.image and others of ordinary and odd numbers, for
tensorflow_cases.py: what function_cases.cpp and the files beside it do here."""
import itertools

import keras
import numpy as np
import tensorflow as tf

import function_shape_cases
import function_slope_cases
import function_window_cases

NAN, INF = float("nan"), float("inf")
ODD = np.float32([NAN, INF, -INF, 0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-30, 1e30, -1e30, 100, -100, 20, -20,
                  6, 3, -3, 0.2, 1e-4, -1e-4])
INTEGERS = {"int32": np.int32([0, 1, -1, 2, -2, 3, -3, 7, -7, 2147483647, -2147483648]),
            "int64": np.int64([0, 1, -1, 2, -2, 3, -3, 7, -7, 3000000000, -3000000000]),
            "uint8": np.uint8([0, 1, 2, 3, 7, 128, 255])}
FLOATS = ("float32", "float16", "bfloat16")


def numbers(value):
    """Type, shape and elements; those of integers exactly."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return " | ".join(numbers(one) for one in value)
    value = tf.convert_to_tensor(value)
    shape = "".join(f"[{size}]" for size in value.shape)
    flat = value.numpy().ravel()
    if value.dtype.is_floating:
        words = [f"{float(one):.7g}" for one in flat]
    else:
        words = [str(int(one)) for one in flat]
    return " ".join([value.dtype.name + shape] + words)


def weights(y):
    """1, 2, 3, 1, ... in the shape of y: a loss that tells elements apart."""
    return tf.cast(tf.reshape(1 + tf.range(tf.size(y)) % 3, tf.shape(y)), y.dtype)


def result(f, inputs):
    inputs = [tf.convert_to_tensor(one) for one in inputs]
    floating = [one for one in inputs if one.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(floating)
        values = f(*inputs)
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    targets = [tf.convert_to_tensor(one) for one in values if one is not None]
    targets = [one for one in targets if one.dtype.is_floating]
    text = numbers(values)
    if floating and targets:
        try:
            slopes = numbers(tape.gradient(targets, floating, output_gradients=[weights(y) for y in targets]))
        except Exception:  # its kind differs between the two languages
            slopes = "error"
        text += " slope " + slopes
    return text


def as_float(x, dtype):
    return tf.cast(tf.constant(x), dtype)


def dtypes():
    """Odd numbers of every dtype."""
    for dtype in FLOATS:
        yield dtype, as_float(ODD, dtype)
    yield from INTEGERS.items()
    yield "bool", np.array([False, True])
    yield "empty", np.zeros((0, 3), np.float32)


UNARY = {name: getattr(tf.math, name) for name in
         ("exp expm1 log log1p sqrt rsqrt reciprocal square abs sign negative sin cos tanh sigmoid erf floor ceil round "
          "is_nan is_inf is_finite").split()}
UNARY |= {"nn " + name: getattr(tf.nn, name) for name in
          "relu relu6 leaky_relu elu selu gelu softplus silu".split()}
UNARY |= {"nn gelu approximate": lambda x: tf.nn.gelu(x, approximate=True), "nn leaky_relu 0.3": lambda x: tf.nn.leaky_relu(x, 0.3)}
UNARY |= {"keras " + name: getattr(keras.activations, name) for name in
          ("relu relu6 elu selu gelu softplus silu sigmoid tanh linear hard_sigmoid hard_silu mish softsign exponential celu "
           "hard_tanh tanh_shrink soft_shrink hard_shrink log_sigmoid squareplus sparse_sigmoid sparse_plus").split()}
UNARY |= {f"keras {name} {number}": lambda x, f=getattr(keras.activations, name), number=number: f(x, number)
          for name, numbers in {"elu": (0.3,), "celu": (0.5, 2), "soft_shrink": (1, -0.5), "hard_shrink": (1, -0.5),
                                "squareplus": (0, 0.5)}.items() for number in numbers}
UNARY |= {f"keras threshold {level} {value}": lambda x, level=level, value=value: keras.activations.threshold(x, level, value)
          for level, value in ((0.5, -2), (-1, 3), (1, 0.5))}


def unary_cases(of):
    for (name, f), (dtype, x) in itertools.product(UNARY.items(), dtypes()):
        of(f"{name} {dtype}", f, x)


BINARY = {name: getattr(tf.math, name) for name in
          ("add subtract multiply divide divide_no_nan floordiv floormod maximum minimum pow squared_difference equal "
           "not_equal less less_equal greater greater_equal").split()}


def pairs(x, count):
    x = x[:count]
    return np.repeat(x, len(x)), np.tile(x, len(x))


def binary_cases(of):
    some = np.float32([NAN, INF, -INF, 0, -0.0, 1, -1, 0.5, -2.5, 3, -3, 1e30, 2])
    for name, f in BINARY.items():
        for dtype in FLOATS:
            a, b = pairs(some, 13)
            of(f"{name} {dtype}", f, as_float(a, dtype), as_float(b, dtype))
        for dtype, x in INTEGERS.items():
            a, b = pairs(x, 9)
            if name in ("floordiv", "floormod", "divide_no_nan"):
                a, b = a[b != 0], b[b != 0]
            if name == "pow":
                a, b = a[(b >= 0) & (b < 4)], b[(b >= 0) & (b < 4)]
            of(f"{name} {dtype}", f, a, b)
        of(f"{name} int32 ends", f, np.int32([2147483647, -2147483648, 65536]), np.int32([2, 2, 3]))
        of(f"{name} int32 of 0", f, np.int32([1, 2]), np.int32([0, 2]))
        of(f"{name} int32 of -1", f, np.int32([2, 3]), np.int32([-1, -2]))
        of(f"{name} bool", f, np.array([False, True, False, True]), np.array([False, False, True, True]))
        of(f"{name} of two dtypes", f, np.float32([1, 2]), np.int32([1, 2]))
        of(f"{name} [2][1] [3]", f, np.float32([[1], [2]]), np.float32([1, 2, 3]))
        of(f"{name} [3] []", f, np.float32([1, 2, 3]), np.float32(2))
        of(f"{name} [0][3] [1][3]", f, np.zeros((0, 3), np.float32), np.float32([[1, 2, 3]]))
        of(f"{name} [2] [3]", f, np.float32([1, 2]), np.float32([1, 2, 3]))
    a, b = np.array([False, True, False, True]), np.array([False, False, True, True])
    for name in ("logical_and", "logical_or", "logical_xor"):
        of(name, getattr(tf.math, name), a, b)
        of(f"{name} of integers", getattr(tf.math, name), np.int32([0, 1]), np.int32([1, 1]))
    of("logical_not", tf.math.logical_not, a)


def choice_cases(of):
    c, x = np.array([True, False, True]), np.float32([NAN, 2, 3])
    of("where", lambda x, y: tf.where(c, x, y), x, np.float32([4, NAN, INF]))
    of("where [2][1] [3] []", lambda x, y: tf.where(np.array([[True], [False]]), x, y), x, np.float32(7))
    of("where of integers", lambda x, y: tf.where(c, x, y), np.int32([1, 2, 3]), np.int32([4, 5, 6]))
    of("where of two dtypes", lambda x, y: tf.where(c, x, y), np.int32([1, 2, 3]), np.float32([4, 5, 6]))
    of("where of integers as condition", lambda x, y: tf.where(np.int32([1, 0, 2]), x, y), x, x)
    of("add_n", lambda *all: tf.add_n(all), x, np.float32([1, 1, 1]), np.float32([INF, 0, -1]))
    of("add_n of one", lambda *all: tf.add_n(all), x)
    of("add_n of shapes", lambda *all: tf.add_n(all), x, np.float32([1]))
    of("add_n of uint8", lambda *all: tf.add_n(all), np.uint8([200, 1]), np.uint8([100, 1]))
    for dtype in FLOATS:
        of(f"clip_by_value {dtype}", lambda x: tf.clip_by_value(x, -1.0, 2.5), as_float(ODD, dtype))
    of("clip_by_value equal limits", lambda x: tf.clip_by_value(x, 1.0, 1.0), ODD)
    of("clip_by_value min above max", lambda x: tf.clip_by_value(x, 2.0, -1.0), ODD)
    of("clip_by_value int32", lambda x: tf.clip_by_value(x, -2, 3), INTEGERS["int32"])
    of("clip_by_value uint8", lambda x: tf.clip_by_value(x, 2, 128), INTEGERS["uint8"])
    of("clip_by_value nan", lambda x: tf.clip_by_value(x, NAN, 1.0), np.float32([0, 1, 2]))
    of("clip_by_value to infinity", lambda x: tf.clip_by_value(x, -INF, INF), ODD)
    whole = np.float32([0, -0.0, 1.5, -1.5, 2.99, -2.99, 127.5, 254.9, 100])
    for (source, x), dtype in itertools.product(
            list(dtypes()) + [("ordinary", whole)], ("float32", "bfloat16", "float16", "int32", "int64", "uint8", "bool")):
        of(f"cast {source} to {dtype}", lambda x: tf.cast(x, dtype), x)


REDUCED = {
    "rows": np.float32([[1, 2, 2], [4, 0, -1]]), "three": np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4) / 8,
    "nan": np.float32([[1, NAN, 2], [INF, 0, -1]]), "infinite": np.float32([[INF, -INF], [INF, INF], [-INF, -INF], [-INF, 1]]),
    "ties": np.float32([[2, 2, 1], [2, 0, 0]]), "zeros": np.float32([[0, 0, 3], [0, 2, 3]]),
    "equal": np.float32([[0.1, 0.1, 0.1], [3, 3, 3]]), "one": np.float32([[3], [-2]]), "scalar": np.float32(2.5),
    "empty": np.zeros((0, 3), np.float32), "no columns": np.zeros((2, 0), np.float32),
    "large": np.float32([[1000, 1000.5], [-1000, -1001], [88.9, 89]]),
    "int32": np.int32([[7, -2, 2], [-4, 0, -2]]), "int32 ends": np.int32([[2147483647, 1], [-2147483648, -1]]),
    "int64": np.int64([[7, -2, 2], [-4, 0, -2]]), "uint8": np.uint8([[200, 100, 3], [0, 1, 255]]),
    "bool": np.array([[True, False], [True, True]]), "empty bool": np.zeros((0, 2), bool)}
REDUCTIONS = {name: getattr(tf.math, "reduce_" + name) for name in
              "sum mean prod max min any all logsumexp variance std".split()}


def reduction_cases(of):
    long = np.float32([60000, 60000, 1, 2048, 0.25]).repeat(3).reshape(5, 3)
    for name, f in REDUCTIONS.items():
        for text, x in REDUCED.items():
            axes = {"all": None} if x.ndim == 0 else {"all": None, "0": 0, "-1": -1}
            for shown, axis in axes.items():
                of(f"reduce_{name} {text} axis {shown}", lambda x: f(x, axis), x)
        of(f"reduce_{name} keepdims", lambda x: f(x, [0, -1], keepdims=True), REDUCED["three"])
        of(f"reduce_{name} middle", lambda x: f(x, 1), REDUCED["three"])
        of(f"reduce_{name} axis 2 of 2", lambda x: f(x, 2), REDUCED["rows"])
        of(f"reduce_{name} axis twice", lambda x: f(x, [0, 0]), REDUCED["rows"])
        for dtype in ("float16", "bfloat16"):
            of(f"reduce_{name} {dtype}", lambda x: f(x, 0), as_float(REDUCED["three"], dtype))
            of(f"reduce_{name} {dtype} large", lambda x: f(x, 0), as_float(long, dtype))
    for name in ("cumsum", "cumprod"):
        for text in ("three", "nan", "infinite", "zeros", "empty", "int32 ends", "uint8", "bool", "scalar"):
            for axis, exclusive, reverse in itertools.product((0, -1), (False, True), (False, True)):
                of(f"{name} {text} {axis} {exclusive} {reverse}",
                   lambda x: getattr(tf.math, name)(x, axis, exclusive=exclusive, reverse=reverse), REDUCED[text])
        of(f"{name} of axis 5", lambda x: getattr(tf.math, name)(x, 5), REDUCED["three"])
        for dtype in ("float16", "bfloat16"):
            of(f"{name} {dtype}", getattr(tf.math, name), as_float(REDUCED["three"], dtype))


SCORES = {"rows": np.float32([[1, 2, 3], [0, 0, -1]]), "minus infinity": np.float32([[-INF, 0, 1], [-INF, -INF, 2]]),
          "all minus infinity": np.float32([[-INF, -INF], [0, 1]]), "infinity": np.float32([[INF, 0], [1, 2]]),
          "nan": np.float32([[NAN, 0], [1, 2]]), "large": np.float32([[1000, 1001, 0], [-1000, -1001, -1e30]]),
          "one": np.float32([[3], [4]]), "empty": np.zeros((0, 3), np.float32), "no classes": np.zeros((2, 0), np.float32),
          "vector": np.float32([1, 2, 4]), "three": REDUCED["three"], "int32": np.int32([[1, 2]]), "scalar": np.float32(1)}


def softmax_cases(of):
    for name, f in {"softmax": tf.nn.softmax, "log_softmax": tf.nn.log_softmax, "glu": keras.activations.glu,
                    "sparsemax": keras.activations.sparsemax}.items():
        for text, x in SCORES.items():
            of(f"{name} {text}", f, x)
            of(f"{name} {text} axis 0", lambda x: f(x, 0), x)
        of(f"{name} axis 1", lambda x: f(x, 1), SCORES["three"])
        of(f"{name} axis -2", lambda x: f(x, -2), SCORES["three"])
        of(f"{name} axis 3", lambda x: f(x, 3), SCORES["three"])
        for dtype in ("float16", "bfloat16"):
            for text in ("rows", "large", "minus infinity"):
                of(f"{name} {text} {dtype}", f, as_float(SCORES[text], dtype))
    of("sparsemax of near numbers", keras.activations.sparsemax, np.float32([[0.5, 0.4, 0.1], [0.2, 0.1, 0.3], [0.9, 0.2, 0.1]]))
    labels = {"one": np.float32([[0, 0, 1], [1, 0, 0]]), "soft": np.float32([[0.2, 0.3, 0.5], [0, 0.5, 0.5]])}
    for text in ("rows", "large"):
        for kind, label in labels.items():
            for dtype in FLOATS:
                of(f"softmax_cross_entropy {text} {kind} {dtype}", lambda x, y: tf.nn.softmax_cross_entropy_with_logits(y, x),
                   as_float(SCORES[text], dtype), as_float(label, dtype))
    of("softmax_cross_entropy of labels without axis", lambda x: tf.nn.softmax_cross_entropy_with_logits(labels["one"][0], x),
       SCORES["rows"])
    of("softmax_cross_entropy [1][3] labels", lambda x: tf.nn.softmax_cross_entropy_with_logits(labels["one"][:1], x),
       SCORES["rows"])
    of("softmax_cross_entropy infinity", lambda x: tf.nn.softmax_cross_entropy_with_logits(np.float32([[1, 0], [0, 1]]), x),
       SCORES["infinity"])
    of("softmax_cross_entropy nan", lambda x: tf.nn.softmax_cross_entropy_with_logits(np.float32([[1, 0], [0, 1]]), x),
       SCORES["nan"])
    of("softmax_cross_entropy empty", lambda x: tf.nn.softmax_cross_entropy_with_logits(np.zeros((0, 3), np.float32), x),
       SCORES["empty"])
    for text, label in {"rows": [2, 0], "large": [0, 1], "minus infinity": [2, 0], "infinity": [0, 1], "nan": [0, 1],
                        "one": [0, 0], "empty": [], "vector": 1, "three": [[0, 1, 2], [3, 0, 1]]}.items():
        for dtype in (np.int32, np.int64):
            of(f"sparse_softmax_cross_entropy {text} {dtype.__name__}",
               lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(dtype(label), x), SCORES[text])
    for label in (3, -1):
        of(f"sparse_softmax_cross_entropy label {label}",
           lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(np.int32([0, label]), x), SCORES["rows"])
    of("sparse_softmax_cross_entropy of shapes",
       lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(np.int32([[0], [1]]), x), SCORES["rows"])
    for dtype in ("float16", "bfloat16"):
        of(f"sparse_softmax_cross_entropy {dtype}",
           lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(np.int32([2, 0]), x), as_float(SCORES["rows"], dtype))
    label = np.tile(np.float32([0, 1, 0.3, -2, 1]), 5)
    for dtype in FLOATS:
        of(f"sigmoid_cross_entropy {dtype}", lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(y, x),
           as_float(ODD, dtype), as_float(label, dtype))
    of("sigmoid_cross_entropy of shapes", lambda x: tf.nn.sigmoid_cross_entropy_with_logits(np.float32([[1], [0]]), x),
       SCORES["rows"])


def function_cases(case):
    def of(name, f, *inputs):
        case("functions/" + name, lambda: result(f, inputs))
    for cases in (unary_cases, binary_cases, choice_cases, reduction_cases, softmax_cases,
                  function_shape_cases.search_cases, function_shape_cases.order_cases, function_shape_cases.index_cases,
                  function_shape_cases.norm_cases, function_shape_cases.shape_cases,
                  function_window_cases.convolution_cases, function_window_cases.pooling_cases,
                  function_window_cases.normalization_cases, function_window_cases.product_cases,
                  function_window_cases.image_cases, function_window_cases.attention_cases):
        cases(of)
    function_slope_cases.second_cases(of, UNARY)
    function_slope_cases.layer_norm_cases(of)
    function_slope_cases.variable_cases(of)

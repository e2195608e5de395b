"""Second derivatives, Jacobians, normalization and changes of rows of variables, for
function_cases.py: what function_slope_cases.cpp does here."""
import keras
import numpy as np
import tensorflow as tf

from layer_cases import uniform

NAN, INF = float("nan"), float("inf")
PLAIN = np.float32([0.3, -0.7, 1.6, -2.4, 3.5, -3.2, 0.05, 6.5, 12, -12])
SPECIAL = np.float32([0, 1, -1, 0.5, -0.5, 3, -3, 6, 30, -30])


def second(f, x):
    """The slope of the sum of slopes."""
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x) if first is not None else None


def second_cases(of, unary):
    for name, f in unary.items():
        if name.startswith("is_"):
            continue
        of(f"second of {name}", lambda: second(f, np.abs(PLAIN) if name in ("log", "log1p", "sqrt", "rsqrt") else PLAIN))
        of(f"second of {name} special", lambda: second(f, SPECIAL))
    x = uniform((2, 3), 31)
    composed = {"softmax": tf.nn.softmax, "logsumexp": lambda x: tf.reduce_logsumexp(x, -1),
                "l2_normalize": lambda x: tf.math.l2_normalize(x, -1), "norm": lambda x: tf.norm(x, axis=-1), "variance": lambda x: tf.math.reduce_variance(x, 0),
                "std": lambda x: tf.math.reduce_std(x, 0), "prod": lambda x: tf.reduce_prod(x, 0), "cumsum": tf.cumsum,
                "max": lambda x: tf.reduce_max(x * x, 0), "pow": lambda x: tf.pow(tf.abs(x), 2.5), "divide": lambda x: x / (x * x + 1.0),
                "matmul": lambda x: tf.matmul(x, x, transpose_b=True), "sigmoid_cross_entropy": lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
                    tf.constant([[0.0, 1, 0.5], [1, 0, 1]]), x)}
    for name, f in composed.items():
        of(f"second of {name}", lambda: second(lambda x: f(x) ** 3.0, x))

    def jacobian(f, x):
        x = tf.constant(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x, experimental_use_pfor=False)
    of("jacobian of softmax", lambda: jacobian(tf.nn.softmax, x))
    of("jacobian of sum", lambda: jacobian(tf.reduce_sum, x))
    of("jacobian of nothing", lambda: jacobian(lambda x: tf.constant([1.0]), x))
    of("jacobian of matmul", lambda: jacobian(lambda x: tf.matmul(x, x, transpose_b=True), x))


def layer_norm_cases(of):
    x, gamma, beta = uniform((2, 3, 4), 32), uniform((4,), 33), uniform((4,), 34)
    norm = keras.ops.layer_normalization
    of("layer_normalization", lambda x, g, b: norm(x, g, b, axis=-1, epsilon=1e-3), x, gamma, beta)
    of("layer_normalization plain", lambda x: norm(x, axis=-1, epsilon=1e-3), x)
    of("layer_normalization of two axes", lambda x: norm(x, axis=[1, 2], epsilon=1e-5), x)
    of("layer_normalization of equal", lambda x: norm(x, axis=-1, epsilon=1e-3), np.full((2, 3), 7, np.float32))
    of("layer_normalization of 10", lambda x: norm(x, axis=-1, epsilon=1e-3), np.float32([[10, 11, 12.5]]))
    of("layer_normalization of one", lambda x: norm(x, axis=-1, epsilon=1e-3), np.float32([[5], [-2]]))
    of("layer_normalization nan", lambda x: norm(x, axis=-1, epsilon=1e-3), np.float32([[1, NAN], [1, 2]]))
    of("layer_normalization float16", lambda x: norm(x, axis=-1, epsilon=1e-3), np.float16([[300, 301, 310], [-400, 0, 400]]))
    of("layer_normalization bfloat16", lambda x: norm(x, axis=-1, epsilon=1e-3), tf.cast([[300., 302, 310], [-400, 0, 400]], tf.bfloat16))
    four = uniform((2, 3, 2, 4), 35)
    fused = tf.compat.v1.nn.fused_batch_norm
    of("fused_batch_norm", lambda x, g, b: fused(x, g, b, is_training=True)[0], four, gamma, beta)
    of("fused_batch_norm, not training", lambda x, g, b: fused(
        x, g, b, mean=uniform((4,), 36), variance=np.abs(uniform((4,), 37)), is_training=False)[0], four, gamma, beta)
    of("fused_batch_norm epsilon 0.1", lambda x, g, b: fused(x, g, b, epsilon=0.1, is_training=True)[0], four, gamma, beta)
    of("fused_batch_norm of one", lambda x, g, b: fused(x, g, b, is_training=True)[0], four[:1, :1, :1], gamma, beta)
    of("fused_batch_norm of equal", lambda x, g, b: fused(x, g, b, is_training=True)[0], np.ones((1, 2, 2, 4), np.float32), gamma, beta)


def variable_cases(of):
    rows = {"rows": [0, 2], "a row twice": [1, 1], "no row": [], "row 3": [3, 0], "row -1": [-1, 0]}
    start = np.float32([[1, 2], [4, -8], [0.5, NAN]])
    for op in ("sub", "add", "mul", "div", "min", "max", "update"):
        for text, at in rows.items():
            def changed():
                v = tf.Variable(start)
                values = np.float32([[2, -1], [4, 3]])[:len(at)]
                getattr(v, "scatter_" + op)(tf.IndexedSlices(tf.constant(values), tf.constant(np.int64(at)), tf.constant([3, 2])))
                return tf.constant(v.numpy())
            of(f"scatter_{op} {text}", changed)
        if op in ("mul", "div"):
            continue
        for text, at in {"rows": [[0], [2]], "elements": [[0, 1], [1, 0]], "twice": [[1, 1], [1, 1]], "out": [[3], [0]]}.items():
            def changed_nd():
                v = tf.Variable(start)
                values = np.float32([[2, -1], [4, 3]]) if len(at[0]) == 1 else np.float32([2, 3])
                getattr(v, "scatter_nd_" + op)(tf.constant(np.int32(at)), tf.constant(values))
                return tf.constant(v.numpy())
            of(f"scatter_nd_{op} {text}", changed_nd)

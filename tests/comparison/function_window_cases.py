"""Convolutions, pooling, normalization, products, pictures and attention, for function_cases.py:
what function_window_cases.cpp does here."""
import itertools

import keras
import numpy as np
import tensorflow as tf

from layer_cases import uniform

NAN, INF = float("nan"), float("inf")


def data(seed, *shape, dtype="float32"):
    return tf.cast(uniform(shape, seed), dtype)


def convolution_cases(of):
    for kernel, stride, size, padding in itertools.product((1, 2, 3), (1, 2, 3), (4, 5), ("SAME", "VALID")):
        text = f"kernel {kernel} stride {stride} size {size} {padding.lower()}"
        of(f"conv2d {text}", lambda x, w: tf.nn.conv2d(x, w, stride, padding), data(1, 1, size, 4, 2), data(2, kernel, 2, 2, 3))
        of(f"depthwise_conv2d {text}", lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding),
           data(1, 1, size, 4, 2), data(2, kernel, 2, 2, 2))
        steps = lambda n, k: n * stride if padding == "SAME" else n * stride + max(k - stride, 0)
        of(f"conv2d_transpose {text}", lambda x, w: tf.nn.conv2d_transpose(
            x, w, [1, steps(size, kernel), steps(3, 2), 3], stride, padding), data(1, 1, size, 3, 2), data(2, kernel, 2, 3, 2))
    x, w = data(3, 2, 5, 5, 2), data(4, 2, 3, 2, 2)
    for padding in ("SAME", "VALID"):
        of(f"conv2d dilation 2 {padding.lower()}", lambda x, w: tf.nn.conv2d(x, w, 1, padding, dilations=2), x, w)
        of(f"conv2d strides 1 2 {padding.lower()}", lambda x, w: tf.nn.conv2d(x, w, [1, 2], padding), x, w)
        of(f"depthwise_conv2d dilation 2 {padding.lower()}",
           lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], padding, dilations=[2, 2]), x, w)
    of("conv2d explicit", lambda x, w: tf.nn.conv2d(x, w, 2, [[0, 0], [1, 2], [0, 3], [0, 0]]), x, w)
    of("conv2d too small", lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"), data(1, 1, 1, 1, 2), w)
    of("conv2d too small, same", lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), data(1, 1, 1, 1, 2), w)
    of("conv2d other channels", lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), data(1, 1, 4, 4, 3), w)
    of("conv2d empty", lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), data(1, 0, 4, 4, 2), w)
    of("conv2d nan", lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"), tf.where(x > 0.9, NAN, x), w)


def pooling_cases(of):
    pools = {"max_pool2d": tf.nn.max_pool2d, "avg_pool2d": tf.nn.avg_pool2d}
    for (name, f), kernel, stride, size, padding in itertools.product(
            pools.items(), (1, 2, 3), (1, 2, 3), (4, 5), ("SAME", "VALID")):
        of(f"{name} kernel {kernel} stride {stride} size {size} {padding.lower()}",
           lambda x: f(x, [kernel, 2], stride, padding), data(5, 1, size, 4, 2))
    special = {"equal": np.ones((1, 4, 4, 1)), "negative": -1 - np.arange(16.).reshape(1, 4, 4, 1),
               "minus infinity": np.full((1, 4, 4, 1), -INF), "nan": np.where(np.arange(16) == 5, NAN, np.arange(16.)).reshape(1, 4, 4, 1),
               "all nan": np.full((1, 2, 2, 1), NAN), "infinity": np.where(np.arange(16) == 5, INF, np.arange(16.)).reshape(1, 4, 4, 1)}
    for (name, f), (text, x), padding in itertools.product(pools.items(), special.items(), ("SAME", "VALID")):
        of(f"{name} {text} {padding.lower()}", lambda x: f(x, 2, 2, padding), np.float32(x))
        of(f"{name} {text} {padding.lower()} overlapping", lambda x: f(x, 3 if x.shape[1] > 2 else 2, 1, padding), np.float32(x))
    for name, f in pools.items():
        for dtype in ("float16", "bfloat16"):
            of(f"{name} {dtype}", lambda x: f(x, 3, 2, "SAME"), data(5, 1, 5, 4, 2, dtype=dtype))
        of(f"{name} too small", lambda x: f(x, 5, 1, "VALID"), data(5, 1, 3, 3, 1))
        of(f"{name} empty", lambda x: f(x, 2, 2, "VALID"), data(5, 0, 4, 4, 1))
    of("max_pool2d explicit", lambda x: tf.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 0], [0, 1], [0, 0]]), data(5, 1, 4, 4, 1))


def normalization_cases(of):
    x = data(6, 2, 3, 4)
    large = np.float32(x) + 30
    for axes in ([0], [0, 1], [-1], [0, 1, 2], [1], [0, 0], [3], []):
        of(f"moments {axes}", lambda x: tf.nn.moments(x, axes), x)
        of(f"moments {axes} keepdims", lambda x: tf.nn.moments(x, axes, keepdims=True), x)
    of("moments large", lambda x: tf.nn.moments(x, [0, 1]), large)
    of("moments of equal", lambda x: tf.nn.moments(x, [0]), np.full((4, 2), 0.1, np.float32))
    of("moments nan", lambda x: tf.nn.moments(x, [0]), np.float32([[1, NAN], [INF, 2]]))
    of("moments empty", lambda x: tf.nn.moments(x, [0]), np.zeros((0, 2), np.float32))
    of("moments int32", lambda x: tf.nn.moments(x, [0]), np.int32([[1, 2], [4, 8]]))
    for dtype in ("float16", "bfloat16"):
        of(f"moments {dtype}", lambda x: tf.nn.moments(x, [0, 1]), tf.cast(x, dtype))
        of(f"moments {dtype} 300", lambda x: tf.nn.moments(x, [0]), tf.cast([[300.0], [-300.0], [301.0]], dtype))
    mean, variance, beta, gamma = data(7, 4), np.float32(data(8, 4)) ** 2, data(9, 4), data(10, 4)
    for text, offset, scale in (("both", beta, gamma), ("offset", beta, None), ("scale", None, gamma), ("none", None, None)):
        given = [one for one in (offset, scale) if one is not None]
        def normal(x, m, v, *rest):
            rest = list(rest)
            o = rest.pop(0) if offset is not None else None
            s = rest.pop(0) if scale is not None else None
            return tf.nn.batch_normalization(x, m, v, o, s, 0.01)
        of(f"batch_normalization {text}", normal, x, mean, variance, *given)
    of("batch_normalization zero", lambda x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 0.0), x, mean, np.float32([0, 1, 1, 1]))
    for dtype in ("float16", "bfloat16"):
        of(f"batch_normalization {dtype}", lambda x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 0.01),
           tf.cast(x, dtype), tf.cast(mean, dtype), tf.cast(variance, dtype))


def product_cases(of):
    a, b = data(11, 2, 3, 4), data(12, 2, 4, 2)
    of("matmul", tf.linalg.matmul, a, b)
    of("matmul transpose_a", lambda a, b: tf.linalg.matmul(a, b, transpose_a=True), data(11, 2, 4, 3), b)
    of("matmul transpose_b", lambda a, b: tf.linalg.matmul(a, b, transpose_b=True), a, data(12, 2, 2, 4))
    of("matmul both", lambda a, b: tf.linalg.matmul(a, b, transpose_a=True, transpose_b=True), data(11, 2, 4, 3), data(12, 2, 2, 4))
    of("matmul [3][4] [2][4][2]", tf.linalg.matmul, data(11, 3, 4), b)
    of("matmul [2][1][3][4] [3][4][2]", tf.linalg.matmul, data(11, 2, 1, 3, 4), data(12, 3, 4, 2))
    of("matmul [0][4] [4][2]", tf.linalg.matmul, data(11, 0, 4), data(12, 4, 2))
    of("matmul [3][0] [0][2]", tf.linalg.matmul, data(11, 3, 0), data(12, 0, 2))
    of("matmul of a vector", tf.linalg.matmul, data(11, 3, 4), data(12, 4))
    of("matmul of sizes", tf.linalg.matmul, data(11, 3, 4), data(12, 3, 4))
    of("matmul int32", tf.linalg.matmul, np.int32([[2147483647, 2], [3, 4]]), np.int32([[2, 1], [1, -1]]))
    of("matmul int64", tf.linalg.matmul, np.int64([[1, 2], [3, 4]]), np.int64([[2, 1], [1, -1]]))
    of("matmul uint8", tf.linalg.matmul, np.uint8([[1, 2], [3, 4]]), np.uint8([[2, 1], [1, 1]]))
    of("matmul of dtypes", tf.linalg.matmul, np.float32([[1]]), np.int32([[1]]))
    of("matmul nan", tf.linalg.matmul, np.float32([[0, 1], [INF, 1]]), np.float32([[NAN, 1], [1, 0]]))
    for dtype in ("float16", "bfloat16"):
        of(f"matmul {dtype}", tf.linalg.matmul, tf.cast(a, dtype), tf.cast(b, dtype))
    shapes = {"bij,bjk->bik": [(2, 3, 4), (2, 4, 2)], "ij->ji": [(2, 3)], "ij": [(2, 3)], "ii": [(3, 3)], "ii->i": [(3, 3)],
              "ij,jk": [(2, 3), (3, 2)], "ba": [(2, 3)], "i,j->ij": [(2,), (3,)], "i,i->": [(3,), (3,)], "ij->": [(2, 3)],
              "...ij,...jk->...ik": [(2, 2, 3), (3, 2)], "...i->...": [(2, 2, 3)], "ij,jk,kl->il": [(2, 3), (3, 2), (2, 4)],
              "abc,cd->abd": [(2, 3, 4), (4, 2)], "ij,ij->i": [(2, 3), (2, 3)], "ij,kj->ik": [(2, 3), (4, 3)],
              "ij,jk->ikm": [(2, 3), (3, 2)], "ij,jk->ii": [(2, 3), (3, 3)], "ij,j": [(2, 3), (4,)], "ijk->ij": [(2, 3)],
              "ij,jk->ik": [(2, 1), (3, 2)], " i j , j k -> i k ": [(2, 3), (3, 2)], "aA->A": [(2, 3)], "->": [()], ",i->i": [(), (3,)]}
    for equation, sizes in shapes.items():
        of(f"einsum {equation.replace(':', '')}", lambda *all: tf.einsum(equation, *all),
           *[data(13 + i, *one) for i, one in enumerate(sizes)])
    of("einsum int32", lambda a: tf.einsum("ij->j", a), np.int32([[1, 2], [3, 4]]))


def image_cases(of):
    bytes_ = np.uint8((np.arange(60) * 37 % 256).reshape(4, 5, 3))
    floats = np.float32(bytes_) / 255
    for height, width in ((4, 5), (8, 10), (2, 2), (7, 3), (1, 1), (3, 9)):
        for antialias in (False, True):
            of(f"resize {height} {width} antialias {antialias}",
               lambda: tf.image.resize(bytes_, [height, width], antialias=antialias))
    of("resize of a batch", lambda: tf.image.resize(np.stack([floats, floats * 2]), [2, 7]))
    of("resize float32", lambda: tf.image.resize(floats * 4 - 1, [3, 3]))
    of("resize nan", lambda: tf.image.resize(np.float32([[[NAN], [1]], [[2], [3]]]), [4, 4]))
    of("resize to 0", lambda: tf.image.resize(bytes_, [0, 2]))
    of("resize of one pixel", lambda: tf.image.resize(bytes_[:1, :1], [2, 3]))
    for y, x, h, w in ((1, 2, 2, 3), (0, 0, 4, 5), (2, 2, 3, 3), (-1, 0, 2, 2), (0, 0, 0, 2)):
        of(f"crop_to_bounding_box {y} {x} {h} {w}", lambda: tf.image.crop_to_bounding_box(bytes_, y, x, h, w))
    for y, x, h, w in ((1, 2, 6, 8), (0, 0, 4, 5), (2, 2, 5, 8), (-1, 0, 6, 6), (1, 0, 5, 5)):
        of(f"pad_to_bounding_box {y} {x} {h} {w}", lambda: tf.image.pad_to_bounding_box(bytes_, y, x, h, w))
    of("flip_left_right", lambda: tf.image.flip_left_right(bytes_))
    of("flip_left_right float32", lambda: tf.image.flip_left_right(floats))
    for delta in (0.0, 0.3, -0.7):
        of(f"adjust_brightness {delta}", lambda: tf.image.adjust_brightness(floats, delta))
        of(f"adjust_contrast {delta}", lambda: tf.image.adjust_contrast(floats, delta))
        of(f"adjust_hue {delta}", lambda: tf.image.adjust_hue(floats, delta))
        of(f"adjust_saturation {delta}", lambda: tf.image.adjust_saturation(floats, delta))
    for factor in (1.0, 3.0, 10.0):
        of(f"adjust_saturation {factor}", lambda: tf.image.adjust_saturation(floats, factor))
        of(f"adjust_contrast {factor}", lambda: tf.image.adjust_contrast(floats, factor))
    for delta in (1.0, -1.0, 2.5):
        of(f"adjust_hue {delta}", lambda: tf.image.adjust_hue(floats, delta))
    odd = np.float32([[[0, 0, 0], [1, 1, 1], [-1, 0.5, 2]], [[3, 3, 1], [-2, -1, -3], [0, 1, 0]]])
    for name in ("adjust_hue", "adjust_saturation"):
        for amount in (0.0, 0.4, 1.0):
            of(f"{name} odd {amount}", lambda: getattr(tf.image, name)(odd, amount))
        of(f"{name} of 4 channels", lambda: getattr(tf.image, name)(np.zeros((2, 2, 4), np.float32), 0.5))
        of(f"{name} of 1 channel", lambda: getattr(tf.image, name)(np.zeros((2, 2, 1), np.float32), 0.5))
    of("adjust_contrast nan", lambda: tf.image.adjust_contrast(np.float32([[[NAN, 1, 2]], [[1, 2, 4]]]), 2.0))
    for text, image in {"bytes": bytes_, "floats": floats, "equal": np.full((2, 2, 3), 7, np.float32), "zero": np.zeros((2, 2, 1), np.float32),
                        "one pixel": np.float32([[[1, 2, 4]]]), "batch": np.stack([floats, floats * 3]), "large": floats + 0.5}.items():
        of(f"per_image_standardization {text}", lambda: tf.image.per_image_standardization(image))


def attention_cases(of):
    q, k, v = data(20, 2, 3, 2, 4), data(21, 2, 5, 2, 4), data(22, 2, 5, 2, 4)
    attend = keras.ops.dot_product_attention
    of("dot_product_attention", lambda q, k, v: attend(q, k, v), q, k, v)
    of("dot_product_attention scale", lambda q, k, v: attend(q, k, v, scale=0.3), q, k, v)
    of("dot_product_attention scale 0", lambda q, k, v: attend(q, k, v, scale=0.0), q, k, v)
    square = data(21, 2, 3, 2, 4), data(22, 2, 3, 2, 4)
    of("dot_product_attention causal", lambda q, k, v: attend(q, k, v, is_causal=True), q, *square)
    of("dot_product_attention causal of 5", lambda q, k, v: attend(q, k, v, is_causal=True), q, k, v)
    mask = np.array([[[True, False, True, True, False]] * 3, [[False] * 5, [True] * 5, [False, False, True, False, False]]])
    of("dot_product_attention mask", lambda q, k, v: attend(q, k, v, mask=mask[:, None]), q, k, v)
    of("dot_product_attention large", lambda q, k, v: attend(q, k, v), np.float32(q) * 4, k, v)
    for dtype in ("float16", "bfloat16"):
        of(f"dot_product_attention {dtype}", lambda q, k, v: attend(q, k, v), *[tf.cast(one, dtype) for one in (q, k, v)])

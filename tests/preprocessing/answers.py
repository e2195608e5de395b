"""Writes answers.json: what Keras 3 on TensorFlow 2.21 gives for the layers of the tests beside it.

Usage: python3 answers.py     in this directory
"""
import json
import pathlib

import keras
import numpy as np
import tensorflow as tf

layers = keras.layers
answers = {}


def plain(value):
    if isinstance(value, (tf.Tensor, tf.Variable)):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return [plain(part) for part in value]
        value = value.tolist()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def add(name, value):
    answers[name] = {"dtype": value.dtype.name if hasattr(value, "dtype") else "list",
                     "value": plain(value)}


WORDS = np.array([["fig", "apple"], ["pear", "fig"], ["fig", ""], ["kiwi", "[UNK]"]])
ASKED = np.array([["fig", "plum"], ["apple", ""], ["melon", "kiwi"]])


def looked_up(name, layer, asked, adapt=None):
    if adapt is not None:
        layer.adapt(adapt)
    add(name, layer(asked))
    if not layer.invert:
        add(name + " vocabulary", layer.get_vocabulary())


Strings, Integers = layers.StringLookup, layers.IntegerLookup
looked_up("adapted", Strings(), ASKED, WORDS)
looked_up("masked", Strings(mask_token=""), ASKED, WORDS)
looked_up("at most 3", Strings(max_tokens=3), ASKED, WORDS)
looked_up("3 oov", Strings(num_oov_indices=3, vocabulary=["fig", "apple"]), ASKED)
looked_up("3 oov masked", Strings(num_oov_indices=3, vocabulary=["fig", "apple"], mask_token=""),
          ASKED)
looked_up("salted", Strings(num_oov_indices=30, vocabulary=["fig"], salt=[3, 9]), ASKED)
looked_up("inverted", Strings(vocabulary=["fig", "apple"], invert=True),
          np.array([[0, 1], [2, 9]]))
looked_up("inverted masked", Strings(vocabulary=["fig", "apple"], invert=True, mask_token="-"),
          np.array([[0, 1], [2, 3]]))
for mode in ("one_hot", "multi_hot", "count"):
    looked_up(mode, Strings(output_mode=mode, mask_token=""),
              ASKED[:, :1] if mode == "one_hot" else ASKED, WORDS)
looked_up("one_hot of vector", Strings(output_mode="one_hot"), ASKED[:, 0], WORDS)
looked_up("multi_hot of vector", Strings(output_mode="multi_hot"), ASKED[:, 0], WORDS)
looked_up("padded count", Strings(output_mode="count", max_tokens=7, pad_to_max_tokens=True), ASKED,
          WORDS)
looked_up("tf_idf", Strings(output_mode="tf_idf"), ASKED, WORDS)
looked_up("padded tf_idf", Strings(output_mode="tf_idf", max_tokens=7, pad_to_max_tokens=True),
          ASKED, WORDS)
looked_up("given tf_idf", Strings(output_mode="tf_idf", vocabulary=["fig", "apple"],
                                  idf_weights=[0.25, 1.5]), ASKED)

NUMBERS = np.array([[12, 1138], [42, 12], [12, -7], [42, 100]])
looked_up("integers", Integers(), np.array([[12, 5], [42, -7]]), NUMBERS)
looked_up("integers masked", Integers(mask_token=12), np.array([[12, 5], [42, -7]]), NUMBERS)
looked_up("integers 3 oov", Integers(num_oov_indices=3, vocabulary=[12, 42]),
          np.array([[12, 5], [-7, 3]]))
looked_up("integers inverted", Integers(vocabulary=[12, 42], invert=True),
          np.array([[0, 1], [2, 9]]))
looked_up("integers count", Integers(output_mode="count"), np.array([[12, 5], [42, 42]]), NUMBERS)

TEXTS = ["The quick  brown fox.", "Jumps over\tthe lazy dog!", "the dog; the FOX", "\u00dcber m\u00fcde"]


def vectorized(name, texts=TEXTS, asked=TEXTS, **options):
    layer = layers.TextVectorization(**options)
    if "vocabulary" not in options:
        layer.adapt(texts)
    add(name, layer(np.array(asked)))
    add(name + " vocabulary", layer.get_vocabulary())


vectorized("text")
vectorized("text of 3", output_sequence_length=3)
vectorized("text of 8", output_sequence_length=8, max_tokens=6)
vectorized("text lower", standardize="lower")
vectorized("text strip", standardize="strip_punctuation")
vectorized("text as is", standardize=None)
vectorized("text characters", split="character", asked=["Dog \u00fc"])
vectorized("text whole", split=None, standardize="lower")
vectorized("text bigrams", ngrams=2, output_sequence_length=6)
vectorized("text trigrams", ngrams=(3,), output_mode="count")
vectorized("text multi_hot", output_mode="multi_hot", max_tokens=5)
vectorized("text padded", output_mode="multi_hot", max_tokens=20, pad_to_max_tokens=True)
vectorized("text tf_idf", output_mode="tf_idf")
vectorized("text given", vocabulary=["the", "dog"])

POINTS = np.array([[[1, 2, 3], [4, 5, 7]], [[2, 0, 1], [9, 8, -3]]], np.float32)
for name, options in {"last": {}, "all": {"axis": None}, "two": {"axis": (1, 2)},
                      "given": {"mean": [1.0, 2.0, 3.0], "variance": [4.0, 1.0, 0.0]},
                      "scalar": {"mean": 3.0, "variance": 2.0},
                      "inverted": {"invert": True}}.items():
    layer = layers.Normalization(**options)
    if "mean" not in options:
        layer.adapt(POINTS)
    add("normalized " + name, layer(POINTS))
layer = layers.Normalization()
layer.adapt(tf.data.Dataset.from_tensor_slices(POINTS[:, 0]).concatenate(
    tf.data.Dataset.from_tensor_slices(POINTS[:, 1])).batch(3))
add("normalized dataset", layer(POINTS[0]))
add("rescaled", layers.Rescaling(1 / 127.5, offset=-1)(POINTS))
add("rescaled channels", layers.Rescaling([1.0, 2.0, 0.5], offset=[0.0, 1.0, 2.0])(POINTS))

random = np.random.RandomState(7)
MANY = np.round(random.normal(size=(60, 2)), 3).astype(np.float32)
answers["many"] = {"value": plain(MANY)}
ASKED_NUMBERS = np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]], np.float32)
add("binned", layers.Discretization(bin_boundaries=[0.0, 1.0, 2.0])(ASKED_NUMBERS))
for mode in ("one_hot", "multi_hot", "count"):
    add("binned " + mode,
        layers.Discretization(bin_boundaries=[0.0, 1.0, 2.0], output_mode=mode)(ASKED_NUMBERS))
for name, options in {"4": dict(num_bins=4), "5 coarse": dict(num_bins=5, epsilon=0.1)}.items():
    layer = layers.Discretization(**options)
    layer.adapt(MANY)
    answers["boundaries " + name] = {"value": [float(b) for b in layer.bin_boundaries]}
    layer = layers.Discretization(**options)
    layer.adapt(tf.data.Dataset.from_tensor_slices(MANY).batch(25))
    answers["boundaries in batches " + name] = {"value": [float(b) for b in layer.bin_boundaries]}

LETTERS = np.array([["A"], ["B"], ["C"], ["a longer text that has more than thirty-two bytes"], [""]])
add("hashed", layers.Hashing(num_bins=3)(LETTERS))
add("hashed wide", layers.Hashing(num_bins=1000000)(LETTERS))
add("hashed salted", layers.Hashing(num_bins=1000, salt=[133, 137])(LETTERS))
add("hashed salted once", layers.Hashing(num_bins=1000, salt=133)(LETTERS))
add("hashed salted masked", layers.Hashing(num_bins=1000, salt=133, mask_value="A")(LETTERS))
add("hashed masked", layers.Hashing(num_bins=3, mask_value="")(LETTERS))
add("hashed integers", layers.Hashing(num_bins=1000)(np.array([[5], [-3], [0]])))
add("hashed multi_hot", layers.Hashing(num_bins=4, output_mode="multi_hot")(
    np.array([["A", "B"], ["C", "A"]])))

NUMBERS = np.array([[1], [-2], [3], [10 ** 12], [0]])
add("crossed", layers.HashedCrossing(1000)((LETTERS, NUMBERS)))
add("crossed three", layers.HashedCrossing(7)((LETTERS, LETTERS[::-1], NUMBERS)))
add("crossed integers", layers.HashedCrossing(50)((NUMBERS[:3, 0].astype("int32"), NUMBERS[:3, 0])))
add("crossed one_hot", layers.HashedCrossing(5, output_mode="one_hot")((NUMBERS, NUMBERS)))
add("crossed one_hot vectors", layers.HashedCrossing(5, output_mode="one_hot")((NUMBERS[:, 0], NUMBERS[:, 0])))
add("crossed scalars", layers.HashedCrossing(5)((np.array(1), np.array(1))))
add("crossed one_hot scalars", layers.HashedCrossing(5, output_mode="one_hot")((np.array(1), np.array(1))))

IDS = np.array([[3, 2, 0], [0, 1, 1]])
for mode in ("one_hot", "multi_hot", "count"):
    add("encoded " + mode, layers.CategoryEncoding(4, mode)(IDS))
add("encoded weights", layers.CategoryEncoding(4, "count")(
    IDS, count_weights=np.array([[0.5, 2.0, 1.0], [3.0, 0.25, 1.0]], np.float32)))


def add_images(name, value):
    value = value.numpy()
    answers[name] = {"dtype": value.dtype.name,
                     "value": np.round(value.astype(np.float64), 6).tolist()}


IMAGES = random.uniform(-1, 1, size=(3, 4, 5, 2)).astype(np.float32).round(3)
answers["images"] = {"value": plain(IMAGES)}
ANGLES = np.array([20.0, -75.0, 190.0], np.float32)
HEIGHT_ZOOM = np.array([[0.6], [1.3], [1.0]], np.float32)
WIDTH_ZOOM = np.array([[0.7], [1.9], [0.9]], np.float32)
DOWN_RIGHT = np.array([[0.7, -0.4], [-9.3, 12.6], [3.2, 2.3]], np.float32)
for fill_mode in ("reflect", "wrap", "constant", "nearest"):
    for interpolation in ("bilinear", "nearest"):
        options = dict(fill_mode=fill_mode, interpolation=interpolation, fill_value=0.25)
        name = f" {fill_mode} {interpolation}"
        layer = layers.RandomRotation(0.5, **options)
        zero, one = np.zeros(3, np.float32), np.ones(3, np.float32)
        matrix = layer._compute_affine_matrix(0.5, 0.5, tf.constant(ANGLES), zero, zero, one, zero,
                                              zero, 4, 5)
        add_images("rotated" + name, layer.transform_images(IMAGES, {"rotation_matrix": matrix}))
        layer = layers.RandomZoom(0.5, 0.5, **options)
        add_images("zoomed" + name, layer.transform_images(
            IMAGES, {"height_zoom": HEIGHT_ZOOM, "width_zoom": WIDTH_ZOOM}))
        layer = layers.RandomTranslation(0.5, 0.5, **options)
        add_images("moved" + name, layer.transform_images(
            IMAGES, {"translations": tf.constant(DOWN_RIGHT[:, ::-1])}))
PROJECTION = np.array([1.1, 0.2, -0.7, -0.1, 0.9, 0.8, 0.01, -0.02], np.float32)
add_images("projected", keras.ops.image.affine_transform(IMAGES, PROJECTION))
add_images("integers rotated", keras.ops.image.affine_transform(
    np.round(IMAGES * 100).astype(np.int32), PROJECTION, fill_mode="reflect"))
for mode in ("horizontal", "vertical", "horizontal_and_vertical"):
    add_images("flipped " + mode, layers.RandomFlip(mode).transform_images(
        IMAGES, {"flips": np.array([True, False, True]).reshape(3, 1, 1, 1)}))
CONTRASTS = np.array([0.5, 1.5, 1.2], np.float32).reshape(3, 1, 1, 1)
add_images("contrasted", layers.RandomContrast(0.5, value_range=(-0.9, 0.8)).transform_images(
    tf.constant(IMAGES), {"contrast_factor": CONTRASTS}))

text = json.dumps(answers, separators=(",", ":")).replace('},"', '},\n"')
pathlib.Path("answers.json").write_text(text + "\n")

"""Prints tests/ops/ctc_cases.hpp: losses, gradients and decoded labels of Keras 3.15 on TensorFlow
2.21. Run:  CUDA_VISIBLE_DEVICES= python3 tests/comparison/ctc_cases.py > tests/ops/ctc_cases.hpp"""
import math

import keras
import numpy as np
import tensorflow as tf


def logits(batch, steps, classes, seed, spread=1.0):
    """As logits() in tests/ops/ctc_test.cpp."""
    count = batch * steps * classes
    values = [1.5 * math.sin(12.9898 * i + 78.233 * seed) for i in range(count)]
    return np.array(values, np.float32).reshape(batch, steps, classes) * np.float32(spread)


def numbers(values):
    return "{" + ", ".join(f"{float(v):.9g}" for v in np.ravel(values)) + "}"


def integers(values):
    return "{" + ", ".join(str(int(v)) for v in np.ravel(values)) + "}"


# TensorFlow's gradient of such a loss is not its derivative: it counts paths that begin inside of the
# label as well, which the loss does not.
UNFIT = "labels that do not fit"

LOSSES = [  # name, seed, spread, steps, labels, label lengths, steps that count, blank
    ("labels that differ and repeat", 0, 1, 5, [[1, 2, 3], [2, 2, 1]], [3, 3], [5, 5], 0),
    ("repeated labels alone", 1, 1, 5, [[1, 1], [2, 2]], [2, 2], [5, 5], 0),
    ("an empty label", 2, 1, 5, [[1, 2], [0, 0]], [2, 0], [5, 5], 0),
    ("lengths below the sizes", 3, 1, 6, [[1, 2, 3], [3, 1, 0]], [2, 1], [4, 3], 0),
    ("labels that fill all steps", 4, 1, 3, [[1, 2, 3], [3, 1, 2]], [3, 3], [3, 3], 0),
    (UNFIT, 5, 1, 3, [[1, 2, 3], [1, 1, 2]], [3, 2], [2, 2], 0),
    ("no steps", 6, 1, 3, [[1, 2], [0, 0]], [2, 0], [0, 0], 0),
    ("blank in the middle", 7, 1, 5, [[0, 2, 3], [3, 3, 0]], [3, 2], [5, 5], 1),
    ("blank at the end", 8, 1, 5, [[0, 2, 1], [1, 1, 0]], [3, 3], [5, 5], 3),
    ("blank -1", 8, 1, 5, [[0, 2, 1], [1, 1, 0]], [3, 3], [5, 5], -1),
    ("large logits", 9, 60, 5, [[1, 2, 3], [2, 2, 1]], [3, 3], [5, 5], 0),
    ("many steps", 10, 2, 40, [[1, 2, 3, 3, 2, 1], [1, 1, 1, 1, 2, 3]], [6, 6], [40, 31], 0),
]


def print_losses():
    print("inline const std::vector<LossCase> kLosses = {")
    for name, seed, spread, steps, labels, label_lengths, lengths, blank in LOSSES:
        x = tf.Variable(logits(2, steps, 4, seed, spread))
        with tf.GradientTape() as tape:
            loss = keras.ops.ctc_loss(np.array(labels, np.int32), x, np.array(label_lengths),
                                      np.array(lengths), mask_index=blank)
            total = tf.reduce_sum(loss * np.array([1, 2], np.float32))
        gradient = tape.gradient(total, x).numpy()
        print(f'    {{"{name}", {seed}, {spread}, {steps}, {len(labels[0])}, {integers(labels)}, '
              f"{integers(label_lengths)}, {integers(lengths)}, {blank}, {numbers(loss)}, "
              f"{'{}' if name == UNFIT else numbers(gradient)}}},")
    print("};\n")


DECODES = [  # name, seed, spread, lengths, beam width (0: greedy), paths, merge repeated, blank
    ("greedy", 0, 2, [7, 5], 0, 1, True, 0),
    ("greedy, repeated classes stay", 1, 2, [7, 5], 0, 1, False, 0),
    ("greedy, the blank is the last", 2, 2, [7, 0], 0, 1, True, -1),
    ("greedy, the blank is the second", 3, 2, [7, 1], 0, 1, True, 1),
    ("beam search", 0, 2, [7, 5], 100, 1, True, 0),
    ("beam search, narrow", 1, 1, [7, 5], 3, 3, True, 0),
    ("beam search, one", 2, 1, [7, 5], 1, 1, True, 0),
    ("beam search, five of eight", 3, 1, [7, 5], 8, 5, True, 0),
    ("beam search, blank in the middle", 4, 2, [7, 5], 10, 3, True, 2),
    ("beam search, blank at the end", 5, 2, [7, 6], 10, 2, True, 3),
    ("beam search, no steps", 6, 2, [7, 0], 10, 1, True, 0),
]


def print_decodes():
    print("inline const std::vector<DecodeCase> kDecodes = {")
    for name, seed, spread, lengths, width, paths, merge, blank in DECODES:
        x = logits(2, 7, 4, seed, spread)
        options = {"merge_repeated": merge, "mask_index": blank}
        if width:
            options.update(strategy="beam_search", beam_width=width, top_paths=paths)
        decoded, scores = keras.ops.ctc_decode(x, np.array(lengths), **options)
        print(f'    {{"{name}", {seed}, {spread}, {integers(lengths)}, {width}, {paths}, '
              f"{str(merge).lower()}, {blank}, {integers(decoded)}, {numbers(scores)}}},")
    print("};\n")


print('''#pragma once
/// Written by tests/comparison/ctc_cases.py with Keras 3.15 on TensorFlow 2.21.

#include <cstdint>
#include <string>
#include <vector>

namespace ctc_cases {

struct LossCase {  // the gradient is of loss[0] + 2 loss[1]
  std::string name;
  int64_t seed;
  float spread;
  int64_t steps, labels;
  std::vector<int32_t> target, target_length, output_length;
  int64_t mask_index;
  std::vector<double> loss, gradient;
};

struct DecodeCase {  // a beam_width of 0 is the greedy strategy
  std::string name;
  int64_t seed;
  float spread;
  std::vector<int32_t> lengths;
  int64_t beam_width, top_paths;
  bool merge_repeated;
  int64_t mask_index;
  std::vector<double> decoded, scores;
};
''')
print("// clang-format off")
print_losses()
print_decodes()
loss = keras.losses.CTC()
x, y = logits(2, 5, 4, 0), np.array([[1, 2, 0], [2, 2, 1]])
print(f"inline const std::vector<double> kEach = {numbers(keras.losses.ctc(y, x))};")
print(f"inline constexpr double kMean = {float(loss(y, x)):.9g};")
print("// clang-format on\n\n}  // namespace ctc_cases")

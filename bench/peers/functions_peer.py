#!/usr/bin/env python3
"""Nanoseconds an element of functions that networks apply to every number, with one thread, in
TensorFlow or PyTorch; bench/functions_bench.cpp measures ours."""
import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import numpy as np


def tensorflow_functions(values):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    functions = {"exp": tf.exp, "tanh": tf.tanh, "sigmoid": tf.sigmoid, "erf": tf.math.erf,
                 "gelu": tf.nn.gelu, "silu": tf.nn.silu, "softplus": tf.nn.softplus,
                 "elu": tf.nn.elu, "softmax": tf.nn.softmax}
    compiled = {name: tf.function(f) for name, f in functions.items()}
    return tf.constant(values), compiled


def pytorch_functions(values):
    import torch
    from torch.nn import functional

    torch.set_num_threads(1)
    functions = {"exp": torch.exp, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
                 "erf": torch.erf, "gelu": functional.gelu, "silu": functional.silu,
                 "softplus": functional.softplus, "elu": functional.elu,
                 "softmax": lambda x: torch.softmax(x, -1)}
    return torch.from_numpy(values), functions


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framework", choices=["tensorflow", "pytorch"], required=True)
    parser.add_argument("--elements", type=int, default=1 << 18)
    flags = parser.parse_args()
    values = np.random.default_rng(7).standard_normal((flags.elements // 256, 256), np.float32)
    make = tensorflow_functions if flags.framework == "tensorflow" else pytorch_functions
    x, functions = make(values)
    for name, function in functions.items():
        best = float("inf")
        for _ in range(50):
            start = time.perf_counter()
            function(x)
            best = min(best, time.perf_counter() - start)
        print(f"{name:10} {best * 1e9 / flags.elements:6.2f}")


if __name__ == "__main__":
    main()

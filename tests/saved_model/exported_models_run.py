#!/usr/bin/env python3
"""Runs exported models in TensorFlow or onnxruntime and compares what they give.

Usage: exported_models_run.py tensorflow|onnx CASES.json
CASES.json: [{"name", "model", "input_name", "output_name", "dtype", "input_shape", "input",
"output_shape", "output"}, ...]; input and output are files of raw elements beside it. Prints
{"version", "cases": {name: {"largest_difference", "largest_value"}}}. Exit status 77: no such package.
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def tensorflow_runner():
    import tensorflow as tf

    def run(path, case, x):
        signature = tf.saved_model.load(path).signatures[case.get("signature", "serving_default")]
        return signature(**{case["input_name"]: tf.constant(x)})[case["output_name"]].numpy()

    return tf.__version__, run


def onnx_runner():
    import onnx
    import onnxruntime

    def run(path, case, x):
        onnx.checker.check_model(path, full_check=True)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return session.run([case["output_name"]], {case["input_name"]: x})[0]

    return onnxruntime.__version__, run


def main():
    try:
        import numpy as np
        version, run = {"tensorflow": tensorflow_runner, "onnx": onnx_runner}[sys.argv[1]]()
    except ImportError as error:
        print(error, file=sys.stderr)
        return 77
    directory = pathlib.Path(sys.argv[2]).parent
    report = {}
    for case in json.loads(pathlib.Path(sys.argv[2]).read_text()):
        x = np.fromfile(directory / case["input"], case["dtype"]).reshape(case["input_shape"])
        wanted = np.fromfile(directory / case["output"], case.get("output_dtype", "float32"))
        wanted = wanted.reshape(case["output_shape"])
        got = run(str(directory / case["model"]), case, x)
        if got.shape != wanted.shape:
            raise SystemExit(f"{case['name']}: shape {got.shape}, wanted {wanted.shape}")
        difference = np.abs(got.astype("float64") - wanted.astype("float64"))
        report[case["name"]] = {"largest_difference": float(difference.max()),
                                "largest_value": float(np.abs(wanted.astype("float64")).max())}
    print(json.dumps({"version": version, "cases": report}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

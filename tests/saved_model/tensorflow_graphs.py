#!/usr/bin/env python3
"""Writes the graphs of TensorFlow in tests/saved_model/files, from the models of
tests/saving/keras_files.py with the weights in tests/saving/files.

Usage: tensorflow_graphs.py DIR
NAME_frozen.pb: variables as constants; text/: a SavedModel with variables, functions and loops.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "saving"))
import keras_files
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2


def main(folder):
    weights = pathlib.Path(__file__).parent.parent / "saving" / "files"
    for name, dtype in (("images", tf.float32), ("text", tf.int32), ("attention", tf.int32)):
        model = getattr(keras_files, name)()
        model.load_weights(weights / f"{name}.weights.h5")
        spec = tf.TensorSpec([None, *model.input_shape[1:]], dtype, name="x")
        if name != "text":
            function = tf.function(model).get_concrete_function(spec)
            graph = convert_variables_to_constants_v2(function).graph.as_graph_def()
            (folder / f"{name}_frozen.pb").write_bytes(graph.SerializeToString())
            continue
        module = tf.Module()
        module.held = [v.value for v in model.weights]
        module.serve = tf.function(lambda x: {"logits": model(x)}, input_signature=[spec])
        tf.saved_model.save(module, str(folder / "text"), signatures=module.serve,
                            options=tf.saved_model.SaveOptions(save_debug_info=False))
        (folder / "text" / "fingerprint.pb").unlink(missing_ok=True)
        shutil.rmtree(folder / "text" / "assets", ignore_errors=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

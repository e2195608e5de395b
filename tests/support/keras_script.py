"""What scripts that use the real Keras begin with: quiet, on CPUs, and status 77 without TensorFlow.

    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
    from keras_script import keras, np, tf
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

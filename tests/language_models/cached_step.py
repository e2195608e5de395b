"""Generates texts by exported calls of language models, with the cache's tensors.

onnx DIR        runs KIND_prompt.onnx and KIND_step.onnx of every kind in DIR/wanted.json
tensorflow DIR  runs the SavedModels KIND_prompt and KIND_step

Each text must be the one of wanted.json. Ends with
status 77 where the package is missing."""
import json
import os
import sys

try:
    import numpy as np
    if sys.argv[1] == "onnx":
        import onnxruntime
    else:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow as tf
except ImportError:
    sys.exit(77)


class OnnxCall:
    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(path + ".onnx",
                                                    providers=["CPUExecutionProvider"])
        self.shapes = {i.name: i.shape for i in self.session.get_inputs()}
        self.outputs = [o.name for o in self.session.get_outputs()]

    def __call__(self, inputs):
        return dict(zip(self.outputs, self.session.run(self.outputs, inputs)))


class TensorFlowCall:
    def __init__(self, path):
        self.model = tf.saved_model.load(path)
        self.call = self.model.signatures["serving_default"]
        self.shapes = {key: spec.shape.as_list() for key, spec in
                       self.call.structured_input_signature[1].items()}

    def __call__(self, inputs):
        outputs = self.call(**{key: tf.constant(value) for key, value in inputs.items()})
        return {key: value.numpy() for key, value in outputs.items()}


def generated(prompt, step, prompts, new):
    texts = [list(text) for text in prompts]
    length = prompt.shapes["input_ids"][1]
    tokens = np.array([text + [39] * (length - len(text)) for text in texts], np.int32)
    before = np.zeros((len(texts), 1), np.int32)
    cache = {key: np.zeros([len(texts)] + list(shape)[1:], np.float32)
             for key, shape in prompt.shapes.items() if key.startswith("past_key_values.")}
    for i in range(new):
        outputs = (step if i else prompt)({"input_ids": tokens, "past_length": before, **cache})
        last = [0 if i else len(text) - 1 for text in texts]
        before = np.array([[len(text)] for text in texts], np.int32)
        for row, text in enumerate(texts):
            text.append(int(outputs["logits"][row, last[row]].argmax()))
        tokens = np.array([[text[-1]] for text in texts], np.int32)
        cache = {key.replace("present.", "past_key_values."): value
                 for key, value in outputs.items() if key.startswith("present.")}
    return texts


kind_of_call = OnnxCall if sys.argv[1] == "onnx" else TensorFlowCall
with open(f"{sys.argv[2]}/wanted.json", encoding="ascii") as file:
    wanted = json.load(file)
for name, texts in wanted["models"].items():
    calls = [kind_of_call(f"{sys.argv[2]}/{name}_{part}") for part in ("prompt", "step")]
    got = generated(*calls, wanted["prompts"], wanted["new"])
    print(name, got)
    if got != texts:
        sys.exit(f"{name}: {got}, wanted {texts}")

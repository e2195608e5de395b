"""Opens files that the test of LoRA wrote, and compares the outputs with io.json.

keras DIR    model.keras by Keras, and model.weights.h5 in a model built here
torch DIR    model.safetensors in torch.nn.Linear layers

Ends with status 77 where the library is missing."""
import json
import os
import sys

MODE, FOLDER = sys.argv[1:]


def check(name, got, wanted):
    worst = max(abs(float(a) - b) for a, b in zip(got, wanted, strict=True))
    print(name, worst)
    if worst > 1e-5:
        sys.exit(f"{name}: outputs are {worst} apart")


def tensors(path, torch):
    """Reads float32 tensors without the package safetensors."""
    with open(path, "rb") as source:
        header = json.loads(source.read(int.from_bytes(source.read(8), "little")))
        data = source.read()
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = bytearray(data[begin:end])
        found[name] = torch.frombuffer(part, dtype=torch.float32).reshape(entry["shape"])
    return found


with open(os.path.join(FOLDER, "io.json")) as file:
    IO = json.load(file)

if MODE == "keras":
    try:
        import keras
        import numpy as np
    except ImportError:
        sys.exit(77)
    x = np.array(IO["x"], "float32").reshape(2, 3)
    model = keras.models.load_model(os.path.join(FOLDER, "model.keras"))
    check("model.keras", model(x).numpy().ravel(), IO["y"])
    first = model.layers[0]
    if (first.lora_enabled, first.lora_rank, first.lora_alpha) != (True, 2, 2):
        sys.exit("the first layer has another LoRA")
    if len(model.trainable_variables) != 5:
        sys.exit("other variables are trained")
    plain = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(2)])
    plain.load_weights(os.path.join(FOLDER, "model.weights.h5"))
    check("model.weights.h5", plain(x).numpy().ravel(), IO["y"])
else:
    try:
        import torch
    except ImportError:
        sys.exit(77)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    model.load_state_dict(tensors(os.path.join(FOLDER, "model.safetensors"), torch))
    y = model(torch.tensor(IO["x"]).reshape(2, 3))
    check("model.safetensors", y.detach().numpy().ravel(), IO["y"])

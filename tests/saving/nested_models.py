#!/usr/bin/env python3
"""Models inside of models, masks and layers of Keras: nested_models.py make|check DIRECTORY.

make: writes DIRECTORY/*.keras, some also as .h5, and answers.json: inputs by name and all outputs.
check: opens what load_model and save_model made of these files, and compares the answers.
Exit status 77 where TensorFlow is not installed.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import keras, np

L = keras.layers


def inner(name="inner", units=2, width=3):
    x = keras.Input((width,))
    return keras.Model(x, L.Dense(units)(x), name=name)


def two_inputs(name, as_dict):
    p, q = keras.Input((3,), name="p"), keras.Input((3,), name="q")
    y = L.Subtract()([L.Dense(2)(q), L.Dense(2)(p)])
    return keras.Model({"q": q, "p": p} if as_dict else [p, q], y, name=name)


def two_outputs(name, as_dict):
    x = keras.Input((3,))
    y, z = L.Dense(2)(x), L.Dense(3)(x)
    return keras.Model(x, {"z": y, "a": z} if as_dict else [y, z], name=name)


def models():
    x, y = keras.Input((3,), name="x"), keras.Input((3,), name="y")
    yield "last", keras.Model(x, inner()(L.Dense(3)(x)))
    yield "first", keras.Model(x, L.Dense(1)(inner()(x)))
    yield "only", keras.Model(x, inner()(x))
    shared = inner("shared", 3)
    yield "twice", keras.Model(x, shared(shared(x)))
    shared = inner("shared", 3)
    yield "two_calls", keras.Model([x, y], [shared(x), shared(y)])
    shared = inner("shared", 3)
    shared(keras.Input((3,)))
    yield "called_elsewhere", keras.Model(x, shared(x))
    built = inner("built")
    yield "on_output", keras.Model(built.input, L.Dense(2)(built.output))
    yield "deep", keras.Model(x, keras.Model(x, inner("a")(inner("b", 3)(x)), name="middle")(x))
    yield "sequence_last", keras.Model(x, keras.Sequential([keras.Input((3,)), L.Dense(2)])(x))
    yield "sequence_of_models", keras.Sequential([inner("one", 3), inner("two")])
    yield "model_behind_layer", keras.Sequential([keras.Input((3,)), L.Dense(3), inner("three")])
    yield "inner_two_inputs", keras.Model([x, y], two_inputs("two", False)([y, x]))
    yield "inner_dict_inputs", keras.Model([x, y], two_inputs("two", True)({"q": x, "p": y}))
    one, other = two_outputs("outs", False)(x)
    yield "inner_two_outputs", keras.Model(x, [other, L.Dense(1)(one)])
    both = two_outputs("outs", True)(x)
    yield "inner_dict_outputs", keras.Model(x, [both["z"], L.Dense(2)(both["a"])])
    dense = L.Dense(3)
    first = dense(x)
    yield "both_calls", keras.Model(x, [first, dense(first)])
    yield "passed_on", keras.Model(x, [x, L.Dense(1)(x)])

    ids = keras.Input((4,), dtype="int32", name="ids")
    embedded = L.Embedding(5, 3, mask_zero=True)(ids)
    yield "mask_lstm", keras.Model(ids, L.Dense(1)(L.LSTM(2)(embedded)))
    yield "mask_pool", keras.Model(ids, L.Dense(1)(L.GlobalAveragePooling1D()(L.Dropout(0.5)(embedded))))
    yield "mask_both", keras.Model(ids, L.Bidirectional(L.GRU(2))(L.LayerNormalization()(embedded)))
    yield "mask_in_row", keras.Sequential([keras.Input((4,), dtype="int32", name="ids"), L.Embedding(5, 3, mask_zero=True), L.LSTM(2),
                                           L.Dense(1)])
    steps = keras.Input((4, 3), name="steps")
    yield "mask_steps", keras.Model(steps, L.LSTM(2)(L.Masking(0.5)(steps)))
    yield "each_step", keras.Model(steps, L.TimeDistributed(L.Dense(2, activation="mish"))(steps))
    picture = keras.Input((4, 5, 2), name="picture")
    yield "larger", keras.Model(picture, L.UpSampling2D((2, 3), interpolation="bilinear")(picture))
    yield "resized", keras.Model(picture, [L.Resizing(3, 7)(picture), L.Resizing(2, 3, interpolation="nearest")(picture)])
    values = x
    for name in ("hard_silu hard_sigmoid mish softsign exponential celu hard_tanh tanh_shrink log_sigmoid squareplus soft_shrink hard_shrink "
                 "sparse_plus sparse_sigmoid").split():
        values = L.Dense(3, activation=name)(values)
    yield "activations", keras.Model(x, values)


def answer(model, inputs):
    values = {name: np.array(numbers, "int32" if name == "ids" else "float32").reshape(shape) for name, (shape, numbers) in inputs.items()}
    if len(values) == 1:  # whatever the tensor is called
        given = list(values.values())[0]
    elif isinstance(getattr(model, "_inputs_struct", None), dict):
        given = values
    else:
        given = [values[x.name] for x in model.inputs]
    outputs = model(given)
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    return [np.array(y).ravel().tolist() for y in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]


def make(directory):
    answers = {}
    for name, model in models():
        random = np.random.default_rng(1)
        inputs = {}
        for x in model.inputs:
            shape = [2] + list(x.shape[1:])
            values = random.uniform(-1, 1, shape)
            if x.name == "ids":
                values = np.array([[1, 2, 0, 0], [3, 4, 1, 0]])
            if x.name == "steps":
                values[:, 2:] = 0.5
            inputs[x.name] = [shape, np.float32(values).ravel().tolist()]
        for ending in (".keras", ".h5") if name in ("last", "deep", "two_calls", "inner_dict_outputs", "mask_lstm") else (".keras",):
            model.save(directory / (name + ending))
            answers[name + ending] = {"x": inputs, "y": answer(model, inputs)}
    (directory / "answers.json").write_text(json.dumps(answers))


def check(directory):
    answers = json.loads((pathlib.Path(__file__).parent / "files/nested/answers.json").read_text())
    wrong = 0
    for name, one in answers.items():
        for ending in (".keras", ".h5"):
            path = directory / (pathlib.Path(name).stem + ending)
            try:
                got = answer(keras.models.load_model(path), one["x"])
                flat = lambda outputs: sorted(value for output in outputs for value in output)
                np.testing.assert_allclose(flat(got), flat(one["y"]), rtol=1e-4, atol=1e-5)
            except Exception as error:
                wrong += 1
                print(path.name, "WRONG", type(error).__name__, str(error)[:600])
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit({"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2])))

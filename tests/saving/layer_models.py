#!/usr/bin/env python3
"""Models of Keras for load_model: layer_models.py make|applications|check DIRECTORY [NAME...].

make: writes DIRECTORY/*.keras, or those of the names, and answers.json: shape and values of the input, all outputs, and those
after a step of SGD where weights have constraints or penalties; the loss of these, penalties included.
applications: writes EfficientNetB0 and ConvNeXtTiny of keras.applications in the same way.
check: opens DIRECTORY/saved_*.keras, which save_model made of these files, and compares the answers.
Exit status 77 where TensorFlow is not installed.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import keras, np, tf
from keras.src.applications.convnext import LayerScale

L, C, R = keras.layers, keras.constraints, keras.regularizers
RANDOM = np.random.default_rng(5)


def embedded(x):
    return L.Embedding(8, 4, mask_zero=True)(x)


def of_tokens(function):
    x = keras.Input((5,), dtype="int32", name="ids")
    return keras.Model(x, function(x))


def additive(x):
    e = embedded(x)
    return L.LSTM(3)(L.AdditiveAttention()([L.GRU(4, return_sequences=True)(e), e]))


def concat(x):
    e = L.Embedding(8, 4)(x)
    return L.Attention(score_mode="concat", use_scale=True)([e, e, e], use_causal_mask=True)


def dot(x):
    e = embedded(x)
    return L.GlobalAveragePooling1D()(L.Attention(use_scale=True)([e, e]))


def transformer(x):
    e = embedded(x)
    h = L.LayerNormalization()(L.Add()([e, L.MultiHeadAttention(2, 2)(e, e)]))
    f = L.Dense(4)(L.Dense(8, "gelu")(h))
    return L.Dense(2)(L.GlobalAveragePooling1D()(L.LayerNormalization()(L.Add()([h, f]))))


def constrained():
    lstm = L.LSTM(3, return_sequences=True, kernel_constraint=C.MaxNorm(2.0),
                  recurrent_constraint="non_neg", bias_constraint=C.MinMaxNorm(0.1, 0.2, 0.5))
    return keras.Sequential([
        keras.Input((5,), dtype="int32"),
        L.Embedding(8, 4, embeddings_constraint=C.UnitNorm(axis=1)), L.Bidirectional(lstm),
        L.Dropout(0.3, noise_shape=(None, 1, 6)), L.Conv1D(2, 2, kernel_constraint="non_neg"),
        L.GlobalMaxPooling1D(), L.Dense(2, kernel_constraint="max_norm", bias_constraint="non_neg")])


def stateful():
    return keras.Sequential([
        keras.Input(batch_shape=(3, 5), dtype="int32"), L.Embedding(8, 4),
        L.LSTM(3, stateful=True, return_sequences=True),
        L.Bidirectional(L.SimpleRNN(2, stateful=True, return_sequences=True)),
        L.GRU(2, stateful=True)])


def stateful_graph():
    x = keras.Input((5,), batch_size=3, dtype="int32", name="ids")
    e = L.Embedding(8, 4)(x)
    inner = keras.Sequential([keras.Input(batch_shape=(3, 5, 4)), L.GRU(2, stateful=True)])
    return keras.Model(x, L.Dense(2)(L.Concatenate()([inner(e), L.LSTM(2, stateful=True)(e)])))


def fixed_batch():
    return keras.Sequential([keras.Input(batch_shape=(3, 5), dtype="int32"), L.Embedding(8, 4),
                             L.SimpleRNN(2)])


def constrained_steps(x):
    e = L.Embedding(8, 4)(x)
    a = L.MultiHeadAttention(2, 3, kernel_constraint=C.MaxNorm(0.5), bias_constraint="non_neg")(e, e)
    n = L.LayerNormalization(gamma_constraint=C.MinMaxNorm(0.5, 0.9), beta_constraint="non_neg")(a)
    d = L.EinsumDense("abc,cd->abd", (None, 4), bias_axes="d", kernel_constraint=C.UnitNorm(),
                      bias_constraint=C.MaxNorm(0.1))(n)
    return L.GlobalAveragePooling1D()(L.PReLU(alpha_constraint="non_neg", shared_axes=[1])(d))


def constrained_pictures():
    return keras.Sequential([
        keras.Input((9, 8, 3)),
        L.SeparableConv2D(4, 3, depthwise_constraint=C.MaxNorm(0.4, axis=[0, 1]),
                          pointwise_constraint="non_neg", bias_constraint=C.MaxNorm(0.2)),
        L.BatchNormalization(gamma_constraint=C.MaxNorm(0.3), beta_constraint="non_neg"),
        L.GroupNormalization(2, gamma_constraint="non_neg", beta_constraint=C.UnitNorm()),
        L.GlobalAveragePooling2D()])


def pictures():
    return keras.Sequential([
        keras.Input((9, 8, 3)), L.Conv2D(4, 3, kernel_constraint=C.MaxNorm(1, axis=[0, 1, 2])),
        LayerScale(1e-6, 4), L.DepthwiseConv2D(2, depthwise_constraint="non_neg"),
        L.UpSampling2D(2, interpolation="bilinear"), L.Resizing(5, 7),
        L.GlobalAveragePooling2D()])


def classifier(x):
    h = L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="sum")(embedded(x))
    return L.Dense(2, "softmax")(L.LSTM(2)(h))


def convolutions(x):
    h = L.Conv1D(6, 3, activation="relu", padding="causal")(L.Embedding(8, 4)(x))
    return L.Dense(1, "sigmoid")(L.GlobalMaxPooling1D()(h))


def penalized_pictures():
    return keras.Sequential([
        keras.Input((9, 8, 3)),
        L.SeparableConv2D(4, 3, depthwise_regularizer=R.L1(0.1), pointwise_regularizer=R.L2(0.2),
                          bias_regularizer=R.L1L2(0.1, 0.3)),
        L.BatchNormalization(beta_regularizer=R.L1(0.2), gamma_regularizer=R.L2(0.1)),
        L.DepthwiseConv2D(2, depthwise_regularizer=R.L2(0.3), bias_regularizer=R.L1(0.2),
                          bias_constraint="non_neg"),
        L.GroupNormalization(2, beta_regularizer=R.L2(0.4), gamma_regularizer=R.L1(0.1),
                             gamma_constraint="non_neg"),
        L.Conv2DTranspose(2, 2, kernel_regularizer=R.L1(0.1), bias_regularizer=R.L2(0.2)),
        L.GlobalAveragePooling2D()])


def penalized_steps(x):
    def gates(layer, **options):
        return layer(3, kernel_regularizer=R.L1(0.1), recurrent_regularizer=R.L2(0.2),
                     bias_regularizer=R.L1L2(0.1, 0.2), return_sequences=True, **options)
    e = L.Embedding(8, 4, embeddings_regularizer=R.L1L2(0.1, 0.2),
                    embeddings_constraint=C.MaxNorm(0.5, axis=1))(x)
    h = L.Conv1D(3, 2, kernel_regularizer=R.L2(0.1), bias_regularizer=R.L1(0.3))(e)
    h = L.LayerNormalization(beta_regularizer=R.L1(0.1), gamma_regularizer=R.L2(0.2))(h)
    h = L.Bidirectional(gates(L.LSTM, kernel_constraint="non_neg"))(h)
    h = gates(L.SimpleRNN, recurrent_constraint="unit_norm")(gates(L.GRU)(h))
    h = L.TimeDistributed(L.Dense(2, kernel_regularizer=R.L1(0.1)))(h)
    return L.GlobalAveragePooling1D()(L.PReLU(alpha_regularizer=R.L2(0.1))(h))


def sizes():
    return keras.Sequential([
        keras.Input((9, 8, 3)), L.Cropping2D(((1, 0), (2, 1))), L.CenterCrop(7, 4),
        L.Conv2DTranspose(4, 3, 2, output_padding=1, activity_regularizer=R.L2(0.1)), L.ELU(0.5),
        L.BatchNormalization(axis=1), L.GroupNormalization(2, axis=-1), L.Identity(),
        L.Reshape((4, 4, 10, 4)), L.Conv3D(3, 2, padding="same", kernel_regularizer=R.L1(0.1)),
        L.MaxPooling3D(2, padding="same"), L.Conv3DTranspose(2, 2, 2), L.ZeroPadding3D((1, 0, (0, 1))),
        L.Cropping3D((1, 0, (1, 0))), L.UpSampling3D((1, 2, 1)), L.AveragePooling3D(2),
        L.AdaptiveAveragePooling3D((2, 3, 3)), L.UnitNormalization(), L.SpatialDropout3D(0.3),
        L.GlobalAveragePooling3D(keepdims=True), L.ActivityRegularization(0.1, 0.2),
        L.GlobalMaxPooling3D()])


def lengths(x):
    e = L.Embedding(8, 4, activity_regularizer=R.L1(0.1))(x)
    h = L.DepthwiseConv1D(2, depth_multiplier=2, depthwise_regularizer=R.L2(0.1))(e)
    h = L.SeparableConv1D(3, 2, padding="same", activity_regularizer=R.L2(0.2))(h)
    h = L.Conv1DTranspose(4, 3, 2, "same", output_padding=1)(L.AlphaDropout(0.2, noise_shape=(None, 1, 3))(h))
    h = L.UpSampling1D(2)(L.ZeroPadding1D((2, 1))(L.Cropping1D((1, 0))(h)))
    h = L.AdaptiveMaxPooling1D(4)(L.GaussianDropout(0.3)(h))
    h = L.LSTM(3, recurrent_dropout=0.2, activity_regularizer=R.L1L2(0.1, 0.2), return_sequences=True)(h)
    h = L.Bidirectional(L.GRU(2, activity_regularizer=R.L2(0.1)))(h)
    return L.Dense(2, activity_regularizer=R.L1(0.3))(h)


def spectral(x):
    def norm(layer, **options):
        return L.SpectralNormalization(layer, **options)
    e = L.Embedding(8, 4)(x)
    h = norm(L.Conv1D(4, 2, kernel_regularizer=R.L2(0.1)), power_iterations=2)(e)
    h = norm(norm(L.Dense(3, activation="tanh", bias_regularizer=R.L1(0.1))))(h)
    return L.Dense(2)(L.GlobalAveragePooling1D()(L.BatchNormalization()(h)))


def cells(x):
    e = embedded(x)
    h = L.RNN([L.LSTMCell(3, kernel_constraint="non_neg", dropout=0.1), L.GRUCell(2, bias_regularizer=R.L2(0.1))],
              return_sequences=True)(e)
    h = L.Bidirectional(L.RNN(L.SimpleRNNCell(2, kernel_regularizer=R.L1(0.1)), return_sequences=True), "sum")(h)
    last = L.LSTMCell(2, unit_forget_bias=False, recurrent_activation="hard_sigmoid")
    return L.Dense(2)(L.RNN(last, go_backwards=True, activity_regularizer=R.L2(0.1))(h))


def frames():
    return keras.Sequential([
        keras.Input((3, 5, 6, 2)), L.ConvLSTM2D(3, (2, 3), padding="same", return_sequences=True, recurrent_dropout=0.2,
                                                kernel_regularizer=R.L2(0.1)),
        L.Bidirectional(L.ConvLSTM2D(2, 2, 2, bias_regularizer=R.L1(0.1), return_sequences=True)),
        L.Reshape((3, 6, 4)), L.ConvLSTM1D(2, 2, dilation_rate=2, recurrent_constraint="non_neg", return_sequences=True),
        L.Reshape((3, 2, 2, 1, 2)), L.ConvLSTM3D(2, (2, 1, 1), go_backwards=True, use_bias=False),
        L.Flatten(), L.UnitNormalization()])


def resized():
    return keras.Sequential([
        keras.Input((9, 8, 3)), L.Resizing(5, 7, "bicubic", crop_to_aspect_ratio=True), L.Resizing(6, 6, "lanczos3", antialias=True),
        L.Resizing(4, 9, pad_to_aspect_ratio=True, fill_value=0.5), L.UpSampling2D(2, interpolation="lanczos5"),
        L.Conv2D(3, 3, 4), L.Flatten()])


def steps_of_keras(x):
    h = L.Embedding(8, 4)(x)
    h = L.MultiHeadAttention(2, 3, sliding_window=2, use_gate=True)(h, h)
    h = L.Bidirectional(L.LSTM(3, return_sequences=True, unroll=True), "ave", backward_layer=L.GRU(
        3, return_sequences=True, go_backwards=True, activation="relu"))(h)
    h = L.Reshape((5, 3, 1))(h)
    h = L.MultiHeadAttention(2, 2, attention_axes=(2,), output_shape=3)(h, h)
    h = L.BatchNormalization(renorm=True, renorm_clipping={"rmax": 1.5, "dmax": 0.5}, renorm_momentum=0.7)(h)
    h = L.Flatten()(h)
    return L.Concatenate()([L.Dense(2)(h), L.Dense(4, "glu")(L.Dense(4, "sparsemax")(h))])


MODELS = {"attention": lambda: of_tokens(dot), "attention_concat": lambda: of_tokens(concat),
          "additive_attention": lambda: of_tokens(additive), "constraints": constrained,
          "stateful": stateful, "pictures": pictures, "transformer": lambda: of_tokens(transformer),
          "classifier": lambda: of_tokens(classifier),
          "convolutions": lambda: of_tokens(convolutions), "stateful_graph": stateful_graph,
          "fixed_batch": fixed_batch, "constrained_pictures": constrained_pictures,
          "constrained_steps": lambda: of_tokens(constrained_steps),
          "penalized_pictures": penalized_pictures,
          "penalized_steps": lambda: of_tokens(penalized_steps),
          "penalized_sizes_of_pictures": sizes, "penalized_lengths": lambda: of_tokens(lengths),
          "penalized_spectral": lambda: of_tokens(spectral),
          "penalized_cells": lambda: of_tokens(cells), "penalized_frames": frames,
          "resized_pictures": resized, "steps_of_keras": lambda: of_tokens(steps_of_keras)}
TOKENS = np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0], [1, 1, 1, 1, 1]], "int32")


def randomize(model):
    for weight in model.weights:
        positive = weight.path.endswith("moving_variance")
        weight.assign(RANDOM.uniform(0.5 if positive else -0.5, 1.5 if positive else 0.5,
                                     weight.shape))


def write(folder, name, model, x):
    y = np.asarray(model(x, training=False))
    for layer in model.layers:
        if getattr(layer, "stateful", False):
            layer.reset_state()
    model.save(folder / f"{name}.keras")
    answer = {"x": [list(x.shape), [float(v) for v in x.ravel()]], "ids": x.dtype.kind == "i",
              "y": [float(v) for v in y.ravel()]}
    if name.startswith("penalized"):
        answer["loss"] = float(tf.reduce_sum(y ** 2) + sum(model.losses))
        model.compile(loss="mse")
        answer["evaluate"] = model.evaluate(x, 0 * y, verbose=0)
    # Not where TensorFlow's MaxPooling3D gives the gradient to each of equal maxima.
    if name.startswith(("constrain", "penalized")) and name != "penalized_sizes_of_pictures":
        answer["after_step"] = [float(v) for v in np.ravel(after_step(model, x))]
    return answer


def after_step(model, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=False) ** 2) + sum(model.losses)
    weights = model.trainable_variables
    keras.optimizers.SGD(0.125).apply_gradients(zip(tape.gradient(loss, weights), weights))
    return model(x, training=False)


def input_of(name):
    shape = {"pictures": (2, 9, 8, 3), "frames": (2, 3, 5, 6, 2)}.get(name.rpartition("_")[2])
    return RANDOM.uniform(0, 1, shape).astype("float32") if shape else TOKENS


def make(folder, *names):
    """Writes the models of these names, or all of them, and keeps the other answers."""
    path = folder / "answers.json"
    answers = json.loads(path.read_text()) if names else {}
    for name, create in MODELS.items():
        if names and name not in names:
            continue
        model = create()
        randomize(model)
        answers[name] = write(folder, name, model, input_of(name))
    path.write_text(json.dumps(answers))


def applications(folder):
    keras.utils.set_random_seed(5)
    answers = {}
    for name, create in {"efficientnet": keras.applications.EfficientNetB0,
                         "convnext": keras.applications.ConvNeXtTiny}.items():
        model = create(weights=None, classes=10, input_shape=(64, 64, 3))
        for weight in model.weights:  # statistics that are no zeros and ones
            if weight.path.endswith(("moving_mean", "beta")):
                weight.assign(RANDOM.uniform(-0.2, 0.2, weight.shape))
            elif weight.path.endswith("moving_variance"):
                weight.assign(RANDOM.uniform(0.8, 1.2, weight.shape))
        answers[name] = write(folder, name, model,
                              RANDOM.uniform(0, 255, (2, 64, 64, 3)).astype("float32"))
    (folder / "answers.json").write_text(json.dumps(answers))


def check(folder):
    answers = json.loads((folder / "answers.json").read_text())
    for path in sorted(folder.glob("saved_*.keras")):
        answer = answers[path.stem.removeprefix("saved_")]
        x = np.array(answer["x"][1], "int32" if answer["ids"] else "float32")
        model = keras.models.load_model(path)
        y = model(x.reshape(answer["x"][0]), training=False)
        np.testing.assert_allclose(np.ravel(y), answer["y"], rtol=1e-4, atol=1e-5, err_msg=path.stem)
        if "loss" in answer:
            np.testing.assert_allclose(tf.reduce_sum(y ** 2) + sum(model.losses), answer["loss"],
                                       rtol=1e-5, err_msg=path.stem)


if __name__ == "__main__":
    globals()[sys.argv[1]](pathlib.Path(sys.argv[2]), *sys.argv[3:])

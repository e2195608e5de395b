"""Which numbers of axes a layer takes, for tensorflow_cases.py: what rank_cases.cpp does here."""
import keras
import numpy as np

L = keras.layers
SHAPES = [(3,), (3, 4), (3, 4, 4), (3, 4, 4, 4), (3, 4, 4, 4, 4), (3, 4, 4, 4, 4, 4)]
MAKES = {
    "dense": lambda: L.Dense(2), "einsum dense": lambda: L.EinsumDense("...x,xy->...y", 2), "embedding": lambda: L.Embedding(8, 2),
    "activation": lambda: L.Activation("relu"), "softmax": lambda: L.Softmax(), "prelu": lambda: L.PReLU(),
    "relu": lambda: L.ReLU(), "leaky relu": lambda: L.LeakyReLU(), "elu": lambda: L.ELU(), "identity": lambda: L.Identity(),
    "batch norm": lambda: L.BatchNormalization(), "layer norm": lambda: L.LayerNormalization(),
    "group norm": lambda: L.GroupNormalization(1), "unit norm": lambda: L.UnitNormalization(), "rms norm": lambda: L.RMSNormalization(),
    "dropout": lambda: L.Dropout(0.5), "gaussian noise": lambda: L.GaussianNoise(0.5), "gaussian dropout": lambda: L.GaussianDropout(0.5),
    "alpha dropout": lambda: L.AlphaDropout(0.5), "spatial dropout 1d": lambda: L.SpatialDropout1D(0.5),
    "spatial dropout 2d": lambda: L.SpatialDropout2D(0.5), "spatial dropout 3d": lambda: L.SpatialDropout3D(0.5),
    "flatten": lambda: L.Flatten(), "reshape": lambda: L.Reshape((-1,)), "permute": lambda: L.Permute((2, 1)),
    "repeat vector": lambda: L.RepeatVector(2), "masking": lambda: L.Masking(),
    "lstm": lambda: L.LSTM(2), "gru": lambda: L.GRU(2), "simple rnn": lambda: L.SimpleRNN(2), "rnn": lambda: L.RNN(L.LSTMCell(2)),
    "bidirectional": lambda: L.Bidirectional(L.LSTM(2)), "time distributed": lambda: L.TimeDistributed(L.Dense(2)),
    "spectral": lambda: L.SpectralNormalization(L.Dense(2)), "heads": lambda: L.MultiHeadAttention(2, 2),
    "attention": lambda: L.Attention(), "additive attention": lambda: L.AdditiveAttention()}
for axes in (1, 2, 3):
    for name, make in {
            "conv": lambda layer: layer(2, 1), "conv transpose": lambda layer: layer(2, 1), "conv lstm": lambda layer: layer(2, 1),
            "max pooling": lambda layer: layer(1), "average pooling": lambda layer: layer(1), "global max": lambda layer: layer(),
            "global average": lambda layer: layer(), "zero padding": lambda layer: layer(1), "cropping": lambda layer: layer(1),
            "up sampling": lambda layer: layer(2), "separable": lambda layer: layer(2, 1), "depthwise": lambda layer: layer(1)}.items():
        kind = {"conv": "Conv", "conv transpose": "Conv", "conv lstm": "ConvLSTM", "max pooling": "MaxPooling",
                "average pooling": "AveragePooling", "global max": "GlobalMaxPooling", "global average": "GlobalAveragePooling",
                "zero padding": "ZeroPadding", "cropping": "Cropping", "up sampling": "UpSampling", "separable": "SeparableConv",
                "depthwise": "DepthwiseConv"}[name] + f"{axes}D" + ("Transpose" if name == "conv transpose" else "")
        if hasattr(L, kind):
            MAKES[f"{name} {axes}d"] = lambda make=make, kind=kind: make(getattr(L, kind))


def answer(name, make, shape):
    x = np.ones(shape, np.int32 if name == "embedding" else np.float32)
    try:
        layer = make()
        if name == "heads":
            y = layer(x, x)
        else:
            y = layer([x, x] if name.endswith("attention") else x)
    except Exception:  # its kind differs between the two languages
        return "refused"
    return "".join(f"[{size}]" for size in y.shape)


def rank_cases(case):
    for name, make in MAKES.items():
        case(f"layers/axes of {name}", lambda: " ".join(answer(name, make, shape) for shape in SHAPES))

"""Each option of each optimizer away from its default over several steps, schedules at odd steps,
constraints, penalties and initializers, for tensorflow_cases.py: what optimizer_option_cases.cpp does
here."""
import keras
import numpy as np
import tensorflow as tf
from keras.src.initializers.random_initializers import compute_fans

from layer_cases import sums, uniform

O, S, I = keras.optimizers, keras.optimizers.schedules, keras.initializers
IDS = np.array([2, 0, 2, 3], np.int32)
STEPS = 5


def dense(step):
    return [uniform((3, 2), 10 * step + 1) * 2, uniform((2,), 10 * step + 2) * 2]


def trained(make, kind):
    optimizer = make()
    if kind == "sparse":
        table = tf.Variable(uniform((4, 2), 5), name="table")
        weights = [table]
        optimizer.build(weights)
        for step in range(STEPS):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(table, IDS if step % 2 == 0 else IDS[1:2])
                                     * uniform((4 if step % 2 == 0 else 1, 2), step + 50))
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
    else:
        weights = [tf.Variable(uniform((3, 2), 3), name="kernel"), tf.Variable(uniform((2,), 4), name="bias")]
        optimizer.build(weights)
        for step in range(STEPS):
            gradients = [tf.constant(one) for one in dense(step)]
            if kind == "none" and step % 2 == 1:
                gradients[0] = None
            optimizer.apply_gradients(list(zip(gradients, weights)))
    text = [sums("weight", weight) for weight in weights] + [str(int(optimizer.iterations))]
    if optimizer.use_ema:
        optimizer.finalize_variable_values([v for v in optimizer._trainable_variables])
        text += [sums("average", weight) for weight in weights]
    return " | ".join(text)


COMMON = {
    "defaults": {}, "weight_decay": {"weight_decay": 0.1}, "weight_decay 0": {"weight_decay": 0.0},
    "clipnorm": {"clipnorm": 0.5}, "clipvalue": {"clipvalue": 0.3}, "global_clipnorm": {"global_clipnorm": 0.5},
    "use_ema": {"use_ema": True, "ema_momentum": 0.5},
    "ema_overwrite_frequency": {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
    "schedule": {"learning_rate": S.ExponentialDecay(0.2, 2, 0.5)},
    "weight_decay and clipnorm": {"weight_decay": 0.1, "clipnorm": 0.5},
    "weight_decay and averages": {"weight_decay": 0.1, "use_ema": True}, "two clips": {"clipnorm": 0.5, "clipvalue": 0.3},
    "clipnorm 0": {"clipnorm": 0.0}}
OWN = {
    "SGD": {"momentum": {"momentum": 0.9}, "nesterov": {"momentum": 0.9, "nesterov": True},
            "nesterov alone": {"nesterov": True}, "momentum 1": {"momentum": 1.0}, "momentum -1": {"momentum": -1.0},
            "momentum 2": {"momentum": 2.0}, "momentum and decay": {"momentum": 0.5, "weight_decay": 0.1}},
    "Adam": {"amsgrad": {"amsgrad": True}, "betas": {"beta_1": 0.5, "beta_2": 0.7}, "epsilon": {"epsilon": 0.1},
             "beta_1 0": {"beta_1": 0.0}, "amsgrad and decay": {"amsgrad": True, "weight_decay": 0.1}},
    "AdamW": {"amsgrad": {"amsgrad": True}, "betas": {"beta_1": 0.5, "beta_2": 0.7}, "epsilon": {"epsilon": 0.1}},
    "Adamax": {"betas": {"beta_1": 0.5, "beta_2": 0.7}, "epsilon": {"epsilon": 0.1}},
    "Nadam": {"betas": {"beta_1": 0.5, "beta_2": 0.7}, "epsilon": {"epsilon": 0.1}},
    "Adagrad": {"initial": {"initial_accumulator_value": 0.5}, "initial 0": {"initial_accumulator_value": 0.0},
                "epsilon": {"epsilon": 0.1}},
    "Adadelta": {"rho": {"rho": 0.5}, "epsilon": {"epsilon": 0.1}},
    "RMSprop": {"rho": {"rho": 0.5}, "momentum": {"momentum": 0.9}, "centered": {"centered": True},
                "centered, momentum": {"centered": True, "momentum": 0.5}, "epsilon": {"epsilon": 0.1}},
    "Lamb": {"betas": {"beta_1": 0.5, "beta_2": 0.7}, "epsilon": {"epsilon": 0.1}},
    "Lion": {"betas": {"beta_1": 0.5, "beta_2": 0.7}, "beta_1 1": {"beta_1": 1.0}, "beta_1 0": {"beta_1": 0.0}},
    "Ftrl": {"power": {"learning_rate_power": -0.3}, "power 0": {"learning_rate_power": 0.0},
             "initial": {"initial_accumulator_value": 0.5}, "l1": {"l1_regularization_strength": 0.3},
             "l2": {"l2_regularization_strength": 0.3}, "shrinkage": {"l2_shrinkage_regularization_strength": 0.3},
             "beta": {"beta": 0.5}, "all": {"learning_rate_power": -0.7, "l1_regularization_strength": 0.1,
                                            "l2_regularization_strength": 0.2, "beta": 0.1,
                                            "l2_shrinkage_regularization_strength": 0.3}}}


def optimizers(check):
    for name, own in OWN.items():
        for text, options in {**COMMON, **own}.items():
            given = {"learning_rate": 0.1, **options}
            for kind in ("dense", "sparse", "none"):
                check(f"{name} {text}, {kind}", lambda: trained(lambda: getattr(O, name)(**given), kind))
        check(f"{name} default rate", lambda: trained(getattr(O, name), "dense"))

        def excluded():
            optimizer = getattr(O, name)(learning_rate=0.1, weight_decay=0.1)
            optimizer.exclude_from_weight_decay(var_names=["bias"])
            return optimizer
        check(f"{name} excluded bias", lambda: trained(excluded, "dense"))


SCHEDULES = {
    "piecewise": lambda: S.PiecewiseConstantDecay([2, 10], [1.0, 0.5, 0.1]),
    "piecewise of one": lambda: S.PiecewiseConstantDecay([3], [1.0, 0.5]),
    "piecewise of none": lambda: S.PiecewiseConstantDecay([], [1.0]),
    "piecewise of equals": lambda: S.PiecewiseConstantDecay([3, 3], [1.0, 0.5, 0.1]),
    "piecewise not sorted": lambda: S.PiecewiseConstantDecay([10, 2], [1.0, 0.5, 0.1]),
    "piecewise too few": lambda: S.PiecewiseConstantDecay([2, 10], [1.0, 0.5]),
    "exponential": lambda: S.ExponentialDecay(0.1, 10, 0.5),
    "exponential staircase": lambda: S.ExponentialDecay(0.1, 10, 0.5, staircase=True),
    "exponential growing": lambda: S.ExponentialDecay(0.1, 10, 1.5),
    "exponential 0": lambda: S.ExponentialDecay(0.1, 10, 0.0),
    "exponential no steps": lambda: S.ExponentialDecay(0.1, 0, 0.5),
    "cosine": lambda: S.CosineDecay(0.1, 20), "cosine alpha": lambda: S.CosineDecay(0.1, 20, 0.1),
    "cosine alpha 2": lambda: S.CosineDecay(0.1, 20, 2.0), "cosine no steps": lambda: S.CosineDecay(0.1, 0),
    "cosine warmup": lambda: S.CosineDecay(0.0, 20, 0.0, warmup_target=0.1, warmup_steps=5),
    "cosine warmup alpha": lambda: S.CosineDecay(0.05, 10, 0.2, warmup_target=0.1, warmup_steps=10),
    "cosine warmup target alone": lambda: S.CosineDecay(0.05, 20, 0.0, warmup_target=0.1),
    "cosine warmup steps alone": lambda: S.CosineDecay(0.05, 20, 0.0, warmup_steps=5),
    "cosine warmup down": lambda: S.CosineDecay(0.5, 20, 0.0, warmup_target=0.1, warmup_steps=5),
    "restarts": lambda: S.CosineDecayRestarts(0.1, 4),
    "restarts all": lambda: S.CosineDecayRestarts(0.1, 4, t_mul=1.5, m_mul=0.5, alpha=0.1),
    "restarts t_mul 1": lambda: S.CosineDecayRestarts(0.1, 4, t_mul=1.0, m_mul=0.5),
    "restarts t_mul 0.5": lambda: S.CosineDecayRestarts(0.1, 4, t_mul=0.5),
    "polynomial": lambda: S.PolynomialDecay(0.1, 20, 0.01, 2.0), "polynomial defaults": lambda: S.PolynomialDecay(0.1, 20),
    "polynomial cycle": lambda: S.PolynomialDecay(0.1, 8, 0.01, 1.0, cycle=True),
    "polynomial cycle power": lambda: S.PolynomialDecay(0.1, 8, 0.01, 0.5, cycle=True),
    "polynomial rising": lambda: S.PolynomialDecay(0.1, 20, 1.0, 0.5),
    "polynomial no steps": lambda: S.PolynomialDecay(0.1, 0),
    "inverse time": lambda: S.InverseTimeDecay(0.1, 10, 0.5),
    "inverse time staircase": lambda: S.InverseTimeDecay(0.1, 10, 0.5, staircase=True)}


def schedules(check):
    for name, make in SCHEDULES.items():
        for step in (0, 1, 2, 3, 4, 5, 9, 10, 11, 19, 20, 21, 40, 1000, -1, -5, 2.5, 0.5, 19.75):
            check(f"schedule {name}, step {step}", lambda: f"{float(make()(step)):.6g}")


def constraints(check):
    C, R = keras.constraints, keras.regularizers
    matrix, kernel = uniform((4, 3), 1) * 3, uniform((2, 2, 3, 4), 2) * 2
    zero_column = matrix * np.array([0, 1, 1], np.float32)
    for text, values in {"matrix": matrix, "kernel": kernel, "zeros": zero_column, "vector": matrix[0]}.items():
        for axis in (0, 1, -1, [0, 1], [0, 1, 2]):
            for name, make in {
                    "max_norm": lambda: C.MaxNorm(1.5, axis), "unit_norm": lambda: C.UnitNorm(axis),
                    "min_max": lambda: C.MinMaxNorm(0.5, 1.5, 1.0, axis),
                    "min_max rate": lambda: C.MinMaxNorm(0.5, 1.5, 0.3, axis)}.items():
                check(f"{name} axis {axis} of {text}", lambda: sums("w", make()(values)))
        for name, make in {"max_norm": C.MaxNorm, "unit_norm": C.UnitNorm, "min_max": C.MinMaxNorm, "non_neg": C.NonNeg,
                           "max_norm 0": lambda: C.MaxNorm(0), "min_max of equals": lambda: C.MinMaxNorm(1, 1)}.items():
            check(f"{name} of {text}", lambda: sums("w", make()(values)))
    nan = np.array([np.nan, -1, 0, -0.0], np.float32)
    check("non_neg of nan", lambda: " ".join(f"{one:g}" for one in np.asarray(C.NonNeg()(nan))))
    for name, make in {"l1": R.L1, "l2": R.L2, "l1_l2": R.L1L2, "l1 0.5": lambda: R.L1(0.5), "l2 0.5": lambda: R.L2(0.5),
                       "both": lambda: R.L1L2(0.1, 0.2), "negative": lambda: R.L2(-0.1)}.items():
        def penalty(values):
            source = tf.Variable(values)
            with tf.GradientTape() as tape:
                loss = make()(source)
            gradient = tape.gradient(loss, source, unconnected_gradients="zero")
            return f"{float(loss):.7g} " + sums("gradient", gradient)
        check(f"penalty {name}", lambda: penalty(matrix))
        check(f"penalty {name} of zeros", lambda: penalty(zero_column))


SCALES = {"glorot_uniform": I.GlorotUniform, "glorot_normal": I.GlorotNormal, "he_uniform": I.HeUniform,
          "he_normal": I.HeNormal, "lecun_uniform": I.LecunUniform, "lecun_normal": I.LecunNormal}


def describe(values):
    """Mean, deviation and limits in two figures: what a distribution is known by."""
    values = np.asarray(values, np.float64).ravel()
    spread = np.abs(values - values.mean()).max() / max(values.std(), 1e-30)
    kind = "uniform" if spread < 1.9 else "truncated" if spread < 2.5 else "normal"
    return f"{values.mean() / 10 + 1:.2f} {kind} {np.log2(values.std()):.1f}"


def initializers(check):
    for shape in ((), (7,), (3, 5), (4, 3, 5), (2, 4, 3, 5), (2, 3, 4, 3, 5), (0, 5), (1, 1)):
        check(f"fans of {list(shape)}", lambda: " ".join(f"{float(one):g}" for one in compute_fans(shape)))
    for name, make in SCALES.items():
        for shape in ((20000,), (200, 400), (400, 200), (10, 100, 200), (5, 5, 100, 50), (2, 3, 4, 50, 100), (40000, 1)):
            check(f"{name} of {list(shape)}", lambda: describe(make(seed=1)(shape)))
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("uniform", "truncated_normal", "untruncated_normal"):
            for scale in (0.5, 2.0, 8.0):
                check(f"variance {mode} {distribution} {scale}", lambda: describe(I.VarianceScaling(
                    scale, mode, distribution, seed=1)((100, 400))))
    for scale in (0.0, -1.0):
        check(f"variance scale {scale}", lambda: describe(I.VarianceScaling(scale)((100, 400))))
    for name, make in {"random_normal": lambda: I.RandomNormal(seed=1), "random_uniform": lambda: I.RandomUniform(seed=1),
                       "truncated_normal": lambda: I.TruncatedNormal(seed=1),
                       "random_normal 2, 3": lambda: I.RandomNormal(2, 3, seed=1),
                       "truncated_normal 2, 3": lambda: I.TruncatedNormal(2, 3, seed=1),
                       "random_uniform 1, 3": lambda: I.RandomUniform(1, 3, seed=1),
                       "orthogonal": lambda: I.Orthogonal(seed=1), "orthogonal 2": lambda: I.Orthogonal(2, seed=1)}.items():
        check(f"{name}", lambda: describe(make()((300, 300))))
    for shape in ((3, 5), (5, 3), (2, 3, 4)):
        def product(gain):
            matrix = np.asarray(I.Orthogonal(gain, seed=1)(shape)).reshape(-1, shape[-1])
            square = matrix @ matrix.T if matrix.shape[0] < matrix.shape[1] else matrix.T @ matrix
            return " ".join(f"{abs(one):.3f}" for one in square.ravel())
        for gain in (1.0, 2.0):
            check(f"orthogonal {gain} of {list(shape)}, product", lambda: product(gain))
    check("orthogonal of one axis", lambda: describe(I.Orthogonal(seed=1)((3,))))
    for name, make in {"zeros": I.Zeros, "ones": I.Ones, "constant 2.5": lambda: I.Constant(2.5)}.items():
        check(f"{name} of [2, 2]", lambda: " ".join(f"{one:g}" for one in np.ravel(make()((2, 2)))))
    for gain in (1.0, 2.5):
        for shape in ((2, 2), (2, 3), (3, 2), (2,), (2, 2, 2)):
            check(f"identity {gain} of {list(shape)}",
                  lambda: " ".join(f"{one:g}" for one in np.ravel(I.Identity(gain)(shape))))


def optimizer_option_cases(case):
    for part in (optimizers, schedules, constraints, initializers):
        part(lambda name, function: case("options of the update/" + name, function))

"""What tensorflow_cases.py asks the kinds of strategy: plain values in reductions, runs inside of
merge_call, results as arguments, the default strategy's scope, and devices. The same cases as in
strategy_cases.cpp."""
import tensorflow as tf

CPU = "/job:localhost/replica:0/task:0/device:CPU:"
distribute = tf.distribute


def here():
    return distribute.get_replica_context()


def own_id():
    return float(here().replica_id_in_sync_group)


def short(device):
    """CPU:1"""
    assert device.startswith(CPU), device
    return device[len(CPU) - 4:]


def reductions(case, name, strategy):
    def made(value=3.0, **kind):
        with strategy.scope():
            return tf.Variable(value, **kind)

    def on_read():
        variable = made(synchronization=tf.VariableSynchronization.ON_READ,
                        aggregation=tf.VariableAggregation.SUM)
        strategy.run(lambda: variable.assign(own_id() + 3))
        return variable

    values = {"a number": lambda: 1.5, "a whole number": lambda: 2, "a tensor": lambda: tf.constant(1.0),
              "a vector": lambda: tf.constant([1.0, 2.0]), "zero": lambda: tf.constant(0.0),
              "a variable": made, "a variable of MEAN": lambda: made(aggregation=tf.VariableAggregation.MEAN),
              "a sync-on-read variable": on_read, "a plain variable": lambda: tf.Variable(2.0),
              "a reduced value": lambda: strategy.extended.reduce_to("SUM", strategy.run(own_id_tensor), "/cpu:0")}
    for op in ("SUM", "MEAN"):
        for what, value in values.items():
            case(f"{name}/reduce {op} of {what}", lambda: tf.convert_to_tensor(strategy.reduce(op, value(), axis=None)))
        for what, value in (("a vector", lambda: tf.constant([1.0, 2.0])), ("a variable", lambda: made([1.0, 2.0]))):
            case(f"{name}/reduce {op} of {what}, axis 0", lambda: strategy.reduce(op, value(), axis=0))
        case(f"{name}/reduce_to {op} of a tensor", lambda: strategy.extended.reduce_to(op, tf.constant(4.0), "/cpu:0"))
        case(f"{name}/reduce_to {op} of a variable", lambda: tf.convert_to_tensor(
            strategy.extended.reduce_to(op, made(), "/cpu:0")))
    case(f"{name}/gather a vector", lambda: strategy.gather(tf.constant([1.0, 2.0]), 0))
    case(f"{name}/gather a scalar", lambda: strategy.gather(tf.constant(1.0), 0))
    case(f"{name}/gather a variable", lambda: tf.convert_to_tensor(strategy.gather(made([1.0, 2.0]), 0)))


def own_id_tensor():
    return tf.constant(own_id() + 1)


def runs(case, name, strategy):
    results = strategy.experimental_local_results
    run = strategy.run

    def made():
        with strategy.scope():
            return tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)

    def reduced(destination="/cpu:0"):
        return strategy.extended.reduce_to("SUM", run(own_id_tensor), destination)

    def inside(function, *arguments):
        return results(run(lambda: here().merge_call(lambda inner, *all: inner.run(function, args=all), args=arguments)))

    def assigned():
        variable = made()
        inside(lambda: variable.assign_add(own_id_tensor()))
        return results(variable)

    def updated():
        variable = made()
        with strategy.scope():
            strategy.extended.update(variable, lambda copy, value: copy.assign_add(value), args=(reduced(),))
        return results(variable)

    def refused():
        raise ValueError("no")

    def after_errors():
        for attempt in (lambda: inside(refused), lambda: run(refused)):
            try:
                attempt()
            except ValueError:
                pass
        return results(run(lambda: here().all_reduce("SUM", own_id_tensor())))

    def gathered():
        return here().all_gather({"a": tf.constant([own_id()]), "b": [tf.constant([1.0, own_id()])]}, 0)

    case(f"{name}/run of reduce_to", lambda: results(run(lambda x: x * 2, args=(reduced(),))))
    case(f"{name}/run of reduce_to a variable", lambda: results(run(lambda x: x * 2, args=(reduced(made()),))))
    case(f"{name}/local results of reduce_to", lambda: results(reduced()))
    case(f"{name}/update with reduce_to", updated)
    case(f"{name}/all_gather nested, a", lambda: results(run(lambda: gathered()["a"])))
    case(f"{name}/all_gather nested, b", lambda: results(run(lambda: gathered()["b"][0])))
    case(f"{name}/run in merge_call", lambda: inside(own_id_tensor))
    case(f"{name}/run in merge_call, its arguments", lambda: inside(lambda x: x * 10, seven()))
    case(f"{name}/run in merge_call, all_reduce", lambda: inside(lambda: here().all_reduce("SUM", own_id_tensor())))
    case(f"{name}/run in merge_call, twice", lambda: inside(
        lambda: here().merge_call(lambda inner: inner.run(own_id_tensor))))
    case(f"{name}/run in merge_call, assign_add", assigned)
    case(f"{name}/run in merge_call, an error", lambda: inside(refused))
    case(f"{name}/all_reduce after errors", after_errors)


def seven():
    return tf.constant(7.0)


def devices(case, name, strategy):
    results = strategy.experimental_local_results

    def made(**kind):
        with strategy.scope():
            return tf.Variable(1.0, **kind)

    def slots():
        import keras
        with strategy.scope():
            variable = tf.Variable([1.0])
            optimizer = keras.optimizers.SGD(1.0, momentum=0.5)
            optimizer.build([variable])
        return short(optimizer.variables[-1].value.device)

    def elsewhere():
        with strategy.scope(), tf.device("/cpu:3"):
            return short(tf.Variable(1.0).device)

    def beside():
        with strategy.scope():
            with strategy.extended.colocate_vars_with(tf.Variable(1.0)):
                return short(tf.Variable(2.0).device)

    def assigned():
        variable = made()
        with strategy.scope():
            variable.assign(tf.constant(2.0))
        return short(variable.device)

    def copies():
        variable = made()
        return " ".join(short(one.device) for one in getattr(variable, "values", [variable]))

    def inside():
        variable = made()
        return " ".join(short(one) for one in results(strategy.run(lambda: variable.device)))

    case(f"{name}/device of a variable", lambda: short(made().device))
    case(f"{name}/device of a sync-on-read variable", lambda: short(
        made(synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM).device))
    case(f"{name}/devices of its copies", copies)
    case(f"{name}/device after assign", assigned)
    case(f"{name}/device in replicas", inside)
    case(f"{name}/device of slots", slots)
    case(f"{name}/device inside tf.device", elsewhere)
    case(f"{name}/device of a variable beside another", beside)
    case(f"{name}/worker_devices", lambda: " ".join(strategy.extended.worker_devices))
    case(f"{name}/devices of tensors in replicas", lambda: " ".join(
        short(one) for one in results(strategy.run(lambda: (tf.constant(1.0) + 1.0).device))))


def default_scope(case):
    strategy = distribute.get_strategy()

    def on_read():
        variable = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ,
                               aggregation=tf.VariableAggregation.SUM)
        variable.assign_add(1.0)
        return variable.read_value()

    with strategy.scope():
        case("default scope/in_cross_replica_context", distribute.in_cross_replica_context)
        case("default scope/has_strategy", distribute.has_strategy)
        case("default scope/there is a replica context", lambda: here() is not None)
        case("default scope/compute_average_loss", lambda: tf.nn.compute_average_loss(tf.constant([1.0, 3.0])))
        case("default scope/scale_regularization_loss", lambda: tf.nn.scale_regularization_loss(tf.constant(2.0)))
        case("default scope/all_reduce", lambda: here().all_reduce("SUM", tf.constant(2.0)))
        case("default scope/merge_call", lambda: here().merge_call(
            lambda inner, x: inner.reduce("SUM", x, axis=None), args=(tf.constant(4.0),)))
        case("default scope/in a merge_call", lambda: here().merge_call(lambda inner: distribute.in_cross_replica_context()))
        case("default scope/a sync-on-read variable", on_read)
        with strategy.scope():
            case("default scope/inside itself", lambda: here() is not None)
        with distribute.OneDeviceStrategy("/cpu:0").scope():
            case("default scope/another scope inside", lambda: here() is None)
            case("default scope/inside another scope", lambda: strategy.scope().__enter__() is None)
    case("default scope/after it", lambda: here() is not None)


def strategy_cases(case, mirrored):
    central = distribute.experimental.CentralStorageStrategy
    kinds = {"mirrored": mirrored(2), "one device": distribute.OneDeviceStrategy("/cpu:1"),
             "default strategy": distribute.get_strategy(), "central storage": central(["/cpu:1", "/cpu:2"], "/cpu:2")}
    for name, strategy in kinds.items():
        reductions(case, name, strategy)
        runs(case, name, strategy)
        devices(case, name, strategy)
    devices(case, "mirrored the other way", distribute.MirroredStrategy(["/cpu:2", "/cpu:1"]))
    devices(case, "central storage of one", central(["/cpu:1"]))
    default_scope(case)

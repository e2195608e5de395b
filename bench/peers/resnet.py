"""The parts of compare.py that train residual networks."""
from running import PEERS, report_of, rounds_of, run, say, side_by_side

FRAMEWORKS = ("tensorflow", "pytorch")


def trainer(sides, batch, steps, policy, *more):
    return [sides.bin / "resnet50", "--model=resnet50", f"--batch_size={batch}",
            f"--steps={steps}", f"--policy={policy}", *more]


def peer(sides, script, threads, *more):
    done = run([sides.python, "-W", "ignore", PEERS / script, f"--threads={threads}", *more],
               threads)
    return done and {**done[0], "peak_rss_bytes": max(done[1], done[0]["peak_rss_bytes"])}


def measure_resnet(sides, flags):
    """ResNet-50, batch 16: our step, the sum of oneDNN's kernels, and both frameworks."""
    result = {}
    for policy in flags.policies:
        for threads in flags.threads:
            say(f"resnet50, {policy}, {threads} thread(s)")
            calls = {"ours": lambda p=policy, t=threads: report_of(
                         trainer(sides, 16, 8, p, "--strategy=one_device"), t),
                     "kernels": lambda p=policy, t=threads: sides.kernels(
                         "resnet50", 16, 0, t, f"--policy={p}")}
            for framework in FRAMEWORKS if sides.python else []:
                calls[framework] = lambda p=policy, t=threads, f=framework: peer(
                    sides, "resnet_peer.py", t, f"--framework={f}", f"--policy={p}")
            result[f"{policy} {threads}"] = rounds_of(flags.rounds, calls)
    return result


def measure_resnet_workers(sides, flags):
    """ResNet-50, 2 workers with one core and 8 pictures each; and two that train alone."""
    say("resnet50, float32, 2 workers with one core each, batch 8 each")
    calls = {"apart": lambda: side_by_side(
                 trainer(sides, 8, 8, "float32", "--strategy=one_device"), 2),
             "workers": lambda: report_of(
                 [sides.bin / "distribute", "run", "-np", 2, "--",
                  *trainer(sides, 16, 8, "float32")], 1)}
    for framework in FRAMEWORKS if sides.python else []:
        calls[framework] = lambda f=framework: peer(
            sides, "resnet_peer.py", 1, f"--framework={f}", "--workers=2", "--batch_size=8")
    return rounds_of(flags.rounds, calls)


def measure_cifar10(sides, flags):
    """ResNet-9 and ResNet-20 on CIFAR-10 with input pipeline, batch 128, beside TensorFlow's."""
    if not flags.cifar10_dir:
        return say("cifar10: --cifar10_dir is missing; left out")
    result = {}
    data = f"--data_dir={flags.cifar10_dir}"
    for model in ("resnet9", "resnet20"):
        for policy in flags.policies:
            say(f"{model} on CIFAR-10, {policy}, 2 threads")
            same = [f"--model={model}", f"--policy={policy}", data]
            calls = {"ours": lambda s=same: report_of(
                [sides.bin / "resnet50", "--dataset=cifar10", "--batch_size=128",
                 "--optimizer=nesterov", "--learning_rate=0.1", "--weight_decay=5e-4",
                 "--strategy=one_device", "--steps=40", *s], 2)}
            if sides.python:
                calls["tensorflow"] = lambda s=same: peer(sides, "cifar_peer.py", 2, *s)
            result[f"{model} {policy}"] = rounds_of(flags.rounds, calls)
    return result

#!/usr/bin/env python3
"""Kills trainings at random moments while they save; TensorFlow then reads what is left.

Each job saves every other step, so that most moments are moments of saving. All its processes get
SIGKILL at once, after a time drawn at random; then it starts again in the same directory and goes
on, and so on. After each kill TensorFlow finds the newest checkpoint (tf.train.latest_checkpoint),
and opens it and all others that the state file names (tf.train.load_checkpoint), and reads every
tensor, which must be finite. The newest one is compared bit for bit, all tensors of it, with that of
a job which was not killed and has made as many steps; and the step that the trainer says it goes on
from is that of the checkpoint. Two workers with parameter servers make their steps in any order, and a
coordinator's workers shuffle anew at each start: these jobs are compared in the names, types and
shapes of the tensors.

Usage: scripts/kill_checkpoints.py BUILD [--rounds 10] [--seed 1] [--python PYTHON]
--python has TensorFlow (default: python3). Prints a line for each kill; fails when one is bad.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from attacks import built, kill_all

RUN = ["{bin}/distribute", "run", "--grace", "5", "-np", "2", "--"]
SERVERS = ["{bin}/distribute", "run", "--grace", "5", "--ps", "2"]
BY_SERVERS = ["--", "{bin}/mnist_cnn", "--strategy=parameter_server"]
JOBS = {
    "one process": ["{bin}/mnist_cnn"],
    "asynchronous": ["{bin}/mnist_cnn", "--async_checkpoint"],
    "mirrored": ["{bin}/mnist_cnn", "--replicas=2"],
    "multi_worker": [*RUN, "{bin}/mnist_cnn", "--strategy=multi_worker"],
    "elastic": [*RUN, "{bin}/mnist_cnn", "--strategy=multi_worker", "--elastic"],
    "horovod": [*RUN, "{bin}/mnist_cnn", "--api=horovod"],
    "servers": [*SERVERS, "-np", "1", *BY_SERVERS],
    "servers of two": [*SERVERS, "-np", "2", *BY_SERVERS],
    "coordinator": [*SERVERS, "-np", "1", "--chief", *BY_SERVERS],
}
ANY_ORDER = {"servers of two", "coordinator"}  # of steps or pictures
TRAINING = ["--model=tutorial", "--batch_size=8", "--save_steps=2", "--seed=3"]
JUDGE = '''
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np, tensorflow as tf

def tensors(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}

def is_same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape: return False
    return (a == b).all() if a.dtype == object else a.tobytes() == b.tobytes()

def step_of(values):
    names = [n for n in values if n.startswith("optimizer/") and "iterations" in n.lower()]
    return int(values[names[0]])

def is_finite(value):
    value = np.asarray(value)
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())

def form(value):
    value = np.asarray(value)
    return value.dtype, value.shape

def judge(directory, reference, bits):
    newest = tf.train.latest_checkpoint(directory)
    if newest is None: return "none"
    for prefix in tf.train.get_checkpoint_state(directory).all_model_checkpoint_paths:
        values = tensors(prefix)
        infinite = [n for n, v in values.items() if not is_finite(v)]
        if infinite: return f"{prefix} is not finite: {infinite[:5]}"
    if reference == "-":
        return f"step {step_of(values)}"
    other = tensors(tf.train.latest_checkpoint(reference))
    left = "_CHECKPOINTABLE_OBJECT_GRAPH"
    different = [n for n in sorted(set(values) | set(other)) if n != left and
                 not (n in values and n in other and
                      (is_same(values[n], other[n]) if bits == "bits" else
                       form(values[n]) == form(other[n])))]
    size = sum(np.asarray(v).nbytes for v in values.values())
    if different: return f"different: {different[:5]}"
    return f"same {bits}: {len(values)} tensors, {size} bytes"

for line in sys.stdin:
    try: answer = judge(*line.strip().split("\\t"))
    except Exception as error: answer = "cannot be read: " + str(error).replace("\\n", " ")
    print("ANSWER " + answer, flush=True)
'''


class Judge:
    def __init__(self, python):
        self.process = subprocess.Popen([python, "-c", JUDGE], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, directory, reference="-", bits="bits"):
        self.process.stdin.write(f"{directory}\t{reference}\t{bits}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("ANSWER "):
                return line[len("ANSWER "):].strip()
        sys.exit("kill_checkpoints.py: TensorFlow has ended; see --python")


class Rounds:
    def __init__(self, name, arguments, judge, work):
        self.name, self.judge, self.work = name, judge, work
        self.seconds = random.Random(f"{arguments.seed} {name}")
        self.command = [word.format(bin=pathlib.Path(arguments.build).resolve() / "bin")
                        for word in JOBS[name]] + TRAINING
        self.environment = dict(os.environ, KILL_CHECKPOINTS=str(os.getpid()), OMP_NUM_THREADS="1",
                                OMP_WAIT_POLICY="passive", DISTRIBUTE_LOG_FORMAT="text")

    def train(self, directory, steps, kill_after=None):
        """The output; with kill_after only until that many seconds after a new checkpoint."""
        command = self.command + [f"--checkpoint_dir={directory}", f"--steps={steps}"]
        output = open(self.work / "output", "w+b")
        child = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=output, start_new_session=True)
        if kill_after is not None:
            state = directory / "checkpoint"
            before = state.stat().st_mtime_ns if state.exists() else 0
            while child.poll() is None and (not state.exists() or
                                            state.stat().st_mtime_ns == before):
                time.sleep(0.001)
            time.sleep(kill_after)
            kill_all("KILL_CHECKPOINTS", str(os.getpid()))
        status = child.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
        return text if status == (0 if kill_after is None else -signal.SIGKILL) else None, text

    def round(self, number, directory, reference):
        """What is bad; self.step: of the checkpoint that the kill has left."""
        seconds = self.seconds.uniform(0, 0.5)
        good, text = self.train(directory, 1_000_000, kill_after=seconds)
        if good is None:
            return f"it ended by itself:\n{text[-2000:]}"
        left = [p.name for p in directory.rglob("*.tempstate*")]
        answer = self.judge.ask(directory)
        if not answer.startswith("step "):
            return answer
        step = int(answer.split()[1])
        good, text = self.train(reference, step)
        if good is None:
            return f"the reference fails:\n{text[-2000:]}"
        compared = self.judge.ask(directory, reference,
                                  "forms" if self.name in ANY_ORDER else "bits")
        self.step = step
        print(f"{self.name:14} kill {number:3}  step {step:5}  {len(left)} half written files  "
              f"{compared}", flush=True)
        return "" if compared.startswith("same") else compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=built("bin/mnist_cnn"), help="build folder with mnist_cnn and distribute in bin/")
    parser.add_argument("--rounds", type=int, default=10, help="kills of each job")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python", default="python3", help="one that has TensorFlow")
    parser.add_argument("--jobs", default=",".join(JOBS),
                        help="those of " + ", ".join(JOBS))
    arguments = parser.parse_args()
    judge, bad, kills = Judge(arguments.python), 0, 0
    for name in arguments.jobs.split(","):
        work = pathlib.Path(tempfile.mkdtemp(prefix="kill-checkpoints-"))
        rounds, directory, reference = Rounds(name, arguments, judge, work), work / "a", work / "b"
        previous = 0
        for number in range(1, arguments.rounds + 1):
            fault = rounds.round(number, directory, reference)
            kills += 1
            if fault:
                print(f"BAD  {name}, kill {number}: {fault}", flush=True)
                bad, previous = bad + 1, 0
                break
            previous = rounds.step
        if previous:
            good, text = rounds.train(directory, previous + 2)
            said = re.search(r"restored \S+ at step (\d+)", text)
            if good is None or not said or int(said.group(1)) != previous:
                print(f"BAD  {name}: it does not go on from step {previous}:\n{text[-2000:]}")
                bad += 1
        shutil.rmtree(work)
    judge.process.kill()
    print(f"{kills} kills, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

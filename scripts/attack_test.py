#!/usr/bin/env python3
"""Attacks whole programs and jobs: what they write to, signals, partitions, their environment.

Six parts, each a grid:
  outputs     every flag and variable that names an output x what stands at the name: a device, a
              FIFO, a link, a folder, a file of the user, a full disk, a read-only one, ...
  stdout      every command that prints x a full disk, a closed stdout
  signals     every kind of job x SIGTERM to the launcher, to one task, to all of them x a folder to
              save to, or none
  times       kinds of jobs x SIGTERM to the launcher at the start, in the first steps, in a save,
              in the test
  partitions  kinds of jobs x each pair of their hosts x each direction x TCP, TLS, UCX,
              Open MPI, MPICH
  variables   every variable of docs/environment.md x ten values
An attack is bad when something hangs, aborts, ends without a reason, leaves a process or a half
written file, or breaks a promise of docs/reliability.md: what is no plain file stays what it was,
status 0 means that the output is there, a job that is told to go saves, hosts that do not hear each
other are named, a wrong value is refused with the variable's name.

It needs root and runs in namespaces of its own: mounts, devices and hosts are private, and all
processes end with it.

Usage: scripts/attack_test.py BUILD [--part NAME,...] [--only TEXT] [--small] [--jobs N]
Prints a line for each attack, the output of those that are bad, and a table.
"""
import argparse
import collections
import concurrent.futures
import gzip
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from attacks import ABORTED, DATA, REASON, built, kill_all, processes_of, sanitizer_of, send

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPT = 30  # seconds in which a program without partner ends
TRAINER = ["{bin}/mnist_cnn", "--model=tutorial", "--batch_size=8", "--data_dir={data}"]
RESNET = ["{bin}/resnet50", "--dataset=synthetic", "--model=resnet8", "--image_size=8",
          "--num_classes=10", "--batch_size=4"]
TRANSFORMER = ["{bin}/text_transformer", "--layers=1", "--width=8", "--heads=1", "--context=8",
               "--batch_size=2", "--sample_length=0"]


class Attack:
    """One attack: a folder, the processes that it starts, and the faults that were found."""

    def __init__(self, settings, part, name):
        self.settings, self.part, self.name, self.faults, self.note = settings, part, name, [], ""
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="attack-"))
        self.temporary = self.work / "tmp"
        self.temporary.mkdir()
        self.mounts, self.logs = [], []
        self.values = {"bin": settings.bin, "data": settings.data, "work": self.work,
                       "checkpoint": settings.checkpoint, **settings.samples}

    def fault(self, text):
        self.faults.append(text)

    def mount(self, folder, options):
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True)
        self.mounts.append(folder)

    def start(self, words, variables=(), prefix=(), stdout=None, before=None):
        """Starts a command, whose output goes to a log of its own."""
        self.logs.append(self.work / f"log{len(self.logs)}")
        log = open(self.logs[-1], "wb")
        environment = {**os.environ, "TMPDIR": str(self.temporary), "OMP_NUM_THREADS": "1",
                       "OMP_WAIT_POLICY": "passive", "ATTACK": self.work.name,
                       "DISTRIBUTE_STARTUP_TIMEOUT": str(round(20 * self.settings.patience)),
                       **self.settings.environment,
                       **dict(variables)}
        environment = {name: value for name, value in environment.items() if value is not None}
        return subprocess.Popen([*prefix, *(str(word).format(**self.values) for word in words)],
                                env=environment, cwd=self.work, stdin=subprocess.DEVNULL,
                                stdout=log if stdout is None else stdout, stderr=log,
                                preexec_fn=before)

    def wait(self, process, seconds=PROMPT):
        """The status; None and a fault when it does not end."""
        try:
            status = process.wait(seconds * self.settings.patience)
        except subprocess.TimeoutExpired:
            self.fault(f"hangs for {seconds * self.settings.patience:.0f} s")
            kill_all("ATTACK", self.work.name)
            process.wait()
            return None
        if status < 0 or (status >= 128 and status not in (130, 138, 143)):
            self.fault(f"signal {-status if status < 0 else status - 128}")
        return status

    def run(self, words, variables=(), **more):
        status = self.wait(self.start(words, variables, **more))
        if status and not REASON.search(self.text()):
            self.fault("no reason")
        return status

    def status_of_launcher(self):
        """Of an MPI, in words: one that does not hear a host may wait for it for ever."""
        try:
            return f"launcher {self.launcher.wait(10 * self.settings.patience)}"
        except subprocess.TimeoutExpired:
            return "launcher stays"

    def text(self, number=None):
        logs = self.logs if number is None else [self.logs[number]]
        return "".join(log.read_bytes().decode(errors="replace") for log in logs)

    def tasks(self):
        """Process ids of the programs that have a TF_CONFIG, by task."""
        found = {}
        for pid, environment in processes_of("ATTACK", self.work.name).items():
            if environment.get("TF_CONFIG"):
                task = json.loads(environment["TF_CONFIG"]).get("task", {})
                found[f"{task.get('type')} {task.get('index')}"] = pid
        return found

    def finish(self):
        deadline = time.monotonic() + 3  # what was killed takes a moment to go
        while processes_of("ATTACK", self.work.name) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in processes_of("ATTACK", self.work.name):
            self.fault(f"leaves process {pid}")
        kill_all("ATTACK", self.work.name)
        for folder in (self.work, *self.mounts):
            for path in itertools.chain(folder.rglob("*.tempstate*"), folder.rglob("*.tmp*"),
                                        folder.rglob(".checkpoint_writer")):
                self.fault(f"leaves {path.name}")
        self.faults += [f"leaves {path.name} in TMPDIR" for path in self.temporary.iterdir()]
        text = self.text()
        if found := ABORTED.search(text):
            self.fault("aborts: " + found.group(0))
        for folder in reversed(self.mounts):
            subprocess.run(["umount", folder], check=False)
        line = f"{self.part:11} {self.name:58}"
        with self.settings.lock:
            print(f"{'BAD ' if self.faults else 'ok  '} {line} "
                  f"{'; '.join(self.faults) or self.note[:90]}", flush=True)
            if self.faults:
                print("    " + "\n    ".join(l[:300] for l in text.splitlines()[-12:]), flush=True)
        shutil.rmtree(self.work, ignore_errors=True)
        return not self.faults


def reason_in(text):
    return next((line for line in text.splitlines() if REASON.match(line)), "")


# --- outputs ---------------------------------------------------------------------------------------

# name -> (command, variables, what it is). {place}: the name that is attacked.
OUTPUTS = {
    "--loss_csv": ([*TRAINER, "--steps=2", "--loss_csv={place}"], {}, "file"),
    "--json": ([*TRAINER, "--steps=2", "--json={place}"], {}, "file"),
    "--export_onnx": ([*TRAINER, "--steps=2", "--export_onnx={place}"], {}, "file"),
    "DISTRIBUTE_TIMELINE": ([*TRAINER, "--steps=2"], {"DISTRIBUTE_TIMELINE": "{place}"}, "trace"),
    "DISTRIBUTE_READY_FILE": (["{bin}/distribute", "run", "-np", "1", "--", *TRAINER, "--steps=2",
                               "--strategy=multi_worker"],
                              {"DISTRIBUTE_READY_FILE": "{place}"}, "mark"),
    "--checkpoint_dir": ([*TRAINER, "--steps=2", "--checkpoint_dir={place}"], {}, "folder"),
    "--logdir": ([*TRAINER, "--steps=2", "--logdir={place}"], {}, "folder"),
    "--export_dir": ([*TRAINER, "--steps=2", "--export_dir={place}"], {}, "new folder"),
    "--final_checkpoint": ([*TRAINER, "--steps=2", "--final_checkpoint={place}"], {}, "prefix"),
    "run --output-dir": (["{bin}/distribute", "run", "--output-dir={place}", "-np", "2", "--", "echo",
                          "printed"], {}, "folder"),
    "a log in --output-dir": (["{bin}/distribute", "run", "--output-dir={folder}", "-np", "1", "--",
                               "echo", "printed"], {}, "file"),
    "ckpt convert": (["{bin}/distribute", "ckpt", "convert", "{checkpoint}", "{place}"], {},
                     "prefix"),
    "pack --o": (["{bin}/distribute", "pack", "true", "--o={place}"], {}, "archive"),
    "data tfrecord --output_dir": (["{bin}/distribute", "data", "tfrecord", "--input_dir={pictures}",
                                    "--output_dir={place}"], {}, "folder"),
    "CLOUD_ML_HP_METRIC_FILE": ([*TRAINER, "--steps=2"],
                                {"CLOUD_ML_TRIAL_ID": "1", "CLOUD_ML_HP_METRIC_FILE": "{place}"},
                                "appended"),
    "resnet50 --json": ([*RESNET, "--steps=2", "--json={place}"], {}, "file"),
    "resnet50 --checkpoint_dir": ([*RESNET, "--steps=2", "--checkpoint_dir={place}"], {}, "folder"),
    "text_transformer --loss_csv": ([*TRANSFORMER, "--steps=2", "--loss_csv={place}"], {}, "file"),
    "text_transformer --export_dir": ([*TRANSFORMER, "--steps=2", "--export_dir={place}"], {},
                                      "new folder"),
    "mnist_cnn_fit --model_dir": (["{bin}/mnist_cnn_fit", "--data_dir={data}", "--epochs=1",
                                   "--model_dir={place}"], {}, "folder"),
    "mnist_cnn_tfrecords --records": (["{bin}/mnist_cnn_tfrecords", "--data_dir={data}", "--write",
                                       "--records={place}"], {}, "folder"),
}
PLACES = ["nothing", "null device", "full device", "read FIFO", "unread FIFO", "link",
          "dangling link", "link loop", "link to a device", "link to a folder", "empty folder",
          "folder", "text file", "private file", "mounted file", "socket", "no folder", "full disk",
          "read-only disk", "long name"]
USERS_TEXT = "the user's own text\n"
# What only writing tells; the run of a trace is then good, with a warning.
TOLD_LATER = ["full device", "full disk", "socket"]


class Place:
    """What stands at a name before the attack, and what has become of it."""

    def __init__(self, attack, kind, name):
        self.attack, self.kind = attack, kind
        self.folder = attack.work / "place"
        self.folder.mkdir()
        if kind in ("full disk", "read-only disk"):
            attack.mount(self.folder, "size=16k")
        self.path = self.folder / name
        self.other = self.folder / "other"
        self.received, self.reader = b"", None
        getattr(self, "make_" + re.sub(r"\W", "_", kind))()
        self.before = self.state()

    def make_nothing(self): pass
    def make_null_device(self): os.mknod(self.path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    def make_full_device(self): os.mknod(self.path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    def make_unread_FIFO(self): os.mkfifo(self.path)
    def make_dangling_link(self): self.path.symlink_to(self.other)
    def make_link_loop(self): self.path.symlink_to(self.path)
    def make_empty_folder(self): self.path.mkdir()
    def make_text_file(self): self.path.write_text(USERS_TEXT)
    def make_private_file(self):
        self.path.write_text(USERS_TEXT)
        self.path.chmod(0o600)
        os.chown(self.path, 1234, 1234)

    def make_mounted_file(self):
        """As containers mount single files of their host."""
        for path in (self.path, self.other):
            path.write_text(USERS_TEXT)
        subprocess.run(["mount", "--bind", self.other, self.path], check=True)
        self.attack.mounts.append(self.path)

    def make_no_folder(self): self.path = self.folder / "none" / self.path.name
    def make_long_name(self): self.path = self.folder / ("x" * 300)

    def make_read_FIFO(self):
        os.mkfifo(self.path)
        self.start_reader()

    def start_reader(self):
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read_when_told(self, process):
        """The program waits for a reader, and says so; then there is one."""
        deadline = time.monotonic() + PROMPT * self.attack.settings.patience
        while process.poll() is None and time.monotonic() < deadline:
            if f"{self.path} is a pipe that nothing reads" in self.attack.text():
                return self.start_reader()
            time.sleep(0.02)
        if process.poll() is None:
            self.attack.fault("no line says that a reader is missing")

    def read(self):
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        deadline = time.monotonic() + PROMPT * self.attack.settings.patience
        while not self.attack.ended and time.monotonic() < deadline:
            try:
                self.received += os.read(reader, 65536)
            except BlockingIOError:
                pass
            time.sleep(0.01)
        try:
            self.received += os.read(reader, 1 << 20)
        except BlockingIOError:
            pass
        os.close(reader)

    def make_link(self):
        self.other.write_text(USERS_TEXT)
        self.path.symlink_to(self.other)

    def make_link_to_a_device(self):
        os.mknod(self.other, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        self.path.symlink_to(self.other)

    def make_link_to_a_folder(self):
        self.other.mkdir()
        self.path.symlink_to(self.other)

    def make_folder(self):
        self.path.mkdir()
        (self.path / "notes.txt").write_text(USERS_TEXT)

    def make_socket(self):
        with socket.socket(socket.AF_UNIX) as own:
            here = os.open(self.folder, os.O_RDONLY)
            own.bind(f"/proc/self/fd/{here}/{self.path.name}")
            os.close(here)

    def make_full_disk(self):
        with open(self.folder / "filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass

    def make_read_only_disk(self):
        subprocess.run(["mount", "-o", "remount,ro", self.folder], check=True)

    def state(self):
        """Types of what stands here, with devices and links."""
        found = {}
        for path in (self.path, self.other):
            try:
                info = path.lstat()
            except OSError:
                continue
            mode = info.st_mode if self.kind == "private file" else stat.S_IFMT(info.st_mode)
            found[path.name] = (mode, info.st_uid, info.st_rdev,
                                os.readlink(path) if stat.S_ISLNK(info.st_mode) else "")
        return found

    def size(self):
        """Of the output that is here."""
        if self.reader:
            return len(self.received)
        names = [path for path in self.path.parent.glob(self.path.name + "*") if path.exists()] \
            if self.path.parent.exists() else []
        return sum(p.stat().st_size for name in names
                   for p in ([name] if name.is_file() else name.rglob("*")) if p.is_file()
                   and p.name != "notes.txt" and (p.stat().st_size != len(USERS_TEXT)
                                                  or p.read_text(errors="replace") != USERS_TEXT))


# What must go well, by what the output is; and what must be refused or fail.
GOOD = {"file": ["nothing", "null device", "read FIFO", "link", "dangling link", "link to a device",
                 "text file", "private file", "mounted file"],
        "mark": ["nothing"],
        "folder": ["nothing", "empty folder", "folder", "no folder", "link to a folder"],
        "new folder": ["nothing", "no folder", "empty folder", "link to a folder", "dangling link"],
        "prefix": ["nothing"]}
GOOD["trace"] = GOOD["appended"] = GOOD["archive"] = GOOD["file"]
BAD = {"file": ["full device", "link to a folder", "link loop", "empty folder", "folder", "socket", "full disk",
                "read-only disk", "long name"],
       "trace": ["link to a folder", "link loop", "empty folder", "folder", "no folder",
                 "read-only disk", "long name"],
       "mark": ["link to a folder", "null device", "full device", "unread FIFO", "link", "link to a device",
                "empty folder", "folder", "text file", "private file", "mounted file", "socket",
                "full disk", "read-only disk", "long name"],
       "folder": ["null device", "full device", "read FIFO", "unread FIFO", "link",
                  "dangling link", "link loop", "link to a device", "text file", "private file",
                  "mounted file", "socket", "full disk", "read-only disk", "long name"],
       "new folder": ["null device", "full device", "read FIFO", "unread FIFO", "link",
                      "link loop", "link to a device", "folder", "text file", "private file",
                      "mounted file", "socket", "full disk", "read-only disk", "long name"],
       "prefix": ["full disk", "read-only disk", "long name"]}
BAD["appended"] = BAD["archive"] = BAD["file"]


def attack_output(attack, output, kind):
    command, variables, what = OUTPUTS[output]
    attack.ended = False
    place = Place(attack, kind, "worker-0.log" if output.startswith("a log") else "it.out")
    attack.values.update(place=place.path, folder=place.path.parent)
    process = attack.start(command, {name: value.format(**attack.values)
                                     for name, value in variables.items()})
    if kind == "unread FIFO":
        place.read_when_told(process)
    status = attack.wait(process)
    attack.ended = True
    if place.reader:
        place.reader.join()
    if status and not REASON.search(attack.text()):
        attack.fault("no reason")
    after = place.state()
    attack.note = f"status {status}  {reason_in(attack.text()) if status else ''}"
    for name, was in place.before.items():
        if after.get(name) != was:
            attack.fault(f"{name} was {was}, is {after.get(name)}")
    if status is None:
        return
    if status == 0 and kind in BAD[what]:
        attack.fault("status 0, and it cannot have been written")
    if status != 0 and kind in GOOD[what]:
        attack.fault(f"status {status}")
    if what == "trace" and kind in TOLD_LATER and "warning: DISTRIBUTE_TIMELINE" not in attack.text():
        attack.fault("no warning")
    if status == 0 and (kind in GOOD[what] or place.reader and what != "prefix") and what != "mark" and kind not in (
            "null device", "link to a device") and place.size() == 0:
        attack.fault("status 0 without output")
    if kind in ("text file", "link", "private file", "mounted file"):
        now = (place.other if kind == "link" else place.path).read_bytes()
        replaced = status == 0 and what in ("file", "trace", "archive")
        kept = now.startswith(USERS_TEXT.encode()) if status == 0 and what == "appended" else \
            now == USERS_TEXT.encode()
        if not replaced and not kept:
            attack.fault("the user's file has changed")
    if kind == "folder" and (place.path / "notes.txt").read_text() != USERS_TEXT:
        attack.fault("the user's file in the folder has changed")
    if status and place.path.name[:40] not in attack.text() and output.split()[-1] not in attack.text():
        attack.fault("the reason names neither the path nor the flag")


def outputs(settings):
    for output, kind in itertools.product(OUTPUTS, PLACES):
        if output.startswith("a log") and kind == "long name":
            continue  # the launcher names its logs
        yield f"{output} x {kind}", lambda attack, o=output, k=kind: attack_output(attack, o, k)


# --- stdout ----------------------------------------------------------------------------------------

PRINTING = {
    "ckpt ls": ["ckpt", "ls", "{checkpoint}"], "ckpt verify": ["ckpt", "verify", "{checkpoint}"],
    "ckpt diff": ["ckpt", "diff", "{checkpoint}", "{checkpoint}"],
    "data ls": ["data", "ls", "{records}"], "events ls": ["events", "ls", "{events}"],
    "cluster": ["cluster"], "cluster --json": ["cluster", "--json"],
    "cluster make": ["cluster", "make", "--worker=a:1,b:1"], "doctor": ["doctor"],
    "doctor --json": ["doctor", "--json"], "metrics token": ["metrics", "token"],
    "run": ["run", "-np", "1", "--", "echo", "printed"], "help": ["--help"],
    "run --help": ["run", "--help"], "ckpt ls --json": ["ckpt", "ls", "{checkpoint}", "--json"],
    "ckpt convert": ["ckpt", "convert", "{checkpoint}", "{work}/flat"],
    "events ls --json": ["events", "ls", "{events}", "--json"],
    "data ls --json": ["data", "ls", "{records}", "--json"],
    "data tfrecord": ["data", "tfrecord", "--input_dir={pictures}", "--output_dir={work}/made"],
    "predict": ["predict", "--model=tutorial", "--checkpoint={checkpoint}", "{digit}"],
    "predict --json": ["predict", "--model=tutorial", "--checkpoint={checkpoint}", "{digit}", "--json"],
    "pack": ["pack", "true", "--o={work}/job.tar"],
    "bench allreduce": ["bench", "allreduce", "--bytes=1K", "--seconds=0.1"],
    "bench allreduce --json": ["bench", "allreduce", "--bytes=1K", "--seconds=0.1", "--json"],
    "bench ps": ["bench", "ps", "--bytes=1K", "--rows=1000", "--seconds=0.1"],
    "top": ["top", "127.0.0.1:{metrics_port}", "--count=1"],
    "top --json": ["top", "127.0.0.1:{metrics_port}", "--count=1", "--json"],
    "metrics get": ["metrics", "get", "127.0.0.1:{metrics_port}"],
}
# Programs of other examples that print.
PROGRAMS = {
    "resnet50": [*RESNET, "--steps=2"], "resnet50 --json": [*RESNET, "--steps=2", "--json"],
    "text_transformer": [*TRANSFORMER, "--steps=2"],
    "text_transformer --sample_only": [*TRANSFORMER[:-1], "--sample_length=4", "--steps=2"],
    "mnist_cnn_fit": ["{bin}/mnist_cnn_fit", "--data_dir={data}", "--epochs=1", "--model_dir={work}/m"],
    "mnist_cnn_job": ["{bin}/mnist_cnn_job", "--data_dir={data}", "--epochs=1", "--job_dir={work}/m"],
    "mnist_cnn_mirrored": ["{bin}/mnist_cnn_mirrored", "--data_dir={data}", "--epochs=1",
                           "--model_dir={work}/m"],
    "mnist_cnn_estimator": ["{bin}/mnist_cnn_estimator", "--data_dir={data}", "--steps=2",
                            "--model_dir={work}/m"],
    "mnist_cnn_horovod": ["{bin}/mnist_cnn_horovod", "--data_dir={data}", "--steps=2",
                          "--model_dir={work}/m"],
}


def start_with_metrics(attack):
    """A trainer that shows its metrics, until it is killed with the attack."""
    port = attack.values["metrics_port"] = attack.settings.port()
    attack.start([*TRAINER, "--steps=1000000"], {"DISTRIBUTE_METRICS_PORT": str(port),
                                                 "DISTRIBUTE_INSECURE": "1"})
    deadline = time.monotonic() + PROMPT * attack.settings.patience
    while time.monotonic() < deadline and "step 100 " not in attack.text():
        time.sleep(0.05)


def attack_stdout(attack, name, where):
    command = ["{bin}/distribute", *PRINTING[name]] if name in PRINTING else PROGRAMS.get(
        name, [*TRAINER, "--steps=2", *([] if name == "trainer" else [name])])
    if "{metrics_port}" in " ".join(command):
        start_with_metrics(attack)
    variables = {"DISTRIBUTE_JOB_TOKEN": "0123456789abcdef0123456789abcdef"}
    if where == "full":
        device = attack.work / "full"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        with open(device, "wb") as full:
            status = attack.run(command, variables, stdout=full)
    else:
        status = attack.run(command, variables, before=lambda: os.close(1))
    attack.note = f"status {status}  {reason_in(attack.text())}"
    if status == 0:
        attack.fault("status 0, and the output is lost")
    kill_all("ATTACK", attack.work.name)


def stdout(settings):
    for name, where in itertools.product([*PRINTING, *PROGRAMS, "trainer", "--json", "--help"],
                                         ["full", "closed"]):
        yield f"{name} x {where}", lambda attack, n=name, w=where: attack_stdout(attack, n, w)


# --- signals ---------------------------------------------------------------------------------------

RUN = ["{bin}/distribute", "run", "--stop-timeout", "40"]
LONG = ["--steps=1000000", "--save_steps=1000000"]
# name -> (what starts it, program and flags, its tasks)
TOLD = {
    "one process": ([], [*TRAINER, *LONG], []),
    "mirrored": ([], [*TRAINER, "--replicas=2", *LONG], []),
    "multi_worker": ([*RUN, "-np", "2", "--"], [*TRAINER, *LONG], ["worker 0", "worker 1"]),
    "elastic": ([*RUN, "-np", "2", "--min-np", "1", "--"], [*TRAINER, "--elastic", *LONG],
                ["worker 0", "worker 1"]),
    "parameter_server": ([*RUN, "-np", "2", "--ps", "1", "--"], [*TRAINER, *LONG],
                         ["ps 0", "worker 0", "worker 1"]),
    "sync_replicas": ([*RUN, "-np", "2", "--ps", "1", "--"], [*TRAINER, "--sync_replicas=2", *LONG],
                      ["ps 0", "worker 0", "worker 1"]),
    "coordinator": ([*RUN, "-np", "2", "--ps", "1", "--chief", "--"], [*TRAINER, *LONG],
                    ["ps 0", "chief 0", "worker 0"]),
    "horovod": ([*RUN, "-np", "2", "--"], [*TRAINER, "--api=horovod", *LONG],
                ["worker 0", "worker 1"]),
    "elastic horovod": ([*RUN, "-np", "2", "--min-np", "1", "--"],
                        [*TRAINER, "--api=horovod", "--elastic", *LONG], ["worker 0", "worker 1"]),
    "estimator": ([*RUN, "-np", "1", "--ps", "1", "--chief", "--"],
                  ["{bin}/mnist_cnn_estimator", "--data_dir={digits}", "--steps=1000000"],
                  ["ps 0", "chief 0", "worker 0"]),
    "session": ([*RUN, "-np", "2", "--ps", "1", "--"],
                ["{bin}/mnist_cnn_between_graph", "--data_dir={digits}", "--steps=1000000"],
                ["ps 0", "worker 0", "worker 1"]),
}
TOLD |= {
    "resnet50 multi_worker": ([*RUN, "-np", "2", "--"], [*RESNET, *LONG], ["worker 0", "worker 1"]),
    "resnet50 sync_replicas": ([*RUN, "-np", "2", "--ps", "1", "--"],
                               [*RESNET, "--sync_replicas=2", *LONG], ["ps 0", "worker 0", "worker 1"]),
    "text_transformer coordinator": ([*RUN, "-np", "2", "--ps", "1", "--chief", "--"],
                                     [*TRANSFORMER, *LONG], ["ps 0", "chief 0", "worker 0"]),
}
# A task that leaves an elastic job, or a worker with a loop of its own, does not end the job.
GOES_ON = {("elastic", "worker 1"), ("elastic horovod", "worker 1"), ("elastic", "worker 0"),
           ("elastic horovod", "worker 0"), ("parameter_server", "worker 1"),
           ("coordinator", "worker 0"), ("estimator", "worker 0"), ("session", "worker 1"),
           ("sync_replicas", "worker 1"), ("resnet50 sync_replicas", "worker 1"),
           ("text_transformer coordinator", "worker 0")}


def newest_checkpoint(folder):
    try:
        found = re.search(r'^model_checkpoint_path: "(.*-)?(\d+)"', (folder / "checkpoint").read_text(),
                          re.M)
    except OSError:
        return None
    return int(found.group(2)) if found else None


def steps_made(attack, folder):
    """The last step of which the job says something."""
    steps = re.findall(r"\bstep (\d+)\b|\bafter (\d+) steps", attack.text())
    return max([int(a or b) for a, b in steps] + [newest_checkpoint(folder) or 0])


def attack_by_signal(attack, job, target, saves):
    launcher, program, tasks = TOLD[job]
    if not (attack.settings.bin / pathlib.Path(program[0]).name).exists():
        attack.note = "not built"
        return
    folder = attack.work / "saved"
    flag = "--checkpoint_dir" if "mnist_cnn_" not in program[0] else "--model_dir"
    attack.values["digits"] = DATA
    process = attack.start([*launcher, *program, *([f"{flag}={folder}"] if saves else [])])
    deadline = time.monotonic() + 60 * attack.settings.patience
    while steps_made(attack, folder) < 100:
        if process.poll() is not None or time.monotonic() > deadline:
            attack.fault("makes no 100 steps")
            return
        time.sleep(0.02)
    made = steps_made(attack, folder)
    if target == "launcher":
        send(process.pid, signal.SIGTERM)
    else:
        running = attack.tasks() if tasks else {"": process.pid}
        for task in running if target == "all" else [target]:
            if task not in running:
                attack.fault(f"there is no {task}")
                return
            send(running[task], signal.SIGTERM)
    if (job, target) in GOES_ON:
        attack.note = "goes on"
        time.sleep(3)
        if process.poll() is not None:
            attack.fault(f"the job ends with {process.poll()} when {target} leaves")
        send(process.pid, signal.SIGTERM)
    status = attack.wait(process, 60)
    attack.note = f"status {status}  {attack.note}"
    if status != 143:
        attack.fault(f"status {status}, not 143")
    if saves and newest_checkpoint(folder) is None:
        attack.fault("nothing is saved")
    if not saves and flag == "--checkpoint_dir" and "without saving" not in attack.text():
        attack.fault("no line says that nothing was saved")
    if not saves or attack.faults:
        return
    again = [word for word in program if not word.startswith("--steps")]
    status = attack.run([*launcher, *again, f"{flag}={folder}",
                         f"--steps={steps_made(attack, folder) + 20}"])
    said = re.search(r"restored \S+ at step (\d+)", attack.text())
    begun = int(said.group(1)) if said else newest_checkpoint(folder)
    attack.note += f"step {made} was made, the next start goes on from {begun}"
    if status != 0:
        attack.fault(f"the next start ends with {status}")
    if begun < made:
        attack.fault(f"step {made} was made, the next start goes on from {begun}")


def signals(settings):
    for job, (launcher, _, tasks) in TOLD.items():
        for target in ["launcher", *tasks, *(["all"] if tasks else [])]:
            for saves in (True, False):
                if not saves and job in ("estimator", "session"):
                    continue  # they always have a folder
                yield (f"{job} x {target} x {'a folder' if saves else 'no folder'}",
                       lambda attack, j=job, t=target, s=saves: attack_by_signal(attack, j, t, s))


# --- times -----------------------------------------------------------------------------------------

# What goes on when SIGTERM comes -> flags in place of LONG.
TIMES = {"the start": LONG, "the first steps": LONG, "a save": ["--steps=1000000", "--save_steps=2"],
         "the test": ["--steps=100", "--save_steps=1000000"]}


def is_time(attack, when, folder):
    if when == "the start":
        return len(attack.tasks()) > 1
    if when == "the first steps":
        return "loss" in attack.text()
    if when == "a save":
        return newest_checkpoint(folder) is not None and any(folder.glob("*.tempstate*"))
    return steps_made(attack, folder) >= 100


def attack_at_time(attack, job, when):
    launcher, program, _ = TOLD[job]
    folder = attack.work / "saved"
    program = [word for word in program if word not in LONG]
    process = attack.start([*launcher, *program, *TIMES[when], f"--checkpoint_dir={folder}"])
    deadline = time.monotonic() + 60 * attack.settings.patience
    while not is_time(attack, when, folder) and process.poll() is None:
        if time.monotonic() > deadline:
            attack.fault("the time does not come")
            break
        time.sleep(0.001)
    send(process.pid, signal.SIGTERM)
    status, made = attack.wait(process, 60), newest_checkpoint(folder)
    attack.note = f"status {status}, saved {made}"
    if status not in (143, *((0,) if when == "the test" else ())):
        attack.fault(f"status {status}, not 143")
    if made is None and "without saving" not in attack.text() and when != "the start":
        attack.fault("nothing is saved, and no line says so")
    if attack.run([*launcher, *program, f"--checkpoint_dir={folder}",
                   f"--steps={(made or 0) + 120}"]) != 0:
        attack.fault("the next start fails")


def times(settings):
    for job, when in itertools.product(TOLD, TIMES):
        if TOLD[job][0] and job not in ("estimator", "session"):
            yield f"{job} x {when}", lambda attack, j=job, w=when: attack_at_time(attack, j, w)


# --- partitions ------------------------------------------------------------------------------------

LOST_AFTER = 3
TOKEN_TIMEOUT = 15  # seconds that a worker of --sync_replicas waits for the others' gradients
# name -> (tasks, one on each host; flags)
PARTITIONED = {
    "multi_worker": (["worker 0", "worker 1", "worker 2"], ["--strategy=multi_worker"]),
    "elastic": (["worker 0", "worker 1", "worker 2"],
                ["--strategy=multi_worker", "--elastic", "--min_workers=2"]),
    "horovod": (["worker 0", "worker 1", "worker 2"], ["--api=horovod"]),
    "parameter_server": (["worker 0", "worker 1", "ps 0"], ["--strategy=parameter_server"]),
    "sync_replicas": (["worker 0", "worker 1", "ps 0"],
                      ["--strategy=parameter_server", "--sync_replicas=2"]),
    "coordinator": (["chief 0", "worker 0", "ps 0"], ["--strategy=parameter_server"]),
}
TRANSPORTS = {"tcp": {}, "tls": {"DISTRIBUTE_TLS": "1"}, "openmpi": {"DISTRIBUTE_TRANSPORT": "openmpi"},
              "mpich": {"DISTRIBUTE_TRANSPORT": "mpich"}, "ucx": {"DISTRIBUTE_TRANSPORT": "ucx"}}
TAKE_ENGINES = {"openmpi": ["multi_worker"], "mpich": ["multi_worker"], "ucx": ["multi_worker", "horovod"]}
# With the flags of docs/engines.md that let the other ranks say why.
MPI_LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "--enable-recovery",
                "--host", "{hosts}", "--mca", "plm_rsh_agent", "{shell}",
                "--mca", "orte_tmpdir_base", "{work}"],  # which it leaves when it is killed
    "mpich": ["mpiexec.mpich", "-disable-auto-cleanup", "-launcher", "ssh", "-launcher-exec", "{shell}",
              "-hosts", "{hosts}"]}


class Hosts:
    """Network namespaces that are cabled to one switch; they end with the attack's processes."""

    def __init__(self, attack, count):
        self.attack = attack
        self.switch = self.make("switch")
        self.all = [self.make(f"host-{number}") for number in range(count)]
        self.tool(self.switch, "link add bridge0 type bridge\nlink set bridge0 up\n")
        for number, host in enumerate(self.all):
            self.tool(self.switch, f"link add port{number} type veth peer name eth0 netns {host}\n"
                                   f"link set port{number} master bridge0 up\n")
            self.tool(host, f"addr add {self.address(number)}/24 dev eth0\nlink set eth0 up\n")

    def make(self, name):
        process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm && "
             f"hostname {name} && ip link set lo up && echo ready && exec sleep infinity"],
            stdout=subprocess.PIPE, env={**os.environ, "ATTACK_HOSTS": self.attack.work.name})
        process.stdout.readline()
        return process.pid

    def tool(self, place, lines):
        subprocess.run(["nsenter", "-t", str(place), "-n", "ip", "-batch", "-"], input=lines.encode(),
                       check=True, stdout=subprocess.DEVNULL)

    def address(self, number):
        return f"10.77.0.{number + 1}"

    def prefix(self, number):
        return ["nsenter", "-t", str(self.all[number]), "-n", "-m", "-u", "--"]

    def shell(self):
        """A command in place of ssh, for launchers: [options] address command."""
        cases = " ".join(f"{self.address(n)}) host={pid};;" for n, pid in enumerate(self.all))
        path = self.attack.work / "shell"
        path.write_text(f"#!/bin/sh\nuntil case $1 in {cases} *) false;; esac; do shift; done\n"
                        'shift\nexec nsenter -t $host -n -m -u -- sh -c "$*"\n')
        path.chmod(0o755)
        return path

    def drop(self, source, target):
        """Packets from one to the other go to a hardware address that does not exist."""
        self.tool(self.all[source], f"neigh replace {self.address(target)} lladdr 02:00:00:00:00:fe "
                                    "dev eth0 nud permanent\n")

    def end(self):
        kill_all("ATTACK_HOSTS", self.attack.work.name)


def attack_by_partition(attack, job, pair, ways, transport):
    tasks, _ = PARTITIONED[job]
    hosts = Hosts(attack, len(tasks))
    try:
        partition(attack, job, pair, ways, transport, tasks, hosts)
    finally:
        hosts.end()


class Rank:
    """A task that the launcher of an MPI has started: its status is in a file once it has ended."""

    def __init__(self, attack, number):
        self.attack, self.number = attack, number
        self.path = attack.work / f"rank{number}.status"

    def poll(self):
        return int(self.path.read_text()) if self.path.exists() else None

    def is_there(self):
        return any(str(self.number) in (e.get("OMPI_COMM_WORLD_RANK"), e.get("PMI_RANK"))
                   for e in processes_of("ATTACK", self.attack.work.name).values())


def start_tasks(attack, job, transport, hosts):
    """A process on each host, with its TF_CONFIG."""
    tasks, flags = PARTITIONED[job]
    cluster = {}
    for number, task in enumerate(tasks):
        cluster.setdefault(task.split()[0], []).append(f"{hosts.address(number)}:2222")
    processes = []
    for number, task in enumerate(tasks):
        kind, index = task.split()
        config = {"cluster": cluster, "task": {"type": kind, "index": int(index)}}
        processes.append(attack.start([*TRAINER, *flags, "--steps=100000000"],
                                      {"TF_CONFIG": json.dumps(config), **of_partitions(job, transport)},
                                      prefix=hosts.prefix(number)))
    return processes


def start_ranks(attack, job, transport, hosts):
    """A rank on each host, by the launcher of an MPI, which runs on the first one."""
    tasks, flags = PARTITIONED[job]
    attack.logs = [attack.work / f"rank{number}" for number in range(len(tasks))]
    for log in attack.logs:
        log.touch()
    names = ",".join(hosts.address(number) for number in range(len(tasks)))
    attack.values.update(hosts=names, shell=hosts.shell())
    # MPICH's launcher tells a rank's shell of a lost rank by SIGUSR1. A status is moved to its name
    # when it is whole.
    (attack.work / "rank").write_text(
        f"trap : USR1\nown={attack.work}/rank${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n"
        '"$@" >$own 2>&1\nstatus=$?\necho $status >$own.new\nmv $own.new $own.status\nexit $status\n')
    variables = {"MASTER_ADDR": hosts.address(0), "UCX_TLS": "tcp,self",
                 **of_partitions(job, transport)}
    launcher = [*MPI_LAUNCHERS[transport]]
    if transport == "openmpi":  # whose launcher hands on what it is told to
        for name in (*variables, "ATTACK", "TMPDIR", "OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
            launcher += ["-x", name]
    attack.launcher = attack.start([*launcher, "-np", len(tasks), "sh", "{work}/rank", *TRAINER, *flags,
                                    "--steps=100000000"], variables, prefix=hosts.prefix(0))
    return [Rank(attack, number) for number in range(len(tasks))]


def of_partitions(job, transport):
    return {"DISTRIBUTE_JOB_TOKEN": "0123456789abcdef" * 2,
            "DISTRIBUTE_LOST_AFTER": str(LOST_AFTER), "DISTRIBUTE_HEARTBEAT_INTERVAL": "0.25",
            "DISTRIBUTE_OPERATION_TIMEOUT": str(TOKEN_TIMEOUT if job == "sync_replicas" else 300),
            **TRANSPORTS[transport]}


def partition(attack, job, pair, ways, transport, tasks, hosts):
    start = start_ranks if transport in MPI_LAUNCHERS else start_tasks
    processes = start(attack, job, transport, hosts)
    deadline = time.monotonic() + 60 * attack.settings.patience
    while not re.search(r"step +[1-9]\d+", attack.text()):
        if any(p.poll() is not None for p in processes) or time.monotonic() > deadline:
            attack.fault("makes no steps")
            kill_all("ATTACK", attack.work.name)
            return
        time.sleep(0.05)
    began, sizes = time.monotonic(), [len(attack.text(n)) for n in range(len(tasks))]
    for source, target in ways:
        hosts.drop(source, target)
    names = [tasks[number] for number in pair]
    waits = TOKEN_TIMEOUT + 15 if job == "sync_replicas" else 0
    limit = began + (LOST_AFTER * 3 + 15 + waits) * attack.settings.patience
    while time.monotonic() < limit and any(p.poll() is None for p in processes):
        time.sleep(0.1)
    ended = [p.poll() for p in processes]
    if transport in MPI_LAUNCHERS:
        ended = [-9 if status is None and not rank.is_there() else status
                 for status, rank in zip(ended, processes)]  # the launcher has killed it
    seconds = time.monotonic() - began
    said = "".join(attack.text(n)[sizes[n]:] for n in range(len(tasks)))
    attack.note = f"{ended} after {seconds:.0f} s: {reason_in(said)}"
    if transport in MPI_LAUNCHERS:
        attack.note = f"{attack.status_of_launcher()}; {attack.note}"
    works = any(ended[n] is None and grows(attack, n) for n in range(len(tasks)))
    named = [name for name in names if name in said]
    workers = [status for task, status in zip(tasks, ended) if not task.startswith("ps")]
    if job == "sync_replicas" and not works and None in workers:
        attack.fault("a worker still waits for gradients")
    if all(status is None for status in ended):
        if not works and not named:
            attack.fault("stands still without a word")
        elif not works:
            attack.note = f"waits, with a line: {reason_in(said)}"
        else:
            attack.note = "goes on" + (", with a line" if named else "")
    elif not named:
        attack.fault(f"none of {names} is named")
    elif job in ("multi_worker", "horovod") and None in ended:
        attack.fault(f"{[t for t, s in zip(tasks, ended) if s is None]} is still there")
    for task, status in zip(tasks, ended):
        if status not in (None, 138, 1, 0):
            attack.fault(f"{task} ends with {status}")
    kill_all("ATTACK", attack.work.name)


def grows(attack, number):
    """Whether the task prints another line within 8 seconds."""
    size = attack.logs[number].stat().st_size
    deadline = time.monotonic() + 8 * attack.settings.patience
    while time.monotonic() < deadline:
        if attack.logs[number].stat().st_size > size:
            return True
        time.sleep(0.1)
    return False


def partitions(settings):
    for transport, (job, (tasks, _)) in itertools.product(TRANSPORTS, PARTITIONED.items()):
        if transport not in ("tcp", "tls") and (
                job not in TAKE_ENGINES[transport] or
                not any((settings.bin.parent / "lib/distribute").glob(f"*{transport}*"))):
            continue
        if transport in MPI_LAUNCHERS and not shutil.which(MPI_LAUNCHERS[transport][0]):
            continue
        for a, b in itertools.combinations(range(len(tasks)), 2):
            for ways in ([(a, b)], [(b, a)], [(a, b), (b, a)]):
                arrow = {1: "->", 2: "<->"}[len(ways)]
                name = f"{job} x {tasks[ways[0][0]]} {arrow} {tasks[ways[0][1]]} x {transport}"
                yield name, lambda attack, j=job, p=(a, b), w=ways, t=transport: \
                    attack_by_partition(attack, j, p, w, t)


# --- variables -------------------------------------------------------------------------------------

VALUES = {"empty": "", "0": "0", "-1": "-1", "word": "abc", "nan": "nan", "1e300": "1e300",
          "20 digits": "9" * 20, "20 kB": "x" * 20_000, "control characters": "\x1b[31m\x07\r\n;\x7f",
          "a folder": "/"}
# Sections of docs/environment.md whose variables no program of these reads.
NOT_READ = ("Programs and scripts", "Tests")
OF_A_JOB = ("The cluster and its tasks", "Elastic jobs and parameter servers",
            "Log, traces and metrics", "`hvd`")


def listed_variables():
    """(section, variable, default) of docs/environment.md."""
    section = ""
    for line in (ROOT / "docs/environment.md").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif row := re.match(r"\| (`[^|]*`) \| ([^|]*) \|", line):
            names = re.findall(r"`(\w+)`", row[1])
            defaults = [d.strip() for d in row[2].split(",")] if len(names) > 1 else [row[2].strip()]
            for number, name in enumerate(names):
                yield section, name, defaults[min(number, len(defaults) - 1)]


def attack_by_variable(attack, section, name, default, value):
    text = VALUES[value]
    command, variables = [*TRAINER, "--steps=1"], {}
    if section in OF_A_JOB:
        flags = ["--api=horovod"] if name.startswith("HOROVOD") else \
            ["--strategy=multi_worker"] if not name.startswith("TF_COORD") else \
            ["--strategy=parameter_server"]
        config = {"cluster": {"worker": [f"127.0.0.1:{attack.settings.port()}"]},
                  "task": {"type": "worker", "index": 0}}
        variables["TF_CONFIG"] = json.dumps(config)
        command += flags
    if section == "Object stores":
        command = ["{bin}/distribute", "ckpt", "ls",
                   {"G": "gs", "S": "gs", "C": "gs", "N": "gs", "D": "hdfs", "H": "hdfs",
                    "U": "hdfs"}.get(name[0], "s3") + "://bucket/ckpt-1"]
        variables = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "a",
                     "AWS_SECRET_ACCESS_KEY": "b", "STORAGE_EMULATOR_HOST": "127.0.0.1:9",
                     "DISTRIBUTE_WEBHDFS": "bucket=http://127.0.0.1:9"}
        if name.startswith("S3_"):
            command[-1] = "s3://bucket/ckpt-1"
    status = attack.run(command, {**variables, name: text})
    printed = attack.text()
    attack.note = f"status {status}  {reason_in(printed) if status else ''}"
    if name in OF_OPENMP:  # which reads them before the program begins
        attack.faults = [fault for fault in attack.faults if fault.startswith("leaves")]
        return
    if len(text) > 1000 and text[:600] in printed:
        attack.fault("the whole value is shown")
    if len(printed) > 20_000:
        attack.fault(f"{len(printed)} bytes are printed")
    if any(c in printed for c in "\x1b\x07\x7f"):
        attack.fault("control characters are shown")
    is_number = re.fullmatch(r"[\d.]+( MiB)?(: .*)?", default) is not None
    if is_number and name in READ_HERE and value in ("word", "nan", "20 kB", "control characters"):
        if status == 0:
            attack.fault("a wrong value is accepted")
        elif name not in printed:
            attack.fault("the error does not name the variable")


# LLVM's OpenMP takes wrong ones amiss; see docs/reliability.md.
OF_OPENMP = {"OMP_NUM_THREADS", "OMP_DYNAMIC", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
# Variables with a number or 0 and 1, which every job of these reads.
READ_HERE = {
    "DISTRIBUTE_INSECURE", "DISTRIBUTE_TLS", "DISTRIBUTE_STARTUP_TIMEOUT",
    "DISTRIBUTE_REPORT_INTERVAL", "DISTRIBUTE_HEARTBEAT_INTERVAL", "DISTRIBUTE_LOST_AFTER",
    "DISTRIBUTE_HANDSHAKE_TIMEOUT", "DISTRIBUTE_SHUTDOWN_TIMEOUT", "DISTRIBUTE_OPERATION_TIMEOUT",
    "DISTRIBUTE_MAX_MESSAGE_BYTES", "DISTRIBUTE_MAX_UNAUTHENTICATED", "DISTRIBUTE_RESTART_COUNT",
    "DISTRIBUTE_WINOGRAD", "DISTRIBUTE_CUDNN_STATISTICS", "TF_CUDNN_USE_AUTOTUNE",
    "DISTRIBUTE_LOCAL_RANK", "DISTRIBUTE_LOCAL_SIZE", "DISTRIBUTE_METRICS_PORT",
    "HOROVOD_FUSION_THRESHOLD", "HOROVOD_CYCLE_TIME", "HOROVOD_STALL_CHECK_TIME_SECONDS",
    "HOROVOD_STALL_CHECK_DISABLE", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
    "S3_CONNECT_TIMEOUT_MSEC", "S3_REQUEST_TIMEOUT_MSEC", "S3_EXECUTOR_POOL_SIZE",
    "S3_MULTI_PART_UPLOAD_CHUNK_SIZE", "GCS_READ_CACHE_BLOCK_SIZE_MB",
    "GCS_REQUEST_CONNECTION_TIMEOUT_SECS", "GCS_REQUEST_IDLE_TIMEOUT_SECS"}


def variables(settings):
    for (section, name, default), value in itertools.product(listed_variables(), VALUES):
        if section not in NOT_READ:
            yield f"{name} x {value}", lambda attack, s=section, n=name, d=default, v=value: \
                attack_by_variable(attack, s, n, d, v)


# --- all -------------------------------------------------------------------------------------------

PARTS = {"partitions": partitions, "signals": signals, "times": times, "outputs": outputs, "stdout": stdout,
         "variables": variables}
# Some of each part, for the tests: siblings of what was once wrong.
SMALL = re.compile(
    r"^(multi_worker x worker 1 -> worker 2 x tcp|parameter_server x (launcher|ps 0) x a folder|"
    r"coordinator x ps 0 x no folder|elastic x launcher x no folder|"
    r"--json x (null device|link|full disk|unread FIFO|private file|mounted file)|pack --o x full disk|"
    r"CLOUD_ML_HP_METRIC_FILE x unread FIFO|--loss_csv x unread FIFO|"
    r"--export_onnx x dangling link|--export_dir x (dangling link|link to a folder)|"
    r"DISTRIBUTE_TIMELINE x null device|DISTRIBUTE_READY_FILE x text file|"
    r"--checkpoint_dir x (text file|read-only disk)|a log in --output-dir x (unread FIFO|null device)|"
    r"(ckpt ls|cluster --json|--json) x full|"
    r"DISTRIBUTE_LOCAL_RANK x word|DISTRIBUTE_TLS x 20 kB|DISTRIBUTE_LOG_LEVEL x control characters|"
    r"HOROVOD_CYCLE_TIME x nan|S3_EXECUTOR_POOL_SIZE x word|GCS_READ_CACHE_BLOCK_SIZE_MB x -1)$")


def digits(folder):
    """64 of the digits in each file, so that a run is short."""
    folder.mkdir()
    for file in DATA.iterdir():
        if not file.name.endswith(".gz"):
            continue
        content = gzip.decompress(file.read_bytes())
        dimensions = content[3]
        sizes = struct.unpack(f">{dimensions}I", content[4:4 + 4 * dimensions])
        item = 1
        for size in sizes[1:]:
            item *= size
        begin = 4 + 4 * dimensions
        (folder / file.stem).write_bytes(content[:4] + struct.pack(f">{dimensions}I", 64, *sizes[1:])
                                         + content[begin:begin + 64 * item])


def gray_png():
    """A picture of 8 x 8 pixels."""
    def chunk(name, content):
        return (struct.pack(">I", len(content)) + name + content +
                struct.pack(">I", zlib.crc32(name + content)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(9) * 8)) + chunk(b"IEND", b""))


def prepare(settings):
    """What attacks read: digits, a checkpoint, an event file, records."""
    place = settings.place
    settings.data = place / "digits"
    digits(settings.data)
    subprocess.run([settings.bin / "mnist_cnn", "--model=tutorial", "--batch_size=8", "--steps=2",
                    f"--data_dir={settings.data}", f"--checkpoint_dir={place}/ckpt",
                    f"--logdir={place}/events"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **settings.environment, "OMP_NUM_THREADS": "1"})
    settings.checkpoint = place / "ckpt/ckpt-1"
    records = place / "some.tfrecord"
    records.write_bytes(b"")
    pictures = place / "pictures"
    (pictures / "some").mkdir(parents=True)
    (pictures / "some/gray.png").write_bytes(gray_png())
    settings.samples = {"events": place / "events", "records": records, "pictures": pictures,
                        "digit": f"{next(settings.data.glob('t10k-images*'))}:0"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def in_own_namespaces():
    """Runs this script again where its mounts are private and its processes end with it."""
    if os.environ.get("ATTACK_TEST_INSIDE"):
        return
    if os.geteuid() != 0:
        sys.exit("attack_test.py: needs root, for namespaces with mounts, devices and hosts")
    os.environ["ATTACK_TEST_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                          "--kill-child", "--mount-proc", sys.executable, *sys.argv])


def run_one(settings, part, name, function):
    attack = Attack(settings, part, name)
    try:
        function(attack)
    except Exception as error:  # of this script: a bad attack, not the end of all
        attack.fault(f"{type(error).__name__}: {error}")
    return attack.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=built("bin/mnist_cnn"), help="build folder with mnist_cnn and distribute in bin/")
    parser.add_argument("--part", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--only", default="", help="attacks whose names match this expression")
    parser.add_argument("--small", action="store_true", help="some of each part, for the tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="attacks at a time")
    parser.add_argument("--patience", type=float, default=1, help="factor of all time limits")
    settings = parser.parse_args()
    in_own_namespaces()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    settings.bin = pathlib.Path(settings.build).resolve() / "bin"
    settings.environment = sanitizer_of(settings.bin)[1]
    settings.lock, settings.port = threading.Lock(), free_port
    settings.place = pathlib.Path(tempfile.mkdtemp(prefix="attack-samples-"))
    began, good = time.monotonic(), collections.defaultdict(list)
    try:
        prepare(settings)
        # Those that wait most first.
        grid = [(part, name, function) for part in settings.part.split(",")
                for name, function in PARTS[part](settings)
                if re.search(settings.only, name) and (not settings.small or SMALL.match(name))]
        with concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
            for (part, *_), result in zip(grid, pool.map(lambda one: run_one(settings, *one), grid)):
                good[part].append(result)
    finally:
        shutil.rmtree(settings.place, ignore_errors=True)
    print("| part | attacks | good |\n|---|---|---|")
    for part, results in good.items():
        print(f"| {part} | {len(results)} | {sum(results)} |")
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if all(all(results) for results in good.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Attacks jobs of every strategy for hours; what lives long must not grow.

Five jobs run side by side: a coordinator with two servers, elastic workers, ranks of an elastic
Horovod job, and under `distribute run` workers in step and workers with a server. Every second or
two one of them is attacked: a task is killed, frozen for a moment or for longer than
DISTRIBUTE_LOST_AFTER, told to leave, or its ports are flooded with connections that say nothing,
half a message or rubbish. What has ended is started again, by this script as a platform would, or
by the launcher. Some processes of each job are only frozen and flooded, never ended: chief, servers,
worker 0 and the launchers.

The run is bad when
  - one of these long-lived processes ends, or a job makes no step in the last quarter of the time;
  - one of them has grown: of anonymous memory, proportional memory (PSS), descriptors and threads,
    the lower quartile of the samples in the last quarter of the time lies above that of the second
    quarter by more than 5 % and 6 MiB, or by more than 2 descriptors or threads. The lower quartile
    leaves out what an attack causes for a moment; the first quarter is for warming up;
  - there are more files in /dev/shm or in TMPDIR than in the second quarter, or any at the end;
  - a task aborts (signals that were not sent, reports of a sanitizer), or a process is left.
Left out: a worker of "servers" that is frozen for long takes the server, which has cut its
connections, for lost, ends with status 138, and the launcher starts the whole job again.
The same seed makes the same choices; what they meet differs from run to run.

Usage: scripts/soak.py BUILD [--minutes 120] [--seed 1] [--jobs NAME,...] [--attacks NAME,...]
                       [--keep]
--attacks none: nothing is attacked, which shows what a job's processes gain by their work alone.
Prints a line every minute, and a table at the end. Its logs go to a folder that it names.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from attacks import ABORTED, built, processes_of, sanitizer_of, send

LOST_AFTER = 6  # seconds
RESTART_PAUSE = 0.5
MIB = 1 << 20
TRAINING = ["--model=tutorial", "--batch_size=8", "--steps=1000000000", "--save_steps=100"]
# name -> (types and numbers of tasks, flags, whether the launcher starts them,
#          what is never ended, what is)
JOBS = {
    "coordinator": ({"chief": 1, "worker": 2, "ps": 2}, ["--strategy=parameter_server"], None,
                    ["chief 0", "ps 0", "ps 1"], ["worker 0", "worker 1"]),
    "elastic": ({"worker": 3}, ["--strategy=multi_worker", "--elastic"], None,
                ["worker 0"], ["worker 1", "worker 2"]),
    "horovod": ({"worker": 2}, ["--api=horovod", "--elastic"], None, ["worker 0"], ["worker 1"]),
    "servers": ({"worker": 2, "ps": 1}, ["--strategy=parameter_server"], ["-np", "2", "--ps", "1"],
                ["worker 0", "ps 0"], ["worker 1"]),
    "in step": ({"worker": 2}, ["--strategy=multi_worker"], ["-np", "2"], [],
                ["worker 0", "worker 1"]),
}
ATTACKS = {"kill": 4, "freeze": 2, "freeze long": 1, "leave": 2, "flood": 2}


def reserved_port():
    """A port of the loopback interface that no other program gets while it is held."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        holder.setsockopt(socket.SOL_SOCKET, option, 1)
    return holder


class Job:
    """Its tasks, started by this script or by the launcher."""

    def __init__(self, name, soak):
        self.name, self.soak = name, soak
        counts, flags, launcher, self.lasting, self.victims = JOBS[name]
        self.log = soak.work / (name.replace(" ", "_") + ".log")
        self.command = [soak.bin / "mnist_cnn", *flags, *TRAINING,
                        f"--checkpoint_dir={soak.work}/{name.replace(' ', '_')}"]
        self.environment = dict(soak.environment, SOAK_JOB=name)
        self.tasks, self.again, self.sent, self.ended = {}, {}, {}, collections.Counter()
        self.step, self.last_progress, self.read = 0, time.monotonic(), 0
        self.quiet_until = time.monotonic() + 5
        self.launcher = None
        if launcher:
            self.launcher = self.start([soak.bin / "distribute", "run", *launcher, "--grace", "5",
                                        "--max-restarts", "1000000000", "--", *self.command], {})
            return
        self.holders = {kind: [reserved_port() for _ in range(n)] for kind, n in counts.items()}
        self.cluster = {kind: [f"127.0.0.1:{port.getsockname()[1]}" for port in ports]
                        for kind, ports in self.holders.items()}
        self.token = "%064x" % random.getrandbits(256)
        for kind, n in counts.items():
            for index in range(n):
                self.start_task(f"{kind} {index}")

    def start(self, command, variables):
        with open(self.log, "ab") as log:
            return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, start_new_session=True,
                                    env=dict(self.environment, **variables))

    def start_task(self, task):
        kind, index = task.split()
        config = {"cluster": self.cluster, "task": {"type": kind, "index": int(index)}}
        self.tasks[task] = self.start(self.command, {
            "TF_CONFIG": json.dumps(config), "DISTRIBUTE_JOB_TOKEN": self.token})

    def find_tasks(self):
        """Process ids by task, and their addresses."""
        if not self.launcher:
            self.addresses = [a.rsplit(":", 1) for all_ in self.cluster.values() for a in all_]
            return {task: p.pid for task, p in self.tasks.items() if p.poll() is None}
        found, self.addresses = {}, []
        for pid, environment in self.soak.processes.items():
            if environment.get("SOAK_JOB") == self.name and "TF_CONFIG" in environment:
                config = json.loads(environment["TF_CONFIG"])
                task = config["task"]
                found[f"{task['type']} {task['index']}"] = pid
                self.addresses = [a.rsplit(":", 1) for all_ in config["cluster"].values()
                                  for a in all_]
        return found

    def long_lived(self):
        tasks = self.find_tasks()
        found = {task: tasks[task] for task in self.lasting if task in tasks}
        if self.launcher:
            found["launcher"] = self.launcher.pid
        return {f"{self.name}: {task}": pid for task, pid in found.items()}

    def start_again(self):
        for task, process in self.tasks.items():
            if process.poll() is None:
                continue
            if task not in self.again:
                status = process.returncode
                if status < 0 and -status not in self.sent.pop(process.pid, ()):
                    self.soak.fail(f"{self.name}: {task} was ended by signal {-status}")
                self.ended[status] += 1
                self.again[task] = time.monotonic() + RESTART_PAUSE
        for task in [task for task, at in self.again.items() if at <= time.monotonic()]:
            del self.again[task]
            self.start_task(task)

    def signal(self, pid, number):
        self.sent.setdefault(pid, set()).add(number)
        send(pid, number)

    def look_at_log(self):
        with open(self.log, "rb") as log:
            log.seek(self.read)
            text = log.read()
        self.read += len(text)
        text = text.decode(errors="replace")
        if ABORTED.search(text):
            self.soak.fail(f"{self.name}: {ABORTED.search(text).group(0)}, see {self.log}")
        for step in re.findall(r"step (\d+)", text):
            if int(step) > self.step:
                self.step, self.last_progress = int(step), time.monotonic()


class Soak:
    def __init__(self, arguments):
        self.random = random.Random(arguments.seed)
        self.seconds = arguments.minutes * 60
        self.attacks = [name for name in arguments.attacks.split(",") if name != "none"]
        self.bin = pathlib.Path(arguments.build).resolve() / "bin"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
        self.temporary = self.work / "tmp"
        self.temporary.mkdir()
        self.events = open(self.work / "attacks.log", "w", buffering=1)
        self.marker = self.work.name
        self.environment = dict(os.environ, SOAK=self.marker, TMPDIR=str(self.temporary),
                                OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive",
                                DISTRIBUTE_LOST_AFTER=str(LOST_AFTER))
        self.environment.update(sanitizer_of(self.bin)[1])
        self.failures, self.samples, self.thawed, self.held = [], [], [], []
        self.counts = collections.Counter()
        self.shared_memory_before = set(os.listdir("/dev/shm"))
        self.began = time.monotonic()
        self.processes = {}
        self.jobs = [Job(name, self) for name in arguments.jobs.split(",")]
        self.first = {}

    def now(self):
        return time.monotonic() - self.began

    def fail(self, text):
        if text not in self.failures:
            self.failures.append(text)
            print(f"BAD  {self.now():7.0f} s  {text}", flush=True)
            self.events.write(f"{self.now():8.1f} BAD {text}\n")

    def freeze(self, job, pid, seconds):
        send(pid, signal.SIGSTOP)
        self.thawed.append((time.monotonic() + seconds, pid))
        job.quiet_until = time.monotonic() + seconds + 2

    def flood(self, job):
        kinds = [b"", b"\x00" * 3, os.urandom(64), b"GET / HTTP/1.1\r\n\r\n"]
        for _ in range(self.random.randint(20, 150)):
            host, port = self.random.choice(job.addresses)
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex((host, int(port)))
            try:
                connection.send(self.random.choice(kinds))
            except OSError:
                pass
            if self.random.random() < 0.5:
                connection.close()
            else:
                self.held.append((time.monotonic() + self.random.uniform(0.1, 4), connection))

    def attack(self):
        if not self.attacks:
            return
        job = self.random.choice(self.jobs)
        what = self.random.choices(self.attacks, [ATTACKS[name] for name in self.attacks])[0]
        number, seconds = self.random.random(), self.random.uniform(0.2, 2)
        if time.monotonic() < job.quiet_until or (job.name == "servers" and what == "freeze long"):
            return
        tasks = job.find_tasks()
        stopped = {pid for _, pid in self.thawed}
        victims = [tasks[name] for name in job.victims if name in tasks]
        all_tasks = list(tasks.values()) + ([job.launcher.pid] if job.launcher else [])
        if what == "freeze":
            victims = all_tasks
        victims = [pid for pid in victims if pid not in stopped]
        if what == "flood":
            if not tasks:
                return
            self.flood(job)
        elif not victims:
            return
        else:
            pid = victim = victims[int(number * len(victims))]
            job.quiet_until = time.monotonic() + 6
            if what == "kill":
                job.signal(pid, signal.SIGKILL)
            elif what == "leave":
                job.signal(pid, signal.SIGTERM)
            elif what == "freeze":
                self.freeze(job, pid, seconds)
            else:
                self.freeze(job, pid, LOST_AFTER * 1.5)
        self.counts[what] += 1
        name = next((task for task, pid in tasks.items() if what != "flood" and pid == victim),
                    "all" if what == "flood" else "launcher")
        self.events.write(f"{self.now():8.1f} {job.name}: {what} {name}\n")

    def thaw(self, everything=False):
        for at, pid in [entry for entry in self.thawed if everything or entry[0] <= time.monotonic()]:
            send(pid, signal.SIGCONT)
            self.thawed.remove((at, pid))
        for at, connection in [e for e in self.held if everything or e[0] <= time.monotonic()]:
            connection.close()
            self.held.remove((at, connection))

    def measure(self, pid):
        folder = pathlib.Path(f"/proc/{pid}")
        rollup = (folder / "smaps_rollup").read_text()
        kib = {key: int(re.search(rf"^{key}: +(\d+)", rollup, re.M).group(1))
               for key in ("Rss", "Pss", "Anonymous")}
        return {"anonymous": kib["Anonymous"] * 1024, "pss": kib["Pss"] * 1024,
                "rss": kib["Rss"] * 1024, "descriptors": len(os.listdir(folder / "fd")),
                "threads": len(os.listdir(folder / "task"))}

    def sample(self):
        self.processes = processes_of("SOAK", self.marker)
        values = {}
        for job in self.jobs:
            job.look_at_log()
            for name, pid in job.long_lived().items():
                if self.first.setdefault(name, pid) != pid:
                    self.fail(f"{name} is another process: the first one has ended")
                    self.first[name] = pid
                try:
                    values[name] = self.measure(pid)
                except (OSError, AttributeError):
                    pass
        for name in self.first:
            if name not in values:
                self.fail(f"{name} has ended")
        files = sum(len(names) for _, _, names in os.walk(self.temporary))
        shared = len(set(os.listdir("/dev/shm")) - self.shared_memory_before)
        values["system"] = {"files in TMPDIR": files, "files in /dev/shm": shared,
                            "processes": len(self.processes)}
        self.samples.append((self.now(), values))

    def run(self):
        next_sample = next_attack = 0
        next_line, warm = 60, min(20, self.seconds / 8)
        while self.now() < self.seconds:
            self.thaw()
            for job in self.jobs:
                job.start_again()
            if self.now() >= next_sample:
                self.sample()
                next_sample = self.now() + 3
            if self.now() >= max(next_attack, warm):
                self.attack()
                next_attack = self.now() + self.random.uniform(0.3, 2)
            if self.now() >= next_line:
                next_line += 60
                print(f"     {self.now():7.0f} s  {dict(self.counts)}, steps "
                      f"{ {job.name: job.step for job in self.jobs} }", flush=True)
            time.sleep(0.05)
        for job in self.jobs:
            quiet = time.monotonic() - job.last_progress
            if quiet > self.seconds / 4:
                self.fail(f"{job.name}: no step for {quiet:.0f} s")

    def end(self):
        self.thaw(everything=True)
        for job in self.jobs:
            for pid in ([job.launcher.pid] if job.launcher else
                        [p.pid for p in job.tasks.values()]):
                job.signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + 60
        while processes_of("SOAK", self.marker) and time.monotonic() < deadline:
            for job in self.jobs:
                for process in [*job.tasks.values(), *([job.launcher] if job.launcher else [])]:
                    process.poll()
            time.sleep(0.2)
        for pid, environment in processes_of("SOAK", self.marker).items():
            self.fail(f"a process of {environment.get('SOAK_JOB')} is left 60 s after SIGTERM: "
                      f"{environment.get('TF_CONFIG', 'the launcher')}")
            send(pid, signal.SIGKILL)
        for job in self.jobs:
            job.look_at_log()
        for folder, left in ((self.temporary, os.listdir(self.temporary)),
                             ("/dev/shm", set(os.listdir("/dev/shm")) - self.shared_memory_before)):
            if left:
                self.fail(f"left in {folder}: {sorted(left)[:5]}")

    def judge(self):
        def of(name, key, begin, end):
            values = [v[name][key] for t, v in self.samples
                      if begin * self.seconds <= t < end * self.seconds and name in v]
            return statistics.quantiles(values, n=4)[0] if len(values) > 1 else None

        print(f"{'lower quartiles, second -> last quarter':32} {'anonymous':>16} {'pss':>16} "
              f"{'rss':>16} {'descriptors':>12} {'threads':>9}")
        names = sorted({name for _, values in self.samples for name in values} - {"system"})
        for name in names:
            line = f"{name:39}"
            for key in ("anonymous", "pss", "rss", "descriptors", "threads"):
                before, after = of(name, key, 0.25, 0.5), of(name, key, 0.75, 1)
                if before is None or after is None:
                    line += " -"
                    continue
                memory = key not in ("descriptors", "threads")
                room = max(0.05 * before, 6 * MIB) if memory else 2
                if after > before + room and key != "rss":
                    self.fail(f"{name}: {key} grew from {before:.0f} to {after:.0f}")
                unit = MIB if memory else 1
                line += f" {before / unit:8.1f} ->{after / unit:6.1f}" if memory else \
                    f" {before:5.0f} ->{after:3.0f}"
            print(line)
        for key in ("files in TMPDIR", "files in /dev/shm", "processes"):
            before, after = of("system", key, 0.25, 0.5), of("system", key, 0.75, 1)
            print(f"{key:39} {before} -> {after}")
            if before is not None and after > before + 2:
                self.fail(f"{key} grew from {before} to {after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=built("bin/mnist_cnn"), help="build folder with mnist_cnn and distribute in bin/")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default=",".join(JOBS), help="those of " + ", ".join(JOBS))
    parser.add_argument("--attacks", default=",".join(ATTACKS),
                        help="none, or those of " + ", ".join(ATTACKS))
    parser.add_argument("--keep", action="store_true", help="keep the logs of a good run")
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):  # the jobs end with it
        signal.signal(number, lambda *_: sys.exit(1))
    soak = Soak(arguments)
    print(f"seed {arguments.seed}, {arguments.minutes:g} minutes, logs in {soak.work}", flush=True)
    try:
        soak.run()
    finally:
        soak.end()
    soak.judge()
    for job in soak.jobs:
        print(f"{job.name}: {job.step} steps; tasks ended with {dict(job.ended)}")
    print(f"attacks: {dict(soak.counts)}; {len(soak.failures)} faults")
    if soak.failures:
        print("\n".join(["the faults:", *soak.failures, f"logs: {soak.work}"]))
    elif not arguments.keep:
        shutil.rmtree(soak.work)
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())

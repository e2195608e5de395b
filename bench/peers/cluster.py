"""The parts of compare.py that need several processes."""
import subprocess
import tempfile
import pathlib
import json
import time

from running import PEERS, ROOT, median_record, rounds_of, run, say, side_by_side, undisturbed

SIZES = [4, 4 << 10, 64 << 10, 1 << 20, 25 << 20, 100 << 20]
TRAINING = ["--optimizer=adam", "--learning_rate=1e-4", "--model=book", "--device=cpu", "--seed=1"]


def by_size(rows):
    """{"65536": {"us_p50": ..., "us_p99": ...}} from rows with "bytes"."""
    return {str(row["bytes"]): {k: row[k] for k in ("us_p50", "us_p99")} for row in rows}


def bench(sides, transport, world, *more):
    """Our own measurement; rows of raw sockets or memory, if there are any, apart."""
    command = [str(sides.bin / "distribute"), "bench", "allreduce", f"--transport={transport}",
               f"--world={world}", f"--bytes={','.join(map(str, SIZES))}", "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode != 0:
        say(f"  {' '.join(command)}: {done.stderr[-300:]}")
        return None
    rows = json.loads(done.stdout)
    record = by_size([r for r in rows if r["transport"] == transport])
    raw = [r for r in rows if r["transport"].startswith("raw_")]
    return {**record, **({"raw": by_size(raw)} if raw else {})}


def gloo(sides, world):
    done = run([sides.python, "-W", "ignore", PEERS / "gloo_peer.py", f"--world={world}", "--bytes",
                *SIZES], 1)
    return done and by_size(done[0]["results"])


def ring(sides, world):
    done = run([sides.python, "-W", "ignore", PEERS / "tensorflow_ring_peer.py",
                f"--world={world}", "--bytes", *SIZES[1:]], 1)
    return done and by_size(done[0]["results"])


def median_sizes(records):
    """Size by size; "raw" goes one level deeper."""
    return {size: median_sizes([r[size] for r in records]) if size == "raw" else
            median_record([r[size] for r in records]) for size in records[0]}


def in_turn(count, calls):
    kept = {name: [] for name in calls}
    for index in range(count):
        for name, call in calls.items():
            say(f"  round {index + 1}/{count}: {name}")
            record = undisturbed(call)
            if record:
                kept[name].append(record)
    return {name: median_sizes(records) for name, records in kept.items() if records}


def measure_all_reduce(sides, flags):
    result = {}
    for world in (2, 3, 4, 8):
        say(f"all-reduce between {world} processes")
        raw = ["--raw"] if world == 2 else []
        calls = {"shm": lambda w=world, more=raw: bench(sides, "shm", w, *more),
                 "shm in place": lambda w=world, more=raw: bench(sides, "shm", w, "--in_place",
                                                                  *more)}
        if world <= 3:
            calls["tcp"] = lambda w=world: bench(sides, "tcp", w, "--raw")
        if sides.python and world in (2, 4):
            calls["gloo"] = lambda w=world: gloo(sides, w)
        if sides.python and world == 2:
            calls["tensorflow ring"] = lambda w=world: ring(sides, w)
        result[str(world)] = in_turn(flags.rounds, calls)
    return result


def two_apart(sides, steps):
    return side_by_side([sides.bin / "mnist_cnn", *TRAINING, "--strategy=one_device",
                         "--batch_size=50", f"--steps={steps}", *sides.data()], 2)


def two_workers(sides, steps, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "run.json"
        start = time.monotonic()
        done = run([sides.bin / "distribute", "run", "-np", 2, "--", sides.bin / "mnist_cnn",
                    *TRAINING, "--batch_size=100", f"--steps={steps}", *sides.data(),
                    f"--json={report}"], 1, environment)
        if done is None:
            return None
        return {**json.loads(report.read_text()), "job_seconds": time.monotonic() - start}


def launch_seconds(sides):
    """What the launcher adds: a job of two tasks that do nothing."""
    start = time.monotonic()
    subprocess.run([sides.bin / "distribute", "run", "-np", "2", "--", "true"], check=True)
    return {"seconds": time.monotonic() - start}


def measure_workers(sides, flags):
    say("book network, 2 workers with one core each, batch 50 each")
    calls = {"apart": lambda: two_apart(sides, 300), "workers": lambda: two_workers(sides, 300),
             "workers tcp": lambda: two_workers(sides, 300, {"DISTRIBUTE_TRANSPORT": "tcp"}),
             "launch": lambda: launch_seconds(sides)}
    if sides.python:
        for framework, form in (("tensorflow", "keras"), ("pytorch", "eager"),
                                ("pytorch", "channels_last")):
            call = sides.peer(f"{framework}_peer.py", form, "--workers=2")
            calls[f"{framework} {form}"] = lambda c=call: c("book", 50, 100, 1)
    return rounds_of(flags.rounds, calls)


def measure_update(sides, flags):
    """Sum of the gradients of two workers and Adam in one go, against the bare loops."""
    return rounds_of(flags.rounds, {"update": lambda: (run(
        [sides.bin / "shared_update_bench"], 1) or [None])[0]})


def servers_job(sides, steps, *more):
    """1 ps and 3 workers, book network, Adam."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "run.json"
        program = [sides.bin / "mnist_cnn", *TRAINING, "--strategy=parameter_server",
                   "--batch_size=50", f"--steps={steps}", *sides.data(), f"--json={report}"]
        chief = ["--chief"] if "--coordinator=true" in more else []
        done = run([sides.bin / "distribute", "run", *chief, "--ps", 1, "-np", 3, "--", *program,
                    *more], 1)
        return json.loads(report.read_text()) if done and report.exists() else None


def measure_servers(sides, flags):
    say("book network, batch 50, 1 parameter server and 3 workers")
    calls = {"one process": lambda: sides.ours("book", 50, 300, 2),
             "workers": lambda: servers_job(sides, 1000),
             "coordinator": lambda: servers_job(sides, 1000, "--coordinator=true")}
    if sides.python:
        call = sides.peer("tensorflow_servers_peer.py", "keras", "--workers=3")
        calls["tensorflow"] = lambda: call("book", 50, 200, 2)
    record = rounds_of(flags.rounds, calls)
    for name, more in (("recipe", ()), ("recipe coordinator", ("--coordinator=true",)),
                       ("recipe in step", ("--sync_replicas=3",))):
        say(f"  accuracy after 5,000 steps: {name}")
        record[name] = servers_job(sides, 5000, *more)
    return record

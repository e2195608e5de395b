#!/usr/bin/env python3
"""Runs trainings under limits of resources: each must end by itself, with success or with an error
that names its cause, and leave nothing behind.

The grid is limits x jobs. A run is good when it
  - ends within --seconds, and not by a signal (a launcher passes on 128 + signal);
  - has, where it fails, at least one line of the library or of a tool that says why, and no line of
    an abort ("terminate called", a C++ symbol, a sanitizer);
  - leaves no process, no half written file, no socket and no temporary file.
With programs of a sanitizer, such as those in build/asan_attacks/bin, its reports are faults, too;
`-v` is left out, because the sanitizers reserve terabytes of addresses when a program starts; `-f 0`
and `no /dev/shm` with LLVM's OpenMP, which writes a file there and ends by a signal when it cannot.
Limits that only root can make (mounts) need root; `-u` needs a user other than root, to whom the
script changes for these runs.

Usage: scripts/limits_test.py BUILD/bin [--only TEXT] [--seconds N] [--small]
Prints a line for each run, and the output of those that are bad.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from attacks import ABORTED, DATA, JOBS, REASON, built, kill_all, processes_of, sanitizer_of

OTHER_USER = 65534
TRAINING = ["--data_dir={bin}/data", "--steps=30", "--batch_size=32", "--checkpoint_dir={work}/ckpt", "--save_steps=10",
            "--loss_csv={work}/loss.csv"]
SMALL = [("one process", "-f 1"), ("multi_worker", "-n 24"), ("multi_worker", "-f 100"),
         ("parameter_server", "-u 12"), ("elastic", "no TMPDIR"), ("one process", "-v 180M")]


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def as_other_user(processes):
    def change():
        os.setgroups([])
        os.setgid(OTHER_USER)
        os.setuid(OTHER_USER)
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    return change


# name -> (what the child does before it becomes the program, a shell prefix in a mount namespace)
LIMITS = {
    "none": (None, None),
    **{f"-n {n}": (limit(resource.RLIMIT_NOFILE, n), None) for n in (8, 16, 24, 40)},
    **{f"-u {n}": (as_other_user(n), None) for n in (1, 4, 8, 12, 20)},
    **{f"-f {kib}": (limit(resource.RLIMIT_FSIZE, kib * 1024), None) for kib in (0, 1, 100, 4000)},
    **{f"-v {mib}M": (limit(resource.RLIMIT_AS, mib << 20), None)
       for mib in (150, 180, 300, 600, 1200)},
    # Some of the values that ended programs by a signal: oneDNN's gemm, the main thread's stack.
    **{f"-v {mib}M, 2 threads": (limit(resource.RLIMIT_AS, mib << 20), None)
       for mib in (160, 204, 209)},
    "no TMPDIR": (lambda: os.environ.update(TMPDIR="/no/such/directory"), None),
    "full TMPDIR": (None, "mkdir {work}/tmp; mount -t tmpfs -o size=4k none {work}/tmp; "
                          "head -c 4096 /dev/zero > {work}/tmp/full; export TMPDIR={work}/tmp"),
    "full disk": (None, "mount -t tmpfs -o size=600k none {work}"),
    "read-only root and HOME": (
        None, "export HOME=/root; mount -t tmpfs none {work}; mount -o remount,bind,ro /"),
    "no /dev/shm": (None, "mount -t tmpfs -o ro,size=4k none /dev/shm"),
}


def left_out(name, sanitizer, programs):
    """Whether no program of this build can run under the limit, whatever it does."""
    llvm = b"libomp.so" in (pathlib.Path(programs) / "mnist_cnn").read_bytes()
    return bool(sanitizer) and name.startswith("-v") or llvm and name in ("-f 0", "no /dev/shm")


def reachable(programs):
    """A copy of programs and data in a folder that any user can read; the checkout may be private."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="limits-bin-"))
    folder.chmod(0o755)
    for name in ("mnist_cnn", "distribute"):
        shutil.copy(pathlib.Path(programs) / name, folder / name)
        (folder / name).chmod(0o755)
    (folder / "data").mkdir(mode=0o755)
    for file in DATA.iterdir():
        shutil.copyfile(file, folder / "data" / file.name)
        (folder / "data" / file.name).chmod(0o644)
    return folder


def leftovers(work, temporary, marker):
    deadline = time.monotonic() + 2  # what was killed takes a moment to go
    while processes_of("LIMITS_TEST", marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    left = [f"process {pid}" for pid in processes_of("LIMITS_TEST", marker)]
    kill_all("LIMITS_TEST", marker)
    left += [str(path) for path in pathlib.Path(work).rglob("*.tempstate*")]
    left += [str(path) for path in pathlib.Path(work).rglob(".checkpoint_writer")]
    left += [str(path) for path in pathlib.Path(temporary).iterdir()]
    return left


def run(job, name, arguments):
    work = tempfile.mkdtemp(prefix="limits-")
    temporary = tempfile.mkdtemp(prefix="limits-tmp-")
    os.chmod(work, 0o777)
    os.chmod(temporary, 0o777)
    values = {"bin": arguments.bin, "work": work}
    command = [word.format(**values) for word in JOBS[job] + TRAINING]
    before, prefix = LIMITS[name]
    if prefix:
        script = prefix.format(**values) + ' && exec "$@"'
        command = ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *command]
    marker = os.path.basename(work)
    environment = dict(os.environ, TMPDIR=temporary, OMP_NUM_THREADS="2" if "2 threads" in name else "1",
                       DISTRIBUTE_STARTUP_TIMEOUT="20", LIMITS_TEST=marker,
                       **arguments.environment)
    if name.startswith("-u") and "ASAN_OPTIONS" in environment:
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"  # the search for leaks starts a thread
    if name == "no TMPDIR":
        environment["TMPDIR"], before = "/no/such/directory", None
    started = time.monotonic()
    child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=before,
                             start_new_session=True)
    try:
        output, status = child.communicate(timeout=arguments.seconds)[0], child.returncode
    except subprocess.TimeoutExpired:
        status = None
        kill_all("LIMITS_TEST", marker)
        output = child.communicate()[0]
    seconds = time.monotonic() - started
    text = output.decode(errors="replace")
    bad = []
    if status is None:
        bad.append("hangs")
    elif status < 0 or (status >= 128 and status not in (138, 143)):
        bad.append(f"signal {-status if status < 0 else status - 128}")
    if status not in (0, None) and not REASON.search(text):
        bad.append("no reason")
    if ABORTED.search(text):
        bad.append("aborts: " + ABORTED.search(text).group(0))
    bad += ["leaves " + what for what in leftovers(work, temporary, marker)]
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(temporary, ignore_errors=True)
    reason = next((line for line in text.splitlines() if REASON.match(line) and status), "")
    print(f"{'BAD ' if bad else 'ok  '} {name:24} {job:18} status {status}  {seconds:5.1f} s  "
          f"{'; '.join(bad) or reason[:110]}", flush=True)
    if bad:
        print("    " + "\n    ".join(text.splitlines()[-12:]), flush=True)
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin", type=built("mnist_cnn"))
    parser.add_argument("--only", default="", help="runs whose limit or job has this text")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--small", action="store_true", help="some runs of each kind, for CI")
    arguments = parser.parse_args()
    grid = SMALL if arguments.small else [(job, name) for name in LIMITS for job in JOBS]
    root = os.geteuid() == 0
    results, skipped, without = [], 0, 0
    sanitizer, arguments.environment = sanitizer_of(arguments.bin)
    arguments.bin = reachable(arguments.bin)
    for job, name in grid:
        if arguments.only and arguments.only not in f"{name} {job}":
            continue
        if left_out(name, sanitizer, arguments.bin):
            without += 1
            continue
        if not root and (LIMITS[name][1] or name.startswith("-u")):
            skipped += 1
            continue
        results.append(run(job, name, arguments))
    shutil.rmtree(arguments.bin)
    print(f"{sum(results)} of {len(results)} runs are good; {skipped} need root"
          + (f"; {without} that none of these programs can run under are left out" if without else ""))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

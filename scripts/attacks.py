"""What the scripts that attack jobs have in common: kinds of jobs, the processes of a run, and what
their output may not have."""
import argparse
import os
import pathlib
import re
import signal

# Lines that say why, from any source: the library, a program, the launcher, OpenMP, the loader.
REASON = re.compile(r"^(\[[a-z]+ \d+\] )?(error: |distribute|warning: |mnist_cnn: |libgomp: |"
                    r".*error while loading shared libraries)", re.M)
ABORTED = re.compile(r"terminate called|core dumped|Segmentation fault|Sanitizer|runtime error:|"
                     r"double free|std::__|pure virtual", re.M)

DATA = pathlib.Path(__file__).resolve().parent.parent / "examples/mnist_cnn/data"
RUN = ["{bin}/distribute", "run", "--grace", "5"]
JOBS = {
    "one process": ["{bin}/mnist_cnn"],
    "mirrored": ["{bin}/mnist_cnn", "--replicas=2"],
    "multi_worker": [*RUN, "-np", "2", "--", "{bin}/mnist_cnn", "--strategy=multi_worker"],
    "multi_worker tcp": [*RUN, "-np", "2", "--", "env", "DISTRIBUTE_TRANSPORT=tcp",
                         "{bin}/mnist_cnn", "--strategy=multi_worker"],
    "elastic": [*RUN, "-np", "2", "--min-np", "1", "--", "{bin}/mnist_cnn",
                "--strategy=multi_worker", "--elastic"],
    "parameter_server": [*RUN, "-np", "2", "--ps", "1", "--", "{bin}/mnist_cnn",
                         "--strategy=parameter_server"],
    "coordinator": [*RUN, "-np", "2", "--ps", "1", "--chief", "--", "{bin}/mnist_cnn",
                    "--strategy=parameter_server"],
    "horovod": [*RUN, "-np", "2", "--", "{bin}/mnist_cnn", "--api=horovod"],
}


def built(program):
    """A type for argparse: a folder of `program`, as a path below the folder, that was built."""
    def folder(text):
        if not (pathlib.Path(text) / program).is_file():
            raise argparse.ArgumentTypeError(f"{text} has no {program}: build it first")
        return text
    return folder


def sanitizer_of(programs):
    """"asan", "tsan" or "", and the environment for its programs. Told by what is linked in."""
    code = (pathlib.Path(programs) / "mnist_cnn").read_bytes()
    support = pathlib.Path(__file__).resolve().parent.parent / "tests/support"
    if b"__asan_init" in code:  # its quarantine grows up to 256 MB, which is no leak
        return "asan", {"ASAN_OPTIONS": "quarantine_size_mb=4:allocator_may_return_null=1",
                        "LSAN_OPTIONS": f"suppressions={support}/lsan.supp:print_suppressions=0"}
    if b"__tsan_init" in code:
        return "tsan", {"TSAN_OPTIONS": f"suppressions={support}/tsan.supp"}
    return "", {}


def environment_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
    except OSError:
        return {}


def is_alive(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def processes_of(name, value):
    """All processes with this variable in their environment: their environments by process id."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        environment = environment_of(entry.name)
        if environment.get(name) == value and is_alive(entry.name):
            found[int(entry.name)] = environment
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_all(name, value):
    """Again until none is there: a process may just start another one."""
    while found := processes_of(name, value):
        for pid in found:
            send(pid, signal.SIGKILL)

"""Runs programs and keeps the medians of what they print."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
MOST_STOLEN = .03  # of the cores' time; a measurement that lost more is repeated
STOLEN = []        # the share of every measurement that was kept


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command, threads, environment=None):
    """(last JSON object on stdout, peak resident bytes), or None when the command fails."""
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), **(environment or {})}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        try:
            process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=errors,
                                       env=env, cwd=ROOT)
        except OSError as problem:
            say(f"  cannot run {command[0]}: {problem}")
            return None
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        text = out.read()
        if process.returncode != 0:
            say(f"  {' '.join(map(str, command))}: exit status {process.returncode}: "
                f"{errors.read().strip()[-300:]}")
            return None
    start = text.find("{")
    return (json.loads(text[start:]) if start >= 0 else {}), 1024 * usage.ru_maxrss


def report_of(command, threads, environment=None):
    """What the trainer `command` writes to --json, or None when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "run.json"
        done = run([*command, f"--json={report}"], threads, environment)
        if done is None or not report.exists():
            return None
        return {**json.loads(report.read_text()), "peak_rss_bytes": done[1]}


def side_by_side(command, count):
    """`count` trainers with one core each that know nothing of each other, as one record."""
    with tempfile.TemporaryDirectory() as folder:
        reports = [pathlib.Path(folder) / f"{i}.json" for i in range(count)]
        trainers = [subprocess.Popen([*map(str, command), f"--json={report}"],
                                     stdout=subprocess.DEVNULL,
                                     env={**os.environ, "OMP_NUM_THREADS": "1"})
                    for report in reports]
        if any([trainer.wait() for trainer in trainers]):
            return None
        records = [json.loads(report.read_text()) for report in reports]
    return {"images_per_second": sum(r["images_per_second"] for r in records),
            "step_ms_p50": statistics.mean(r["step_ms_p50"] for r in records)}


def median_record(records):
    """Field by field: the median of numbers, the last of anything else."""
    result = dict(records[-1])
    for key, value in result.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            result[key] = statistics.median(r[key] for r in records if r.get(key) is not None)
        elif isinstance(value, dict):
            result[key] = {k: statistics.median(r[key][k] for r in records) for k in value}
    result["rounds"] = len(records)
    return result


def processor_times():
    """(stolen, all) of all cores in ticks; stolen: a hypervisor gave it to other guests."""
    times = [int(word) for word in pathlib.Path("/proc/stat").read_text().split()[1:9]]
    return times[7], sum(times)


def undisturbed(call):
    """What `call` returns; of up to three tries the one in which least was stolen."""
    best = None
    for _ in range(3):
        stolen, total = processor_times()
        record = call()
        now_stolen, now_total = processor_times()
        share = (now_stolen - stolen) / max(now_total - total, 1)
        if record is None:
            return None
        if best is None or share < best[0]:
            best = share, record
        if share <= MOST_STOLEN:
            break
    STOLEN.append(best[0])
    return best[1]


def rounds_of(count, calls):
    """Calls every side in turn, `count` times; a side that fails is left out from then on."""
    kept = {name: [] for name in calls}
    for index in range(count):
        for name, call in list(calls.items()):
            say(f"  round {index + 1}/{count}: {name}")
            record = undisturbed(call)
            if record is None:
                calls.pop(name)
            else:
                kept[name].append(record)
    return {name: median_record(records) for name, records in kept.items() if records}

"""What the TensorFlow and the PyTorch script share: flags, images, timing and the JSON line."""
import argparse
import gzip
import json
import os
import pathlib
import resource
import socket
import statistics
import time

import numpy as np

MODELS = {
    # name: (convolutions as (kernel, filters), "SAME" or "VALID", units of the hidden layer)
    "book": ([(5, 32), (5, 64)], "SAME", 500),
    "tutorial": ([(3, 32)], "VALID", 128),
}


def parse_flags(description, forms):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", choices=sorted(MODELS), default="book")
    parser.add_argument("--batch_size", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=60, help="timed steps, after the warm-up")
    parser.add_argument("--warmup_steps", type=int, default=10)
    parser.add_argument("--form", choices=forms, default=forms[0], help="how the step is written")
    parser.add_argument("--workers", type=int, default=1,
                        help="processes, each with its part of the batch and of the threads")
    parser.add_argument("--data_dir", default="", help="folder with MNIST IDX files; else random")
    return parser.parse_args()


def free_ports(count):
    """Ports of the loopback interface that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def read_idx(path):
    """The array in an IDX file of unsigned bytes, gzip or plain."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        content = file.read()
    dims = np.frombuffer(content, ">i4", content[3], 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def batches(flags, count=8):
    """`count` batches of NHWC float images in [0, 1] and int64 labels, ready in memory."""
    total = count * flags.batch_size
    found = {kind: sorted(pathlib.Path(flags.data_dir).glob(f"*{kind}*ubyte*"))
             for kind in ("images", "labels")} if flags.data_dir else {}
    if found.get("images") and found.get("labels"):
        images = read_idx(max(found["images"], key=os.path.getsize))
        labels = read_idx(max(found["labels"], key=os.path.getsize))
        pick = np.arange(total) % len(images)
        images, labels = images[pick] / np.float32(255), labels[pick]
    else:
        rng = np.random.default_rng(1)
        images = rng.random((total, 28, 28), np.float32)
        labels = rng.integers(0, 10, total)
    images = images.astype(np.float32).reshape(count, flags.batch_size, 28, 28, 1)
    return list(zip(images, labels.astype(np.int64).reshape(count, flags.batch_size)))


def seconds_since_process_start():
    ticks = int(pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
    uptime = float(pathlib.Path("/proc/uptime").read_text().split()[0])
    return uptime - ticks / os.sysconf("SC_CLK_TCK")


def measure(flags, framework, version, data, step, prints=True):
    """Runs `step(batch) -> float loss` and prints the JSON line; batch_size is each worker's."""
    loss = step(data[0])
    first = seconds_since_process_start()
    for i in range(flags.warmup_steps):
        loss = step(data[i % len(data)])
    times = []
    for i in range(flags.steps):
        start = time.perf_counter()
        loss = step(data[i % len(data)])
        times.append(time.perf_counter() - start)
    median = statistics.median(times)
    if not prints:
        return
    print(json.dumps({
        "framework": framework, "version": version, "model": flags.model, "form": flags.form,
        "threads": flags.threads, "workers": flags.workers,
        "global_batch": flags.batch_size * flags.workers, "steps": flags.steps,
        "images_per_second": flags.batch_size * flags.workers / median, "step_ms_p50": 1e3 * median,
        "images_per_second_mean": flags.batch_size * flags.workers * len(times) / sum(times),
        "step_ms_p95": 1e3 * sorted(times)[int(0.95 * (len(times) - 1))],
        "seconds_to_first_step": first, "loss": loss,
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }))

#!/usr/bin/env python3
"""Pictures of real runs: docs/pictures/timeline.svg, of what DISTRIBUTE_TIMELINE has recorded, and
docs/pictures/tensorboard.png, of TensorBoard over the event files.

Usage: scripts/screenshots.py BIN [--tensorboard PROGRAM] [--chromium PROGRAM]
BIN is the folder of the programs. The screenshot needs TensorBoard and a headless Chromium
(Debian: chromium-headless-shell); without them the timeline alone is drawn.
"""
import argparse
import html
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from attacks import built

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"
COLOURS = {"run": "#dbe9f6", "all_reduce": "#e08e45", "barrier": "#9a4d6e", "broadcast": "#6fa06f"}


def train(programs, folder):
    """Two workers, with their trace and event files in `folder`."""
    (folder / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "DISTRIBUTE_TIMELINE": "trace.json", "OMP_NUM_THREADS": "1"}
    subprocess.run([f"{programs}/distribute", "run", "-np", "2", "--", f"{programs}/mnist_cnn",
                    "--model=book", "--steps=300", "--logdir=logs"],
                   cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def colour_of(name):
    return next((colour for word, colour in COLOURS.items() if name.startswith(word)), "#cccccc")


def timeline(trace, steps=4):
    """A few steps from the middle of a trace: one lane for each thread of each worker."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    names = {(e["pid"], e.get("tid") if e["name"] == "thread_name" else None): e["args"]["name"]
             for e in events if e["ph"] == "M"}
    runs = [e for e in events if e["name"] == "run" and e["pid"] == 0]
    middle = runs[len(runs) // 2:][:steps]
    begin, end = middle[0]["ts"], middle[-1]["ts"] + middle[-1]["dur"]
    shown = [e for e in events if e["ph"] == "X" and e["ts"] < end and e["ts"] + e["dur"] > begin]
    lanes = sorted({(e["pid"], e["tid"]) for e in shown}, key=lambda lane: (lane[0], -lane[1]))
    left, width, height = 190, 640, 34
    parts = ['<text x="16" y="26" font-size="16" font-weight="bold">'
             f'{steps} steps of two workers, {(end - begin) / 1000:.1f} ms</text>']
    for number, lane in enumerate(lanes):
        y = 48 + number * height
        label = f'worker {lane[0]}: {names.get(lane, "thread")}'
        parts.append(f'<text x="16" y="{y + 17}" font-size="12">{html.escape(label)}</text>')
        for event in (e for e in shown if (e["pid"], e["tid"]) == lane):
            x = left + width * (max(event["ts"], begin) - begin) / (end - begin)
            to = left + width * (min(event["ts"] + event["dur"], end) - begin) / (end - begin)
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{max(to - x, 0.7):.1f}" height="24" '
                         f'fill="{colour_of(event["name"])}" stroke="#5b6b7c" stroke-width="0.4">'
                         f'<title>{html.escape(event["name"])}</title></rect>')
    bottom = 48 + len(lanes) * height + 20
    for number, (word, colour) in enumerate(COLOURS.items()):
        parts.append(f'<rect x="{left + number * 120}" y="{bottom - 11}" width="12" height="12" fill="{colour}"/>'
                     f'<text x="{left + number * 120 + 18}" y="{bottom}" font-size="12">{word}</text>')
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {bottom + 16}" width="860" '
            f'height="{bottom + 16}" font-family="sans-serif" fill="#1c2530">\n'
            f'<rect width="860" height="{bottom + 16}" fill="white"/>\n{body}\n</svg>\n')


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(address, deadline):
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=2).read(1)
            return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False


def screenshot(folder, tensorboard, chromium):
    port = free_port()
    server = subprocess.Popen([tensorboard, "--logdir", "logs", "--port", str(port), "--host", "127.0.0.1",
                               "--load_fast=false"], cwd=folder, stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL)
    try:
        if not wait_for(f"http://127.0.0.1:{port}/data/runs", time.monotonic() + 60):
            raise SystemExit("TensorBoard did not start within 60 s")
        subprocess.run([chromium, "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                        "--window-size=1300,483", "--virtual-time-budget=20000",
                        f"--screenshot={PICTURES}/tensorboard.png", f"http://127.0.0.1:{port}/#scalars"],
                       check=True, stderr=subprocess.DEVNULL, timeout=120)
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=built("distribute"))
    parser.add_argument("--tensorboard", default=shutil.which("tensorboard"))
    parser.add_argument("--chromium", default=shutil.which("chromium-headless-shell"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        train(pathlib.Path(options.programs).resolve(), folder)
        trace = json.loads((folder / "trace.json").read_text())
        (PICTURES / "timeline.svg").write_text(timeline(trace))
        if options.tensorboard and options.chromium:
            screenshot(folder, options.tensorboard, options.chromium)
        else:
            print("screenshots.py: no TensorBoard or no Chromium; tensorboard.png is as it was")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that each command that README.md and docs/ show is run by a test, or says why not.

Before a code block of shell stands one of

    <!-- run -->                       this program runs it, with --run
    <!-- run: --steps=300 as --steps=20; host-a as localhost -->   the same, with these changes
    <!-- run: as --steps=20 -->        with this behind the last line
    <!-- command: run by FILE, ... --> another test runs it: FILE names its programs
    <!-- not run: reason -->           it cannot be run by a test
    <!-- commands of this page not run: reason -->    for all blocks of the page behind it

{port} in a change stands for four digits, so that ports which end with any digit are free. In all
blocks files of the repository that are named must exist, and flags of the trainers must be known;
so must tests (x_test.cpp) that a mark names. The flags that pages, comments and messages give
`distribute run` must be its own.

Usage: tools/check_commands.py               checks the marks, files and flags
       tools/check_commands.py --run BIN     runs the blocks, with the programs of the folder BIN
"""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

from floors import INCLUDE

ROOT = INCLUDE.parent
BLOCK = re.compile(r"^```(?:sh|bash|console|shell)\n(.*?)^```$", re.M | re.S)
UNMARKED = re.compile(r"^```\n((?:\$|distribute|mnist_cnn|resnet50|pip|apt-get|docker|kubectl|export|scripts/\S+|build/\S+) .*)", re.M)
MARK = re.compile(r"<!-- (run|command|not run)(?:: (.*?))? -->\n\Z")
WHOLE_PAGE = re.compile(r"^<!-- commands of this page not run: \S.* -->$", re.M)
OURS = re.compile(r"(?<![\w/.-])((?:examples|scripts|bench|tools|tests)/[\w./-]+\.\w+)")
TRAINER = re.compile(r"(?:^|[\s/])(mnist_cnn|resnet50|text_transformer)((?:\s+(?:\\\n\s*)?--?[\w-]+(?:[= ][^\s#|&]+)?)+)")
SECONDS = 120


class Block:
    def __init__(self, page, text, match):
        self.page, self.text = page, match[1]
        self.line = text[:match.start()].count("\n") + 1
        mark = MARK.search(text[:match.start()])
        self.kind, self.words = (mark[1], mark[2] or "") if mark else ("", "")
        whole = WHOLE_PAGE.search(text)
        if not self.kind and whole and whole.start() < match.start():
            self.kind, self.words = "not run", "whole page"

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def changed(self, port):
        """What is run: the text with the mark's changes."""
        text = self.text
        if self.kind != "run":
            return text
        for change in filter(None, re.split(r";\s*", self.words)):
            before, _, after = change.rpartition("as ") if change.startswith("as ") else change.partition(" as ")
            after = after.replace("{port}", port)
            if not before.strip():
                text = text.rstrip("\n") + " " + after + "\n"
            elif before not in text:
                sys.exit(f"{self}: the mark changes `{before}`, which the block has not")
            else:
                text = text.replace(before, after)
        return text


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]


def blocks():
    for page in pages():
        text = page.read_text()
        for match in BLOCK.finditer(text):
            yield Block(page, text, match)


def words_that_start(text):
    """The first word of each command, without comments and variables."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(^|\s)#.*", "", text, flags=re.M)).splitlines()
    words = [re.sub(r"^(\w+=\S* )+", "", part.strip()).split() for line in lines for part in line.split("&&")]
    return [word[0] for word in words if word]


def programs_of(text):
    return [pathlib.PurePath(word).name for word in words_that_start(text)]


def known_flags():
    """Of each trainer: those of all, and those of its own table."""
    def names(table):
        return set(re.findall(r"^FLAG\([\w:<> ]+, (\w+),", (ROOT / table).read_text(), re.M))
    common = names("examples/common/trainer_flags.inc") | names("tools/cluster_flags.inc") | {"help"}
    return {"mnist_cnn": common} | {name: common | names(f"examples/{name}/{name}_flags.inc")
                                    for name in ("resnet50", "text_transformer")}


def unknown_flags_of_the_launcher():
    """In pages, comments and messages, which name `distribute run` with flags outside of blocks, too."""
    known = set(re.findall(r'^\s*\{+"([\w-]+)(?:=[^"]*)?", &O::', (ROOT / "tools/run_command.cpp").read_text(), re.M))
    known |= {"help", "flagfile"}
    files = [*pages(), *sorted(ROOT.glob("include/**/*.[hi]pp")), *sorted(ROOT.glob("examples/**/*.[ch]pp"))]
    for file in files:
        text = re.sub(r'"\n\s*"|\n(?:///?|#) *', "", file.read_text())  # a text that is cut into lines
        for words in re.findall(r"distribute run((?: --?[A-Za-z][\w-]*(?:[= ][\w./]+)?)+)", text):
            for flag in re.findall(r"(?:^|\s)--?([\w-]+)", words):
                if flag not in known:
                    yield f"{file.relative_to(ROOT)}: --{flag} is no flag of distribute run"


def commands_without_language():
    """Commands in blocks of no language would pass unseen."""
    for page in pages():
        for match in UNMARKED.finditer(page.read_text()):
            yield f"{page.relative_to(ROOT)}: a block of commands must begin with ```sh: `{match[1]}`"


def faults_of(block, flags):
    if not block.kind:
        yield "no mark says whether a test runs it: see tools/check_commands.py"
    if block.kind != "run" and not block.words:
        yield "the mark says neither who runs it nor why not"
    if block.kind == "command":
        file = re.match(r"run by ([\w./-]+)", block.words)
        if not file or not (ROOT / file[1]).is_file():
            yield f"the mark names no file that runs it: `{block.words}`"
        else:
            text = (ROOT / file[1]).read_text()
            yield from (f"{file[1]} does not run {name}" for name in programs_of(block.text) if name not in text)
    for test in re.findall(r"\b\w+_test\.\w+", block.words):
        if not next(ROOT.glob(f"tests/*/{test}"), None):
            yield f"the mark names {test}, which does not exist"
    for name in words_that_start(block.text):
        if (ROOT / name).is_file() and not os.access(ROOT / name, os.X_OK):
            yield f"{name} cannot be executed: chmod +x"
        if name.startswith("bench/peers/") and name.endswith("_peer.py"):
            yield f"{name} needs the peers' Python: build/peers/venv/bin/python {name}"
    for path in OURS.findall(block.text):
        if not (ROOT / path).exists():
            yield f"names {path}, which does not exist"
    for program, words in TRAINER.findall(block.text):
        for flag in re.findall(r"(?:^|\s)--([\w]+)", words):
            if flag not in flags[program] and flag.removeprefix("no") not in flags[program]:
                yield f"--{flag} is no flag of {program}"


def free_ports():
    """Four digits, so that with a fifth one each port is free now."""
    for digits in range(1100, 6500, 7):
        try:
            for last in range(10):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", digits * 10 + last))
            return str(digits)
        except OSError:
            continue
    sys.exit("no ports are free")


def run(block, programs):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name in ("examples", "scripts", "tools", "bench", "docs"):
            (place / name).symlink_to(ROOT / name)
        (place / "build/release").mkdir(parents=True)
        (place / "build/release/bin").symlink_to(programs)
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1",
                       "OMP_WAIT_POLICY": "passive", "HOME": folder}
        try:
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.changed(free_ports())], cwd=place,
                                  env=environment, stdin=subprocess.DEVNULL, timeout=SECONDS,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return f"{block}: is not done after {SECONDS} s"
        return "" if done.returncode == 0 else f"{block}: status {done.returncode}\n{done.stdout}"


def main():
    everything = list(blocks())
    if sys.argv[1:2] == ["--run"]:
        programs = pathlib.Path(sys.argv[2]).resolve()
        mine = [block for block in everything if block.kind == "run"]
        bad = []
        for block in mine:
            begin = time.monotonic()
            if fault := run(block, programs):
                bad.append(fault)
            print(f"{block}: {time.monotonic() - begin:.1f} s", flush=True)
        print("\n".join(bad) if bad else f"commands: {len(mine)} blocks were run")
        return 1 if bad else 0
    flags = known_flags()
    bad = [f"{block}: {fault}" for block in everything for fault in faults_of(block, flags)]
    bad += [*commands_without_language(), *unknown_flags_of_the_launcher()]
    for block in everything:
        block.changed("1100")  # changes that do not apply
    kinds = [block.kind for block in everything]
    print("\n".join(bad) if bad else
          f"commands: {kinds.count('run')} blocks run from their pages, {kinds.count('command')} by other "
          f"tests, {kinds.count('not run')} say why not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Lets PyPI's PyTorch wheel run on the CPU without its 3 GB of CUDA packages.

usage: torch_without_cuda.py SITE_PACKAGES STUB_FOLDER
The wheel of PyPI is linked against CUDA libraries even where only the CPU is used. After
`pip install --no-deps torch nvidia-cuda-runtime`, this makes empty libraries with the missing
names; put STUB_FOLDER (it also links the real libcudart) on LD_LIBRARY_PATH. PyTorch then reports
that no GPU is there; its CPU code is untouched. Needs gcc, nm and readelf.
"""
import collections
import pathlib
import re
import subprocess
import sys

CUDA_LIBRARY = re.compile(r"lib(cu|nccl|nv)[\w-]*\.so")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dynamic_symbols(library, kind):
    return {line.split()[-1] for line in output("nm", "-D", kind, str(library)).splitlines()}


def version_homes(library):
    """Which library each symbol version is expected from: {"NVSHMEM": "libnvshmem_host.so.3"}."""
    homes, file = {}, None
    for line in output("readelf", "-VW", str(library)).splitlines():
        if found := re.search(r"File: (\S+)", line):
            file = found.group(1)
        elif (found := re.search(r"Name: (\S+)", line)) and "Flags" in line:
            homes[found.group(1)] = file
    return homes


def write_stub(name, versions, folder):
    source, script = folder / f"{name}.c", folder / f"{name}.map"
    symbols = sorted(symbol for group in versions.values() for symbol in group)
    source.write_text("".join(f"int {symbol}(void) {{ return 999; }}\n" for symbol in symbols))
    script.write_text("".join(
        f"{version} {{ global: {' '.join(s + ';' for s in sorted(group))} }};\n"
        for version, group in versions.items() if version))
    options = [f"-Wl,--version-script={script}"] if script.read_text() else []
    subprocess.run(["gcc", "-w", "-fPIC", "-shared", "-o", str(folder / name),
                    f"-Wl,-soname,{name}", *options, str(source)], check=True)


def main():
    packages, stubs = map(pathlib.Path, sys.argv[1:3])
    stubs.mkdir(parents=True, exist_ok=True)
    runtime = next(packages.glob("nvidia/**/libcudart.so.*"))
    (stubs / runtime.name).unlink(missing_ok=True)
    (stubs / runtime.name).symlink_to(runtime.resolve())
    libraries = list((packages / "torch" / "lib").glob("*.so*"))
    needed, wanted, homes = set(), set(), {}
    defined = {s.split("@")[0] for s in dynamic_symbols(runtime, "--defined-only")}
    for library in libraries:
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", str(library))))
        wanted |= dynamic_symbols(library, "--undefined-only")
        defined |= {s.split("@")[0] for s in dynamic_symbols(library, "--defined-only")}
        homes.update(version_homes(library))
    present = {library.name for library in libraries} | {runtime.name}
    missing = sorted(n for n in needed - present if CUDA_LIBRARY.match(n))
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for symbol, _, version in (s.partition("@") for s in wanted):
        if symbol in defined:
            continue
        if version and homes.get(version) in missing:
            groups[homes[version]][version].append(symbol)
        elif not version and re.match(r"cu[a-z]*[A-Z]|nccl|nvrtc|nvshmem", symbol):
            groups[missing[0]][""].append(symbol)
    for name in missing:
        write_stub(name, groups[name], stubs)
    print(f"{len(missing)} stand-ins in {stubs}")


main()

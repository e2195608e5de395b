"""The structure of include/distribute: floors of the core, annexes beside it, umbrella headers.

A header includes its own folder and lower floors. An annex includes the core, itself, and the
annexes that it names here; the core never includes an annex.
"""
import functools
import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
LIBRARY = INCLUDE / "distribute"
PUBLIC_API = INCLUDE.parent / "tools/public_api.txt"

FLOORS = [  # lowest first
    ["base"],
    ["device", "net", "io"],
    ["tensor", "cluster"],
    ["autograd"],
    ["ops", "replica"],
    ["nn", "optim", "data", "collective", "rpc", "summary"],
    ["parameter_server"],
    ["strategy"],
    ["checkpoint", "coordinator"],
    ["train"],
    ["launch"],
    ["testing"],
]
LEVEL = {name: number for number, row in enumerate(FLOORS) for name in row}
CORE = list(LEVEL)
ANNEXES = {  # and those that it includes
    "http": [],
    "object_stores": ["http"],
    "platforms": ["http"],
    "metrics": [],
    "preprocessing": [],
    "datasets": [],
    "data_service": [],
    "saved_model": [],
    "saving": ["preprocessing"],
    "language_models": ["saving"],
    "arrays": ["saving"],
    "estimator": ["saved_model"],
    "horovod": [],
    "torch": [],
}
# Annexes that are built where this header is; checks of headers leave them out.
OPTIONAL = {"torch": "torch/torch.h"}
# What strategy.hpp brings: all that is public on these floors.
TRAINER_FLOORS = ["tensor", "autograd", "ops", "replica", "nn", "optim", "data", "strategy",
                  "checkpoint"]

# But not these, which few trainers need: a program includes them by name, or distribute.hpp.
BESIDE_TRAINERS = {"nn/convolution_1d_3d.hpp", "nn/recurrent_cells.hpp",
                   "nn/resnet.hpp", "data/chunked_snapshot.hpp", "checkpoint/bundle.hpp"}

# And these of other floors: what a trainer's main() returns, and what it may ask its cluster.
WITH_TRAINERS = ["base/exit_status.hpp", "cluster/cluster_resolver.hpp", "cluster/tf_config_cluster_resolver.hpp"]

# Features of the smallest build that the README shows, and those that only a build for GPUs has.
PLAIN = ("ONEDNN",)
GPU = ("CUDA", "CUDNN", "NCCL")

# Vendor headers, and the bodies and private headers that may include them.
VENDOR_FILES = {
    r"(oneapi/dnnl/)?dnnl\w*\.h(pp)?": r"device/(impl|detail)/cpu_onednn",
    r"openssl/\w+\.h": r"net/(impl|detail)/(hmac|tls)|http/(impl|detail)/digest|"
                        r"preprocessing/impl/string_hash_keyed",
    r"curl/\w+\.h": r"http/impl/http_client",
    r"pugixml\.hpp": r"object_stores/impl/xml",
    r"hdf5\.h": r"saving/(impl|detail)/hdf5",
    r"zip\.h": r"saving/impl/zip_file",
    r"intel-ipsec-mb\.h": r"net/(impl|detail)/fast_gcm",
    r"(cuda|cublas|curand)\w*\.h": r"device/(impl|detail)/cuda|collective/(impl|detail)/nccl",
    r"cudnn\w*\.h": r"device/(impl|detail)/cuda",
    r"nvrtc\.h": r"device/(impl|detail)/cuda",
    r"nvtx3/\w+\.h": r"device/impl/cuda_trace",
    r"nccl\.h": r"collective/(impl|detail)/nccl",
    r"(mpi|ucp/.*)\.h": r"(nowhere: modules of src/engines include it)",
    r"j(peglib|error|morecfg)\.h": r"data/(impl|detail)/jpeg",
    r"png\.h": r"data/(impl|detail)/png",
    r"sqlite3\.h": r"datasets/impl/sql_rows",
    r"archive(_entry)?\.h": r"datasets/impl/archive_reader",
    r"(arrow|parquet)/.*\.h": r"datasets/impl/(arrow_|table_file_arrow)",
    r"farmhash\.h": r"preprocessing/impl/string_hash",
    r"pcre2\.h": r"preprocessing/impl/pattern",
    r"sentencepiece_processor\.h": r"preprocessing/impl/sentence_piece_tokenizer",
}
# The annex torch is about another library, whose types its public headers name.
VENDOR_TYPES = {r"(torch|ATen|c10)/.*\.h(pp)?": r"torch/"}


def includes(text):
    """Names inside #include <...> or "..."."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.M)


def is_private(text):
    """A header that includes a vendor's belongs to its body alone."""
    return any(re.fullmatch(vendor, name) for name in includes(text) for vendor in VENDOR_FILES)


def rank(name):
    """The place of a file in a list from the lowest floor to the last annex."""
    folder = name.split("/")[0]
    order = CORE + list(ANNEXES)
    return (order.index(folder) if folder in order else len(order), name)


@functools.cache
def files():
    """All headers and bodies, relative to include/distribute."""
    found = [str(path.relative_to(LIBRARY)) for path in LIBRARY.rglob("*.[hi]pp")]
    return sorted((name for name in found if "/" in name and not name.startswith("impl/")), key=rank)


@functools.cache
def included(name, has=lambda feature: None):
    """Our own files that a file includes, relative to include/distribute, in a header-only program.

    has: whether the program is built with a feature, None for both; a body that needs what is
    not there includes nothing.
    """
    text = re.sub(r"#ifdef DISTRIBUTE_SEPARATE_COMPILATION\n.*?#endif\n", "",
                  (LIBRARY / name).read_text(), flags=re.S)
    condition = re.match(r"#pragma once\n#if (!?)DISTRIBUTE_HAS_(\w+)"
                         r"(?: \|\| defined\(DISTRIBUTE_SEPARATE_COMPILATION\))?\n", text)
    if condition and has(condition[2]) not in (None, not condition[1]):
        return []
    return [line[len("distribute/"):] for line in includes(text) if line.startswith("distribute/")]


@functools.cache
def public_api():
    """tools/public_api.txt: from each public header to the names of its bodies that are not its own."""
    lines = [line for line in PUBLIC_API.read_text().splitlines() if re.match(r"\w", line)]
    return {header: bodies.split() for header, _, bodies in (line.partition(":") for line in lines)}


@functools.cache
def internal_of_public():
    """The internal headers that public ones may include, and why: the list's lines that begin with +."""
    return dict(re.findall(r"^\+ (\S+): (.+)$", PUBLIC_API.read_text(), re.M))


def public_headers(folders):
    """The listed headers of these folders, from the lowest floor up."""
    return sorted((name for name in public_api() if name.split("/")[0] in folders), key=rank)


def bodies(folders):
    return [name for name in files() if name.endswith(".ipp") and name.split("/")[0] in folders]


@functools.cache
def header_of(body):
    """The header that lists a body, else that with the longest name that impl/x_part.ipp begins with."""
    folder, stem = body.split("/")[0], pathlib.PurePath(body).stem
    for header, others in public_api().items():
        if header.split("/")[0] == folder and stem.removesuffix("_stub") in others:
            return header
    while stem:
        for place in (f"{folder}/{stem}.hpp", f"{folder}/detail/{stem}.hpp"):
            if place in files():
                return place
        stem = stem.rpartition("_")[0]
    return None


@functools.cache
def bodies_of(header):
    """The bodies of a header: one or several, and stubs that stand in for them."""
    return [body for body in bodies([header.split("/")[0]]) if header_of(body) == header]


def is_plain(feature):
    """included() for a program built with the features PLAIN alone."""
    return feature in PLAIN


def without_gpus(feature):
    """included() for a program built without the features GPU."""
    return False if feature in GPU else None


def reached(seeds, with_bodies, has=lambda feature: None):
    """Our own files that the compiler reads for these; with_bodies: header-only; has: included()."""
    found, work = set(), list(seeds)
    while work:
        name = work.pop()
        if name in found or not (LIBRARY / name).exists():
            continue
        found.add(name)
        work += [other for other in included(name, has) if with_bodies or not other.startswith("impl/")]
        if with_bodies and name.endswith(".hpp"):
            work += bodies_of(name)
    return sorted(found, key=rank)

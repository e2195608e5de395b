"""The floors of include/distribute, lowest first; a header includes its own folder and lower floors."""
import re

FLOORS = [
    ["base"],
    ["device", "net", "io"],
    ["tensor", "cluster"],
    ["autograd"],
    ["ops", "replica"],
    ["nn", "optim", "data", "collective", "rpc", "summary"],
    ["parameter_server"],
    ["strategy"],
    ["checkpoint", "coordinator", "horovod"],
    ["saved_model"],
    ["train"],
    ["launch"],
    ["testing"],
]
LEVEL = {name: number for number, row in enumerate(FLOORS) for name in row}
UMBRELLAS = ("distribute.hpp", "strategy.hpp", "fwd.hpp")

# Vendor headers and the files that may include them: the real door and its private headers.
DOORS = {
    r"(oneapi/dnnl/)?dnnl\w*\.h(pp)?": r"device/(impl/)?cpu_onednn",
    r"openssl/\w+\.h": r"net/(impl/)?(hmac|tls)|io/(impl/)?digest",
    r"curl/\w+\.h": r"io/(impl/)?http_client",
    r"intel-ipsec-mb\.h": r"net/(impl/)?fast_gcm",
    r"(cuda|cublas|curand)\w*\.h": r"device/(impl/)?cuda|collective/(impl/)?nccl",
    r"cudnn\w*\.h": r"device/(impl/)?cuda",
    r"nvrtc\.h": r"device/(impl/)?cuda",
    r"nccl\.h": r"collective/(impl/)?nccl",
    r"mpi\.h": r"collective/(impl/)?mpi",
    r"j(peglib|error|morecfg)\.h": r"data/(impl/)?jpeg",
}


def includes(text):
    """Names inside #include <...> or "..."."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.M)


def is_private(text):
    """A header that includes a vendor's is private to its door: no user and no umbrella sees it."""
    return any(re.fullmatch(vendor, name) for name in includes(text) for vendor in DOORS)

"""What the printers of gdb and lldb share: the text of a tensor's elements."""
import struct

MOST = 12  # elements that are shown
# Letters of Python's struct and bytes of an element, in the order of distribute::DType.
TYPES = [("float32", "f", 4), ("bfloat16", "H", 2), ("float16", "e", 2), ("int32", "i", 4),
         ("int64", "q", 8), ("uint8", "B", 1), ("bool", "?", 1)]
NO_TYPES = "(compile the library with -g, with Clang also -fstandalone-debug)"


def nested(values, dims):
    """[[1, 2], [3, 4]] of row-major values, cut off with "..." where they end."""
    if not dims:
        return str(next(values, "..."))
    parts = []
    for _ in range(dims[0]):
        parts.append(nested(values, dims[1:]))
        if "..." in parts[-1]:
            break
    return "[" + ", ".join(parts) + "]"


def number(kind, raw):
    if kind == "bfloat16":
        raw, kind = struct.unpack("f", struct.pack("I", raw << 16))[0], "float32"
    return f"{raw:.6g}" if kind.startswith("float") else str(raw).lower()


def head(dims, dtype):
    """Tensor([2, 2], float32)"""
    return f"Tensor([{', '.join(map(str, dims))}], {TYPES[dtype][0]})"


def elements(dims, dtype, read):
    """The elements as text; `read` returns as many bytes of their memory as it is asked for."""
    kind, letter, size = TYPES[dtype]
    count = 1
    for size_of_axis in dims:
        count *= size_of_axis
    shown = min(count, MOST)
    memory = read(shown * size) if shown else b""
    return nested((number(kind, raw) for raw in struct.unpack(f"={shown}{letter}", memory)), dims)

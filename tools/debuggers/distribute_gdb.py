"""Shows tensors, shapes and variables in gdb as to_string() does.

    gdb -x tools/debuggers/distribute_gdb.py --args ./trainer
    (gdb) print tensor
    $1 = Tensor([2, 2], float32) [[1, 2], [3, 4]]

Values are read from memory, so that core files work, too. The library must have debug information:
-g, with Clang also -fstandalone-debug.
"""
import struct

import gdb
import gdb.printing

MOST = 12  # elements that are shown
# Letters of Python's struct and bytes of an element, in the order of distribute::DType.
TYPES = [("float32", "f", 4), ("bfloat16", "H", 2), ("float16", "e", 2), ("int32", "i", 4),
         ("int64", "q", 8), ("uint8", "B", 1), ("bool", "?", 1)]


def pointee(shared):
    """What a std::shared_ptr refers to; None for an empty one."""
    pointer = shared["_M_ptr"]
    return pointer.dereference() if int(pointer) else None


def dims_of(shape):
    return [int(shape["dims_"]["_M_elems"][i]) for i in range(int(shape["rank_"]))]


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


def from_memory(impl):
    dims = dims_of(impl["shape"])
    kind, letter, size = TYPES[int(impl["dtype"])]
    text = f"Tensor([{', '.join(map(str, dims))}], {kind})"
    array = impl["array"]
    if int(array["layout"]["_M_ptr"]):
        return text  # the backend has arranged the elements in its own way
    count = 1
    for size_of_axis in dims:
        count *= size_of_axis
    shown = min(count, MOST)
    start = int(pointee(array["buffer"])["data_"]) + int(array["offset_bytes"])
    try:
        memory = bytes(gdb.selected_inferior().read_memory(start, shown * size)) if shown else b""
    except gdb.MemoryError:
        return text  # memory of a GPU
    values = (number(kind, value) for value in struct.unpack(f"={shown}{letter}", memory))
    return text + " " + nested(values, dims)


NO_TYPES = "(compile the library with -g, with Clang also -fstandalone-debug)"


def string_at(address):
    """The text of a std::string."""
    memory = gdb.selected_inferior()
    start, size = struct.unpack("QQ", memory.read_memory(address, 16))
    return bytes(memory.read_memory(start, size)).decode()


def is_complete(pointer):
    return bool(pointer.dereference().type.strip_typedefs().fields())


class Printer:
    def __init__(self, value):
        self.value = value


class ShapePrinter(Printer):
    def to_string(self):
        return str(dims_of(self.value))


class TensorPrinter(Printer):
    def to_string(self):
        impl = pointee(self.value["impl_"])
        if impl is None:
            return "Tensor without a value"
        if impl.type.fields() and is_complete(impl["array"]["buffer"]["_M_ptr"]):
            return from_memory(impl)
        return f"Tensor {NO_TYPES}"


class VariablePrinter(Printer):
    def to_string(self):
        impl = pointee(self.value["impl_"])
        if impl is None:
            return "Variable of nothing"
        if not impl.type.fields():
            return f"Variable {NO_TYPES}"
        name = string_at(int(impl["options_"]["name"].address))
        actual = impl.cast(impl.dynamic_type)
        held = {field.name for field in actual.type.fields()}
        return f'Variable "{name}"' + (f" {actual['value_']}" if "value_" in held else "")


printers = gdb.printing.RegexpCollectionPrettyPrinter("distribute")
printers.add_printer("Shape", "^distribute::Shape$", ShapePrinter)
printers.add_printer("Tensor", "^distribute::Tensor$", TensorPrinter)
printers.add_printer("Variable", "^distribute::Variable$", VariablePrinter)
gdb.printing.register_pretty_printer(None, printers, replace=True)

"""Shows tensors, shapes and variables in gdb as to_string() does.

    gdb -x tools/debuggers/distribute_gdb.py --args ./trainer
    (gdb) print tensor
    $1 = Tensor([2, 2], float32) [[1, 2], [3, 4]]

Values are read from memory, so that core files work, too. The library must have debug information:
-g, with Clang also -fstandalone-debug.
"""
import os
import struct
import sys

import gdb
import gdb.printing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tensor_text  # noqa: E402

def pointee(shared):
    """What a std::shared_ptr refers to; None for an empty one."""
    pointer = shared["_M_ptr"]
    return pointer.dereference() if int(pointer) else None


def dims_of(shape):
    return [int(shape["dims_"]["_M_elems"][i]) for i in range(int(shape["rank_"]))]


def from_memory(impl):
    dims, dtype = dims_of(impl["shape"]), int(impl["dtype"])
    text = tensor_text.head(dims, dtype)
    array = impl["array"]
    if int(array["layout"]["_M_ptr"]):
        return text  # the backend has arranged the elements in its own way
    start = int(pointee(array["buffer"])["data_"]) + int(array["offset_bytes"])
    memory = gdb.selected_inferior()
    try:
        return text + " " + tensor_text.elements(
            dims, dtype, lambda size: bytes(memory.read_memory(start, size)))
    except gdb.MemoryError:
        return text  # memory of a GPU


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
        return f"Tensor {tensor_text.NO_TYPES}"


class VariablePrinter(Printer):
    def to_string(self):
        impl = pointee(self.value["impl_"])
        if impl is None:
            return "Variable of nothing"
        if not impl.type.fields():
            return f"Variable {tensor_text.NO_TYPES}"
        name = string_at(int(impl["options_"]["name"].address))
        actual = impl.cast(impl.dynamic_type)
        held = {field.name for field in actual.type.fields()}
        return f'Variable "{name}"' + (f" {actual['value_']}" if "value_" in held else "")


printers = gdb.printing.RegexpCollectionPrettyPrinter("distribute")
printers.add_printer("Shape", "^distribute::Shape$", ShapePrinter)
printers.add_printer("Tensor", "^distribute::Tensor$", TensorPrinter)
printers.add_printer("Variable", "^distribute::Variable$", VariablePrinter)
gdb.printing.register_pretty_printer(None, printers, replace=True)

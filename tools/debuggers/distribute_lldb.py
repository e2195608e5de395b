"""Shows tensors, shapes and variables in lldb as to_string() does.

    lldb -o "command script import tools/debuggers/distribute_lldb.py" -- ./trainer
    (lldb) frame variable tensor
    (const distribute::Tensor &) tensor = Tensor([2, 2], float32) [[1, 2], [3, 4]]

Values are read from memory, so that core files work, too. The library must have debug information:
-g, with Clang also -fstandalone-debug.
"""
import os
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tensor_text  # noqa: E402


def member(value, *names):
    """A member of a member, without the printers of the standard library."""
    value = value.GetNonSyntheticValue()
    for name in names:
        value = value.GetChildMemberWithName(name).GetNonSyntheticValue()
    return value


def address_in(shared):
    """The address that a std::shared_ptr holds."""
    return member(shared, "_M_ptr").GetValueAsUnsigned()


def dims_of(shape):
    elements = member(shape, "dims_", "_M_elems")
    rank = member(shape, "rank_").GetValueAsUnsigned()
    return [elements.GetChildAtIndex(i).GetValueAsSigned() for i in range(rank)]


class Unreadable(Exception):
    """Memory of a GPU."""


def reader(process, start):
    def read(size):
        error = lldb.SBError()
        memory = process.ReadMemory(start, size, error)
        if error.Fail():
            raise Unreadable
        return memory
    return read


def from_memory(impl):
    dims, dtype = dims_of(member(impl, "shape")), member(impl, "dtype").GetValueAsUnsigned()
    text = tensor_text.head(dims, dtype)
    array = member(impl, "array")
    if address_in(member(array, "layout")):
        return text  # the backend has arranged the elements in its own way
    buffer = member(array, "buffer", "_M_ptr").Dereference()
    start = (member(buffer, "data_").GetValueAsUnsigned()
             + member(array, "offset_bytes").GetValueAsUnsigned())
    try:
        return text + " " + tensor_text.elements(dims, dtype, reader(impl.GetProcess(), start))
    except Unreadable:
        return text


def show_shape(value, _):
    return str(dims_of(value))


def show_tensor(value, _):
    pointer = member(value, "impl_", "_M_ptr")
    if not pointer.GetValueAsUnsigned():
        return "Tensor without a value"
    impl = pointer.Dereference()
    if not impl.GetNumChildren() or not member(impl, "array", "buffer", "_M_ptr").IsValid():
        return f"Tensor {tensor_text.NO_TYPES}"
    return from_memory(impl)


def show_variable(value, _):
    pointer = member(value, "impl_", "_M_ptr")
    if not pointer.GetValueAsUnsigned():
        return "Variable of nothing"
    impl = pointer.Dereference()
    name = impl.GetChildMemberWithName("options_").GetChildMemberWithName("name").GetSummary()
    if not name:
        return f"Variable {tensor_text.NO_TYPES}"
    actual = pointer.GetDynamicValue(lldb.eDynamicCanRunTarget).Dereference()
    held = member(actual, "value_")
    return f"Variable {name}" + (f" {show_tensor(held, None)}" if held.IsValid() else "")


def __lldb_init_module(debugger, _):
    for kind, function in (("Shape", "show_shape"), ("Tensor", "show_tensor"),
                           ("Variable", "show_variable")):
        debugger.HandleCommand(
            f"type summary add -F {__name__}.{function} distribute::{kind}")

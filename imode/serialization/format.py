"""The format of a saved file: names and limits that writing and reading share."""

import numpy as np

from imode._core.dtype import all_dtypes

# Note [File format]
# `__metadata__` = {"crc32": 8 hex digits, "format": "imode", "object": JSON text}. The checksum
# covers the header (with zeros for itself) and the buffers; being first, it is found by its bytes.
# The object text is {"tensors": [...], "root": node}. A tensor: entry (name of a buffer), dtype,
# shape, strides and offset in elements, requires_grad, parameter. Tensors of one storage have the
# same entry. A node: null, true, false, a string, an integer, a finite float, or an object with one
# key, a tag of _TAGS, whose value describes it.

NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "bfloat16": "BF16",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "complex128": "C128",
}
NATIVE = {d.name: d.numpy for d in all_dtypes()}
DTYPES = {code: NATIVE[name].newbyteorder("<") for name, code in NAMES.items()}
FORMAT = "imode"
HEADER_LIMIT = 100_000_000  # the limit of safetensors
DEPTH_LIMIT = 100  # of nested containers, for writing and reading: far below Python's own limit
NO_SUM = "00000000"
LARGEST_INT = 1 << 53  # larger integers are stored as text: JSON readers may round them


def sum_field(digits):
    return f'"crc32":"{digits}"'.encode()


def strides_of(array):
    """The strides of an array in elements."""
    return [s // array.itemsize for s in array.strides]


def bytes_at(address, count, owners):
    """The bytes at an address, as an array; `owners` keeps them alive."""
    return np.asarray(_Memory(address, count, owners)) if count else np.empty(0, np.uint8)


class _Memory:
    """The bytes at an address, as NumPy's array interface."""

    def __init__(self, address, count, owners):
        self.owners = owners
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),
            "shape": (count,),
            "typestr": "|u1",
        }

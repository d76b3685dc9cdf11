"""Tensors and NumPy's arrays."""

import re

from . import Rule, Shown

BESIDE_COMPLEX = [
    "%", "&", "*", "**", "+", "+ ints", "+=", "-", "/", "/ floats", "/ ints", "//", "<", "add",
    "add to", "alpha", "arange", "bools +", "full", "result_type", "where",
]  # fmt: skip
BESIDE_BOOL = ["%", "&", "+ ints", "-", "//", "alpha", "arange", "bools +", "full", "tensor int64"]


def through(ways, arrays):
    """The pattern of a statement that takes one of some arrays through one of some ways in."""
    ways, arrays = ("|".join(map(re.escape, names)) for names in (ways, arrays))
    return rf'.*array\("({ways})", "({arrays})"\).*'


RULES = [
    Rule(
        "A read-only array gives a read-only tensor",
        "outcome",
        here="RuntimeError: .* read-only.*",
        witness="""
            import numpy as np
            a = np.ones(2); a.flags.writeable = False
            v0 = lib.from_numpy(a)
            v0.add_(1)
        """,
    ),
    Rule(
        "Memory that is not aligned is refused",
        "outcome",
        here="ValueError: given numpy array is not aligned to its element size.*",
        witness='array("==", "float32 unaligned")',
    ),
    Rule(
        "A negative stride is refused",
        "outcome",
        statement=through(["from_dlpack", "from_dlpack capsule"], ["backwards rows"]),
        here="ValueError: At least one stride in the given numpy array is negative, .*",
        there="ok",
        witness='array("from_dlpack", "backwards rows")',
    ),
    Rule(
        "A `uint64` of NumPy's can stand in a list",
        "outcome",
        statement=r'.*array\(".*", "uint64 .*"\).*',
        here="ok",
        there="TypeError: an integer is required",
        witness='array("tensor", "uint64 listed")',
    ),
    Rule(
        "NumPy's `ulonglong` is no `uint64`",
        "outcome",
        statement=r'.*array\("==.*", "ulonglong .*"\).*',
        here="TypeError: can't convert np.ndarray of type numpy.ulonglong",
        there="ok",
        witness='array("==", "ulonglong line")',
    ),
    Rule(
        "An array without dimensions is shared",
        "result",
        statement=r'.*array\("(asarray|asarray no copy|asarray float32)", ".* point"\).*',
        here=r"\(.*, True\)",
        there=r"\(.*, False\)",
        witness='see("result", array("asarray", "float32 point"))',
    ),
    Rule(
        "At most 64 dimensions",
        "outcome",
        statement=through(
            ["DataLoader", "collate", "collate dicts", "tensor of it and a float", "tensor of two"],
            ["64 dimensions"],
        ),
        here="ValueError: .*",
        there="(Value|Type)Error: .*",
        witness='array("tensor of two", "64 dimensions")',
    ),
    Rule(
        "A tensor exports its memory",
        "result",
        statement=through(["==", "== floats"], ["float32 memoryview", "uint16 memoryview"]),
        here="True",
        there="False",
        witness='see("result", array("==", "float32 memoryview"))',
    ),
    Rule(
        "A tensor exports its memory",
        "outcome",
        statement=through(["+ ints"], ["bytes", "bytes scalar"]),
        here="ok",
        there="TypeError: can't concat Tensor to .*",
        witness='array("+ ints", "bytes")',
    ),
    Shown(
        "A tensor exports its memory",
        "outcome",
        witness="memoryview(lib.ones(2))",
    ),
    Rule(
        "A complex number of NumPy's keeps its imaginary part",
        "result outcome",
        statement=through(BESIDE_COMPLEX, ["complex64 scalar", "clongdouble scalar"]),
        witness='see("result", array("+", "complex64 scalar"))',
    ),
    Rule(
        "A complex number of NumPy's keeps its imaginary part",
        "result",
        statement=through(["arange"], ["complex128 scalar"]),
        witness='see("result", array("arange", "complex128 scalar"))',
    ),
    Rule(
        "A bool of NumPy's is a bool",
        "result outcome",
        statement=through(BESIDE_BOOL, ["bool scalar"]),
        witness='see("result", array("full", "bool scalar"))',
    ),
    Rule(
        "A bool of NumPy's is a bool",
        "outcome",
        statement=through(["tensor int64", "LongTensor"], ["bool listed"]),
        here="ok",
        there="TypeError: 'numpy.bool' object cannot be interpreted as an integer",
        witness='array("LongTensor", "bool listed")',
    ),
    *(
        Shown(
            "Fewer warnings",
            "warnings",
            witness=f"""
                import numpy as np
                v0 = lib.ones(3, 3); v1 = lib.ones(2, requires_grad=True)
                see("warnings", warned(lambda: {call}))
            """,
        )
        for call in (
            "lib.tensor([np.ones(2), np.ones(2)])",
            "lib.meshgrid(v0[0], v0[0])",
            "lib.cross(v0, v0)",
            "lib.where(v0.byte(), v0, v0)",
            "float(v1[0])",
            "lib.searchsorted(v0[0], v0.t()[:, ::2])",
            "lib.bucketize(v0[::2, 0], v0[0])",
            "v0.scatter(0, v0.long(), v0, reduce='add')",
        )
    ),
]

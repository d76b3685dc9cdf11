"""Devices: meta, and those from outside."""

from . import Shown

REFUSED = r"\w*Error: .*"


def shown(entry, here, there, *programs):
    """The rules of an entry: programs whose outcomes differ."""
    return [Shown(entry, "outcome", here=here, there=there, witness=p) for p in programs]


RULES = [
    Shown(
        "More operators work on `meta`",
        "outcome",
        here="ok",
        there="RuntimeError: .*",
        witness="""
            ends = lib.ones(2, dtype=lib.int32, device="meta")
            three = lib.ones(2, 4, 4, device="meta")
            v0 = lib.nn.functional.grouped_mm(lib.ones(3, 4, device="meta"), three, offs=ends)
        """,
    ),
    *shown(
        "The CPU, `meta`, and devices from outside",
        "ok",
        REFUSED,
        "lib.backends.array_api",
    ),
    *shown(
        "On `meta` an operator refuses what it refuses on the CPU",
        REFUSED,
        "ok",
        "lib.empty(2, dtype=lib.bool, device='meta').abs()",
        "lib.empty(2, dtype=lib.complex64, device='meta').argmax()",
        "lib.empty(6, device='meta').as_strided((7,), (1,))",
    ),
    *shown(
        "Strides on `meta` are the CPU's",
        REFUSED,
        "ok",
        "lib.empty(3, 2, device='meta').t().xlogy(lib.empty(2, 3, device='meta')).view(6)",
    ),
    *shown(
        "No tensor of `meta` beside one of the CPU",
        REFUSED,
        "ok",
        "lib.mm(lib.empty(2, 2, device='meta'), lib.ones(2, 2))",
        "lib.ones(3)[lib.empty(2, dtype=lib.int64, device='meta')]",
    ),
    *shown(
        "A number is not a tensor on `meta`",
        r"TypeError: .*",
        r"RuntimeError: .*",
        "lib.full((2,), lib.zeros((), device='meta'))",
    ),
]

"""Argument orders of older scripts: a number before the tensor that it scales.

`p.data.add_(-rate, grad)` is still found in hand-written optimizers. PyTorch accepts it and warns.
"""

import numpy as np

from imode import errors
from imode._core.tensor import Tensor
from imode._core.user_frames import warn


def call_in_older_order(op, own, given, keywords):
    """Return the result of a call with arguments in such an order; None for any other call.

    own: the tensor whose method was called, or nothing. keywords: the names of the last of `given`.
    """
    named = older_order(op, own, given, keywords)
    if named is None:
        return None
    _warn(op, [name for name in named if name != "out"], bool(own))
    return op(*own, **named)


def older_order(op, own, given, keywords):
    """Return the arguments of such a call by their names, in the order given; None for others."""
    named = dict(zip(keywords, given[len(given) - len(keywords) :], strict=True))
    values = given[: len(given) - len(keywords)]
    if (own and "out" in named) or not named.keys() <= {"out"}:
        return None
    for order in op.entry.older if op.entry is not None else ():
        names = [name for name in order if not (own and name == op.names[0])]
        if len(names) == len(values) and all(map(_fits, names, values)):
            return dict(zip(names, values, strict=True)) | named
    return None


def _is_scale(name):
    return name in ("alpha", "beta", "value")


def _fits(name, value):
    number = isinstance(value, (int, float, complex, np.number)) or (
        isinstance(value, Tensor) and value.dim() == 0 and not value.requires_grad
    )
    return number if _is_scale(name) else isinstance(value, Tensor) or (number and name == "other")


def _warn(op, names, is_method):
    given = ", ".join(
        f"Number {name}"
        if _is_scale(name)
        else f"Tensor {errors.arguments.argument_name(op, op.names.index(name))}"
        for name in names
    )
    warn(
        f"This overload of {op.name} is deprecated:\n\t{op.name}({given})\n"
        "Consider using one of the following signatures instead:\n"
        f"\t{op.name}{errors.arguments.signature(op, is_method)}",
    )

"""Argument orders of older scripts: a number stands before the tensor that it scales.

`p.data.add_(-rate, grad)` is still found in optimizers written by hand. PyTorch takes it, and
warns.
"""

import warnings

import numpy as np

from .tensor import Tensor

_SCALES = {"add": "alpha", "sub": "alpha", "addcdiv": "value", "addcmul": "value"}
_PRODUCTS = ("addbmm", "addmm", "addmv", "addr", "baddbmm")


def older_orders(op):
    """Return the orders of an operator's arguments that have gone: tuples of names."""
    name = op.name.removesuffix("_")
    first, *rest = op.names[: op.n_positional] or (None,)
    if name in _SCALES:
        return [(first, _SCALES[name], *rest)]
    if name in _PRODUCTS:
        return [("beta", first, "alpha", *rest), ("beta", first, *rest)]
    return []


def call_in_older_order(op, own, given, keywords):
    """Return the result of a call whose arguments stand in such an order; None if they do not.

    own: the tensor whose method was called, or nothing. keywords: the names of the last of `given`.
    """
    named = dict(zip(keywords, given[len(given) - len(keywords) :], strict=True))
    values = given[: len(given) - len(keywords)]
    if (own and "out" in named) or not named.keys() <= {"out"}:
        return None
    for order in older_orders(op):
        names = [name for name in order if not (own and name == op.names[0])]
        if len(names) == len(values) and all(map(_fits, names, values)):
            _warn(op, names, bool(own))
            named.update(zip(names, values, strict=True))
            return op(*own, **named)
    return None


def _is_scale(name):
    return name in ("alpha", "beta", "value")


def _fits(name, value):
    number = isinstance(value, (int, float, complex, np.number)) or (
        isinstance(value, Tensor) and value.dim() == 0 and not value.requires_grad
    )
    return number if _is_scale(name) else isinstance(value, Tensor) or (number and name == "other")


def _warn(op, names, is_method):
    from .refusal import argument_name, signature  # which asks here for the orders

    given = ", ".join(
        f"Number {name}" if _is_scale(name) else f"Tensor {argument_name(op, op.names.index(name))}"
        for name in names
    )
    warnings.warn(
        f"This overload of {op.name} is deprecated:\n\t{op.name}({given})\n"
        "Consider using one of the following signatures instead:\n"
        f"\t{op.name}{signature(op, is_method)}",
        stacklevel=3,
    )

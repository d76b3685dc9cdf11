"""Operators whose in-place form is the kernel and whose functional form is a copy, then the kernel.

Writing a few elements of a large tensor in place must not cost a copy of all of it.
"""

import numpy as np

from imode._core.layout import empty_like
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import Out, inplace_doc, op


def copied(array, keep_order=True):
    """A copy to write to: laid out as PyTorch's `clone`, or in row order."""
    made = empty_like(array) if keep_order else np.empty(array.shape, array.dtype, like=array)
    made[...] = array
    return made


def written(
    schema,
    write,
    *,
    derivative,
    name=None,
    doc=None,
    keep_order=False,
    widen=None,
    out=Out("same", overlap="rest"),  # noqa: B008 - immutable
    fast=None,
    real_only=None,
    shows=None,
):
    """Declare `schema` and its in-place form; ``write(self, ...)`` changes the array `self`.

    derivative: as in `op`, or a tuple of the inputs by which there is none.
    keep_order: the functional result keeps the layout of self, else it is in row order.
    out: None, there is no out= form. widen: ``widen(self, ...)`` gives the shape of the
    functional result, where that may be larger than self's. fast: that of both forms.
    real_only, shows: as in `op`.
    """

    head, _, rest = schema.partition("(Tensor self")
    bare, dot, overload = head.partition(".")

    def formulas(operator):
        if isinstance(derivative, dict):
            return derivative
        return {wanted: no_derivative(operator) for wanted in derivative}

    def functional(self, *rest):
        if widen is not None:
            self = np.broadcast_to(self, widen(self, *rest))
        result = copied(self, keep_order)
        write(result, *rest)
        return result

    def inplace(self, *rest):
        write(self, *rest)

    base = op(
        schema,
        functional,
        fast=fast,
        derivative=formulas(bare),
        name=name,
        doc=doc,
        variants="function method out" if out else "function method",
        real_only=real_only,
        shows=shows,
        **{"out": out} if out else {},
    )
    written_to = op(
        f"{bare}_{dot}{overload}(Tensor(a!) self{rest.replace('-> Tensor', '-> Tensor(a!)')}",
        inplace,
        fast=fast,
        derivative=formulas(f"{bare}_"),
        name=name,
        doc=inplace_doc(bare),
        shows=shows,
        variants="function method",
    )
    base._link(inplace=written_to)
    return base

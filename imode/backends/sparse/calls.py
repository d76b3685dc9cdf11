"""Which function computes an operator of sparse tensors, and its in-place and out= forms.

A function is of the operator's arguments, tensors among them, at least one of which is sparse; it
runs below autograd. The in-place form computes the result and gives the tensor its coordinates,
unless it has a function of its own.
"""

from imode import errors
from imode._core.promotion import can_cast
from imode._core.sparse import is_sparse, parts, rewrite
from imode._core.tensor import Tensor

KERNELS = {}  # qualified name of an operator -> function


def kernel(*names):
    """Declare the function of some operators on sparse tensors: a decorator."""

    def declare(function):
        KERNELS.update(dict.fromkeys(names, function))
        return function

    return declare


def run(operator, args, out):
    """Call an operator of which an argument, or out=, is sparse."""
    name = operator.qualified_name
    if name in KERNELS:
        return KERNELS[name](*args)
    functional = operator.functional
    if functional is None or functional.qualified_name not in KERNELS:
        raise errors.sparse.no_kernel(name)
    if out is None:
        return assign(operator.name, args[0], KERNELS[functional.qualified_name](*args))
    if not isinstance(out, Tensor):
        raise errors.sparse.no_kernel(name)
    if not any(map(_sparse_among, args)):
        raise errors.sparse.no_kernel(name)
    return assign(operator.name, out, KERNELS[functional.qualified_name](*args), True)


def _sparse_among(value):
    if isinstance(value, (tuple, list)):
        return any(map(_sparse_among, value))
    return isinstance(value, Tensor) and is_sparse(value)


def assign(name, target, result, resize=False):
    """Write a result into a tensor of the same layout."""
    if is_sparse(target) != is_sparse(result):
        wanted, got = ("Sparse", "Strided") if is_sparse(result) else ("Strided", "Sparse")
        raise errors.sparse.other_layout(name, wanted, got)
    if not can_cast(result.dtype, target.dtype):
        raise errors.dtypes.cannot_cast(result.dtype.numpy, target.dtype.numpy)
    if not is_sparse(target):
        if target.shape != result.shape and resize:
            target.resize_(result.shape)
        return target.copy_(result)
    if target.shape != result.shape and not resize:
        raise errors.out.wrong_shape(target.shape, result.shape)
    found = parts(result.to(target.dtype))
    rewrite(target, found.indices, found.values, tuple(result.shape), found.coalesced)
    return target


# The tables; each module declares its functions.
from imode.backends.sparse import (  # noqa: E402, F401
    arithmetic,
    making,
    products,
    reductions,
    shapes,
)

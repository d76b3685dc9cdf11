"""How the results of functions over ndarrays lie in memory."""

import numpy as np

from ..kernels.order import empty_for, empty_like

_APART = 8  # loops.pxd: a number that is a parameter


def laid_out(function, how="pointwise", numbers=()):
    """`function`, its result laid out in memory as PyTorch's; how, numbers: see `ufunc`."""

    def kernel(*operands):
        result = function(*operands)
        if type(result) is not np.ndarray:
            return result
        if how == "like":
            made = empty_like(operands[0], result.dtype)
        else:
            arrays = tuple(operand for operand in operands if isinstance(operand, np.ndarray))
            given = any(
                not flags & _APART and isinstance(operand, (bool, int, float, complex))
                for operand, flags in zip(operands, numbers)
            )
            made = empty_for(arrays, result.shape, result.dtype, given)
        if made.strides == result.strides:
            return result
        made[...] = result
        return made

    return function if how == "rows" else function and kernel

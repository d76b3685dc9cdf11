"""Small helpers of the modules."""

import math
from collections.abc import Iterable

from .. import init

__all__ = ["ntuple"]


def ntuple(value, n):
    """`value` as a tuple: itself when it has several numbers, `n` times itself when it is one."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def start_uniform(weight, bias):
    """Draw weight and bias (or None) uniform in plus or minus 1 / sqrt(inputs of one output)."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in = init._calculate_fan_in_and_fan_out(weight)[0]
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)

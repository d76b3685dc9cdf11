"""Tensors with random elements for tests."""

import math
from collections.abc import Sequence

import imode
from imode import ops
from imode._core.user_frames import warn

__all__ = ["make_tensor"]

_INTEGERS = {
    *(imode.uint8, imode.int8, imode.int16, imode.int32, imode.int64),
    *(imode.uint16, imode.uint32, imode.uint64),
}
_FLOATS = {imode.float16, imode.bfloat16, imode.float32, imode.float64}
_COMPLEX = {imode.complex64, imode.complex128}
_SMALL_FLOATS = {imode.float8_e4m3fn, imode.float8_e5m2}


def make_tensor(
    *shape,
    dtype,
    device,
    low=None,
    high=None,
    requires_grad=False,
    noncontiguous=False,
    exclude_zero=False,
    memory_format=None,
):
    """Return a tensor of uniform random elements in [low, high), by default of -9 to 9.

    noncontiguous: every second element of a larger one. exclude_zero: zeros become 1, or the
    smallest positive float. Raises ValueError for limits that the dtype does not hold, and for
    options that exclude each other. The elements are PyTorch's for the same seed.

    >>> x = imode.testing.make_tensor(2, 3, dtype=imode.float32, device="cpu", low=0)
    >>> x.shape, bool((x >= 0).all())
    (imode.Size([2, 3]), True)
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    shape = tuple(shape)
    integral = dtype is imode.bool or dtype in _INTEGERS
    _check_options(noncontiguous, memory_format, requires_grad and integral, dtype)
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    result = _random(shape, dtype, device, _limits(dtype, low, high))
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if integral else imode.finfo(dtype).tiny
    if dtype in _FLOATS | _COMPLEX:
        result.requires_grad = requires_grad
    return result


def _check_options(noncontiguous, memory_format, undifferentiable, dtype):
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    if undifferentiable:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={dtype!r}"
        )


def _range(dtype):
    """(the lowest element, the limit of elements, the default of `low`, that of `high`)."""
    if dtype is imode.bool:
        return 0, 2, 0, 2
    if dtype in _INTEGERS:
        info = imode.iinfo(dtype)
        return info.min, info.max + (dtype is not imode.int64), -9, 10
    if dtype in _FLOATS | _COMPLEX | _SMALL_FLOATS:
        return imode.finfo(dtype).min, imode.finfo(dtype).max, -9, 9
    raise TypeError(
        f"The requested dtype '{dtype}' is not supported by imode.testing.make_tensor()."
    )


def _limits(dtype, low, high):
    lowest, end, default_low, default_high = _range(dtype)
    low = default_low if low is None else low
    high = default_high if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=!r} and {high=!r}")
    if low == high and dtype in _FLOATS | _COMPLEX:
        warn(
            "Passing `low==high` to `imode.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `imode.full(...)` instead.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < lowest or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{lowest}, {end})"
        )
    low, high = (min(max(x, lowest), end) for x in (low, high))
    if dtype is imode.bool or dtype in _INTEGERS:
        return math.ceil(low), math.ceil(high)
    return low, high


def _random(shape, dtype, device, limits):
    low, high = limits
    if dtype is imode.bool or dtype in _INTEGERS:
        return ops.randint(low, high, shape, device=device, dtype=dtype)
    drawn = imode.float32 if dtype in _SMALL_FLOATS else dtype
    result = ops.empty(shape, device=device, dtype=drawn)
    parts = ops.view_as_real(result) if dtype in _COMPLEX else result
    if high - low >= imode.finfo(drawn).max:
        parts.uniform_(low / 2, high / 2).mul_(2)
    else:
        parts.uniform_(low, high)
    return result.to(dtype)

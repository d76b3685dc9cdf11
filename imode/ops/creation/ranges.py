"""Ranges, the identity matrix, triangles of matrices."""

import math

import numpy as np

from imode import errors
from imode._core.dtype import as_numpy
from imode._core.numbers import number_as, scalar_as
from imode._core.parallel import skipping
from imode._core.promotion import result_type
from imode._core.type_names import scalar_name
from imode.kernels.creation import fill_fast, ranges
from imode.ops.creation.create import (
    OPTIONS,
    allocate,
    default_float,
    factory,
)
from imode.ops.schema import Out, op

# ---- numbers and ranges -------------------------------------------------------------------------


def _scalar_tensor(s, dtype, *options):
    made = allocate((), dtype)
    made[...] = scalar_as(s, made.dtype)
    return made


op(
    f"scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
    _scalar_tensor,
    fast=fill_fast.scalar_tensor,
    differentiable=False,
    variants="function",
    doc="""Return a tensor without dimensions, of the default dtype unless given.

    >>> imode.scalar_tensor(3)
    tensor(3.)
    """,
)


def _shown(number):
    return f"{number:g}" if isinstance(number, float) else str(int(number))


_SAFE = 1 << 61  # bounds within which no sum of two overflows


def _arange(start, end, step, dtype):
    if (
        dtype is None
        and type(start) is type(end) is type(step) is int
        and step
        and -_SAFE < start < _SAFE
        and -_SAFE < end < _SAFE
        and -_SAFE < step < _SAFE
        and (start <= end if step > 0 else start >= end)
        and abs(end - start) < (abs(step) << 30)
    ):
        return np.arange(start, end, step, np.int64)
    if dtype is None and float in (type(start), type(end), type(step)):
        dtype = default_float()
        if step and {type(start), type(end), type(step)} <= _REAL:
            length = (end - start) / step
            if 0 <= length < 1 << 30 and dtype.itemsize > 2:
                made = np.empty(math.ceil(length), dtype)
                ranges.arange(made, start, step)
                return made
    return _checked_arange(start, end, step, dtype)


_REAL = {int, float}


def _too_long():
    return RuntimeError("invalid size, possible overflow?")


def _no_step(kind):
    return kind("step must be nonzero")


def check_bounds(low, high, step):
    """Refuse numbers from `low` to `high` that there are not; all are floats."""
    if not (step > 0 or step < 0):
        raise _no_step(RuntimeError)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"unsupported range: {_shown(low)} -> {_shown(high)}")
    if (high < low) if step > 0 else (high > low):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _checked_arange(start, end, step, dtype):
    if dtype is not None:
        dtype = as_numpy(dtype)
    elif any(isinstance(number, float) for number in (start, end, step)):
        dtype = default_float()
    else:
        dtype = np.dtype(np.int64)
    if dtype.kind in "bc":
        raise errors.dtypes.not_implemented("arange_cpu", dtype)
    low, high, by = (number_as(n, np.dtype(np.float64)) for n in (start, end, step))
    check_bounds(low, high, by)
    if dtype.kind in "iu":
        start, end, step = (number_as(n, np.dtype(np.int64)) for n in (start, end, step))
    if dtype.num == np.dtype(np.int64).num:
        if step == 0:
            raise _no_step(ValueError)
        count = -((start - end) // step)
        if abs(end - start + step) >= 1 << 63:
            raise _too_long()
    else:
        exact = (high - low) / by
        if not exact < 9.2e18:
            raise _too_long()
        count = math.ceil(exact)
    made = allocate((count,), dtype)
    if not skipping():
        ranges.arange(made, start, step)
    return made


_ARANGE = """Return the numbers from `start` up to but not including `end`, `step` apart.

    int64 unless one of them is a float. Raises RuntimeError if `step` leads away from `end`.

    >>> imode.arange(1, 2, 0.5)
    tensor([1.0000, 1.5000])
    """

factory(
    f"arange(Scalar end, *, {OPTIONS}) -> Tensor",
    lambda end, dtype, *options: _arange(0, end, 1, dtype),
    fast=ranges.arange_fast,
    out="shaped warned",
    doc=_ARANGE,
)
factory(
    f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    lambda start, end, dtype, *options: _arange(start, end, 1, dtype),
    fast=ranges.arange_fast,
    out="shaped warned",
    doc=_ARANGE,
)
factory(
    f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    lambda start, end, step, dtype, *options: _arange(start, end, step, dtype),
    fast=ranges.arange_fast,
    out="shaped warned",
    doc=_ARANGE,
)


def _ends(name, start, end, steps, dtype):
    """The two ends as numbers, and the np.dtype of the `steps` numbers between them."""
    given = [
        (word, value)
        for word, value in (("start", start), ("end", end))
        if isinstance(value, np.ndarray)
    ]
    if any(value.ndim for _, value in given):
        found = " and ".join(f"{word} with {value.ndim} dimension(s)" for word, value in given)
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {found}."
        )
    numbers = [n.item() if isinstance(n, np.ndarray) else n for n in (start, end)]
    if any(isinstance(number, complex) for number in numbers):
        found = result_type(1j)
        if dtype is not None and as_numpy(dtype).kind != "c":
            shown = scalar_name(as_numpy(dtype))
            inferred = "float" if found.itemsize == 8 else "double"
            raise RuntimeError(
                f"torch.{name}(): inferred dtype c10::complex<{inferred}> can't be safely cast to "
                f"passed dtype {shown}"
            )
    else:
        found = default_float()
    dtype = as_numpy(dtype, found)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if dtype.kind == "b" and steps > 1:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return *numbers, dtype


def _linspace(start, end, steps, dtype, *options):
    start, end, dtype = _ends("linspace", start, end, steps, dtype)
    made = allocate((steps,), dtype)
    if steps and not skipping():
        ranges.linspace(made, number_as(start, dtype), number_as(end, dtype))
    return made


def _logspace(start, end, steps, base, dtype, *options):
    start, end, dtype = _ends("logspace", start, end, steps, dtype)
    made = allocate((steps,), dtype)
    if not steps:
        return made
    start, end = number_as(start, dtype), number_as(end, dtype)
    # Exponents and powers in double, as PyTorch computes them for every real dtype.
    wide = np.complex128 if dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        if dtype.kind == "f":  # the difference alone is rounded to the dtype
            start, end = dtype.type(start), dtype.type(end)
        step = wide(end - start) / max(steps - 1, 1)
        start, end = wide(start), wide(end)
        exponent, half = np.arange(steps).astype(wide), steps // 2
        first, last = exponent[:half], exponent[half:]
        np.add(np.multiply(first, step, out=first), start, out=first)
        np.subtract(steps - 1, last, out=last)
        np.subtract(end, np.multiply(last, step, out=last), out=last)
        if steps == 1:
            exponent[0] = start
        if dtype.kind == "c":
            made[...] = np.power(wide(base), exponent)
        else:
            made[...] = ranges.powers(base, exponent).astype(dtype)
    return made


_ENDS = (
    ("", "Scalar", "Scalar"),
    (".Tensor_Tensor", "Tensor", "Tensor"),
    (".Tensor_Scalar", "Tensor", "Scalar"),
    (".Scalar_Tensor", "Scalar", "Tensor"),
)
for _overload, _start, _end in _ENDS:
    factory(
        f"linspace{_overload}({_start} start, {_end} end, int steps, *, {OPTIONS}) -> Tensor",
        _linspace,
        fast=None if _overload else ranges.linspace_fast,
        out="shaped",
        doc="""Return `steps` numbers at equal distances, from `start` to `end` inclusive.

        >>> imode.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
        """,
    )
    factory(
        f"logspace{_overload}({_start} start, {_end} end, int steps, float base=10.0, *, {OPTIONS})"
        " -> Tensor",
        _logspace,
        out="shaped",
        doc="""Return `base` to the powers that `linspace(start, end, steps)` gives.

        >>> imode.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
        """,
    )


# ---- matrices -----------------------------------------------------------------------------------


def _eye(n, m, dtype):
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    made = allocate((n, m), dtype, np.zeros)
    if not skipping():
        np.fill_diagonal(made, 1)
    return made


_EYE = """Return a matrix with ones on its diagonal and zeros elsewhere: n rows, m columns.

    >>> imode.eye(2, 3, dtype=imode.int64)
    tensor([[1, 0, 0],
            [0, 1, 0]])
    """

factory(
    f"eye(int n, *, {OPTIONS}) -> Tensor",
    lambda n, dtype, *options: _eye(n, n, dtype),
    fast=fill_fast.eye,
    doc=_EYE,
)
factory(
    f"eye.m(int n, int m, *, {OPTIONS}) -> Tensor",
    lambda n, m, dtype, *options: _eye(n, m, dtype),
    fast=fill_fast.eye_of_two,
    doc=_EYE,
)


def _check_matrix(name, x):
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return x.shape


def _triangle(name, upper):
    def kernel(self, diagonal):
        _check_matrix(name, self)
        return ranges.triangle(self, diagonal, upper)

    return kernel


op(
    "tril(Tensor self, int diagonal=0) -> Tensor",
    _triangle("tril", False),
    fast=ranges.tril_fast,
    out=Out("self", shape=lambda self, diagonal: _check_matrix("tril", self)),
    derivative={"self": lambda grad, diagonal: grad.tril(diagonal)},
    variants="function method inplace out",
    doc="""Return the lower triangle of the last two dimensions, zeros above the diagonal.

    >>> imode.ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """,
)
op(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    _triangle("triu", True),
    fast=ranges.triu_fast,
    out=Out("self", shape=lambda self, diagonal: _check_matrix("triu", self)),
    derivative={"self": lambda grad, diagonal: grad.triu(diagonal)},
    variants="function method inplace out",
    doc="""Return the upper triangle of the last two dimensions, zeros below the diagonal.

    >>> imode.ones(2, 2).triu(1)
    tensor([[0., 1.],
            [0., 0.]])
    """,
)


def _below(rows, columns, diagonal):
    """How many elements of a matrix are on or below a diagonal."""
    first = max(0, -diagonal)  # the first row that has one,
    full = min(rows, max(first, columns - 1 - diagonal))  # and the first that has them all
    rising = max(0, full - first)
    return rising * (2 * (first + diagonal + 1) + rising - 1) // 2 + max(0, rows - full) * columns


def _indices(name, upper):
    def kernel(row, col, offset, dtype, *options):
        for word, size in (("row", row), ("col", col)):
            if size < 0:
                raise RuntimeError(f"{word} must be non-negative, got{size}")
        dtype = as_numpy(dtype, np.dtype(np.int64))
        if dtype.name not in ("int32", "int64"):
            raise errors.dtypes.not_implemented(name, dtype)
        if upper:  # further down, or to the right, there are none
            row = min(row, max(col - offset, 0))
        else:
            col = min(col, max(row + offset, 0))
        limit = row + col + 1
        offset = max(-limit, min(offset, limit))
        count = row * col - _below(row, col, offset - 1) if upper else _below(row, col, offset)
        made = np.empty((2, count), np.int64)
        ranges.triangle_indices(made, row, col, offset, upper)
        return made.astype(dtype, copy=False)

    return kernel


for _name, _upper in (("tril_indices", False), ("triu_indices", True)):
    op(
        f"{_name}(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor",
        _indices(_name, _upper),
        differentiable=False,
        variants="function",
        doc=f"""Return the row and column numbers of a triangle of a (row, col) matrix.

        >>> imode.{_name}(2, 2).shape
        imode.Size([2, 3])
        """,
    )

"""Whether tensors, numbers, and lists and dicts of these are close; if not, where they differ."""

import cmath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

import imode
from imode import ops
from imode._core.tensor import Tensor
from imode._core.user_frames import warn

__all__ = ["assert_allclose", "assert_close", "default_tolerances"]

# rtol, atol; of other dtypes: 0, 0
_PRECISIONS = {
    imode.float16: (1e-3, 1e-5),
    imode.bfloat16: (1.6e-2, 1e-5),
    imode.float32: (1.3e-6, 1e-5),
    imode.float64: (1e-7, 1e-7),
    imode.complex64: (1.3e-6, 1e-5),
    imode.complex128: (1e-7, 1e-7),
}
_OLDER_PRECISIONS = {
    imode.float16: (1e-3, 1e-3),
    imode.float32: (1e-4, 1e-5),
    imode.float64: (1e-5, 1e-8),
}
_DTYPES = {int: imode.int64, float: imode.float64, complex: imode.complex128}


class _Different(Exception):
    """The class and the text of the error, and the way to the item."""

    def __init__(self, kind, text, path):
        super().__init__(kind, text, path)
        self.kind, self.text, self.path = kind, text, path

    def error(self, msg):
        if isinstance(msg, str):
            return self.kind(msg)
        text = self.text
        if self.path:
            text += f"\n\nThe failure occurred for item {_written(self.path)}"
        return self.kind(msg(text) if callable(msg) else text)


def _written(path):
    return "".join(str([key]) for key in path)


@dataclass(frozen=True)
class _Options:
    """The arguments of assert_close."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, path, *dtypes):
        if (self.rtol is None) != (self.atol is None):
            missing = "rtol" if self.rtol is None else "atol"
            text = (
                f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
            )
            raise _Different(ValueError, text, path)
        if self.rtol is not None:
            return self.rtol, self.atol
        return default_tolerances(*dtypes)


def default_tolerances(*inputs, dtype_precisions=None):
    """Return (rtol, atol) for tensors or dtypes: the largest of each.

    >>> imode.testing._comparison.default_tolerances(imode.float32, imode.int64)
    (1.3e-06, 1e-05)
    """
    dtypes = []
    for given in inputs:
        if not isinstance(given, (Tensor, imode.dtype)):
            raise TypeError(
                f"Expected a imode.Tensor or a imode.dtype, but got {type(given)} instead."
            )
        dtypes.append(given.dtype if isinstance(given, Tensor) else given)
    known = dtype_precisions or _PRECISIONS
    rtols, atols = zip(*[known.get(dtype, (0.0, 0.0)) for dtype in dtypes])
    return max(rtols), max(atols)


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Both may be tensors or what `as_tensor` takes, numbers, None, and sequences and mappings of
    these. The tolerances depend on the dtypes, unless both are given. Shapes must be equal and, if
    checked, devices, dtypes, layouts and strides. msg: instead of the text, or f(text).

    >>> imode.testing.assert_close(imode.ones(2), imode.ones(2) + 1e-6)
    >>> imode.testing.assert_close([1.0, 2.0], [1.0, 2.5])
    Traceback (most recent call last):
    AssertionError: Scalars are not close!
    ...
    """
    __tracebackhide__ = True
    options = _Options(
        *(allow_subclasses, rtol, atol, equal_nan),
        *(check_device, check_dtype, check_layout, check_stride),
    )
    try:
        for compare in list(_comparisons(actual, expected, (), options)):
            compare()
    except _Different as different:
        raise different.error(msg) from None


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older `assert_close`, which compares values alone, with larger tolerances.

    >>> imode.testing.assert_allclose([1.0], [1.0])
    """
    warn(
        "`imode.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `imode.testing.assert_close()` instead.",
        FutureWarning,
    )
    if not isinstance(actual, Tensor):
        actual = ops.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = ops.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_OLDER_PRECISIONS)
    tolerances = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    assert_close(actual, expected, **tolerances, check_dtype=False, msg=msg or None)


# ---- structure: what is compared with what -------------------------------------------------------


def _are(kind, *values):
    return all(isinstance(value, kind) for value in values)


def _comparisons(actual, expected, path, options):
    """Yield a function for each pair of items, which raises if they differ."""
    if _are(Sequence, actual, expected) and not (
        isinstance(actual, str) or isinstance(expected, str)
    ):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _Different(AssertionError, text, path)
        for i in range(len(actual)):
            yield from _comparisons(actual[i], expected[i], (*path, i), options)
    elif _are(Mapping, actual, expected):
        for key in _same_keys({*actual}, {*expected}, path):
            yield from _comparisons(actual[key], expected[key], (*path, key), options)
    elif actual is None or expected is None:
        yield lambda: _compare_nones(actual, expected, path)
    elif _are((bool, np.bool_), actual, expected):
        yield lambda: _compare_bools(bool(actual), bool(expected), path)
    elif _are((int, float, complex, np.number), actual, expected):
        yield _number_comparison(actual, expected, path, options)
    else:
        yield _tensor_comparison(actual, expected, path, options)


def _same_keys(actual, expected, path):
    if actual != expected:
        text = (
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(expected - actual)}\n"
            f"Additional keys in the actual mapping: {sorted(actual - expected)}"
        )
        raise _Different(AssertionError, text, path)
    with suppress(Exception):
        return sorted(actual)
    return actual


def _compare_nones(actual, expected, path):
    if actual is not expected:
        raise _Different(AssertionError, f"None mismatch: {actual} is not {expected}", path)


def _compare_bools(actual, expected, path):
    if actual is not expected:
        raise _Different(AssertionError, f"Booleans mismatch: {actual} is not {expected}", path)


def _number_comparison(actual, expected, path, options):
    if bool in (type(actual), type(expected)):
        raise RuntimeError(
            f"Originating a NumberPair() at item {_written(path)} with\n\n"
            f"{type(actual).__name__}(): {actual}\n\nand\n\n"
            f"{type(expected).__name__}(): {expected}\n\n"
            "resulted in the unexpected exception above. A bool is compared with a bool alone."
        )
    numbers = [x.item() if isinstance(x, np.number) else x for x in (actual, expected)]
    tolerances = options.tolerances(path, *(_DTYPES[type(number)] for number in numbers))
    return lambda: _compare_numbers(*numbers, path, *tolerances, options)


def _tensor_comparison(actual, expected, path, options):
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    tensors = ()
    if related and (options.allow_subclasses or type(actual) is type(expected)):
        with suppress(Exception):
            tensors = [x if isinstance(x, Tensor) else ops.as_tensor(x) for x in (actual, expected)]
    if not tensors:
        kinds = f"{type(actual)} and {type(expected)}"
        text = f"No comparison pair was able to handle inputs of type {kinds}."
        raise _Different(TypeError, text, path)
    tolerances = options.tolerances(path, *tensors)
    return lambda: _compare_tensors(*tensors, path, *tolerances, options)


# ---- values --------------------------------------------------------------------------------------


def _compare_numbers(actual, expected, path, rtol, atol, options):
    if options.check_dtype and type(actual) is not type(expected):
        text = f"The (d)types do not match: {type(actual)} != {type(expected)}."
        raise _Different(AssertionError, text, path)
    if actual == expected:
        return
    if options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return
    difference = abs(actual - expected)
    if cmath.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    text = _about_scalars("Scalars", actual, expected, rtol, atol)
    raise _Different(AssertionError, text, path)


def _compare_tensors(actual, expected, path, rtol, atol, options):
    _compare_attributes(actual, expected, path, options)
    if actual.is_meta or expected.is_meta:
        return
    actual, expected = _alike(actual, expected)
    compare = _Values(path, rtol, atol, options.equal_nan)
    if actual.is_sparse:
        _compare_sparse(actual, expected, compare)
    else:
        compare("Tensor-likes", actual, expected)


def _compare_attributes(actual, expected, path, options):
    def check(name, a, b):
        if a != b:
            text = f"The values for attribute '{name}' do not match: {a} != {b}."
            raise _Different(AssertionError, text, path)

    check("shape", actual.shape, expected.shape)
    if options.check_layout:
        check("layout", actual.layout, expected.layout)
    strided = actual.layout == expected.layout == imode.strided
    if options.check_stride and strided:
        check("stride()", actual.stride(), expected.stride())
    if options.check_device:
        check("device", actual.device, expected.device)
    if options.check_dtype:
        check("dtype", actual.dtype, expected.dtype)


def _alike(actual, expected):
    """Both on one device, with the common dtype and the same layout."""
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    if actual.dtype != expected.dtype:
        unsigned = {imode.uint16, imode.uint32, imode.uint64}  # they have no common dtype
        dtypes = [imode.int64 if x.dtype in unsigned else x.dtype for x in (actual, expected)]
        common = imode.promote_types(*dtypes)
        actual, expected = actual.to(common), expected.to(common)
    if actual.layout != expected.layout:
        actual, expected = (x.to_dense() if x.is_sparse else x for x in (actual, expected))
    return actual, expected


def _compare_sparse(actual, expected, compare):
    for what, a, b in (
        ("sparse dimensions", actual.sparse_dim(), expected.sparse_dim()),
        ("specified values", actual._nnz(), expected._nnz()),
    ):
        if a != b:
            text = f"The number of {what} in sparse COO tensors does not match: {a} != {b}"
            raise _Different(AssertionError, text, compare.path)
    exact = _Values(compare.path, 0, 0, False)
    exact("Sparse COO indices", actual._indices(), expected._indices())
    compare("Sparse COO values", actual._values(), expected._values())


@dataclass(frozen=True)
class _Values:
    """Compares the elements of two tensors of one shape and dtype."""

    path: tuple
    rtol: float
    atol: float
    equal_nan: bool

    def __call__(self, name, actual, expected):
        actual, expected = actual.detach(), expected.detach()
        bitwise = actual.dtype.is_floating_point and actual.dtype.itemsize == 1
        if bitwise:
            if self.rtol or self.atol:
                text = (
                    f"Rtol={self.rtol} and atol={self.atol} are not supported for bitwise "
                    "comparison of low dimensional floats. Please use rtol=0.0 and atol=0.0."
                )
                raise _Different(AssertionError, text, self.path)
            actual, expected = actual.float(), expected.float()
        tolerances = {"rtol": self.rtol, "atol": self.atol, "equal_nan": self.equal_nan}
        matches = ops.isclose(actual, expected, **tolerances)
        if matches.all():
            return
        if actual.dim():
            about = _about_bits if bitwise else _about_tensors
            text = about(name, actual, expected, matches, self.rtol, self.atol)
        else:
            values = actual.item(), expected.item()
            name = "Scalars" if name == "Tensor-likes" else name
            text = _about_scalars(name, *values, self.rtol, self.atol)
        raise _Different(AssertionError, text, self.path)


# ---- texts ---------------------------------------------------------------------------------------


def _about(name, more, greatest, rtol, atol):
    """greatest: two of (difference, index or None), absolute and relative."""
    equal = rtol == 0 and atol == 0
    lines = [f"{name} are not {'equal' if equal else 'close'}!", "", more]
    for kind, (value, index), limit in zip(("absolute", "relative"), greatest, (atol, rtol)):
        if index is None:
            line = f"{kind.title()} difference: {value}"
        else:
            line = f"Greatest {kind} difference: {value} at index {index}"
        lines.append(line if equal else f"{line} (up to {limit} allowed)")
    return "\n".join(lines)


def _about_scalars(name, actual, expected, rtol, atol):
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    greatest = (difference, None), (relative, None)
    return _about(name, f"Expected {expected} but got {actual}.", greatest, rtol, atol)


def _share(matches):
    count, wrong = matches.numel(), matches.numel() - int(matches.sum())
    return f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})"


def _about_bits(name, actual, expected, matches, rtol, atol):
    first = tuple(ops.nonzero(~matches)[0].tolist())
    at = f"The first mismatched element is at index {first}."
    return f"{name} are not 'equal'!\n\n{_share(matches)}\n{at}"


def _about_tensors(name, actual, expected, matches, rtol, atol):
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        actual, expected = actual.to(imode.int64), expected.to(imode.int64)
    difference = ops.abs(actual - expected)
    difference[matches] = 0
    relative = difference / ops.abs(expected)
    relative[matches] = 0
    greatest = [_greatest(values) for values in (difference, relative)]
    return _about(name, _share(matches), greatest, rtol, atol)


def _greatest(values):
    value, at = values.flatten().max(0)
    index = np.unravel_index(int(at), tuple(values.shape))
    return value.item(), tuple(int(i) for i in index)

"""PyTorch's torch.masked: reductions and normalisations that leave masked-out elements alone.

`mask` is True where an element counts. It broadcasts to the input, must not have more dimensions
than it, and is read as bools. Masked-out elements are replaced by a number that changes nothing (0
in a sum, minus infinity in a maximum), then imode's operator of that name runs. So what is
not masked has its gradient, and what is masked out has 0. Tensors are strided: others raise
ValueError. There is no MaskedTensor.

>>> x = imode.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> imode.masked.sum(x, 1, mask=x > 1.5)
tensor([2., 7.])
"""

import imode as _imode
from imode.errors import dtypes as _dtypes
from imode.errors import names_of as _names_of
from imode.errors import shapes as _shapes

__all__ = [
    *("amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp"),
    *("logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std"),
    *("sum", "var"),
]

__getattr__ = _names_of(__name__)

_inf = float("inf")


# ---- masks --------------------------------------------------------------------------------------


def _full_mask(input, mask):
    """The mask in the input's shape, of bools."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of "
                f"the input)\nThe mask has {mask.ndim} dimensions, the input {input.ndim}."
            )
        mask = _imode.broadcast_to(mask, input.shape)
    return mask.to(_imode.bool)


def _largest(name, input, sign):
    """The largest number of the input's dtype, or with sign -1 the smallest."""
    dtype = input.dtype
    if dtype.is_floating_point:
        return sign * _inf
    if dtype == _imode.bool:
        raise NotImplementedError(
            f"identity of {name} on {dtype} input\nConvert it: input.to(imode.uint8)."
        )
    info = _imode.iinfo(dtype)  # raises TypeError for a complex one
    return info.max if sign > 0 else info.min


def _only(name, input, mask, identity):
    """The input with `identity` in the place of what is masked out.

    `identity`: a number, or a function of (name, input) that gives it.
    """
    for tensor in (input, mask):
        if tensor is not None and tensor.layout != _imode.strided:
            raise ValueError(
                f"masked {name} expects strided tensor (got {tensor.layout} tensor)\n"
                "to_dense() gives one."
            )
    if mask is None:
        return input
    mask = _full_mask(input, mask)
    number = identity(name, input) if callable(identity) else identity
    return _imode.where(mask, input, input.new_full((), number))


def _lowest(name, input):
    return _largest(name, input, -1)


def _highest(name, input):
    return _largest(name, input, 1)


def _below_exp(name, input):
    """What exp() takes to 0."""
    return complex(-_inf, 0) if input.is_complex() else _largest(name, input, -1)


def _dims(dim, ndim):
    """The dimensions to reduce, sorted: all for None and ()."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    found, bound = [], max(ndim, 1)
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -bound <= d < bound:
            raise _shapes.dim_out_of_range(d, ndim)
        found.append(d % bound)
    return tuple(sorted(found))


def _summed_dtype(dtype):
    """What a sum of elements of a dtype has: small integers and bools give int64."""
    return dtype if dtype.is_floating_point or dtype.is_complex else _imode.int64


# ---- reductions ---------------------------------------------------------------------------------


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum over `dim` (all dimensions by default); of nothing, 0. Integers give int64.

    >>> imode.masked.sum(imode.tensor([1, 2, 3]), mask=imode.tensor([True, False, True]))
    tensor(4)
    """
    dims = _dims(dim, input.ndim)
    dtype = _summed_dtype(input.dtype) if dtype is None else dtype
    return _imode.sum(_only("sum", input, mask, 0), dims, bool(keepdim), dtype=dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product over `dim` (all dimensions by default); of nothing, 1. Integers give int64.

    >>> imode.masked.prod(imode.tensor([2, 5, 3]), mask=imode.tensor([True, False, True]))
    tensor(6)
    """
    dims = _dims(dim, input.ndim)
    result = _only("prod", input, mask, 1)
    result = result.to(_summed_dtype(input.dtype) if dtype is None else dtype)
    for d in reversed(dims):
        result = result.prod(d, keepdim=bool(keepdim))
    return result


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The maximum over `dim` (all dimensions by default); of nothing, the dtype's smallest number.

    Raises TypeError for complex numbers and NotImplementedError for bools with a mask.

    >>> imode.masked.amax(imode.tensor([1.0, 9.0]), mask=imode.tensor([True, False]))
    tensor(1.)
    """
    return _extremum("amax", _lowest, input, dim, keepdim, dtype, mask)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The minimum over `dim` (all dimensions by default); of nothing, the dtype's largest number.

    Raises TypeError for complex numbers and NotImplementedError for bools with a mask.

    >>> imode.masked.amin(imode.tensor([1.0, 9.0]), mask=imode.tensor([False, True]))
    tensor(9.)
    """
    return _extremum("amin", _highest, input, dim, keepdim, dtype, mask)


def _extremum(name, identity, input, dim, keepdim, dtype, mask):
    only = _only(name, input, mask, identity)
    result = getattr(_imode, name)(only, _dims(dim, input.ndim), bool(keepdim))
    return result.to(input.dtype if dtype is None else dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the maximum is: indices along `dim`, or into the flattened input.

    They have the input's dtype, or `dtype`.

    >>> imode.masked.argmax(imode.tensor([1.0, 9.0]), mask=imode.tensor([True, False]))
    tensor(0.)
    """
    result = _imode.argmax(_only("argmax", input, mask, _lowest), dim, bool(keepdim))
    return result.to(input.dtype if dtype is None else dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the minimum is: indices along `dim`, or into the flattened input.

    They have the input's dtype, or `dtype`.

    >>> imode.masked.argmin(imode.tensor([1.0, 9.0]), mask=imode.tensor([False, True]))
    tensor(1.)
    """
    result = _imode.argmin(_only("argmin", input, mask, _highest), dim, bool(keepdim))
    return result.to(input.dtype if dtype is None else dtype)


def _count(input, dim, keepdim, mask):
    """How many elements are not masked out, along `dim`."""
    if mask is None:
        dim = _dims(dim, input.ndim)
        mask = _imode.ones(input.shape, dtype=_imode.bool, device=input.device)
    return mask.sum(dim, bool(keepdim))


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean over `dim` (all dimensions by default); of nothing, NaN.

    Raises ValueError where the result would have an integer dtype.

    >>> imode.masked.mean(imode.tensor([1.0, 9.0, 3.0]), mask=imode.tensor([True, False, True]))
    tensor(2.)
    """
    wanted = input.dtype if dtype is None else dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        raise _dtypes.masked_mean_of("Input" if dtype is None else "Optional", wanted)
    _only("mean", input, mask, 0)
    mask = None if mask is None else _full_mask(input, mask)
    count = _count(input, dim, keepdim, mask)
    return sum(input, dim, keepdim=keepdim, dtype=wanted, mask=mask) / count


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median along `dim`, the lower one of two; of nothing, NaN.

    Raises ValueError for integers of which a whole row is masked out.

    >>> imode.masked.median(imode.tensor([1.0, 9.0, 3.0]), mask=imode.tensor([True, False, True]))
    tensor(1.)
    """
    d = _dims(dim, input.ndim)[0]
    is_float = input.is_floating_point()
    numbers = input if is_float else input.to(_imode.float32)
    result = _imode.nanmedian(_only("median", numbers, mask, float("nan")), d, keepdim).values
    if is_float:
        return result
    if _imode.isnan(result).any():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point\n"
            "Convert the input: input.to(imode.float64)."
        )
    return result.to(input.dtype if dtype is None else dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exponentials over `dim` (all by default); of nothing, -inf.

    >>> imode.masked.logsumexp(imode.tensor([1.0, 9.0]), mask=imode.tensor([True, False]))
    tensor(1.)
    """
    dims = _dims(dim, input.ndim)
    result = _imode.logsumexp(_only("logsumexp", input, mask, _below_exp), dims, keepdim=keepdim)
    return result.to(input.dtype if dtype is None else dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of order `ord` over `dim` (all dimensions by default); of nothing, 0.

    Of order -inf, of nothing, it is infinite; AssertionError for other than real floats there.

    >>> x = imode.tensor([3.0, 9.0, 4.0])
    >>> imode.masked.norm(x, mask=imode.tensor([True, False, True]))
    tensor(5.)
    """
    if ord == -_inf and mask is not None and not input.is_floating_point():
        raise AssertionError(f"input must be floating point, got {input.dtype}")
    only = _only("norm", input, mask, _inf if ord == -_inf else 0)
    dims = _dims(dim, input.ndim)
    wanted = input.dtype if dtype is None else dtype
    return _imode.linalg.vector_norm(only, ord, dims, bool(keepdim), dtype=wanted)


def var(
    input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None
):  # fmt: skip
    """The variance over `dim` (all dimensions by default); of nothing, NaN.

    The sum of squares is divided by the number of elements less `correction`, 1 by default;
    `unbiased=False` is correction 0. Integers give float32.

    >>> x = imode.tensor([1.0, 9.0, 3.0])
    >>> imode.masked.var(x, mask=imode.tensor([True, False, True]))
    tensor(2.)
    """
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None
):  # fmt: skip
    """The standard deviation over `dim` (all dimensions by default); of nothing, NaN.

    As `var`, of which it is the square root.

    >>> x = imode.tensor([1.0, 9.0, 3.0])
    >>> imode.masked.std(x, unbiased=False, mask=imode.tensor([True, False, True]))
    tensor(1.)
    """
    return _imode.sqrt(_variance(input, dim, unbiased, correction, keepdim, dtype, mask))


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    _only("std/var", input, mask, 0)
    wanted = input.dtype if dtype is None else dtype
    computed = wanted if wanted.is_floating_point or wanted.is_complex else _imode.float32
    dtype = computed if dtype is None else dtype
    mask = None if mask is None else _full_mask(input, mask)
    count = _count(input, dim, True, mask)
    x = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    total = sum(x * x.conj(), dim, keepdim=keepdim, dtype=computed, mask=mask)
    count = count.reshape(total.shape)
    if correction != 0:
        real = _imode.empty((), dtype=computed).abs().dtype
        count = _imode.maximum(count.to(real) - correction, count.new_zeros((), dtype=real))
    return (total / count).to(dtype)


# ---- normalisations -----------------------------------------------------------------------------


def cumsum(input, dim, *, dtype=None, mask=None):
    """The running sum along `dim`, in the input's dtype or in `dtype`.

    >>> x = imode.tensor([1.0, 9.0, 3.0])
    >>> imode.masked.cumsum(x, 0, mask=imode.tensor([True, False, True]))
    tensor([1., 1., 4.])
    """
    wanted = input.dtype if dtype is None else dtype
    d = _dims(dim, input.ndim)[0]
    return _imode.cumsum(_only("cumsum", input, mask, 0), d, dtype=wanted)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The running product along `dim`, in the input's dtype or in `dtype`.

    >>> x = imode.tensor([2.0, 9.0, 3.0])
    >>> imode.masked.cumprod(x, 0, mask=imode.tensor([True, False, True]))
    tensor([2., 2., 6.])
    """
    wanted = input.dtype if dtype is None else dtype
    d = _dims(dim, input.ndim)[0]
    return _imode.cumprod(_only("cumprod", input, mask, 1), d, dtype=wanted)


def softmax(input, dim, *, dtype=None, mask=None):
    """Exponentials divided by their sum along `dim`; 0 where masked out, NaN where all is.

    >>> imode.masked.softmax(imode.zeros(3), 0, mask=imode.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return _normalised("softmax", "amax", _lowest, input, dim, dtype, mask)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of `softmax`: minus infinity where masked out, NaN where all is.

    >>> imode.masked.log_softmax(imode.zeros(2), 0, mask=imode.tensor([True, False]))
    tensor([0., -inf])
    """
    return _normalised("log_softmax", "amax", _lowest, input, dim, dtype, mask)


def softmin(input, dim, *, dtype=None, mask=None):
    """`softmax` of the negated input: 0 where masked out, NaN where all is.

    >>> imode.masked.softmin(imode.zeros(3), 0, mask=imode.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return _normalised("softmin", "amin", _highest, input, dim, dtype, mask)


def _normalised(name, extremum, identity, input, dim, dtype, mask):
    """`name` of what is left; `extremum`: in whose name a dtype without identity is refused."""
    d = _dims(dim, input.ndim)[0]
    only = _only(name, input, mask, lambda _, input: identity(extremum, input))
    function = getattr(_imode.nn.functional, name)
    return function(only, d, dtype=input.dtype if dtype is None else dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input divided by its norm of order `ord` along `dim`, or by `eps` where that is larger.

    >>> x = imode.tensor([3.0, 9.0, 4.0])
    >>> imode.masked.normalize(x, 2.0, 0, mask=imode.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    only = _only("normalize", input, mask, 0)
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return only / _imode.maximum(length, length.new_full((), eps))


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """The logarithm of the sum of two exponentials; what is masked out counts as minus infinity.

    >>> x, mask = imode.zeros(2), imode.tensor([True, False])
    >>> imode.masked.logaddexp(x, x, input_mask=mask)
    tensor([0.6931, 0.0000])
    """
    a = _only("logaddexp", input, input_mask, _lowest)
    b = _only("logaddexp", other, other_mask, _lowest)
    return _imode.logaddexp(a, b).to(input.dtype if dtype is None else dtype)

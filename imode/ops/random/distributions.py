"""Random tensors, and random contents for tensors that exist.

For one seed the numbers are PyTorch's, bit for bit (see `kernels/random/distributions`). Without
`generator=` they come from the default generator, which `imode.manual_seed` seeds.
"""

import numpy as np

from imode import errors
from imode._core.dtype import bfloat16
from imode._core.numbers import largest
from imode._core.parallel import skipping
from imode._core.type_names import c_name, scalar_name
from imode._core.user_frames import warn
from imode.kernels.random import choices, distributions, distributions_fast
from imode.kernels.shapes import views
from imode.ops.pointwise.common import zeros
from imode.ops.schema import op

# ---- checks -------------------------------------------------------------------------------------


def shown(number):
    """A number as C++ prints a double."""
    return f"{float(number):g}"


def _c_name(dtype):
    """The C++ type as these messages have it: int64 is long."""
    return c_name(dtype).removesuffix(" int")


def _in_range(name, number, low, high, dtype):
    if not low <= number <= high:
        raise RuntimeError(f"{name} is out of bounds for {_c_name(dtype)}")


# ---- filling a tensor that exists ---------------------------------------------------------------

GENERATOR = "*, Generator? generator=None"


def _fills(schema, node=None, doc=None, fast=None):
    """Declare the operator that a kernel is of: a decorator, which gives the kernel.

    node: its graph node, if not named after it. doc: if not the kernel's. fast: as in `op`.
    """

    def declare(kernel):
        op(
            f"{schema} -> Tensor(a!)",
            kernel,
            fast=fast,
            derivative={"self": zeros},
            name=node,
            variants="method",
            doc=doc or kernel.__doc__,
        )
        return kernel

    return declare


# ---- uniform, normal ----------------------------------------------------------------------------


@_fills(
    f"uniform_(Tensor(a!) self, float from=0.0, float to=1.0, {GENERATOR})",
    fast=distributions_fast.uniform_,
)
def uniform(array, low, high, generator):
    """Fill with numbers uniform in [from, to).

    Raises RuntimeError for an empty range, NotImplementedError for an integer dtype.

    >>> imode.zeros(2).uniform_(5, 5)
    tensor([5., 5.])
    """
    if array.dtype.char not in "fd" or not (low == 0.0 and high == 1.0):
        _check_uniform(array, low, high)
    distributions.uniform(array, low, high, generator)


def _check_uniform(array, low, high):
    real = array.real.dtype
    if real.kind != "f":
        raise errors.dtypes.not_implemented("check_uniform_bounds", array.dtype)
    most = largest(real)
    _in_range("from", low, -most, most, real)
    _in_range("to", high, -most, most, real)
    if low > high:
        raise RuntimeError(
            "uniform_ expects to return a [from, to) range, but found "
            f"from={shown(low)} > to={shown(high)}"
        )
    if high - low > most:
        name = scalar_name(real)
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{name}>::max(), but found "
            f"to={shown(high)} and from={shown(low)} which result in to-from to exceed the limit"
        )


@_fills(
    f"normal_(Tensor(a!) self, float mean=0.0, float std=1.0, {GENERATOR})",
    fast=distributions_fast.normal_,
)
def normal(array, mean, std, generator):
    """Fill with normal numbers.

    >>> imode.zeros(2).normal_(3, 0)
    tensor([3., 3.])
    """
    if not std >= 0.0:
        raise errors.numbers.normal_deviation(shown(std))
    if array.size:
        if array.dtype.kind not in "fc":
            raise errors.dtypes.not_implemented("normal_kernel_cpu", array.dtype)
        distributions.normal(array, mean, std, generator)


# ---- integers -----------------------------------------------------------------------------------


_RANDOM = """Fill with integers: from `from` (0) up to but not including `to`, else all that fit.

    Raises RuntimeError for an empty range and for bounds that the dtype does not hold.

    >>> imode.ones(2).random_(1)
    tensor([0., 0.])
    """


def digits(dtype):
    """The bits of a float dtype's significand."""
    return 8 if dtype == bfloat16 else np.finfo(dtype).nmant + 1


def _value(number, dtype):
    """An integer as the value of a float dtype that is nearest to it."""
    return float(np.array(number).astype(dtype)) if dtype == bfloat16 else dtype.type(number)


def _nearest_from(start, dtype):
    """The first integer from `start` on whose value in a float dtype is not below it."""
    after = int(_value(start + 1, dtype))
    if after < start:
        length = abs(start + 1).bit_length() - 1
        start = after + (1 << max(length - digits(dtype) + 1, 0))
    return start


def _nearest_to(stop, dtype):
    """The last integer up to `stop` for which the one before it stays below it in a float dtype."""
    with np.errstate(over="ignore"):
        before = _value(stop - 1, dtype)
    if not np.isfinite(before):
        return stop
    before = int(before)
    if before >= stop:
        length = abs(stop - 1).bit_length() - 1
        stop = before - (1 << max(length - digits(dtype) + 1, 0))
    return stop


def _check_bounds(start, last, dtype):
    if dtype.kind == "f":
        most = largest(dtype)
        exact = 1 << digits(dtype)
        for name, value in (("from", start), ("to - 1", last)):
            _in_range(name, value, -most, most, dtype)
        for name, value in (("from", start), ("to - 1", last)):
            if not -exact <= value <= exact:
                warn(
                    f"{name} is out of bounds [-(2^{digits(dtype)}), 2^{digits(dtype)}]. Not "
                    f"every integer beyond has a value in {_c_name(dtype)}; the numbers "
                    "drawn are rounded.",
                    UserWarning,
                )
    elif dtype.kind in "biu":
        low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        _in_range("from", start, int(low), int(high), dtype)
        _in_range("to - 1", last, int(low), int(high), dtype)
    else:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )


@_fills(
    f"random_(Tensor(a!) self, {GENERATOR})",
    "RandomBackward2",
    _RANDOM,
    fast=distributions_fast.random_,
)
def _random_any(array, generator):
    """Integers that the dtype holds exactly, from 0 on."""
    dtype = array.dtype
    if not array.size:
        return
    if dtype.kind == "c":
        raise errors.dtypes.not_implemented("random_kernel_cpu", dtype)
    if dtype.kind == "b":
        stop = 2
    elif dtype.kind == "f":
        stop = (1 << digits(dtype)) + 1
    else:
        stop = int(np.iinfo(dtype).max) + 1
    distributions.integers(array, 0, stop, generator, dtype.itemsize == 8)


@_fills(
    f"random_.to(Tensor(a!) self, int to, {GENERATOR})",
    "RandomBackward1",
    _RANDOM,
    fast=distributions_fast.random_to,
)
def _random_below(array, stop, generator):
    random_between(array, 0, stop, generator)


@_fills(
    f"random_.from(Tensor(a!) self, int from, int? to, {GENERATOR})",
    "RandomBackward0",
    _RANDOM,
    fast=distributions_fast.random_from,
)
def random_between(array, start, stop, generator):
    """Integers in [start, stop); stop None: all that the dtype holds from `start` on."""
    dtype = array.dtype
    if dtype.char == "l" and stop is not None and start < stop:  # int64: they fit
        distributions.integers(array, start, stop, generator)
        return
    for bound in (start, stop):
        if bound is not None and not -(1 << 63) <= bound < 1 << 63:
            raise errors.numbers.beyond_64_bits()
    if stop is None and start == -(1 << 63):
        if dtype.name in ("bool", "float16") or dtype.kind == "c":
            raise errors.dtypes.not_implemented("random_full_64_bits_range_kernel_cpu", dtype)
        if dtype.name not in ("int64", "float32", "float64", "bfloat16"):
            raise RuntimeError(
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and "
                "bfloat16"
            )
        if array.size:
            distributions.integers(array, -(1 << 63), 1 << 63, generator)
        return
    if stop is not None:
        if start >= stop:
            raise RuntimeError(
                f"random_ expects 'from' to be less than 'to', but got from={start} >= to={stop}"
            )
        if dtype.kind == "f":
            start, stop = _nearest_from(start, dtype), _nearest_to(stop, dtype)
            if start >= stop:
                raise RuntimeError(
                    "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                    f"but got from={start} >= to={stop}"
                )
    elif dtype.kind == "f":
        start, stop = _nearest_from(start, dtype), (1 << digits(dtype)) + 1
        if start >= stop - 1:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                f"casted to dtype, but got from={start} > to_inc={stop - 1}"
            )
    elif dtype.kind == "c":
        raise RuntimeError(
            "random_from_to_impl handles only integral, floating-point and boolean types"
        )
    else:
        stop = 2 if dtype.kind == "b" else int(np.iinfo(dtype).max) + 1
    _check_bounds(start, stop - 1, dtype)
    if array.size:
        distributions.integers(array, start, stop, generator)


# ---- other distributions ------------------------------------------------------------------------


def _continuous(array, name, message):
    if array.dtype.kind != "f":
        raise (
            RuntimeError(
                f"{message} distribution is a continuous probability distribution. "
                f"dtype must be a floating point but you specified {name(array.dtype)}"
            )
        )


@_fills(
    f"exponential_(Tensor(a!) self, float lambd=1.0, {GENERATOR})",
    fast=distributions_fast.exponential_,
)
def _exponential(array, lambd, generator):
    """Fill with exponential numbers of mean 1 / lambd.

    >>> bool((imode.zeros(9).exponential_() >= 0).all())
    True
    """
    if not lambd > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={shown(lambd)}")
    if array.size:
        _continuous(array, scalar_name, "Exponential")
        distributions.exponential(array, lambd, generator)


@_fills(
    f"cauchy_(Tensor(a!) self, float median=0.0, float sigma=1.0, {GENERATOR})",
    fast=distributions_fast.cauchy_,
)
def _cauchy(array, median, sigma, generator):
    """Fill with Cauchy numbers around `median`, `sigma` wide.

    >>> imode.zeros(3).cauchy_().shape
    imode.Size([3])
    """
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={shown(sigma)}")
    _continuous(array, c_name, "Cauchy")
    if array.size:
        distributions.cauchy(array, median, sigma, generator)


@_fills(
    f"log_normal_(Tensor(a!) self, float mean=1.0, float std=2.0, {GENERATOR})",
    fast=distributions_fast.log_normal_,
)
def _log_normal(array, mean, std, generator):
    """Fill with numbers whose logarithms are normal.

    >>> bool((imode.zeros(9).log_normal_() > 0).all())
    True
    """
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={shown(std)}")
    if array.size:
        if array.dtype.kind != "f":
            raise errors.dtypes.not_implemented("log_normal_cpu", array.dtype)
        distributions.log_normal(array, mean, std, generator)


@_fills(
    f"geometric_(Tensor(a!) self, float p, {GENERATOR})",
    fast=distributions_fast.geometric_,
)
def _geometric(array, p, generator):
    """Fill with numbers of trials up to the first success, of probability `p` each.

    >>> bool((imode.zeros(9).geometric_(0.5) >= 1).all())
    True
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={shown(p)}")
    if array.size:
        if array.dtype.kind in "bc":
            raise errors.dtypes.not_implemented("geometric_cpu", array.dtype)
        distributions.geometric(array, p, generator)


_BERNOULLI = """Fill with ones of probability `p`, a number or a tensor, and zeros.

    >>> imode.zeros(2).bernoulli_(1)
    tensor([1., 1.])
    """


def bernoulli_tensor(array, p, generator):
    if not array.size:
        return
    if array.dtype.kind == "c":
        raise errors.dtypes.not_implemented("bernoulli_tensor_cpu_self_", array.dtype)
    p = views.apply(views.expand, p, array.shape)
    if p.dtype.kind != "f":
        raise errors.dtypes.not_implemented("bernoulli_tensor_cpu_p_", p.dtype)
    if not skipping():
        choices.bernoulli(array, p, generator)


op(
    f"bernoulli_.Tensor(Tensor(a!) self, Tensor p, {GENERATOR}) -> Tensor(a!)",
    bernoulli_tensor,
    derivative={"self": zeros, "p": lambda grad, p_shape: grad.new_zeros(p_shape)},
    name="BernoulliBackward1",
    shows={"p_sym_sizes": None},
    variants="method",
    doc=_BERNOULLI,
)


@_fills(
    f"bernoulli_(Tensor(a!) self, float p=0.5, {GENERATOR})",
    "BernoulliBackward2",
    _BERNOULLI,
    fast=distributions_fast.bernoulli_,
)
def bernoulli_number(array, p, generator):
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={shown(p)}")
    if array.size:
        if array.dtype.kind == "c":
            raise errors.dtypes.not_implemented("bernoulli_scalar_cpu_", array.dtype)
        choices.bernoulli(array, p, generator)

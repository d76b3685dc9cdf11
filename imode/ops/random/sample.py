"""New random tensors: from a size, like another tensor, or drawn from the numbers of one.

The fillers of `random` do the drawing.
"""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dtype import as_numpy, bfloat16, from_numpy_dtype
from imode._core.parallel import skipping
from imode._core.type_names import scalar_name
from imode.kernels.random import choices, counts, distributions, distributions_fast
from imode.ops.creation.create import (
    N_OPTIONS,
    OPTIONS,
    allocate,
    allocate_like,
    factory,
)
from imode.ops.pointwise.common import no_derivative, zeros, zeros_in_rows
from imode.ops.random.distributions import (
    GENERATOR,
    bernoulli_number,
    bernoulli_tensor,
    digits,
    normal,
    random_between,
    shown,
    uniform,
)
from imode.ops.schema import Out, op, recorded

# ---- new tensors --------------------------------------------------------------------------------


def _rand(size, generator, dtype, *options):
    made = allocate(size, dtype)
    uniform(made, 0.0, 1.0, generator)
    return made


def _randn(size, generator, dtype, *options):
    made = allocate(size, dtype)
    normal(made, 0.0, 1.0, generator)
    return made


def _randint(low, high, size, generator, dtype):
    made = allocate(size, np.dtype(np.int64) if dtype is None else dtype)
    random_between(made, low, high, generator)
    return made


def _normal_of(mean, std, size, generator, dtype, *options):
    made = allocate(size, dtype)
    normal(made, mean, std, generator)
    return made


def _randperm(n, generator, dtype, *options):
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    dtype = as_numpy(dtype, np.dtype(np.int64))
    if dtype.kind == "f" and n > (1 << digits(dtype)) + 1:
        limit = (1 << digits(dtype)) + 1
        raise RuntimeError(f"n cannot be greater than {limit} for {scalar_name(dtype)} type.")
    if dtype.kind in "iu" and n > np.iinfo(dtype).max + 1:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    if dtype.kind in "bc":
        raise errors.dtypes.not_implemented("randperm", dtype)
    made = allocate((n,), dtype)
    if not skipping():
        distributions.permutation(made, generator)
    return made


factory(
    f"rand(int[] size, {GENERATOR}, {OPTIONS}) -> Tensor",
    _rand,
    fast=distributions_fast.rand,
    overloads="longer",
    doc="""Return numbers uniform in [0, 1).

    >>> imode.rand(2, 3).shape
    imode.Size([2, 3])
    """,
)
factory(
    f"randn(int[] size, {GENERATOR}, {OPTIONS}) -> Tensor",
    _randn,
    fast=distributions_fast.randn,
    out="resized written",
    overloads="longer",
    doc="""Return normal numbers of mean 0 and variance 1.

    >>> imode.randn(2, 3).shape
    imode.Size([2, 3])
    """,
)
_RANDINT = """Return integers from `low` (0) up to but not including `high`.

    >>> imode.randint(5, 6, (2,))
    tensor([5, 5])
    """

factory(
    f"randint(int high, int[] size, {GENERATOR}, {OPTIONS}) -> Tensor",
    lambda high, size, generator, dtype, *options: _randint(0, high, size, generator, dtype),
    fast=distributions_fast.randint,
    doc=_RANDINT,
)
factory(
    f"randint.low(int low, int high, int[] size, {GENERATOR}, {OPTIONS}) -> Tensor",
    lambda low, high, size, gen, dtype, *options: _randint(low, high, size, gen, dtype),
    fast=distributions_fast.randint_low,
    doc=_RANDINT,
)
factory(
    f"randperm(int n, {GENERATOR}, {OPTIONS}) -> Tensor",
    _randperm,
    fast=distributions_fast.randperm,
    overloads="longer",
    doc="""Return the integers 0 ... n-1 in a random order.

    >>> imode.randperm(4).sum()
    tensor(6)
    """,
)


def _random_to_tensor(array, high, generator):
    if high.ndim:
        raise RuntimeError("high must be a scalar tensor and on CPU")
    random_between(array, 0, 1 if skipping() else int(high), generator)


def _like(name, fill):
    def kernel(self, *arguments):
        format = arguments[-1]
        *arguments, generator, dtype = arguments[:-N_OPTIONS]
        made = allocate_like(self, dtype, format, name.partition(".")[0])
        fill(made, *arguments, generator)
        return made

    return kernel


for _name, _fast, _fill, _arguments in (
    (
        "rand_like",
        distributions_fast.rand_like,
        lambda made, generator: uniform(made, 0.0, 1.0, generator),
        "",
    ),
    (
        "randn_like",
        distributions_fast.randn_like,
        lambda made, generator: normal(made, 0.0, 1.0, generator),
        "",
    ),
    (
        "randint_like",
        distributions_fast.randint_like,
        lambda made, high, generator: random_between(made, 0, high, generator),
        "int high",
    ),
    ("randint_like.Tensor", None, _random_to_tensor, "Tensor high"),
    (
        "randint_like.low_dtype",
        distributions_fast.randint_like_low,
        random_between,
        "int low, int high",
    ),
):
    _base = _name.partition(".")[0]
    op(
        f"{_name}(Tensor self, {_arguments}{', ' if _arguments else ''}{GENERATOR}, {OPTIONS}, "
        "any memory_format=None) -> Tensor",
        _like(_name, _fill),
        fast=_fast,
        differentiable=False,
        variants="function",
        overloads=None if "int" in _name else "longer",
        doc=f"""`{_base.partition("_")[0]}` of the size, dtype and memory order of `input`.

        >>> imode.{_base}(imode.ones(2, 3){", 5" if _arguments else ""}).shape
        imode.Size([2, 3])
        """,
    )


_INT64 = from_numpy_dtype(np.int64)


# ---- drawn from tensors -------------------------------------------------------------------------


def _check_std(std):
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if skipping() or not std.size:
        return
    if not (std >= 0 if std.dtype != bfloat16 else std.astype("f4") >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")


def _standard(shape, dtype, std, generator):
    made = np.empty(shape, dtype)
    normal(made, 0.0, std, generator)
    return made


def _changed(function, made, value):
    """`made`, after a function of it and a value was written to it."""
    if made.dtype == bfloat16:
        made[...] = function(made.astype(np.float32), np.asarray(value).astype(np.float32))
    else:
        function(made, value, out=made, casting="unsafe")
    return made


def _normal_tensor_number(mean, std, generator):
    if not std >= 0.0:
        raise errors.numbers.normal_deviation(shown(std))
    made = _standard(mean.shape, mean.dtype, std, generator)
    return _changed(np.add, made, mean)


def _normal_number_tensor(mean, std, generator):
    _check_std(std)
    made = _standard(std.shape, std.dtype, 1.0, generator)
    return _changed(np.add, _changed(np.multiply, made, std), mean)


def _normal_tensors(mean, std, generator):
    _check_std(std)
    shape = broadcast_shape(mean.shape, std.shape)
    made = _standard(shape, mean.dtype, 1.0, generator)
    with np.errstate(all="ignore"):
        return _changed(np.add, _changed(np.multiply, made, std), mean)


_NORMAL = """Return normal numbers of the given means and standard deviations: tensors or numbers.

    With two numbers `size` says how many. No gradient flows to either (it is zero).

    >>> imode.normal(imode.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """

op(
    f"normal.Tensor_Tensor(Tensor mean, Tensor std, {GENERATOR}) -> Tensor",
    _normal_tensors,
    fast=distributions_fast.normal_of_tensors,
    derivative={
        "mean": lambda grad, mean_shape: grad.new_zeros(mean_shape),
        "std": lambda grad, std_shape: grad.new_zeros(std_shape),
    },
    name="NormalBackward3",
    real_only="normal",
    variants="function out",
    doc=_NORMAL,
)
op(
    f"normal(Tensor mean, float std=1.0, {GENERATOR}) -> Tensor",
    _normal_tensor_number,
    derivative={"mean": lambda grad, mean_shape: grad.new_zeros(mean_shape)},
    name="NormalBackward1",
    real_only="normal",
    variants="function out",
    doc=_NORMAL,
)
op(
    f"normal.float_Tensor(float mean, Tensor std, {GENERATOR}) -> Tensor",
    _normal_number_tensor,
    derivative={"std": lambda grad, std_shape: grad.new_zeros(std_shape)},
    name="NormalBackward2",
    real_only="normal",
    variants="function out",
    doc=_NORMAL,
)
factory(
    f"normal.float_float(float mean, float std, int[] size, {GENERATOR}, {OPTIONS}) -> Tensor",
    _normal_of,
    fast=distributions_fast.normal_float_float,
    doc=_NORMAL,
)


def _drawn(self, fill, generator):
    made = np.empty(self.shape, self.dtype)
    fill(made, generator)
    return made


def _bernoulli_into(self, generator, out):
    """Draw into a tensor of any dtype."""
    if recorded((self, out)):
        raise errors.out.requires_grad("bernoulli")
    if out.is_complex():
        raise errors.dtypes.not_implemented("bernoulli_tensor_cpu_self_", out.dtype.numpy)
    drawn = ops.bernoulli(self, generator=generator)
    return Out().write(drawn.to(out.dtype), out, "bernoulli", quiet=True)


_BERNOULLI = """Return ones with the probabilities that `input` holds (or `p` for all), else zeros.

    >>> imode.bernoulli(imode.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """

op(
    f"bernoulli(Tensor self, {GENERATOR}) -> Tensor",
    lambda self, generator: _drawn(
        self, lambda made, source: bernoulli_tensor(made, self, source), generator
    ),
    fast=distributions_fast.bernoulli,
    derivative={"self": zeros},
    real_only="bernoulli",
    variants="function method out",
    out=Out(into=_bernoulli_into),
    doc=_BERNOULLI,
)
op(
    f"bernoulli.p(Tensor self, float p, {GENERATOR}) -> Tensor",
    lambda self, p, generator: _drawn(
        self, lambda made, source: bernoulli_number(made, p, source), generator
    ),
    derivative={"self": no_derivative("bernoulli")},
    name="NotImplemented",
    doc=_BERNOULLI,
)


def _multinomial(self, num_samples, replacement, generator):
    if self.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if self.dtype.kind != "f":
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: "
            f"{scalar_name(self.dtype)}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if self.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if skipping():
        return np.empty((*self.shape[:-1], num_samples), np.int64)
    return choices.multinomial(self, num_samples, replacement, generator)


op(
    f"multinomial(Tensor self, int num_samples, bool replacement=False, {GENERATOR}) -> Tensor",
    _multinomial,
    fast=distributions_fast.multinomial,
    out=Out("int64", "multinomial expects Long tensor out, got: {Found}"),
    differentiable=False,
    variants="function method out",
    doc="""Draw `num_samples` column numbers per row, in proportion to the weights of the row.

    Raises RuntimeError for weights that are negative, not finite or all zero.

    >>> imode.multinomial(imode.tensor([0.0, 1.0]), 1)
    tensor([1])
    """,
)


# ---- numbers of events ---------------------------------------------------------------------------


def _poisson(self, generator):
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("poisson_cpu", self.dtype)
    if skipping() or not self.size:
        return np.empty(self.shape, self.dtype)
    if not self.min() >= 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    rates = np.ascontiguousarray(self, np.float64).reshape(self.shape)
    return counts.poisson(rates, generator).astype(self.dtype)


op(
    "poisson(Tensor self, Generator? generator=None) -> Tensor",
    _poisson,
    fast=distributions_fast.poisson,
    derivative={"self": zeros_in_rows},
    real_only="poisson",
    variants="function",
    doc="""Return Poisson numbers of the rates that `input` holds, which are not below 0.

    `input` is of floats, as the result. The gradient is zero. Raises RuntimeError for a rate below
    0 or NaN, NotImplementedError for other dtypes.

    >>> imode.poisson(imode.zeros(2))
    tensor([0., 0.])
    """,
)


def _binomial(count, prob, generator):
    if count.dtype.kind != "f":
        raise ValueError(
            "binomial only supports floating-point dtypes for count, got: "
            + scalar_name(count.dtype)
        )
    if prob.dtype.kind != "f":
        raise ValueError(
            f"binomial only supports floating-point dtypes for prob, got: {scalar_name(prob.dtype)}"
        )
    shape = broadcast_shape(count.shape, prob.shape)
    if count.dtype != prob.dtype:
        raise errors.dtypes.found(prob.dtype, count.dtype)
    if count.dtype == np.float16:
        raise errors.dtypes.not_implemented("binomial_cpu", count.dtype)
    if skipping() or 0 in shape:
        return np.empty(shape, count.dtype)
    wide = [
        np.ascontiguousarray(np.broadcast_to(x, shape), np.float64).reshape(shape)
        for x in (count, prob)
    ]
    return counts.binomial(*wide, generator).astype(count.dtype)


op(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    _binomial,
    derivative=dict.fromkeys(("count", "prob"), no_derivative("binomial")),
    name="NotImplemented",
    variants="function",
    doc="""Return how many of `count` trials succeed, each with the probability `prob`.

    Both are float32 or both float64, and broadcast. NaN stays NaN. There is no derivative. Raises
    ValueError or NotImplementedError for other dtypes.

    >>> imode.binomial(imode.tensor([2.0, 5.0]), imode.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """,
)

"""Derivatives of every operator's samples against differences: first, second and third order, of
real and complex numbers; of indexing; and the edges. Without PyTorch.
"""

import re

import pytest

import imode
from imode._core.dispatch import Role
from imode.autograd import gradcheck, gradgradcheck
from imode.ops.schema import op

from .operators import (
    OPERATORS,
    SAMPLES,
    WORKING,
    cases,
    flat,
    inplace,
    public,
    same,
    writes,
)


def real(*shape):
    return imode.rand(*shape, dtype=imode.float64, requires_grad=True)


INDICES = [
    (imode.tensor([0, 2, 2]),),
    (slice(1, None), None, ..., imode.tensor([[1], [0]])),
    (imode.tensor([0, 2]), imode.tensor([1, 1])),
    (imode.tensor([True, False, True, True]),),
    (-1, slice(None, None, 2)),
]


@pytest.mark.parametrize("index", INDICES, ids=range(len(INDICES)))
def test_indexing_to_second_order(index):
    x = real(4, 3)
    assert gradcheck(lambda x: x[index], x) and gradgradcheck(lambda x: x[index].exp(), x)

    def assigned(x, values):
        y = x * 1
        y[index] = values
        return y

    if not isinstance(index[0], imode.Tensor) or index[0].dtype == imode.bool:
        values = x[index].detach().clone().requires_grad_()
        assert gradcheck(assigned, (x, values)) and gradgradcheck(assigned, (x, values))


# ---- every operator, by its samples ----

WIDE = (imode.float64, imode.complex128)


def differentiable(name, index):
    op, sample = OPERATORS[name], SAMPLES[name][index]
    return sample.grad and sample.values and (op.differentiable or op.role == Role.COMPOSITE)


SMOOTH = [(n, i) for n, i in WORKING if differentiable(n, i) and SAMPLES[n][i].smooth]


def function_of(name, index, dtype="float64"):
    """Return (function, leaves) of a sample in double precision; no leaves where it has none.

    The leaves share no memory among their elements: differences move each alone.
    """
    args, kwargs, tensors = SAMPLES[name][index].make(imode, dtype=dtype, requires_grad=True)
    leaves = [t for t in tensors if t.requires_grad]

    def function(*values):
        swapped = {id(t): value for t, value in zip(leaves, values)}

        def put(value):
            if isinstance(value, (list, tuple)):
                return type(value)(put(item) for item in value)
            return swapped.get(id(value), value)

        given, named = put(args), {k: put(v) for k, v in kwargs.items()}
        if writes(name):
            given[0] = given[0].clone()
        results = flat(public(name)(*given, **named))
        return [t for t in results if isinstance(t, imode.Tensor)]

    alone = [t.detach().contiguous().requires_grad_() if 0 in t.stride() else t for t in leaves]
    return function, alone


def recorded(function, leaves):
    """The results that require grad; the test is skipped where there is nothing to check."""
    results = [t for t in function(*leaves) if t.requires_grad]
    if not results:
        pytest.skip("gives nothing that requires grad for these arguments")
    if any(t.dtype not in WIDE for t in results):
        pytest.skip("computes in single precision: too coarse for differences")
    return results


SMOOTH_OF = {n: [i for name, i in SMOOTH if name == n] for n, _ in SMOOTH}


@cases(SMOOTH)
def test_gradients(name, index):
    function, leaves = function_of(name, index)
    recorded(function, leaves)
    options = {"fast_mode": True, "check_grad_dtypes": True}
    assert gradcheck(function, leaves, **options)
    assert gradgradcheck(function, leaves, atol=1e-4, **options)


def third(function):
    """The gradient of a function: gradgradcheck of it is of the third order."""

    def gradient(*inputs):
        results = [t for t in function(*inputs) if t.requires_grad]
        weights = [imode.ones_like(t) for t in results]
        options = {"create_graph": True, "allow_unused": True}
        grads = imode.autograd.grad(results, inputs, weights, **options)
        return [g for g in grads if g is not None]

    return gradient


@pytest.mark.parametrize("name", SMOOTH_OF)
def test_third_order(name):
    for index in SMOOTH_OF[name]:
        function, leaves = function_of(name, index)
        results = function(*leaves)
        gradient = third(function)
        if any(t.dtype not in WIDE for t in results if t.requires_grad):
            continue
        if any(t.requires_grad for t in results) and any(
            g.requires_grad for g in gradient(*leaves)
        ):
            assert gradgradcheck(gradient, leaves, atol=1e-3, fast_mode=True), index


# ---- complex numbers: all operands, the first one, all but the first ----


def complex_where(wanted):
    """Dtypes of a sample's operands: complex in `wanted` places, the others in double precision."""

    def dtype(place, t):
        if not t.floating:
            return None
        return "complex128" if wanted(place) or t.dtype.startswith("complex") else "float64"

    return dtype


PLACES = [lambda place: True, lambda place: place == 0, lambda place: place > 0]
REFUSED = "type|omplex|inputs to be|overflow"
# The result of cumprod(dtype=) is real and its derivative by the complex numbers that were
# converted is PyTorch's, which is not the real part's.
NOT_THE_DERIVATIVE = {("cumprod", "float64")}


@pytest.mark.parametrize("name", SMOOTH_OF)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_complex_gradients(name):
    for index in SMOOTH_OF[name]:
        sample = SAMPLES[name][index]
        count = sum(t.is_floating_point() for t in sample.make(imode)[2])
        for wanted in PLACES[: (0, 1, 3, 3)[min(count, 3)]]:
            check_complex(name, index, complex_where(wanted))


def check_complex(name, index, dtype):
    function, leaves = function_of(name, index, dtype)
    try:
        results = [t for t in function(*leaves) if t.requires_grad]
    except (NotImplementedError, RuntimeError, ValueError) as error:
        assert re.search(REFUSED, str(error)), index
        return
    given = SAMPLES[name][index].kwargs.get("dtype")
    if (name, getattr(given, "name", None)) in NOT_THE_DERIVATIVE:
        return
    if not results or not all(t.dtype in WIDE and t.isfinite().all() for t in results):
        return
    options = {"fast_mode": True, "check_grad_dtypes": True}
    assert gradcheck(function, leaves, **options), index
    assert gradgradcheck(function, leaves, atol=1e-4, **options), index


# ---- in place ----


@cases([(n, i) for n, i in WORKING if differentiable(n, i) and OPERATORS[n].inplace])
def test_inplace_gradients_equal_the_functional_ones(name, index):
    wanted = gradients_of(public(name), name, index)
    if wanted is None:
        pytest.skip("has no in-place form for these arguments, or no gradient")
    for a, b in zip(gradients_of(inplace(name), name, index), wanted):
        assert (a is None) == (b is None)
        assert a is None or same(a, b, exact=False)


def gradients_of(form, name, index):
    """Return the gradients of all leaves through one form; None where in-place has no sense."""
    sample = SAMPLES[name][index]
    args, kwargs, tensors = sample.make(imode, dtype="float64", requires_grad=True)
    if not sample.variants or not isinstance(args[0], imode.Tensor):
        return None
    args[0] = target = args[0].clone()
    shape, dtype = target.shape, target.dtype
    result = form(*args, **kwargs)
    if (result.shape, result.dtype) != (shape, dtype) or not result.requires_grad:
        return None
    leaves = [t for t in tensors if t.requires_grad]
    weights = imode.ones_like(result).detach()
    return imode.autograd.grad([result], leaves, [weights], allow_unused=True)


# ---- the edges ----


def test_names_that_formulas_use_are_taken():
    with pytest.raises(ValueError, match="grad, grads and needs are what a formula is given"):
        op("_bad(Tensor grad) -> Tensor", lambda grad: grad, derivative={"grad": lambda grad: grad})


def test_a_derivative_of_two_lists_is_refused():
    with pytest.raises(
        ValueError, match=r"a derivative has at most one input that is a Tensor\[\]"
    ):
        op(
            "_two_lists(Tensor[] first, Tensor[] second) -> Tensor",
            lambda first, second: first[0],
            derivative={"first": lambda grad: [grad], "second": lambda grad: [grad]},
        )


def test_integer_results_are_not_recorded():
    x = imode.ones(3, requires_grad=True)
    for call in (imode.sum, imode.prod, imode.nansum):
        with pytest.raises(
            RuntimeError, match=r"^Autograd not support dtype: Long\. The result of "
        ):
            call(x, dtype=imode.int64)
        assert not call(x.detach(), dtype=imode.int64).requires_grad
    for call in (imode.cumsum, imode.cumprod):
        with pytest.raises(RuntimeError, match=r"^Autograd not support dtype: Bool|Int\. The res"):
            call(x, 0, dtype=imode.int32)
    assert not x.long().requires_grad and not x.to(imode.bool).requires_grad


def test_what_is_real_only_refuses_complex_results():
    z = imode.ones(2, 3, dtype=imode.complex64, requires_grad=True)
    for call, name in (
        (lambda z: imode.nn.functional.silu(z), "silu"),
        (lambda z: z.nan_to_num(), "nan_to_num"),
        (lambda z: imode.embedding(z, imode.tensor([0])), "embedding"),
        (lambda z: z[:0].softmax(0), "_softmax"),
    ):
        with pytest.raises(RuntimeError, match=f"^{name} does not support automatic differentiat"):
            call(z)
        with imode.no_grad():
            assert call(z).is_complex()

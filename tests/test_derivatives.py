"""Derivatives beyond the samples of tests/test_ops.py: indexing, third order, the edges."""

import pytest

import imode
from imode.autograd import gradcheck, gradgradcheck
from imode.ops.schema import op

BOTH = {"fast_mode": True}


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


def third(function):
    """The gradient of the gradient: gradgradcheck of it is of the third order."""

    def gradient(*inputs):
        value = function(*inputs)
        return imode.autograd.grad(value, inputs, imode.ones_like(value), create_graph=True)

    return gradient


THIRD = {
    "sin": lambda x: x.sin(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "exp": lambda x: x.exp(),
    "log": lambda x: (x + 1).log(),
    "pow": lambda x: (x + 1) ** 2.5,
    "div": lambda x: x / (x + 2),
    "sqrt": lambda x: (x + 1).sqrt(),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "mm": lambda x: (x @ x.t()).sin(),
    "prod": lambda x: x.prod(-1),
    "cumprod": lambda x: x.cumprod(-1),
    "var": lambda x: x.var(-1).exp(),
    "norm": lambda x: x.norm(dim=-1),
    "gelu": lambda x: imode.nn.functional.gelu(x),
    "silu": lambda x: imode.nn.functional.silu(x),
    "softplus": lambda x: imode.nn.functional.softplus(x),
    "layer_norm": lambda x: imode.nn.functional.layer_norm(x, (3,)),
    "conv1d": lambda x: imode.nn.functional.conv1d(x[None], x[None, :, :1]),
    "mse_loss": lambda x: imode.nn.functional.mse_loss(x.exp(), x),
    "index": lambda x: x[imode.tensor([0, 0])].exp(),
}


@pytest.mark.parametrize("name", THIRD)
def test_third_order(name):
    assert gradgradcheck(third(THIRD[name]), real(2, 3), atol=1e-4, fast_mode=True)


def test_names_that_formulas_use_are_taken():
    with pytest.raises(ValueError, match="grad, grads and needs are what a formula is given"):
        op("_bad(Tensor grad) -> Tensor", lambda grad: grad, derivative={"grad": lambda grad: grad})


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

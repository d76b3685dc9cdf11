"""gradcheck and gradgradcheck: what they accept, and every way in which a derivative is wrong."""

import itertools
import warnings

import pytest

import imode
from imode.autograd import gradcheck, gradgradcheck
from imode.autograd.gradcheck import GradcheckError

MODES = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def real(*shape, **options):
    return imode.rand(*shape, dtype=imode.float64, requires_grad=True, **options)


def complex_(*shape):
    return imode.randn(*shape, dtype=imode.complex128, requires_grad=True)


def hooked(function, change):
    """The function with its gradients changed on the way back."""

    def wrong(*inputs):
        result = function(*inputs)
        result.register_hook(lambda grad: None if grad is None else change(grad))
        return result

    return wrong


@MODES
@pytest.mark.parametrize("make", [real, complex_])
def test_right_derivatives_pass(make, fast):
    for function in (
        lambda x: x.sin() * x,
        lambda x: x,
        lambda x: [x * 2, x.sum()],
        lambda x: x.abs(),
        lambda x: (x * 0).detach(),
        lambda x: x.new_zeros(0) * x.sum(),
    ):
        assert gradcheck(function, make(3), fast_mode=fast) is True
        assert gradgradcheck(function, (make(3),), fast_mode=fast) is True


@MODES
@pytest.mark.parametrize("make", [real, complex_])
def test_wrong_derivatives_fail(make, fast):
    wrong = hooked(imode.exp, lambda grad: grad * 1.01)
    with pytest.raises(GradcheckError, match=r"^(While .* only, )?Jacobian mismatch for output 0 "):
        gradcheck(wrong, make(2), fast_mode=fast)
    assert gradcheck(wrong, make(2), fast_mode=fast, raise_exception=False) is False
    assert gradcheck(wrong, make(2), fast_mode=fast, rtol=0.5) is True
    assert isinstance(GradcheckError(), RuntimeError)


@MODES
def test_the_imaginary_part_is_checked(fast):
    x = complex_(3)
    # Right where results are real: only the imaginary part of exp sees the missing conjugation.
    wrong = hooked(imode.exp, lambda grad: imode.complex(grad.real, 0 * grad.real))
    with pytest.raises(
        GradcheckError, match=r"While considering the imaginary part of complex out"
    ):
        gradcheck(wrong, x, fast_mode=fast)


@MODES
def test_which_output_and_input(fast):
    x, y = real(2), real(2)
    wrong = hooked(imode.exp, lambda grad: grad * 2)
    with pytest.raises(GradcheckError, match=r"mismatch for output 1 with respect to input 1,"):
        gradcheck(lambda x, y: (x + y, wrong(y)), (x, y), fast_mode=fast)
    with pytest.raises(GradcheckError, match=r"numerical:tensor\(.*\n?.*\n?analytical:tensor"):
        gradcheck(lambda x, y: (x + y, wrong(y)), (x, y), fast_mode=fast)


@MODES
def test_integer_results_may_come_first(fast):
    assert gradcheck(lambda x: (x.long(), x.detach() * 0, x.sin()), real(2), fast_mode=fast)
    wrong = hooked(imode.exp, lambda grad: grad * 2)
    with pytest.raises(GradcheckError, match="mismatch for output 0 with respect to input 0,"):
        gradcheck(lambda x: (x.long(), wrong(x)), real(2), fast_mode=fast)


def test_fast_mode_says_when_the_elements_agree():
    signs = 1.0 - 2 * (imode.arange(200) % 2)
    # Off by less than rtol in each element; their sum nearly cancels, the errors do not.
    uneven = hooked(lambda x: x * 1, lambda grad: grad * (1 + 5e-4 * (grad > 0)))
    options = {"atol": 0, "rtol": 1e-3}
    assert gradcheck(lambda x: (uneven(x) * signs).sum(), real(200), **options)
    with pytest.raises(GradcheckError, match=r"all elements agree, so that fast_mode=False passes"):
        gradcheck(lambda x: (uneven(x) * signs).sum(), real(200), fast_mode=True, **options)


@MODES
def test_results_without_a_graph(fast):
    with pytest.raises(
        GradcheckError, match=r"Numerical gradient for function expected to be zero"
    ):
        gradcheck(lambda x: x.detach(), real(2), fast_mode=fast)
    assert gradcheck(lambda x: (x * 2).floor().detach(), real(2), fast_mode=fast)
    assert gradcheck(lambda x: x.long(), real(2), fast_mode=fast)


@MODES
def test_backward_that_differs_from_run_to_run(fast):
    count = itertools.count(1)
    shaky = hooked(imode.exp, lambda grad: grad * (1 + 1e-7 * next(count)))
    with pytest.raises(
        GradcheckError, match=r"^Backward is not reentrant, i.e., running backward "
    ):
        gradcheck(shaky, real(2), fast_mode=fast)
    assert gradcheck(shaky, real(2), nondet_tol=1e-3, fast_mode=fast)


def test_zero_gradients_must_give_zeros():
    with pytest.raises(GradcheckError, match=r"backward not multiplied by grad_output"):
        gradcheck(hooked(imode.exp, lambda grad: grad + 1e-7), real(2))
    assert gradcheck(hooked(imode.exp, lambda grad: grad + 1e-9), real(2), masked=True,
                     nondet_tol=1, check_undefined_grad=False)  # fmt: skip


def test_missing_gradients_count_as_zeros():
    assert gradcheck(lambda x: imode.aminmax(x), real(3))
    assert gradcheck(lambda x: x.unbind(), real(3))
    fused = imode.ops._undefined_grad
    y = fused(real(2))
    assert imode.autograd.grad(y.sum(), y.grad_fn.next_functions and [y])[0] is not None
    x = real(2)
    assert imode.autograd.grad(fused(x).sum(), x, allow_unused=True) == (None,)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x: imode.zeros(1 + int(x[0] > 1), dtype=x.dtype) * x.sum(), "same shape when in"),
        (lambda x: (x[0] > 1).double() + x if x[0] > 1 else x.float(), "same dtype when inputs"),
    ],
)
def test_results_that_change_kind(change, sentence):
    x = imode.ones(2, dtype=imode.float64, requires_grad=True)
    with pytest.raises(AssertionError, match=rf"to return outputs with the {sentence}"):
        gradcheck(change, x)


def test_inputs_are_restored():
    x = real(2)
    before, version = x.tolist(), x._version
    gradcheck(imode.sin, x)
    assert x.tolist() == before and x._version == version and x.grad is None
    calls = itertools.count()

    def failing(x):
        if next(calls) == 3:
            raise KeyError("halfway")
        return x.sin()

    with pytest.raises(KeyError):
        gradcheck(failing, x)
    assert x.tolist() == before
    state = imode.get_rng_state()
    gradcheck(imode.sin, x, fast_mode=True)
    assert imode.equal(state, imode.get_rng_state())


def test_bad_inputs():
    with pytest.raises(
        ValueError, match=r"^gradcheck expects at least one input tensor to require"
    ):
        gradcheck(imode.sin, imode.ones(2))
    shared = imode.ones(1, dtype=imode.float64).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match=r"^The 1th input has a dimension with stride 0. gradch"):
        gradcheck(lambda x, y: y.sin(), (3, shared))
    with pytest.warns(
        UserWarning, match=r"Input #0 requires gradient and is not a double precisio"
    ):
        gradcheck(imode.sin, imode.ones(2, requires_grad=True), eps=1e-2, atol=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradcheck(lambda x, i: x[i], (real(3), imode.tensor([0, 2])))


def test_what_is_not_there_is_refused():
    x = real(2)
    with pytest.raises(NotImplementedError, match=r"check_forward_ad=True needs"):
        gradcheck(imode.sin, x, check_forward_ad=True)
    assert gradcheck(imode.sin, x, check_batched_grad=True)
    assert gradgradcheck(imode.sin, x, check_batched_grad=True)
    with pytest.raises(NotImplementedError, match=r"check_fwd_over_rev=True needs"):
        gradgradcheck(imode.sin, x, check_fwd_over_rev=True)
    with pytest.raises(AssertionError, match=r"at least one of check_forward_ad or check_backward"):
        gradcheck(imode.sin, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match=r"requires check_forward_ad to be True"):
        gradcheck(imode.sin, x, check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match=r"requires check_backward_ad to be True"):
        gradcheck(imode.sin, x, check_batched_grad=True, check_backward_ad=False,
                  check_forward_ad=True)  # fmt: skip
    with pytest.raises(AssertionError, match=r"at least one of check_fwd_over_rev or check_rev"):
        gradgradcheck(imode.sin, x, check_rev_over_rev=False)
    for option in ("check_undefined_grad", "check_batched_grad"):
        rest = {"check_undefined_grad": False} | {option: True}
        with pytest.raises(AssertionError, match=rf"Setting {option}=True requires check_rev_over"):
            gradgradcheck(imode.sin, x, check_rev_over_rev=False, check_fwd_over_rev=True, **rest)


def test_dtype_of_gradients(monkeypatch):
    x = real(2)
    assert gradcheck(imode.sin, x, check_grad_dtypes=True)
    real_grad = imode.autograd.grad
    monkeypatch.setattr(
        imode.autograd, "grad", lambda *a, **k: [g.float() for g in real_grad(*a, **k)]
    )
    with pytest.raises(GradcheckError, match=r"^Gradient has dtype mismatch"):
        gradcheck(imode.sin, x, check_grad_dtypes=True)
    monkeypatch.setattr(
        imode.autograd, "grad", lambda *a, **k: [g.sum() for g in real_grad(*a, **k)]
    )
    with pytest.raises(GradcheckError, match=r"^Analytical gradient has incorrect size"):
        gradcheck(imode.sin, x)


@MODES
def test_wrong_second_derivatives(fast):
    def wrong(x):
        y = x.sin()
        # Right for the first derivative: what is detached is missing from the second.
        y.register_hook(
            lambda grad: grad.detach() if grad is not None and grad.requires_grad else grad
        )
        return y

    assert gradcheck(wrong, real(2), fast_mode=fast)
    with pytest.raises(
        GradcheckError, match=r"Jacobian mismatch for output 0 with respect to inpu"
    ):
        gradgradcheck(wrong, real(2), fast_mode=fast)


def test_grad_outputs():
    x = real(3)
    given = imode.rand(3, dtype=imode.float64, requires_grad=True)
    assert gradgradcheck(imode.sin, x, given)
    assert gradgradcheck(imode.sin, x, (given.detach(),))
    assert gradgradcheck(imode.sin, (x,), [given])
    assert gradgradcheck(lambda x: (x.sin(), x.long()), x, gen_non_contig_grad_outputs=True)
    seen = []

    def looking(x):
        y = x.sin()
        y.register_hook(lambda grad: grad is not None and seen.append(grad.is_contiguous()))
        return y

    assert gradgradcheck(looking, x, gen_non_contig_grad_outputs=True)
    assert False in seen

"""imode.special: its names; what scipy computes, with it and without; loops at their seams."""

import builtins
import importlib.util
import math
import subprocess
import sys

import pytest

import imode

BY_SCIPY = ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0")
BY_SCIPY += ("modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1")
F64 = imode.float64


def test_every_name_is_an_operator():
    assert len(imode.special.__all__) == 56
    for name in imode.special.__all__:
        assert getattr(imode.special, name) is getattr(imode, f"special_{name}")
    with pytest.raises(AttributeError, match=r"module 'imode.special' has no attribute 'gamma'"):
        imode.special.gamma  # noqa: B018


@pytest.mark.parametrize("name", BY_SCIPY)
def test_without_scipy(name, monkeypatch):
    real = builtins.__import__

    def missing(module, *rest):
        if module.startswith("scipy"):
            raise ModuleNotFoundError(f"No module named {module!r}")
        return real(module, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError) as caught:
        getattr(imode.special, name)(imode.ones(2))
    assert str(caught.value) == (
        f"imode.special.{name} computes by scipy, which is not installed.\n"
        "Install it, or imode with its extra: pip install 'imode[special]'"
    )
    monkeypatch.undo()
    with pytest.raises(NotImplementedError, match=f"{name}_cpu"):
        getattr(imode.special, name)(imode.ones(2, dtype=imode.float16))


def test_scipy_is_imported_by_those_that_need_it():
    program = (
        "import sys, imode; imode.special.i0e(imode.ones(2)); assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    if importlib.util.find_spec("scipy"):
        value = imode.special.bessel_j0(imode.tensor([1.0], dtype=F64)).item()
        assert value == pytest.approx(0.7651976865579666, rel=1e-15)


@pytest.mark.parametrize("x", [0.5, 1.0, 1.5, 2.5, 3.5, 7.999, 8.0, 20.0, -0.5, -2.5, -20.25])
def test_gamma(x):
    t = imode.tensor([x], dtype=F64)
    assert t.lgamma().item() == pytest.approx(math.lgamma(x), rel=1e-14, abs=1e-15)
    step = t.digamma() + 1 / t  # the recurrence
    assert (t + 1).digamma().item() == pytest.approx(step.item(), rel=1e-12, abs=1e-13)
    for n in (1, 2, 3):
        term = (-1) ** n * math.factorial(n) / x ** (n + 1)
        there = imode.polygamma(n, t).item() + term
        assert imode.polygamma(n, t + 1).item() == pytest.approx(there, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("a", [1e-10, 0.1, 1.0, 3.5, 19.9, 20.0, 50.0, 1e3, 1e6])
@pytest.mark.parametrize("ratio", [0.01, 0.3, 0.599, 0.601, 0.9, 1.0, 1.1, 1.399, 1.401, 3.0])
def test_incomplete_gamma_functions_sum_to_1(a, ratio):
    a, x = imode.tensor(a, dtype=F64), imode.tensor(a * ratio, dtype=F64)
    lower, upper = imode.igamma(a, x).item(), imode.igammac(a, x).item()
    assert lower + upper == pytest.approx(1, rel=1e-13)
    step = imode.exp(a * x.log() - x - (a + 1).lgamma()).item()  # P(a + 1) - P(a)
    assert imode.igamma(a + 1, x).item() == pytest.approx(lower - step, rel=1e-6, abs=1e-9)


def test_inverses():
    p = imode.linspace(0.001, 0.999, 999, dtype=F64)
    close = {"rtol": 1e-13, "atol": 0}
    assert imode.allclose(imode.special.ndtr(imode.special.ndtri(p)), p, **close)
    assert imode.allclose(imode.erf(imode.erfinv(p)), p, **close)
    x = imode.special.ndtri(imode.tensor([1e-300, 1e-30, 1e-10, 1e-3], dtype=F64))
    want = imode.tensor([1e-300, 1e-30, 1e-10, 1e-3], dtype=F64).log()
    assert imode.allclose(imode.special.log_ndtr(x), want, rtol=1e-13)


def test_erfinv_of_float32():
    x = imode.linspace(-1, 1, 4001)  # near 0, far from it, and both in a block
    got, want = imode.erfinv(x).double(), imode.erfinv(x.double())
    assert imode.allclose(got, want, rtol=1e-6, atol=1e-12)
    assert imode.equal(imode.erfinv(x[1600:2400]).double(), got[1600:2400])
    outside = imode.erfinv(imode.tensor([0.1, 1.5, float("nan")]))
    assert outside.isnan().tolist() == [False, True, True]


def test_erfinv_of_float64():
    x = imode.linspace(-1, 1, 4001, dtype=F64)[1:-1]
    got = imode.erfinv(x)
    assert imode.allclose(imode.erf(got), x, rtol=4e-16, atol=2e-16)
    for part in (slice(1600, 2400), slice(100), slice(200, 500)):  # near 0, far from it, both
        assert imode.allclose(imode.erfinv(x[part]), got[part], rtol=1e-15)
    ends = imode.tensor([-1.0, 1.0, -0.0, 1e-310, 1.5, float("nan")], dtype=F64)
    got = imode.erfinv(ends)
    assert got[:3].tolist() == [-math.inf, math.inf, 0] and got[2].signbit()
    assert got[3] > 8e-311 and got[4:].isnan().all()


@pytest.mark.parametrize("eps", [0.25, 0.5, 0.75])  # with the last the bounds are crossed
def test_logit_between_bounds(eps):
    x = [0.1, 0.3, 0.6, 0.9, -1.0, 2.0]
    moved = [eps if v < eps else min(v, 1 - eps) for v in x]
    want = [math.log(v / (1 - v)) for v in moved]
    got = imode.logit(imode.tensor(x, dtype=F64), eps)
    assert got.tolist() == pytest.approx(want, rel=1e-14, abs=1e-15)
    assert imode.logit(imode.tensor([math.nan]), eps).isnan()


def test_entropy_of_float64():
    x = imode.tensor([0.5, 0.0, -0.0, -1.0, float("inf"), float("nan"), 5e-324] * 9, dtype=F64)
    got = imode.special.entr(x)
    for first, want in enumerate([math.log(2) / 2, 0.0, 0.0, -math.inf, -math.inf]):
        assert got[first::7].tolist() == pytest.approx([want] * 9, rel=1e-15)
    assert got[5::7].isnan().all() and (got[6::7] == -5e-324 * math.log(5e-324)).all()


def test_zeta_of_what_is_far_below_0():
    far = imode.special.zeta(imode.tensor(2.0, dtype=F64), imode.tensor(-1e9 - 0.5, dtype=F64))
    assert far.item() == pytest.approx(math.pi**2, rel=1e-8)  # without a billion steps
    assert imode.special.zeta(2.0, imode.tensor([1.0])).item() == pytest.approx(math.pi**2 / 6)


def test_degrees_that_are_no_number():
    n = imode.tensor([math.inf, -math.inf, math.nan, 1e30])
    assert imode.special.legendre_polynomial_p(0.5, n).tolist() == [0.0] * 4
    assert imode.special.chebyshev_polynomial_t(2.0, imode.tensor([1e9])).item() == math.inf

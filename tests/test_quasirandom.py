"""Sobol sequences, without PyTorch."""

import pytest

import imode


def test_each_digit_once():
    """Of 2**m points, each interval of length 2**-m has one in each dimension."""
    for scramble in (False, True):
        points = imode.quasirandom.SobolEngine(300, scramble, seed=1).draw_base2(6)
        cells = (points * 64).long().sort(0).values
        assert (cells == imode.arange(64)[:, None]).all()


def test_fast_forward_is_drawing():
    a, b = (imode.quasirandom.SobolEngine(5, scramble=True, seed=2) for _ in range(2))
    for n in (1, 4, 100):
        a.draw(n)
        b.fast_forward(n)
        assert (a.quasi == b.quasi).all() and (a.draw(3) == b.draw(3)).all()


def test_the_last_dimension():
    engine = imode.quasirandom.SobolEngine(imode.quasirandom.SobolEngine.MAXDIM)
    assert engine.draw(3)[2, -3:].tolist() == [0.75, 0.25, 0.25]
    with pytest.raises(ValueError, match=r"Supported range of dimensionality .* \[1, 10000\]"):
        imode.quasirandom.SobolEngine(10001)

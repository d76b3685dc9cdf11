"""Samples of `imode/ops/random/gammas.py`: numbers that follow their parameters."""

from tests.samples import S, T
from tests.samples.random.sample import _n


def _shapes(*args, **kwargs):
    return T(*args, low=0.05, **kwargs)


def _slopes(*args, **kwargs):
    """No derivative of a derivative."""
    return S(*args, grad=False, **kwargs)


_DRAWN = [
    _n(_shapes(3)),
    _n(_shapes(40, high=30)),
    _n(_shapes(4, 6, high=30, dtype="float64")),
    _n(_shapes(4, 6, high=30, view="transposed")),
    _n(T(values=[0.0, 1.0, 1e4])),
    _n(_shapes()),
    _n(T(0, 3)),
    _n(_shapes(2, dtype="float16"), raises=NotImplementedError),
    _n(T(2, dtype="int64"), raises=NotImplementedError),
]

SAMPLES = {
    "_standard_gamma": _DRAWN,
    "_sample_dirichlet": _DRAWN,
    "_standard_gamma_grad": [
        _slopes(_shapes(3), _shapes(3)),
        _slopes(T(values=[0.1, 0.5, 3.0, 20.0]), T(values=[[0.2], [0.9], [5.0], [21.0], [60.0]])),
        _slopes(_shapes(4, 6, dtype="float64"), _shapes(4, 6, dtype="float64", view="transposed")),
        _slopes(_shapes(3), _shapes(3, dtype="float64"), raises=RuntimeError),
        _slopes(_shapes(2, dtype="float16"), _shapes(2, dtype="float16"),
                raises=NotImplementedError),
        _slopes(_shapes(2), _shapes(3), raises=RuntimeError),
    ],
    "_dirichlet_grad": [
        _slopes(T(values=[0.2, 0.8]), _shapes(2), T(values=[3.0, 3.0])),
        _slopes(
            T(values=[0.001, 0.1, 0.45, 0.5, 0.6, 0.999]),
            T(values=[[0.3], [2.0], [30.0]]),
            T(values=[[1.0], [5.0], [70.0]]),
        ),
        _slopes(
            T(values=[0.3, 0.5], dtype="float64"),
            T(values=[7.0, 9.0], dtype="float64"),
            T(values=[20.0, 18.0], dtype="float64"),
        ),
        _slopes(T(values=[0.2]), _shapes(1), _shapes(1, dtype="float64"), raises=RuntimeError),
        _slopes(T(2, dtype="int64"), T(2, dtype="int64"), T(2, dtype="int64"),
                raises=NotImplementedError),
    ],
}  # fmt: skip

"""Samples of `imode/ops/random/distributions.py`: random contents for tensors that exist."""

from tests.samples import S, T
from tests.samples.creation.create import INF, NAN


def _r(*args, **kwargs):
    """A call whose result does not depend on its argument's values: no gradient to check."""
    return S(*args, grad=False, **kwargs)


_FLOATS = [
    _r(T(3)),
    _r(T()),
    _r(T(0, 2)),
    _r(T(40)),
    _r(T(5, 7)),
    _r(T(4, 6, view="transposed")),
    _r(T(2, 3, 4, view="permuted")),
    _r(T(3, 5, view="strided")),
    _r(T(3, dtype="float64")),
    _r(T(33, dtype="float64")),
    _r(T(3, dtype="float16")),
    _r(T(33, dtype="float16")),
    _r(T(2, 3, view="expanded"), raises=RuntimeError),
]

SAMPLES = {
    "uniform_": [
        *_FLOATS,
        _r(T(20, dtype="complex64")),
        _r(T(20), -0.37, 1.913),
        _r(T(20), to=2.5),
        _r(T(3), 5, 5),
        _r(T(3), 2, 1, raises=RuntimeError),
        _r(T(3), 0, INF, raises=RuntimeError),
        _r(T(3), NAN, 1, raises=RuntimeError),
        _r(T(3), -3e38, 3e38, raises=RuntimeError),
        _r(T(3, dtype="int64"), raises=NotImplementedError),
        _r(T(3, dtype="bool"), raises=NotImplementedError),
        _r(T(3), "a", raises=TypeError),
        _r(T(3), None, raises=TypeError),
    ],
    "normal_": [
        *_FLOATS,
        _r(T(20, dtype="complex128")),
        _r(T(20), 0.3, 1.7),
        _r(T(3), mean=1, std=0),
        _r(T(3), 0, -1, raises=RuntimeError),
        _r(T(3), 0, NAN, raises=RuntimeError),
        _r(T(3, dtype="int64"), raises=NotImplementedError),
        _r(T(3), "a", raises=TypeError),
    ],
    "exponential_": [
        *_FLOATS,
        _r(T(5), 2.5),
        _r(T(5), lambd=INF),
        _r(T(3), 0, raises=RuntimeError),
        _r(T(3), NAN, raises=RuntimeError),
        _r(T(3, dtype="int64"), raises=RuntimeError),
        _r(T(3, dtype="complex64"), raises=RuntimeError),
    ],
    "cauchy_": [
        *_FLOATS,
        _r(T(5), 0.3, 1.7),
        _r(T(3), 0, 0, raises=RuntimeError),
        _r(T(3, dtype="int64"), raises=RuntimeError),
    ],
    "log_normal_": [
        *_FLOATS,
        _r(T(5), 0.3, 0.7),
        _r(T(3), 0, 0, raises=RuntimeError),
        _r(T(3, dtype="int64"), raises=NotImplementedError),
    ],
    "geometric_": [
        _r(T(20), 0.3),
        _r(T(20, dtype="int64"), p=0.7),
        _r(T(4, 6, view="transposed"), 0.5),
        _r(T(3), 0, raises=RuntimeError),
        _r(T(3), 1, raises=RuntimeError),
        _r(T(3, dtype="bool"), 0.5, raises=NotImplementedError),
        _r(T(3), raises=TypeError),
    ],
    "random_": [
        *_FLOATS,
        _r(T(20, dtype="bool")),
        _r(T(20, dtype="uint8")),
        _r(T(20, dtype="int8")),
        _r(T(20, dtype="int16")),
        _r(T(20, dtype="int32")),
        _r(T(20, dtype="int64")),
        _r(T(3, dtype="complex64"), raises=NotImplementedError),
    ],
    "random_.to": [
        _r(T(20), 10),
        _r(T(20, dtype="int64"), 2**40),
        _r(T(20, dtype="int32"), to=2**28),
        _r(T(20, dtype="bool"), 2),
        _r(T(3), 0, raises=RuntimeError),
        _r(T(3, dtype="uint8"), 300, raises=RuntimeError),
        _r(T(3), 1.5, raises=TypeError),
        _r(T(3), "a", raises=TypeError),
    ],
    "random_.from": [
        _r(T(20), -5, 10),
        _r(T(20, dtype="int64"), -(2**62), 2**62),
        _r(T(20, dtype="int64"), -(2**63), None),
        _r(T(20, dtype="int8"), 5, None),
        _r(T(20, dtype="float16"), 5, None),
        _r(T(3), 5, 5, raises=RuntimeError),
        _r(T(3, dtype="uint8"), -1, 30, raises=RuntimeError),
        _r(T(3, dtype="complex64"), 1, 5, raises=RuntimeError),
        _r(T(3, dtype="int32"), -(2**63), None, raises=RuntimeError),
        _r(T(3, dtype="float16"), -(2**63), None, raises=NotImplementedError),
    ],
    "bernoulli_": [
        *_FLOATS,
        _r(T(20, dtype="int64"), 0.3),
        _r(T(20, dtype="bool"), p=0.3),
        _r(T(3), 1.5, raises=RuntimeError),
        _r(T(3), NAN, raises=RuntimeError),
        _r(T(3, dtype="complex64"), 0.5, raises=NotImplementedError),
    ],
    "bernoulli_.Tensor": [
        _r(T(20), T(20, low=0, high=1)),
        _r(T(4, 6, view="transposed"), T(6, low=0, high=1)),
        _r(T(20, dtype="int64"), T(low=0, high=1, dtype="float64")),
        _r(T(3), T(values=[1.5]), raises=RuntimeError),
        _r(T(3), T(3, dtype="int64"), raises=NotImplementedError),
        _r(T(3), T(4, low=0, high=1), raises=RuntimeError),
    ],
}

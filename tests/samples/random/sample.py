"""Samples of `imode/ops/random/sample.py`: new random tensors."""

from tests.samples import D, T
from tests.samples.creation.create import NAN, _f
from tests.samples.random.distributions import _r


def _n(*args, **kwargs):
    """No in-place form (`normal_` is another operator), and an out= form with rules of its own."""
    return _r(*args, variants=False, **kwargs)


def _trials(*args, **kwargs):
    """Numbers of trials: of NaN or infinitely many PyTorch draws for ever."""
    return T(*args, fixed=True, **kwargs)


_SIZES = [
    _f(3),
    _f(40),
    _f(2, 3),
    _f((2, 3)),
    _f(()),
    _f(0, 3),
    _f(20, dtype=D("float64")),
    _f(20, dtype=D("float16")),
    _f(20, dtype=D("complex64")),
    _f(2, dtype=D("int64"), raises=NotImplementedError),
    _f(-1, raises=RuntimeError),
    _f(2, -3, raises=RuntimeError),
    _f(2**62, 4, raises=RuntimeError),
    _f("a", raises=TypeError),
    _f(None, raises=TypeError),
    _f(1.5, raises=TypeError),
]
_LIKE = [
    _r(T(2, 3)),
    _r(T(40)),
    _r(T(4, 6, view="transposed")),
    _r(T(2, 3, view="expanded")),
    _r(T(2), dtype=D("float64")),
    _r(T(2, dtype="int64"), dtype=D("float32")),
    _r(T(2, dtype="int64"), raises=NotImplementedError),
    _r(3, raises=TypeError),
    _r(None, raises=TypeError),
]

SAMPLES = {
    "rand": _SIZES,
    "randn": _SIZES,
    "randint": [
        _f(10, (20,)),
        _f(2, (3,), dtype=D("bool")),
        _f(5, (2, 3), dtype=D("float32")),
        _f(2**40, (5,)),
        _f(high=3, size=(2,)),
        _f(0, (2,), raises=RuntimeError),
        _f(5, (2,), dtype=D("bool"), raises=RuntimeError),
        _f(3, (-2,), raises=RuntimeError),
        _f(3, 5, raises=TypeError),
        _f(3.0, (2,), raises=TypeError),
        _f(3, raises=TypeError),
        _f(3, (2,), requires_grad=True, raises=RuntimeError),
    ],
    "randint.low": [
        _f(-5, 10, (20,)),
        _f(low=0, high=3, size=(2,)),
        _f(5, 5, (2,), raises=RuntimeError),
        _f(5, 3, (2,), raises=RuntimeError),
        _f(-1, 3, (2,), dtype=D("uint8"), raises=RuntimeError),
    ],
    "randperm": [
        _f(0),
        _f(1),
        _f(30),
        _f(30, dtype=D("float32")),
        _f(100, dtype=D("int8")),
        _f(-1, raises=RuntimeError),
        _f(300, dtype=D("uint8"), raises=RuntimeError),
        _f(3000, dtype=D("float16"), raises=RuntimeError),
        _f(3, dtype=D("bool"), raises=NotImplementedError),
        _f(2**60, raises=RuntimeError),
        _f(3.0, raises=TypeError),
        _f("a", raises=TypeError),
    ],
    "rand_like": _LIKE,
    "randn_like": _LIKE,
    "randint_like": [
        _r(T(2, 3), 5),
        _r(T(2, 3, dtype="int64"), high=5),
        _r(T(2, 3), 0, raises=RuntimeError),
    ],
    "randint_like.Tensor": [
        _r(T(2, 3), T(dtype="float32", low=3, high=3)),
        _r(T(2, 3), T(3), raises=RuntimeError),
    ],
    "randint_like.low_dtype": [
        _r(T(2, 3), 2, 5, dtype=D("int64")),
        _r(T(4, 6, view="transposed"), low=2, high=5),
        _r(T(2, 3), 5, 2, raises=RuntimeError),
    ],
    "normal": [
        _n(T(20)),
        _n(T(2, 3), 2.0),
        _n(T(4, 6, view="transposed"), std=0.5),
        _n(T(0)),
        _n(T(2, dtype="float64"), 1.0),
        _n(T(2), -1.0, raises=RuntimeError),
        _n(T(2), NAN, raises=RuntimeError),
        _n(T(2, dtype="int64"), 1.0, raises=NotImplementedError),
    ],
    "normal.Tensor_Tensor": [
        _n(T(2, 1), T(30, low=0)),
        _n(T(3), T(3, low=0)),
        _n(T(2), T(values=[-1.0]), raises=RuntimeError),
        _n(T(2), T(3, low=0), raises=RuntimeError),
    ],
    "normal.float_Tensor": [
        _n(0.5, T(20, low=0)),
        _n(mean=0.5, std=T(2, low=0)),
        _n(0.5, T(values=[-1.0]), raises=RuntimeError),
    ],
    "normal.float_float": [
        _f(0.0, 1.0, (20,)),
        _f(1, 2, size=(2, 3), dtype=D("float64")),
        _f(0.0, -1.0, (2,), raises=RuntimeError),
        _f(0.0, 1.0, (-2,), raises=RuntimeError),
        _f(0.0, 1.0, raises=TypeError),
        _f("a", 1.0, (2,), raises=TypeError),
    ],
    "bernoulli": [
        _n(T(20, low=0, high=1)),
        _n(T(4, 6, low=0, high=1, view="transposed")),
        _n(T(0)),
        _n(T(3, low=0, high=1, dtype="float64")),
        _n(T(3, dtype="int64"), raises=NotImplementedError),
        _n(T(3, dtype="complex64"), raises=NotImplementedError),
        _n(T(values=[NAN]), raises=RuntimeError),
        _n([0.5], raises=TypeError),
    ],
    "bernoulli.p": [
        _n(T(20), 0.3),
        _n(T(20, dtype="int64"), p=0.3),
        _n(T(3), 1.5, raises=RuntimeError),
    ],
    "multinomial": [
        _n(T(5, low=0.1), 1),
        _n(T(5, low=0.1), 3),
        _n(T(5, low=0.1), 7, True),
        _n(T(4, 6, low=0.1), 3),
        _n(T(4, 6, low=0.1, view="transposed"), 9, replacement=True),
        _n(T(4, 6, low=0.1, dtype="float64"), 2),
        _n(T(4, 6, low=0.1, dtype="float16"), 2, True),
        _n(T(0, 3), 1),
        _n(T(values=[1.0, 2.0]), 3, raises=RuntimeError),
        _n(T(values=[1.0, 2.0]), 0, raises=RuntimeError),
        _n(T(values=[-1.0, 2.0]), 1, raises=RuntimeError),
        _n(T(values=[-1.0, 2.0]), 2, True, raises=RuntimeError),
        _n(T(values=[0.0, 0.0]), 1, raises=RuntimeError),
        _n(T(values=[NAN, 1.0]), 1, raises=RuntimeError),
        _n(T(), 1, raises=RuntimeError),
        _n(T(2, 2, 2), 1, raises=RuntimeError),
        _n(T(2, dtype="int64"), 1, raises=RuntimeError),
        _n(T(2), 1.5, raises=TypeError),
    ],
    "poisson": [
        _n(T(3, low=0)),
        _n(T(40, low=0, high=30)),
        _n(T(4, 6, low=0, high=30, dtype="float64")),
        _n(T(4, 6, low=0, high=30, view="transposed")),
        _n(T(4, 6, low=0, high=30, dtype="float16")),
        _n(T(values=[0.0, 10.0, 1e4])),
        _n(T(0, 3)),
        _n(T(values=[-1.0, 2.0]), raises=RuntimeError),
        _n(T(values=[NAN]), raises=RuntimeError),
        _n(T(2, dtype="int64"), raises=NotImplementedError),
    ],
    "binomial": [
        _n(_trials(values=[float(n) for n in range(40)]), T(40, low=0, high=1)),
        _n(_trials(values=[[5.0], [300.0], [1e5]]), T(20, low=0, high=1)),
        _n(
            _trials(values=[[5.0], [300.0]], dtype="float64"), T(20, low=0, high=1, dtype="float64")
        ),
        _n(_trials(values=[3.5, 4.0, 4.0, -1.0]), T(values=[0.5, 2.0, -1.0, 0.5])),
        _n(_trials(values=[3.0]), T(values=[NAN])),
        _n(_trials(0, 3), T(3)),
        _n(_trials(3), T(2), raises=RuntimeError),
        _n(_trials(3), T(3, dtype="float64"), raises=RuntimeError),
        _n(_trials(3, dtype="int64"), T(3), raises=ValueError),
        _n(_trials(3), T(3, dtype="int64"), raises=ValueError),
        _n(_trials(3, dtype="float16"), T(3, dtype="float16"), raises=NotImplementedError),
    ],
}

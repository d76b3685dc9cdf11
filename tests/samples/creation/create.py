"""Samples of `imode/ops/creation/create.py`: tensors of given contents."""

import numpy as np

from tests.samples import D, S, T

NAN, INF = float("nan"), float("inf")


class BrokenArray:
    """An object whose `__array__` fails."""

    def __array__(self, *args, **kwargs):
        raise ValueError("broken")


def _f(*args, **kwargs):
    """A factory call: no out= form to compare with, for that has the dtype of its target."""
    return S(*args, variants=False, **kwargs)


_BAD_SIZES = [
    _f(-1, raises=RuntimeError),
    _f(2, -3, raises=RuntimeError),
    _f((2, -3), raises=RuntimeError),
    _f(2**62, raises=RuntimeError),
    _f(2**62, 2**62, raises=RuntimeError),
    _f(1.5, raises=TypeError),
    _f("a", raises=TypeError),
    _f(None, raises=TypeError),
    _f(NAN, raises=TypeError),
    _f(True, raises=TypeError),
    _f([1.5], raises=TypeError),
    _f([None], raises=TypeError),
    _f(2, 1.5, raises=TypeError),
    _f(raises=TypeError),
    _f(2, size=(2,), raises=TypeError),
    _f(2, dtype="float32", raises=TypeError),
    _f(2, requires_grad=1, raises=TypeError),
    _f(2, colour=1, raises=TypeError),
]
_SIZES = [
    _f(2, 3),
    _f((2, 3)),
    _f([2, 3]),
    _f(()),
    _f(0),
    _f(0, 3),
    _f(size=(2,)),
    _f(np.int64(3)),
    _f(2, dtype=D("float64")),
    _f(2, dtype=D("float16")),
    _f(2, dtype=D("int64")),
    _f(2, dtype=D("bool")),
    _f(2, dtype=D("complex64")),
    _f(2, device="cpu"),
    _f(2, dtype=D("int64"), requires_grad=True, raises=RuntimeError),
    *_BAD_SIZES,
]
_LIKE = [
    S(T(2, 3)),
    S(T()),
    S(T(0, 3)),
    S(T(2, 3, view="transposed")),
    S(T(2, 3, 4, view="permuted")),
    S(T(2, 3, view="strided")),
    S(T(2, 3, view="expanded")),
    S(T(2, dtype="int64")),
    S(T(2, dtype="bool")),
    S(T(2, dtype="complex64")),
    S(T(2), dtype=D("float64")),
    S(T(2, dtype="int32"), dtype=D("float16")),
    S(T(2), device="cpu"),
    S(3, raises=TypeError),
    S([3], raises=TypeError),
    S(None, raises=TypeError),
    S(np.ones(2), raises=TypeError),
    S(T(2, dtype="int64"), requires_grad=True, raises=RuntimeError),
]


def _blank(samples):
    """The same samples where what the memory holds is not looked at."""
    return [
        S(*s.args, values=False, variants=False, raises=s.raises, grad=s.grad, **s.kwargs)
        for s in samples
    ]


def _with(samples, *more):
    """The same samples with arguments after the first."""
    return [
        S(s.args[0], *more, *s.args[1:], variants=False, raises=s.raises, **s.kwargs)
        for s in samples
        if s.args
    ]


_NEW = [
    S(T(2), (3,)),
    S(T(2, dtype="int64"), (2, 3)),
    S(T(2), ()),
    S(T(2), (2,), dtype=D("int32")),
    S(T(2, view="strided"), size=(2, 2)),
    S(T(2), (-1,), raises=RuntimeError),
    S(T(2), (2**62, 2), raises=RuntimeError),
    S(T(2), "a", raises=TypeError),
    S(T(2), None, raises=TypeError),
    S(T(2), (1.5,), raises=TypeError),
    S(T(2, dtype="int64"), (2,), requires_grad=True, raises=RuntimeError),
]

SAMPLES = {
    "empty": _blank(_SIZES),
    "zeros": _SIZES,
    "ones": _SIZES,
    "full": [
        _f((2, 3), 3),
        _f((2,), 3.5),
        _f((2,), True),
        _f((2,), 2j),
        _f((), 3.0),
        _f((0, 2), 1),
        _f([2], -1, dtype=D("uint8")),
        _f((2,), 1.5, dtype=D("int64")),
        _f((2,), 3, dtype=D("float16")),
        _f((2,), 3, dtype=D("complex64")),
        _f((2,), INF),
        _f((2,), NAN),
        _f((2,), np.float64(2)),
        _f((2,), np.int32(2)),
        _f((2,), T(dtype="int64"), grad=False),
        _f((2,), 300, dtype=D("uint8"), raises=RuntimeError),
        _f((2,), NAN, dtype=D("int64"), raises=RuntimeError),
        _f((2,), 2j, dtype=D("float32"), raises=RuntimeError),
        _f((2,), 1e40, raises=RuntimeError),
        _f((2,), 2**40, dtype=D("int32"), raises=RuntimeError),
        _f((2,), 2**70, raises=OverflowError),
        _f((-2,), 2, raises=RuntimeError),
        _f((2**62, 4), 2.0, raises=RuntimeError),
        _f(2, 3, raises=TypeError),
        _f((2,), "a", raises=TypeError),
        _f((2,), None, raises=TypeError),
        _f((2,), [1], raises=TypeError),
        _f((2,), T(1), raises=TypeError),
        _f((2,), raises=TypeError),
    ],
    "empty_like": _blank(_LIKE),
    "zeros_like": _LIKE,
    "ones_like": _LIKE,
    "full_like": [
        *_with(_LIKE, 2),
        S(T(2, dtype="int64"), 1.5),
        S(T(2, dtype="bool"), 2),
        S(T(2), 2, dtype=D("int64")),
        S(T(2), 1e300, raises=RuntimeError),
        S(T(2, dtype="uint8"), 300, raises=RuntimeError),
        S(T(2), 2j, raises=RuntimeError),
        S(T(2), "a", raises=TypeError),
        S(T(2), raises=TypeError),
    ],
    "new_empty": _blank(_NEW),
    "new_zeros": _NEW,
    "new_ones": _NEW,
    "new_full": [
        S(T(2), (3,), 2),
        S(T(2, dtype="int64"), (3,), 2.5),
        S(T(2), (3,), 2, dtype=D("int64")),
        S(T(2), (3,), fill_value=2.5),
        S(T(2), 3, 2, raises=TypeError),
        S(T(2), (3,), raises=TypeError),
        S(T(2), (3,), "a", raises=TypeError),
        S(T(2), (3,), 1e300, raises=RuntimeError),
        S(T(2), (-3,), 1, raises=RuntimeError),
    ],
    "new_empty_strided": [
        S(T(2), (2, 3), (1, 2), values=False),
        S(T(2), (2, 3), (3, 1), dtype=D("int64"), values=False),
        S(T(2), (2, 3), (1,), raises=RuntimeError),
        S(T(2), (2, 3), (1, -1), raises=RuntimeError),
    ],
    "empty_permuted": [
        S((2, 3), (1, 0), values=False),
        S((2, 3, 4), (1, 2, 0), dtype=D("int64"), values=False),
        S((0, 3), (1, 0), values=False),
        S((), (), values=False),
        S((2, 3), (1,), raises=RuntimeError),
        S((2, 3), (1, 1), raises=RuntimeError),
        S((2, 3), (1, 2), raises=RuntimeError),
        S((2, 3), (-1, 0), raises=RuntimeError),
    ],
    "empty_strided": [
        S((2, 3), (1, 2), values=False),
        S((2, 3), (10, 1), values=False),
        S((0, 3), (3, 1), values=False),
        S((), (), dtype=D("int64"), values=False),
        S((2, 3), (1,), raises=RuntimeError),
        S((2, 3), (-1, 2), raises=RuntimeError),
        S((-2, 3), (1, 2), raises=RuntimeError),
        S((2, 3), "a", raises=TypeError),
        S((2, 3), raises=TypeError),
    ],
    "tensor": [
        S(3),
        S(3.5),
        S(True),
        S(2j),
        S([]),
        S([[], []]),
        S([1, 2]),
        S([1, 2.0]),
        S([True, 2]),
        S([1, 2j]),
        S([[1, 2], [3, 4]]),
        S((1, (2)), dtype=D("float16")),
        S(range(3)),
        S([[1.5], [2]], dtype=D("int32")),
        S([NAN, INF, -INF]),
        S([2**63 - 1]),
        S(np.arange(6).reshape(2, 3).T),
        S(np.float64(3)),
        S([np.float16(3), 2]),
        S(np.zeros((2, 6), np.float16)[:, ::2]),
        S([-1], dtype=D("uint8")),
        S([1e5], dtype=D("float16")),
        S([1, 2], requires_grad=True, raises=RuntimeError),
        S([[1, 2], [3]], raises=ValueError),
        S([[1], [2, 3]], raises=ValueError),
        S([1, [2]], raises=TypeError),
        S([[1], 2], raises=TypeError),
        S(None, raises=RuntimeError),
        S([None], raises=RuntimeError),
        S([None], dtype=D("float32"), raises=TypeError),
        S("a", raises=TypeError),
        S(["a"], raises=ValueError),
        S(b"ab", raises=TypeError),
        S({1, 2}, raises=RuntimeError),
        S({1: 2}, raises=RuntimeError),
        S(object(), raises=RuntimeError),
        S(2**63, raises=ValueError),
        S([2**64], raises=ValueError),
        S([300], dtype=D("uint8"), raises=RuntimeError),
        S([NAN], dtype=D("int64"), raises=RuntimeError),
        S([2j], dtype=D("float32"), raises=TypeError),
        S(BrokenArray(), raises=RuntimeError),
        S(np.array(["a"]), raises=TypeError),
        S(np.array([None]), raises=TypeError),
        S(np.zeros(3)[::-1], raises=ValueError),
        S(np.zeros(3, ">f4"), raises=ValueError),
        S(raises=TypeError),
        S(1, 2, raises=TypeError),
        S([1], dtype="float32", raises=TypeError),
    ],
    "new_tensor": [
        S(T(2), [1, 2]),
        S(T(2, dtype="int64"), [1.5, 2]),
        S(T(2), np.arange(3)),
        S(T(2), 3, dtype=D("int64")),
        S(T(2), [[1], [2]]),
        S(T(2), "a", raises=TypeError),
        S(T(2), None, raises=TypeError),
        S(T(2), [[1], [2, 3]], raises=ValueError),
        S(T(2), raises=TypeError),
    ],
}

"""Samples of the greater and the smaller of two, and of clamps."""

from tests.samples import S, T

from .arithmetic import binary, by_overload
from .compare import BOOL, LONG, NAN, VALUES


def extreme():
    return binary(
        S(T(values=VALUES), T(values=VALUES[::-1]), grad=False),
        S(T(values=[1.0, 2.0]), T(values=[1.0, 3.0]), grad=False),
        S(T(2, 3, dtype=BOOL), T(3, dtype=BOOL)),
        S(T(2, dtype="complex64"), T(2, dtype="complex64"), raises=RuntimeError),
        complexes=False,
        both=False,
    )


def one_bound():
    return [
        S(T(2, 3), 0.5),
        S(T(2, 3), T(3)),
        S(T(2, 3, view="transposed"), T(2, 3)),
        S(T(3, dtype=LONG), 1),
        S(T(3, dtype=LONG), 0.5, variants=False),
        S(T(values=VALUES), 0.5, grad=False),
        S(T(0, 3), 1),
        S(T(), 1),
        S(T(3, dtype="float16"), 0.3, grad=False),
        S(T(3, dtype=BOOL), T(3, dtype=BOOL)),
    ]


SAMPLES = {
    "maximum": extreme(),
    "minimum": extreme(),
    "fmax": extreme(),
    "fmin": extreme(),
    "clamp": [
        S(T(2, 3), -0.5, 0.5),
        S(T(2, 3), min=0.1),
        S(T(2, 3), max=0.1),
        S(T(2, 3), 1, -1),
        S(T(2, 3, view="transposed"), -0.5, 0.5),
        S(T(3, dtype=LONG), 0, 1),
        S(T(3, dtype=LONG), 0.5, variants=False),
        S(T(3, dtype="uint8"), 1, 1),
        S(T(3, dtype="float16"), -0.5, 0.5, grad=False),
        S(T(3, dtype="float64"), -0.5, 0.5),
        S(T(values=VALUES), -0.5, 0.5, grad=False),
        S(T(2, 3), NAN, grad=False),
        S(T(0, 3), 0, 1),
        S(T(), 0, 1),
        S(T(2), raises=RuntimeError),
        S(T(2, dtype="complex64"), 0, raises=NotImplementedError),
    ],
    "clamp.Tensor": [
        S(T(2, 3), T(3), T(3)),
        S(T(2, 3), min=T(2, 1)),
        S(T(2, 3), max=T()),
        S(T(3, dtype=LONG), T(3), variants=False),
    ],
    **by_overload("clamp_min", one_bound()),
    **by_overload("clamp_max", one_bound()),
}

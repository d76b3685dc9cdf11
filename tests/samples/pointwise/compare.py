"""Samples of comparisons, tests of elements, closeness and equality."""

from tests.samples import S, T

from .arithmetic import binary

NAN, INF = float("nan"), float("inf")
BOOL, LONG = "bool", "int64"
VALUES = [1.0, NAN, INF, -INF, 0.0, -0.0]


def comparison(complexes):
    samples = binary(
        S(T(values=VALUES), T(values=VALUES[::-1])),
        S(T(2, 3, dtype=BOOL), T(2, 3, dtype=BOOL)),
        S(T(2, 3, dtype=LONG), 1.5),
        complexes=complexes,
    )
    if not complexes:
        samples.append(S(T(2, dtype="complex64"), 1, raises=NotImplementedError))
    for sample in samples:  # in place, PyTorch would make integers require gradients
        sample.grad &= sample.args[0].differentiable
    return samples


def test(*more, complexes=True, out=True):
    samples = [
        S(T(values=VALUES)),
        S(T(2, 3, view="transposed")),
        S(T(2, 3, dtype="float16")),
        S(T(2, 3, dtype="float64")),
        S(T(3, dtype=LONG)),
        S(T(3, dtype=BOOL)),
        S(T()),
        S(T(0, 3)),
    ]
    if complexes:
        samples.append(S(T(values=[1 + 1j, complex(NAN, 1), complex(1, INF)], dtype="complex64")))
    for sample in samples:
        sample.variants = out
    return [*samples, *more]


def refused(error=RuntimeError):
    return S(T(2, dtype="complex64"), raises=error)


def close():
    return [
        S(T(2, 3), T(2, 3)),
        S(T(values=VALUES), T(values=VALUES)),
        S(T(values=VALUES), T(values=VALUES), equal_nan=True),
        S(T(3, 1), T(1, 2), equal_nan=True),
        S(T(), T(values=VALUES), equal_nan=True),
        S(T(values=[1.0, 2.0]), T(values=[1.0, 2.1]), rtol=0.1),
        S(T(3, dtype=LONG), T(3, dtype=LONG), rtol=0, atol=0),
        S(T(3, dtype="complex64"), T(dtype="complex64")),
        S(T(2), T(2, dtype=LONG), raises=RuntimeError),
        S(T(2), T(2), rtol=-1, raises=RuntimeError),
    ]


SAMPLES = {
    "eq": comparison(True),
    "ne": comparison(True),
    "lt": comparison(False),
    "le": comparison(False),
    "gt": comparison(False),
    "ge": comparison(False),
    "isnan": test(),
    "isinf": test(),
    "isfinite": test(),
    "isposinf": test(refused(), complexes=False, out=False),
    "isneginf": test(refused(), complexes=False, out=False),
    "signbit": test(refused(NotImplementedError), complexes=False, out=False),
    "nan_to_num": [
        S(T(2, 3)),
        S(T(values=VALUES), grad=False),
        S(T(values=VALUES, dtype="float16"), grad=False),
        S(T(values=VALUES), 1.0, posinf=2.0, neginf=-2.0, grad=False),
        S(T(values=[complex(NAN, INF), 1j], dtype="complex64"), grad=False),
        S(T(3, dtype=LONG), variants=False),
        S(T(3, dtype=BOOL), variants=False),
        S(T(2, 3, view="transposed")),
    ],
    "isclose": close(),
    "allclose": close(),
    "equal": [
        S(T(2, 3), T(2, 3)),
        S(T(2, 3), T(3)),
        S(T(values=[1.0, NAN]), T(values=[1.0, NAN])),
        S(T(values=[1, 2]), T(values=[1.0, 2.0])),
        S(T(0), T(0)),
    ],
}

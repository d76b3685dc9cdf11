"""Samples of comparisons, logical and bitwise operators, extremes of two, choices by a mask."""

from tests.samples import S, T

from .arithmetic import binary, by_overload

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


def logical():
    return [
        S(T(2, 3), T(3)),
        S(T(2, 3, dtype=BOOL), T(2, 3, dtype=BOOL)),
        S(T(values=VALUES), T(6, dtype=LONG, low=0, high=1)),
        S(T(2, 3, dtype="complex64"), T(3)),
        S(T(), T(0, 3)),
        S(T(2, 3, view="transposed"), T(2, 3)),
        S(T(2), T(3), raises=RuntimeError),
        S(T(2), 1, raises=TypeError, variants=False),
    ]


def bitwise(bools=True):
    samples = [
        S(T(2, 3, dtype=LONG, low=0, high=9), T(3, dtype=LONG, low=0, high=9)),
        S(T(2, 3, dtype="uint8", high=9), T(2, 3, dtype="uint8", high=5)),
        S(T(2, 3, dtype="int8", low=0), 3),
        S(T(2, 3, dtype="int32", low=-9, view="transposed"), T(2, 3, dtype="int16", low=0)),
        S(T(2, dtype=LONG, low=0), T(0, 2, dtype=LONG, low=0), variants=False),
        S(T(2), T(2), raises=NotImplementedError),
        S(T(2, dtype=LONG), 1.5, raises=NotImplementedError),
    ]
    if bools:
        samples.append(S(T(2, 3, dtype=BOOL), T(3, dtype=BOOL)))
        samples.append(S(T(2, 3, dtype=BOOL), True))
    else:
        samples.append(S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=NotImplementedError))
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
        S(T(values=[1.0, 2.0]), T(values=[1.0, 2.1]), rtol=0.1),
        S(T(3, dtype=LONG), T(3, dtype=LONG), rtol=0, atol=0),
        S(T(3, dtype="complex64"), T(dtype="complex64")),
        S(T(2), T(2, dtype=LONG), raises=RuntimeError),
        S(T(2), T(2), rtol=-1, raises=RuntimeError),
    ]


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
    "eq": comparison(True),
    "ne": comparison(True),
    "lt": comparison(False),
    "le": comparison(False),
    "gt": comparison(False),
    "ge": comparison(False),
    "logical_and": logical(),
    "logical_or": logical(),
    "logical_xor": logical(),
    "logical_not": test(),
    "bitwise_and": bitwise(),
    "bitwise_or": bitwise(),
    "bitwise_xor": bitwise(),
    "bitwise_left_shift": bitwise(False),
    "bitwise_right_shift": bitwise(False),
    "bitwise_and.Scalar_Tensor": [S(6, T(3, dtype=LONG))],
    "bitwise_or.Scalar_Tensor": [S(6, T(3, dtype=LONG))],
    "bitwise_xor.Scalar_Tensor": [S(6, T(3, dtype=LONG))],
    "bitwise_left_shift.Scalar_Tensor": [S(6, T(3, dtype=LONG, low=0))],
    "bitwise_right_shift.Scalar_Tensor": [S(6, T(3, dtype=LONG, low=0))],
    "bitwise_not": [
        S(T(2, 3, dtype=LONG)),
        S(T(2, 3, dtype="uint8", view="transposed")),
        S(T(3, dtype=BOOL)),
        S(T(0, dtype="int8")),
        S(T(2), raises=NotImplementedError),
    ],
    "isnan": test(),
    "isinf": test(),
    "isfinite": test(),
    "isreal": test(),
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
    "where": [
        S(T(2, 3, dtype=BOOL), T(2, 3), T(2, 3), variants=False),
        S(T(2, 3, dtype=BOOL), T(3), T(2, 1), variants=False),
        S(T(2, 3, dtype=BOOL), T(3), 1.5, variants=False),
        S(T(2, 3, dtype=BOOL), 1, 2.5, variants=False),
        S(T(2, 3, dtype=BOOL), T(dtype=LONG), T(3), variants=False),
        S(
            T(2, 3, dtype=BOOL, view="transposed"),
            T(2, 3, view="transposed"),
            T(2, 3),
            variants=False,
        ),
        S(T(3, dtype=BOOL), T(3, dtype=BOOL), T(3, dtype=BOOL), variants=False),
        S(T(3, dtype=BOOL), T(3, dtype="complex64"), T(3), variants=False, grad=False),
        S(T(3, dtype=BOOL), T(3, dtype="float16"), T(3, dtype="float16"), grad=False),
        S(T(0, 3, dtype=BOOL), T(3), T(3), variants=False),
        S(T(2), T(2), T(2), raises=RuntimeError),
        S(T(2, dtype=BOOL), T(3), T(2), raises=RuntimeError),
    ],
}
